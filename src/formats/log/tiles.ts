// C2SP tlog-tiles: the tree in runs of 256 hashes, and the entries in bundles of 256. Browser-safe: hashing and reading are arguments.
import { consistencyRanges, type LeafRange } from '../merkle/consistency.ts'
import { equalBytes } from '../bytes.ts'
import { nodeHash, nodeHasher, type Sha256 } from '../merkle/tree.ts'

/** The hashes of a full tile, and the entries of a full bundle. */
export const TILE_WIDTH = 256
export const HASH_BYTES = 32

/** The number of the bundle that has the entry of an index. */
export const bundleOf = (index: number): number => Math.floor(index / TILE_WIDTH)

/** Hash i of tile n at a level is the root of the leaves from (256n + i) · 256^level up to 256^level later. */
export interface Tile {
  /** From 0, the level of the leaf hashes. */
  readonly level: number
  readonly n: number
  /** Number of hashes, from the first: 1 to 256. */
  readonly width: number
}

/** Number of hashes of a tile in a tree of this size, 0 to 256. With level 0: number of entries of a bundle. */
export function widthOf({ level, n }: Omit<Tile, 'width'>, size: number): number {
  const hashes = Math.floor(size / TILE_WIDTH ** level)
  return Math.min(Math.max(hashes - n * TILE_WIDTH, 0), TILE_WIDTH)
}

/** Path below `<prefix>/tile/`: `1/x001/234`, with `.p/<width>` if the tile is not full. */
export function tilePath({ level, n, width }: Omit<Tile, 'level'> & { level: number | 'entries' }): string {
  const digits = String(n).padStart(Math.ceil(String(n).length / 3) * 3, '0')
  const groups = digits.match(/.{3}/g)!.map((group, i, all) => (i < all.length - 1 ? `x${group}` : group))
  return `${level}/${groups.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}

const PATH = /^(entries|0|[1-9][0-9]?)\/((?:x[0-9]{3}\/)*[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/

/** @returns undefined for any path that `tilePath` does not make */
export function parseTilePath(
  path: string,
): (Omit<Tile, 'level'> & { level: number | 'entries' }) | undefined {
  const [, level = '', groups = '', width] = PATH.exec(path) ?? []
  const tile = {
    level: level === 'entries' ? level : Number(level),
    n: Number(groups.replaceAll(/[x/]/g, '')),
    width: width === undefined ? TILE_WIDTH : Number(width),
  } as const
  if (groups === '' || !Number.isSafeInteger(tile.n) || (tile.level !== 'entries' && tile.level > 63))
    return undefined
  // Leading groups of zeros, and an explicit width of 256 or more, would be further names of the same tile.
  return tilePath(tile) === path ? tile : undefined
}

/**
 * A bundle: each entry after its length in two bytes.
 * @throws Error for an entry above 65,535 bytes
 */
export function encodeBundle(entries: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((sum, entry) => sum + 2 + entry.length, 0))
  let at = 0
  for (const entry of entries) {
    if (entry.length > 0xff_ff) throw new Error(`an entry has ${entry.length} bytes; at most 65535 fit`)
    bytes[at] = entry.length >> 8
    bytes[at + 1] = entry.length & 0xff
    bytes.set(entry, at + 2)
    at += 2 + entry.length
  }
  return bytes
}

/** @throws Error when it ends within an entry */
export function decodeBundle(bytes: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 2 + (bytes[at]! << 8) + (bytes[at + 1] ?? 0)
    if (at + 2 > bytes.length || end > bytes.length) throw new Error('the bundle ends within an entry')
    entries.push(bytes.subarray(at + 2, end))
    at = end
  }
  return entries
}

/** Reads tiles, all at once, in their order: `width` · 32 bytes each. Throws when a tile is missing or has another length. */
export type ReadTiles = (tiles: readonly Tile[]) => Promise<readonly Uint8Array[]>

/** @returns the root of `count` hashes of a tile (a power of two), starting at hash `from` */
export type RootsWithin = (from: number, count: number) => Uint8Array

/** Cached tiles of one log (tile-memo.ts). */
export interface TileMemo {
  readonly get: (tile: Tile) => RootsWithin | undefined
  readonly set: (tile: Tile, roots: RootsWithin) => void
}

/**
 * Whether the tree of `size` entries begins with the tree of a checkpoint of at most that size.
 * @throws the errors of `readTiles`
 */
export async function beginsWith(
  { size, readTiles }: { readonly size: number; readonly readTiles: ReadTiles },
  checkpoint: { readonly size: number; readonly root: Uint8Array },
  sha256: Sha256,
): Promise<boolean> {
  if (checkpoint.size === 0) return true
  const [root] = await subtreeRoots([{ start: 0, end: checkpoint.size }], size, readTiles, sha256)
  return equalBytes(root!, checkpoint.root)
}

/**
 * The roots of subtrees of a log, which form a consistency or inclusion proof.
 * @param ranges subtrees as `assertSubtree` defines them, none beyond `size`
 * @param size size of the tree, which determines the width of the tiles at its edge
 * @param memo memo of this log, which saves reading and hashing tiles again. Only for results that are checked against a root
 */
export async function subtreeRoots(
  ranges: readonly LeafRange[],
  size: number,
  readTiles: ReadTiles,
  sha256: Sha256,
  memo?: TileMemo,
): Promise<Uint8Array[]> {
  const parts = ranges.map(completeSubtrees)
  const wanted = new Map<string, Tile>()
  for (const { tile } of parts.flat()) {
    const width = widthOf(tile, size)
    if (width === 0)
      throw new Error(`the tree of ${size} leaves has no tile ${tilePath({ ...tile, width: 256 })}`)
    wanted.set(nameOf(tile), { ...tile, width })
  }
  const tiles = new Map<string, RootsWithin>()
  for (const [name, tile] of wanted) {
    const known = memo?.get(tile)
    if (known !== undefined) tiles.set(name, known)
  }
  const unknown = [...wanted].filter(([name]) => !tiles.has(name))
  const read = unknown.length === 0 ? [] : await readTiles(unknown.map(([, tile]) => tile))
  for (const [i, [name, tile]] of unknown.entries()) {
    // A cached tile is copied: the bytes that were read may be part of a much larger buffer.
    const roots = rootsWithin(memo === undefined ? read[i]! : Uint8Array.from(read[i]!), sha256)
    memo?.set(tile, roots)
    tiles.set(name, roots)
  }
  const rootOfPart = ({ tile, from, count }: CompleteSubtree) => tiles.get(nameOf(tile))!(from, count)
  return parts.map((subtrees) =>
    subtrees.map(rootOfPart).reduceRight((right, left) => nodeHash(left, right, sha256)),
  )
}

/** The paths of leaves, each from the leaf up (RFC 9162 §2.1.3.1), from tiles that are read all at once. `memo` as in `subtreeRoots`. */
export async function inclusionProofs(
  { indexes, size }: { indexes: readonly number[]; size: number },
  readTiles: ReadTiles,
  sha256: Sha256,
  memo?: TileMemo,
): Promise<Uint8Array[][]> {
  // A leaf is a subtree, and the proof that a tree contains it is its path.
  const ranges = indexes.map((index) => consistencyRanges({ start: index, end: index + 1, size }))
  const roots = await subtreeRoots(ranges.flat(), size, readTiles, sha256, memo)
  let at = 0
  return ranges.map(({ length }) => roots.slice(at, (at += length)))
}

/** RFC 9162 §2.1.4.1: the proof that the tree of `to` leaves begins with the tree of `from` leaves, 1 or more. */
export function consistencyProof(
  { from, to }: { from: number; to: number },
  readTiles: ReadTiles,
  sha256: Sha256,
): Promise<Uint8Array[]> {
  return subtreeRoots(consistencyRanges({ start: 0, end: from, size: to }), to, readTiles, sha256)
}

/** The complete subtrees of the first `size` leaves, largest first: their roots are the peaks of a frontier. */
export function peakRanges(size: number): LeafRange[] {
  return size === 0 ? [] : completeRanges({ start: 0, end: size })
}

/** A subtree of 2^k leaves, as hashes of one tile. */
interface CompleteSubtree {
  readonly tile: Omit<Tile, 'width'>
  readonly from: number
  readonly count: number
}

function completeSubtrees(range: LeafRange): CompleteSubtree[] {
  return completeRanges(range).map(({ start, end }) => {
    let [level, leavesOfHash] = [0, 1]
    for (; leavesOfHash * TILE_WIDTH <= end - start; leavesOfHash *= TILE_WIDTH) level++
    const first = start / leavesOfHash
    const n = Math.floor(first / TILE_WIDTH)
    return { tile: { level, n }, from: first - n * TILE_WIDTH, count: (end - start) / leavesOfHash }
  })
}

/** Cuts a subtree into complete subtrees, largest first. */
function completeRanges({ start, end }: LeafRange): LeafRange[] {
  const ranges: LeafRange[] = []
  for (let at = start; at < end;) {
    let width = 1
    while (width * 2 <= end - at) width *= 2
    ranges.push({ start: at, end: at + width })
    at += width
  }
  return ranges
}

/** Computes roots of 2^k hashes of a tile. Each node is computed once: the paths of many leaves share most nodes. */
function rootsWithin(tile: Uint8Array, sha256: Sha256): RootsWithin {
  const nodes: Uint8Array[] = []
  const hashOf = nodeHasher(sha256)
  const computed = (from: number, count: number) =>
    hashOf(rootOf(from, count / 2), rootOf(from + count / 2, count / 2))
  const rootOf = (from: number, count: number): Uint8Array =>
    // Numbered as in a heap: the root of the whole tile is 1, and the children of i are 2i and 2i + 1.
    count === 1 ? hashAt(tile, from) : (nodes[(TILE_WIDTH + from) / count] ??= computed(from, count))
  return rootOf
}

function hashAt(tile: Uint8Array, i: number): Uint8Array {
  const hash = tile.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)
  if (hash.length !== HASH_BYTES) throw new Error('a tile has fewer hashes than the tree')
  return hash
}

const nameOf = ({ level, n }: Omit<Tile, 'width'>) => `${level}/${n}`

// The tree of the log by its right edge and by its tiles, against the trees and definitions of RFC 9162.
import { describe, expect, test } from 'vitest'
import { appendLeaves, EMPTY, joinHashes, rootOf, splitHashes } from '../../src/formats/log/frontier.ts'
import {
  consistencyProof,
  decodeBundle,
  encodeBundle,
  inclusionProofs,
  parseTilePath,
  peakRanges,
  subtreeRoots,
  tilePath,
  widthOf,
  type ReadTiles,
} from '../../src/formats/log/tiles.ts'
import { openLogTiles } from '../../src/formats/log/tile-memo.ts'
import { assertConsistent } from '../../src/formats/merkle/consistency.ts'
import { buildTree, leafHash, rootOfInclusion } from '../../src/formats/merkle/tree.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { bytes, consistencyPath, path, SIZES, vectors } from '../merkle/trees.ts'
import { Grown, leafHashes, rootOfLeaves } from './tree.ts'
import { KNOWN_LEAVES } from '../merkle/known-leaves.ts'

const hex = (hash: Uint8Array) => Buffer.from(hash).toString('hex')
const LARGE = [255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 70_000, 131_072]
const all = leafHashes(Math.max(...LARGE))
const grown = new Grown()
grown.append(all)

/** The path of one leaf. */
async function inclusionProof({ index, size }: { index: number; size: number }, read: ReadTiles) {
  const [proof] = await inclusionProofs({ indexes: [index], size }, read, sha256)
  return proof!
}

describe('the frontier', () => {
  test('has the root of every size to 130, however the leaves came', () => {
    let one = EMPTY
    for (const size of [0, ...SIZES]) {
      const leaves = all.slice(0, size)
      if (size > 0) one = appendLeaves(one, [all[size - 1]!], sha256)
      expect(hex(rootOf(one, sha256))).toBe(hex(rootOfLeaves(leaves)))
      for (const cut of [1, 7, 64]) {
        const first = appendLeaves(EMPTY, leaves.slice(0, cut), sha256)
        expect(appendLeaves(first, leaves.slice(cut), sha256)).toEqual(one)
      }
    }
  })

  test.each(LARGE)('has the root of %i leaves', (size) => {
    const frontier = appendLeaves(EMPTY, all.slice(0, size), sha256)
    expect(hex(rootOf(frontier, sha256))).toBe(hex(rootOfLeaves(all.slice(0, size))))
    expect(splitHashes(joinHashes(frontier.peaks))).toEqual(
      frontier.peaks.map((peak) => new Uint8Array(peak)),
    )
  })

  test('names each complete subtree once, with its root', () => {
    const named: string[] = []
    appendLeaves(EMPTY, all.slice(0, 6), sha256, (height, root) => named.push(`${height} ${hex(root)}`))
    const subtree = (start: number, end: number) => hex(rootOfLeaves(all.slice(start, end)))
    expect(named).toEqual([
      `0 ${subtree(0, 1)}`,
      `0 ${subtree(1, 2)}`,
      `1 ${subtree(0, 2)}`,
      `0 ${subtree(2, 3)}`,
      `0 ${subtree(3, 4)}`,
      `1 ${subtree(2, 4)}`,
      `2 ${subtree(0, 4)}`,
      `0 ${subtree(4, 5)}`,
      `0 ${subtree(5, 6)}`,
      `1 ${subtree(4, 6)}`,
    ])
  })

  test('refuses bytes that are no hashes', () => {
    expect(() => splitHashes(new Uint8Array(33))).toThrow('33 bytes are no whole number of hashes')
    expect(() => joinHashes([new Uint8Array(31)])).toThrow('hash 0 has 31 bytes')
  })
})

const widths = (level: number, tiles: number) =>
  Array.from({ length: tiles }, (_, n) => widthOf({ level, n }, 70_000))

describe('a tile', () => {
  test('is as wide as tlog-tiles says of a tree of 70,000', () => {
    expect(widths(0, 275)).toEqual([...Array.from({ length: 273 }, () => 256), 112, 0])
    expect(widths(1, 3)).toEqual([256, 17, 0])
    expect(widths(2, 2)).toEqual([1, 0])
    expect([widthOf({ level: 0, n: 0 }, 256), widthOf({ level: 1, n: 0 }, 256)]).toEqual([256, 1])
  })

  test('has a path that names it and no other', () => {
    const paths = {
      '0/000': { level: 0, n: 0, width: 256 },
      '63/x001/x234/067': { level: 63, n: 1_234_067, width: 256 },
      'entries/x001/000.p/255': { level: 'entries', n: 1000, width: 255 },
      '1/999.p/1': { level: 1, n: 999, width: 1 },
    } as const
    for (const [text, tile] of Object.entries(paths)) {
      expect(tilePath(tile)).toBe(text)
      expect(parseTilePath(text)).toEqual(tile)
    }
    const wrong = [
      '',
      '0/',
      '0/0',
      '00/000',
      '64/000',
      'data/000',
      '0/x000/001',
      '0/001/002',
      '0/x001',
      '0/000.p/0',
    ]
    const others = [
      '0/000.p/256',
      '0/000.p/01',
      '0/000.p',
      '0/000/',
      '/0/000',
      '0/000.p/1000',
      '-1/000',
      '0/000 ',
    ]
    for (const text of [...wrong, ...others, `0/${'x999/'.repeat(6)}999`])
      expect(parseTilePath(text), text).toBeUndefined()
  })
})

describe('a bundle', () => {
  test('has its entries back, of any length that fits', () => {
    const entries = [0, 1, 255, 256, 65_535].map((length) => Buffer.alloc(length, length % 251))
    expect(decodeBundle(encodeBundle(entries)).map(hex)).toEqual(entries.map(hex))
    expect(hex(encodeBundle([Buffer.from('ab')]))).toBe('00026162')
    expect(() => encodeBundle([Buffer.alloc(65_536)])).toThrow('an entry has 65536 bytes; at most 65535 fit')
  })

  test('that ends within an entry is refused', () => {
    for (const cut of [1, 2, 3]) {
      const bundle = encodeBundle([Buffer.from('ab'), Buffer.from('cd')]).subarray(0, 8 - cut)
      expect(() => decodeBundle(bundle)).toThrow('the bundle ends within an entry')
    }
  })
})

/** Tiles of one hash. */
const short: ReadTiles = async (tiles) => tiles.map(() => new Uint8Array(32))

describe('proofs from tiles', () => {
  test('are those of the tree for every leaf of every size to 130', async () => {
    for (const size of SIZES) {
      const tree = buildTree(all.slice(0, size), sha256)
      for (let index = 0; index < size; index++) {
        const proof = await inclusionProof({ index, size }, grown.reader(size))
        expect(proof.map(hex)).toEqual(tree.path(index).map(hex))
      }
    }
  })

  test('are those of the tree for every two sizes to 130', async () => {
    for (const to of SIZES)
      for (let from = 1; from <= to; from++) {
        const proof = await consistencyProof({ from, to }, grown.reader(to), sha256)
        expect(proof.map(hex)).toEqual(consistencyPath(all.slice(0, to), { start: 0, end: from }).map(hex))
      }
  })

  test.each(LARGE)('hold in a tree of %i leaves', async (size) => {
    const tree = buildTree(all.slice(0, size), sha256)
    const read = grown.reader(size)
    for (const index of [0, 1, 254, 255, 256, 65_535, 65_536, size >> 1, size - 2, size - 1]) {
      if (index >= size) continue
      const proof = await inclusionProof({ index, size }, read)
      const root = rootOfInclusion({ leafHash: all[index]!, index, size, path: proof }, sha256)
      expect(hex(root)).toBe(hex(tree.root))
    }
    for (const from of [1, 2, 255, 256, 257, 65_535, 65_536, 65_537, size - 1, size]) {
      if (from > size) continue
      const proof = await consistencyProof({ from, to: size }, read, sha256)
      const partRoot = rootOfLeaves(all.slice(0, from))
      assertConsistent({ start: 0, end: from, size, partRoot, root: tree.root, path: proof }, sha256)
    }
    const [root] = await subtreeRoots([{ start: 0, end: size }], size, read, sha256)
    expect(hex(root!)).toBe(hex(tree.root))
    const peaks = await subtreeRoots(peakRanges(size), size, read, sha256)
    expect(peaks.map(hex)).toEqual(appendLeaves(EMPTY, all.slice(0, size), sha256).peaks.map(hex))
  })

  test('are the same from tiles that were read before, of which only so many are kept', async () => {
    let reads = 0
    const counted =
      (size: number): ReadTiles =>
      (tiles) => {
        reads += tiles.length
        return grown.reader(size)(tiles)
      }
    const tiles = openLogTiles(3)
    const memo = tiles.of(1)
    const proven = async (size: number, index: number, of = memo) => {
      const [found] = await inclusionProofs({ indexes: [index], size }, counted(size), sha256, of)
      expect(found!.map(hex)).toEqual((await inclusionProof({ index, size }, grown.reader(size))).map(hex))
      const before = reads
      reads = 0
      return before
    }
    // Leaves 0 to 255, their successors at the edge, and the tile above.
    expect(await proven(600, 3)).toBe(3)
    expect(await proven(600, 200)).toBe(0)
    expect(await proven(600, 3, tiles.of(2))).toBe(3)
    expect(await proven(600, 3)).toBe(3)
    // The edge is another one, the tiles beside and above it are not.
    expect(await proven(601, 3)).toBe(1)
    expect(await proven(601, 3)).toBe(0)
    tiles.forget()
    expect(await proven(601, 3)).toBe(3)
  })

  test('do not exist for what the tree does not hold', async () => {
    await expect(async () => inclusionProof({ index: 3, size: 3 }, grown.reader(3))).rejects.toThrow()
    await expect(async () => consistencyProof({ from: 4, to: 3 }, grown.reader(3), sha256)).rejects.toThrow()
    await expect(subtreeRoots([{ start: 256, end: 257 }], 256, grown.reader(256), sha256)).rejects.toThrow(
      'the tree of 256 leaves has no tile 0/001',
    )
    await expect(inclusionProof({ index: 2, size: 3 }, short)).rejects.toThrow(
      'a tile has fewer hashes than the tree',
    )
  })
})

/** transparency-dev/merkle (test/vectors/README.md). Its leaves and roots are of trees of up to 8 leaves. */
interface InclusionVector {
  readonly leafIdx: number
  readonly treeSize: number
  readonly root: string
  readonly leafHash: string
  readonly proof: string[] | null
  readonly wantErr: boolean
}

test('trees of the leaves of transparency-dev/merkle have its roots and paths', async () => {
  const leaves = KNOWN_LEAVES.map((leaf) => leafHash(Buffer.from(leaf, 'hex'), sha256))
  const known = new Grown()
  known.append(leaves)
  const usable = vectors<InclusionVector>('inclusion').filter(
    ({ wantErr, leafIdx, treeSize, leafHash: of }) =>
      !wantErr && treeSize <= 8 && leafIdx < treeSize && hex(bytes(of)) === hex(leaves[leafIdx]!),
  )
  expect(usable.length).toBeGreaterThan(3)
  for (const { leafIdx: index, treeSize: size, root, proof } of usable) {
    const mine = await inclusionProof({ index, size }, known.reader(size))
    expect(mine.map(hex)).toEqual(path(proof).map(hex))
    expect(hex(rootOf(appendLeaves(EMPTY, leaves.slice(0, size), sha256), sha256))).toBe(hex(bytes(root)))
  }
})

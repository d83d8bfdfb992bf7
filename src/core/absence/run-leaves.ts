// Computes the next leaves of a run of ids, sorted, a piece at a time. No I/O.
import { DamagedLog } from '../../formats/log/damaged.ts'
import { appendLeaves } from '../../formats/log/frontier.ts'
import { indexOfLeaf, KEY_BYTES, LEAF_BYTES } from '../../formats/log/ids.ts'
import { TILE_WIDTH } from '../../formats/log/tiles.ts'
import { sha256 } from '../../store/sha256.ts'
import { chunkRoot, firstNotBelow, type LeafChunk, type RunTileRow } from './run-tiles.ts'
import type { RunRow } from './runs.ts'

/**
 * The smallest leaves greater than `after`, from entries that are in no run; unsorted.
 * @param countMin minimum number of leaves to return, unless fewer exist
 * @returns isAll: no leaf was left out
 */
export function leavesOfKeys(
  rows: readonly KeyRow[],
  { after, countMin }: { after: Uint8Array; countMin: number },
): { leaves: Buffer; isAll: boolean } {
  // Leaves are counted by their first byte, so that few more than `countMin` are copied and sorted.
  const counts = new Uint32Array(256)
  forEachLater(rows, after, (keys, at) => counts[keys[at]!]!++)
  let [byteMax, count] = [0, counts[0]!]
  while (byteMax < 255 && count < countMin) count += counts[++byteMax]!
  const leaves = Buffer.allocUnsafe(count * LEAF_BYTES)
  let end = 0
  forEachLater(rows, after, (keys, at, index) => {
    if (keys[at]! > byteMax) return
    keys.copy(leaves, end, at, at + KEY_BYTES)
    leaves.writeUInt32BE(Math.floor(index / 2 ** 32), end + KEY_BYTES)
    leaves.writeUInt32BE(index % 2 ** 32, end + KEY_BYTES + 4)
    end += LEAF_BYTES
  })
  return { leaves, isAll: byteMax === 255 }
}

interface KeyRow {
  /** The index of the first entry. */
  readonly start: number
  /** 32 bytes for each entry. */
  readonly keys: Buffer
}

/** Calls `each` with the place and the index of every key whose leaf is greater than `after`. */
function forEachLater(
  rows: readonly KeyRow[],
  after: Uint8Array,
  each: (keys: Buffer, at: number, index: number) => void,
): void {
  const [firstByte = -1] = after
  const afterIndex = after.length === 0 ? 0 : indexOfLeaf(after)
  const isLater = (keys: Buffer, at: number, index: number) => {
    if (keys[at] !== firstByte) return keys[at]! > firstByte
    return (keys.compare(after, 0, KEY_BYTES, at, at + KEY_BYTES) || index - afterIndex) > 0
  }
  for (const { start, keys } of rows)
    for (let at = 0, index = start; at < keys.length; at += KEY_BYTES, index++)
      if (isLater(keys, at, index)) each(keys, at, index)
}

/**
 * The leaves of chunks between `after` and `bound`, both excluded; the leaves of each chunk keep their order.
 * @param bound undefined: no upper bound
 */
export function leavesBetween(
  chunks: readonly LeafChunk[],
  after: Uint8Array,
  bound: Uint8Array | undefined,
): Buffer {
  // Leaves of one key are sorted by index, as the runs are.
  const sorted = chunks.toSorted((a, b) => a.first - b.first || a.n - b.n)
  return Buffer.concat(
    sorted.map(({ leaves }) => {
      const from = firstNotBelow(leaves, after)
      // The leaf `after` itself was added before.
      const start = leaves.subarray(from, from + LEAF_BYTES).equals(after) ? from + LEAF_BYTES : from
      return leaves.subarray(start, bound === undefined ? leaves.length : firstNotBelow(leaves, bound))
    }),
  )
}

/** Positions that fit beside 36 bits of a key into the 53 bits of a number. */
const POSITIONS = 2 ** 17

/** Sorts by all bytes: first by 36-bit numbers, which a typed array sorts ten times as fast as buffers are compared. */
export function sortedLeaves(leaves: Buffer): Buffer {
  const count = leaves.length / LEAF_BYTES
  if (count > POSITIONS) throw new Error(`${count} leaves are more than ${POSITIONS}`)
  const order = new Float64Array(count)
  for (let i = 0; i < count; i++)
    order[i] = Math.floor(leaves.readUIntBE(i * LEAF_BYTES, 6) / 2 ** 12) * POSITIONS + i
  order.sort()
  const sorted = Buffer.allocUnsafe(leaves.length)
  for (let i = 0; i < count; i++) {
    const from = (order[i]! % POSITIONS) * LEAF_BYTES
    leaves.copy(sorted, i * LEAF_BYTES, from, from + LEAF_BYTES)
    sink(sorted, i)
  }
  return sorted
}

/** Insertion sort suffices: keys that share 36 bits are rare. */
function sink(sorted: Buffer, i: number): void {
  for (let at = i * LEAF_BYTES; at > 0; at -= LEAF_BYTES) {
    const before = at - LEAF_BYTES
    if (sorted.compare(sorted, before, at, at, at + LEAF_BYTES) >= 0) return
    const smaller = Buffer.from(sorted.subarray(at, at + LEAF_BYTES))
    sorted.copy(sorted, at, before, at)
    smaller.copy(sorted, before)
  }
}

/**
 * Adds leaves to the end of a run.
 * @param leaves sorted, all greater than the run's last
 * @param isLast whether the run ends with these leaves; otherwise only whole chunks are added
 * @returns the extended run and its new tiles
 */
export function addLeaves(
  run: RunRow,
  leaves: Buffer,
  { isLast }: { isLast: boolean },
): { run: RunRow; tiles: RunTileRow[] } {
  const added = isLast ? leaves : leaves.subarray(0, leaves.length - (leaves.length % CHUNK_BYTES))
  if (added.length === 0) return { run, tiles: [] }
  let n = run.chunks.size
  const tiles = Array.from({ length: Math.ceil(added.length / CHUNK_BYTES) }, (_, i): RunTileRow => {
    const chunk = added.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES)
    return { height: 0, n: n + i, root: chunkRoot(chunk), leaves: chunk }
  })
  const roots = tiles.map(({ root }) => root)
  const chunks = appendLeaves(run.chunks, roots, sha256, (levels, root) => {
    if (levels === 0) n++
    else if (levels % 8 === 0) tiles.push({ height: levels / 8, n: n / 2 ** levels - 1, root, leaves: null })
  })
  const size = run.size + added.length / LEAF_BYTES
  return { run: { ...run, size, chunks, lastLeaf: added.subarray(-LEAF_BYTES) }, tiles }
}

const CHUNK_BYTES = TILE_WIDTH * LEAF_BYTES

/** @throws DamagedLog when a stored chunk does not match its stored root */
export function assertChunk({ first, n, root, leaves }: LeafChunk): void {
  const isOne = leaves.length > 0 && leaves.length % LEAF_BYTES === 0 && leaves.length <= CHUNK_BYTES
  if (isOne && Buffer.compare(chunkRoot(leaves), root) === 0) return
  throw new DamagedLog(
    `Chunk ${n} of the ids of the entries from ${first} on does not have the root that was stored with it.`,
  )
}

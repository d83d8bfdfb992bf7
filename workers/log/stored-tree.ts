// The tree of the log as the database has it, read again before a checkpoint of it is signed: its root is computed from the stored rows, not from
// the memory of the sequencer that wrote them. A bit that changed in between ends a log for good (docs/design-notes.md "The evidence log").
import type { Checkpoint } from '../../src/formats/log/checkpoint.ts'
import { DamagedLog, undamaged } from '../../src/formats/log/damaged.ts'
import {
  appendLeaves,
  joinHashes,
  rootOf,
  splitHashes,
  type Frontier,
} from '../../src/formats/log/frontier.ts'
import {
  decodeBundle,
  HASH_BYTES,
  peakRanges,
  subtreeRoots,
  TILE_WIDTH,
} from '../../src/formats/log/tiles.ts'
import { buildTree, leafHasher } from '../../src/formats/merkle/tree.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { readFullBundles, readTail } from '../../src/store/tables/log-bundles.ts'
import type { LogState } from '../../src/store/tables/log-state.ts'
import { readFullTiles, tileReader, type TileRow } from '../../src/store/tables/log-tiles.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'

/** 16,384 entries, 3 MB: a tenth of a second between two statements. */
const BUNDLES_AT_ONCE = 64

type Head = Pick<Checkpoint, 'size' | 'root'>

interface CompletedTile {
  readonly level: number
  readonly n: number
  readonly root: Uint8Array
  /** The joined hashes, where they are at hand: comparing them costs less than computing the root of the stored ones. */
  readonly hashes: Uint8Array | undefined
}

/**
 * Checks the entries and tiles that the last checkpoint did not cover, up to the next one. Only under the lock of the log.
 * @param last undefined where none was published
 * @throws DamagedLog with a sentence, where something is missing or differs from the value that was computed when it was appended
 */
export async function assertStoredTree(
  sql: Sql,
  state: LogState,
  last: Checkpoint | undefined,
): Promise<void> {
  const { log, checkpointTree } = state
  const heads = [...(last === undefined ? [] : [last]), { ...checkpointTree, root: checkpointTree.root! }]
  const from = last?.size ?? 0
  let frontier = await storedFrontier(sql, log, from - (from % TILE_WIDTH))
  while (frontier.size < checkpointTree.size) {
    const completed: CompletedTile[] = []
    for (const entries of await readEntries(sql, state, frontier.size / TILE_WIDTH))
      frontier = append(frontier, entries, heads, completed)
    await compareTiles(sql, log, completed)
  }
  // Nothing was appended above a size that is a multiple of 256, or that is signed again.
  for (const head of heads) if (head.size === frontier.size) compareRoot(frontier, head)
}

/** The tree up to the end of a full bundle, from the hashes of its tiles. */
async function storedFrontier(sql: Sql, log: number, size: number): Promise<Frontier> {
  return { size, peaks: await subtreeRoots(peakRanges(size), size, tileReader(sql, log), sha256) }
}

/** The entries of some bundles from the nth on, each bundle's apart; the last one may be the tail. */
async function readEntries(sql: Sql, { log, frontier }: LogState, n: number): Promise<Uint8Array[][]> {
  const full = Math.floor(frontier.size / TILE_WIDTH)
  const count = Math.min(BUNDLES_AT_ONCE, full - n)
  if (count <= 0) {
    const tail = await readTail(sql, log)
    return [entriesOf('The tail of the log', tail, frontier.size - full * TILE_WIDTH)]
  }
  const rows = await readFullBundles(sql, { log, n, count })
  return Array.from({ length: count }, (_, i) => {
    const row = rows.find((one) => one.n === n + i)
    if (row === undefined) throw new DamagedLog(`Bundle ${n + i} of the log is missing.`)
    return entriesOf(`Bundle ${row.n} of the log`, row.entries, TILE_WIDTH)
  })
}

function entriesOf(what: string, bytes: Uint8Array, count: number): Uint8Array[] {
  const entries = undamaged(what, () => decodeBundle(bytes))
  if (entries.length === count) return entries
  throw new DamagedLog(`${what} has ${entries.length} entries; it was stored with ${count}.`)
}

/** Appends the entries of a bundle up to the last of the heads, and compares the root at each of them. */
function append(
  before: Frontier,
  entries: readonly Uint8Array[],
  heads: readonly Head[],
  completed: CompletedTile[],
): Frontier {
  let frontier = before
  const leaves = entries.map(leafHasher(sha256))
  const appendTo = (size: number) => {
    // A head may lie before these leaves, or after them.
    const end = Math.max(frontier.size, Math.min(size, before.size + leaves.length))
    let count = frontier.size
    const added = leaves.slice(frontier.size - before.size, end - before.size)
    frontier = appendLeaves(frontier, added, sha256, (height, root) => {
      if (height === 0) count++
      else if (height % 8 === 0)
        completed.push({
          level: height / 8 - 1,
          n: count / TILE_WIDTH ** (height / 8) - 1,
          root,
          // The leaves of a full bundle.
          hashes: height === 8 ? joinHashes(leaves) : undefined,
        })
    })
  }
  for (const head of heads) {
    appendTo(head.size)
    if (frontier.size === head.size) compareRoot(frontier, head)
  }
  return frontier
}

function compareRoot(frontier: Frontier, { size, root }: Head): void {
  if (Buffer.compare(rootOf(frontier, sha256), root) === 0) return
  throw new DamagedLog(
    `The first ${size} entries of the log, as they are stored, do not have the root that was computed when they were appended.`,
  )
}

async function compareTiles(sql: Sql, log: number, completed: readonly CompletedTile[]): Promise<void> {
  const levels = Map.groupBy(completed, ({ level }) => level)
  for (const [level, tiles] of levels) {
    const rows = await readFullTiles(sql, { log, level, n: tiles[0]!.n, count: tiles.length })
    for (const tile of tiles) {
      const { n } = tile
      const row = rows.find((one) => one.n === n)
      if (row === undefined || !holds(row, tile))
        throw new DamagedLog(
          `Tile ${n} of level ${level} of the log does not have the hashes of its entries.`,
        )
    }
  }
}

function holds(row: TileRow, { root, hashes }: CompletedTile): boolean {
  if (Buffer.compare(row.root, root) !== 0) return false
  if (hashes !== undefined) return Buffer.compare(row.hashes, hashes) === 0
  const isFull = row.hashes.length === TILE_WIDTH * HASH_BYTES
  return isFull && Buffer.compare(buildTree(splitHashes(row.hashes), sha256).root, root) === 0
}

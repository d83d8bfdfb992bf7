// Sorts the runs of ids (src/formats/log/ids.ts) in pieces of one transaction each. The progress of a run is stored in the database, so that any
// instance can continue after a crash.
import { rootOf, EMPTY } from '../../formats/log/frontier.ts'
import { LEAF_BYTES, runHash } from '../../formats/log/ids.ts'
import { TILE_WIDTH } from '../../formats/log/tiles.ts'
import { sha256 } from '../../store/sha256.ts'
import { leastServedSize } from '../../store/tables/log-checkpoints.ts'
import { deleteIdTailBefore, oldestInIdTail, readIdTail, wholeRowsOfIdTail } from './id-tail.ts'
import { deleteRunTiles, insertRunTiles, readNextChunks, type LeafChunk } from './run-tiles.ts'
import { moveToMerged, readRuns, upsertRun, type RunRow } from './runs.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { Statement } from '../../store/postgres/statement-batch.ts'
import { addLeaves, assertChunk, leavesBetween, leavesOfKeys, sortedLeaves } from './run-leaves.ts'

export interface RunSizes {
  /** Maximum number of entries in a run of level 0. */
  readonly entriesMax: number
  /** Number of runs of a level that are merged into one run of the next level. */
  readonly merged: number
  /**
   * Number of chunks of leaves that a merging piece takes, besides one of each run; greater than `merged`, so that each piece makes progress.
   * The first level takes twice as many.
   */
  readonly chunksAtOnce: number
}

/** A piece has at most 16,384 leaves: up to 50 ms of computing. */
export const RUN_SIZES: RunSizes = { entriesMax: 65_536, merged: 16, chunksAtOnce: 32 }

/** An id is put into a run an hour after its entry at the latest, however few ids there are. */
const RUN_AGE_MS = 3_600_000
const TILES_DELETED_AT_ONCE = 1024

/** The work of one transaction for the runs. */
interface Piece {
  /** The hash of the entry that states the run that this piece completes; undefined when it completes none. */
  readonly completedRun: string | undefined
  /** @param entryIndex index of that entry */
  readonly statements: (entryIndex: number | null) => Statement[]
}

interface Log {
  readonly log: number
  /** The size of the tree. */
  readonly size: number
  readonly nowMs: number
  readonly sizes: RunSizes
}

/**
 * The next piece of work. The caller must hold the lock of the log.
 * @returns undefined when there is nothing to do
 * @throws DamagedLog when stored leaves do not match their stored root
 */
export async function nextPiece(sql: Sql, log: Log): Promise<Piece | undefined> {
  const runs = await readRuns(sql, log.log)
  const levels = Math.max(0, ...runs.map(({ level }) => level))
  const first = (await firstLevelPiece(sql, log, runs)) ?? (await forgettingPiece(sql, log, runs))
  if (first !== undefined) return first
  // Lower levels first, so that a level rarely has more runs than are merged at once.
  for (let level = 1; level <= levels + 1; level++) {
    const piece = await mergingPiece(sql, log, { runs, level })
    if (piece !== undefined) return piece
  }
  return undefined
}

/** Adds ids of entries that are in no run yet to a run. */
async function firstLevelPiece(sql: Sql, log: Log, runs: readonly RunRow[]): Promise<Piece | undefined> {
  const run = unfinished(runs, 0) ?? (await dueRun(sql, log, runs))
  if (run === undefined) return undefined
  const { lastLeaf, first, end } = run
  const rows = await readIdTail(sql, { log: log.log, first, end })
  // Each piece reads all keys of the run, so a run is made in few pieces.
  const countMax = 2 * log.sizes.chunksAtOnce * TILE_WIDTH
  const { leaves, isAll } = leavesOfKeys(rows, { after: lastLeaf, countMin: countMax })
  const piece = sortedLeaves(leaves).subarray(0, countMax * LEAF_BYTES)
  return adding(run, piece, { isLast: isAll && piece.length === leaves.length })
}

/** Begins a run when there are enough ids for a run, or when the oldest id has waited for an hour. */
async function dueRun(
  sql: Sql,
  { log, size, nowMs, sizes }: Log,
  runs: readonly RunRow[],
): Promise<RunRow | undefined> {
  const first = coveredTo(runs)
  const oldest = await oldestInIdTail(sql, log)
  if (oldest === undefined) return undefined
  if (size - first < sizes.entriesMax && nowMs - oldest.appendedAtMs < RUN_AGE_MS) return undefined
  const end = await wholeRowsOfIdTail(sql, { log, end: first + sizes.entriesMax })
  return begun({ log, level: 0, first, end })
}

/** Adds leaves of several runs to the larger run that they are merged into. */
async function mergingPiece(
  sql: Sql,
  { log, sizes }: Log,
  { runs, level }: { runs: readonly RunRow[]; level: number },
): Promise<Piece | undefined> {
  const run = unfinished(runs, level) ?? dueMerge(runs, { log, level, merged: sizes.merged })
  if (run === undefined) return undefined
  const { chunks, bound } = await readNextChunks(sql, {
    log,
    level: level - 1,
    runs: mergedInto(runs, run).map(({ first }) => first),
    after: run.lastLeaf,
    count: sizes.chunksAtOnce,
  })
  // A chunk that begins at or before `lastLeaf` was checked by an earlier piece.
  const isNew = ({ leaves }: LeafChunk) => Buffer.compare(leaves.subarray(0, LEAF_BYTES), run.lastLeaf) > 0
  chunks.filter(isNew).forEach(assertChunk)
  const leaves = sortedLeaves(leavesBetween(chunks, run.lastLeaf, bound))
  return adding(run, leaves, { isLast: bound === undefined })
}

function dueMerge(
  runs: readonly RunRow[],
  { log, level, merged: count }: { log: number; level: number; merged: number },
): RunRow | undefined {
  const mergedTo = coveredTo(runs.filter((run) => run.level >= level))
  const due = runs.filter(
    (run) => run.level === level - 1 && run.entryIndex !== null && run.first >= mergedTo,
  )
  const merged = due.slice(0, count)
  if (merged.length < count) return undefined
  return begun({ log, level, first: merged[0]!.first, end: merged.at(-1)!.end })
}

/** Deletes the leaves of runs that were merged, once every served checkpoint covers the entry that states the larger run. */
async function forgettingPiece(
  sql: Sql,
  { log, nowMs }: Log,
  runs: readonly RunRow[],
): Promise<Piece | undefined> {
  if (!runs.some(({ level }) => level > 0)) return undefined
  const size = await leastServedSize(sql, { log, nowMs })
  const served = runs.filter(({ entryIndex }) => entryIndex !== null && entryIndex < size)
  const run = runs.find((one) =>
    served.some(({ level, first, end }) => level > one.level && first <= one.first && one.end <= end),
  )
  if (run === undefined) return undefined
  const count = await deleteRunTiles(sql, run, TILES_DELETED_AT_ONCE)
  return {
    completedRun: undefined,
    statements: () => (count < TILES_DELETED_AT_ONCE ? moveToMerged(run) : []),
  }
}

/** Stores a run with further leaves. If they are the last ones, the log states the run. */
function adding(before: RunRow, leaves: Buffer, { isLast }: { isLast: boolean }): Piece {
  const { run, tiles } = addLeaves(before, leaves, { isLast })
  const { log, level, end, chunks } = run
  return {
    completedRun: isLast ? runHash({ ...run, root: rootOf(chunks, sha256) }, sha256) : undefined,
    statements: (entryIndex) => [
      ...insertRunTiles(run, tiles),
      ...upsertRun({ ...run, entryIndex }),
      ...(isLast && level === 0 ? deleteIdTailBefore(log, end) : []),
    ],
  }
}

const NO_LEAF = new Uint8Array(0)

function begun(run: Pick<RunRow, 'log' | 'level' | 'first' | 'end'>): RunRow {
  return { ...run, size: 0, chunks: EMPTY, lastLeaf: NO_LEAF, entryIndex: null }
}

function unfinished(runs: readonly RunRow[], level: number): RunRow | undefined {
  return runs.find((run) => run.level === level && run.entryIndex === null)
}

/** The runs of the level below that a run is merged from, as far as they still exist. */
function mergedInto(runs: readonly RunRow[], { level, first, end }: RunRow): RunRow[] {
  return runs.filter((run) => run.level === level - 1 && run.first >= first && run.end <= end)
}

/** Runs cover the entries from the first one on without gaps. */
function coveredTo(runs: readonly RunRow[]): number {
  return Math.max(0, ...runs.map(({ end }) => end))
}

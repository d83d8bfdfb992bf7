// Moves queued entries into the tree of the log: one transaction takes them out of the queue and appends them, so that each entry is at every moment
// in one of the two. Any thread of any instance may run it: the lock of the log lets one in at a time.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { DamagedLog } from '../../src/formats/log/damaged.ts'
import type { Frontier } from '../../src/formats/log/frontier.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { takeQueued, type QueuedBatch } from '../../src/store/tables/log-queue.ts'
import {
  lockOpenLog,
  updateLogState,
  type LogState,
  type LogStatus,
} from '../../src/store/tables/log-state.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { inTransaction, type Transaction } from '../../src/store/postgres/transaction.ts'
import { readEdge, type Edge } from './edge.ts'
import { whyBehind, type Guard } from './guard.ts'
import { nextPiece, RUN_SIZES, type RunSizes } from '../../src/core/absence/sort-runs.ts'

/** The stored runs of ids are damaged. The log itself goes on. */
export class DamagedRuns extends Error {}

function asDamagedRuns(error: unknown): never {
  throw error instanceof DamagedLog ? new DamagedRuns(error.message) : error
}

/** A checkpoint is published this long after the last one, if the log has grown. */
export const CHECKPOINT_EVERY_MS = 500

interface Sequenced {
  /** Whether the queue may hold more. */
  readonly more: boolean
  /** Whether the heads were appended: a checkpoint can be published. */
  readonly checkpointDue: boolean
}

const NOTHING: Sequenced = { more: false, checkpointDue: false }

interface Sequencer {
  /**
   * Appends the queued entries, and the heads of the streams where a checkpoint is due.
   * @throws DamagedLog where the log must be frozen
   */
  readonly sequence: () => Promise<Sequenced>
  /**
   * Does a piece of work on the runs of ids.
   * @returns whether there was any
   * @throws DamagedRuns where the stored runs are damaged, DamagedLog where the log must be frozen
   */
  readonly workOnRuns: () => Promise<boolean>
  /** Whether this thread made the last append, so that it need not read the edge of the tree. */
  readonly isAt: (tree: Pick<LogStatus, 'log' | 'size'>) => boolean
}

export function openSequencer({
  pool,
  guard,
  nowMs,
  runSizes = RUN_SIZES,
}: {
  readonly pool: Pool
  readonly guard: Guard
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
  readonly runSizes?: RunSizes
}): Sequencer {
  let edge: Edge | undefined

  async function append(sql: Transaction): Promise<Sequenced> {
    const state = await lockOpenLog(sql)
    if (state === undefined) return NOTHING
    assertNotBehind(state)
    // Statements after the lock: they see what its last holder committed, and everything that was committed before.
    const [{ batches: queued, more, remove }, last] = await Promise.all([
      takeQueued(sql),
      latestCheckpoint(sql, state.log),
    ])
    const batches = [...beginningOf(state), ...queued]
    const withHeads = areHeadsDue({
      isGrown: batches.length > 0 || state.frontier.size > state.checkpointTree.size,
      checkpointTreeSize: state.checkpointTree.size,
      publishedSize: last?.size ?? 0,
      publishedAtMs: last?.publishedAtMs ?? 0,
      nowMs: nowMs(),
    })
    if (batches.length === 0 && !withHeads) return NOTHING
    edge = await edgeAt(sql, state)
    const appended = edge.append(batches, { withHeads, nowMs: nowMs() })
    const { log, frontier } = edge
    const checkpointTree = withHeads ? { size: frontier.size, root: edge.root() } : state.checkpointTree
    sql.runLast([...remove(), ...appended, ...updateLogState({ log, frontier, checkpointTree })])
    return { more, checkpointDue: withHeads }
  }

  async function addToRuns(sql: Transaction): Promise<boolean> {
    const state = await lockOpenLog(sql)
    if (state === undefined) return false
    const { log, checkpointTree } = state
    const { size } = state.frontier
    const piece = await nextPiece(sql, { log, size, nowMs: nowMs(), sizes: runSizes }).catch(asDamagedRuns)
    if (piece === undefined) return false
    const { completedRun, statements } = piece
    if (completedRun === undefined) {
      sql.runLast(statements(null))
      return true
    }
    assertNotBehind(state)
    edge = await edgeAt(sql, state)
    const appended = edge.append([], { run: completedRun, withHeads: false, nowMs: nowMs() })
    const { frontier } = edge
    sql.runLast([
      ...statements(state.frontier.size),
      ...appended,
      ...updateLogState({ log, frontier, checkpointTree }),
    ])
    return true
  }

  async function inLogTransaction<T>(work: (sql: Transaction) => Promise<T>): Promise<T> {
    try {
      return await inTransaction(pool, work)
    } catch (error) {
      // Whether it was committed may not be known.
      edge = undefined
      throw error
    }
  }

  function assertNotBehind(state: LogState): void {
    const behind = whyBehind({ ...state, checkpointSize: state.checkpointTree.size }, guard.seen())
    if (behind !== undefined) throw new DamagedLog(behind)
  }

  /**
   * The edge in memory, if no other instance has appended since. After a failover another instance may have appended other entries up to the same
   * size.
   */
  async function edgeAt(sql: Sql, state: LogState): Promise<Edge> {
    return edge?.log === state.log && isSameTree(edge.frontier, state.frontier) ? edge : readEdge(sql, state)
  }

  return {
    sequence: () => inLogTransaction(append),
    workOnRuns: () => inLogTransaction(addToRuns),
    isAt: ({ log, size }) => edge?.log === log && edge.frontier.size === size,
  }
}

function isSameTree(a: Frontier, b: Frontier): boolean {
  return a.size === b.size && a.peaks.every((peak, i) => Buffer.compare(peak, b.peaks[i]!) === 0)
}

/** The first entry of a log that follows another one. */
function beginningOf({ origin, previous }: LogState): QueuedBatch[] {
  if (previous === undefined) return []
  const entry = { kind: 'previous', hash: sha256Hex(previous), id: origin, streams: {} } as const
  return [{ batch: randomUUID(), entries: [entry] }]
}

/**
 * Whether the heads of the streams are appended now. A first checkpoint waits for nothing.
 * @param state.isGrown whether entries follow its last heads; `checkpointTreeSize` is the size with those, `publishedSize` that of the last
 *   checkpoint
 */
export function areHeadsDue({
  isGrown,
  checkpointTreeSize,
  publishedSize,
  publishedAtMs,
  nowMs,
}: Pick<LogStatus, 'checkpointTreeSize' | 'publishedSize' | 'publishedAtMs'> & {
  readonly isGrown: boolean
  readonly nowMs: number
}): boolean {
  const isPublished = checkpointTreeSize === publishedSize
  return isGrown && isPublished && nowMs - publishedAtMs >= CHECKPOINT_EVERY_MS
}

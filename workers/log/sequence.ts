// Moves what is queued into the tree of the log: one transaction takes it out of the queue and appends it, so that each entry is at every
// moment in one of the two. Any thread of any instance may run it: the lock of the log lets one in at a time.
import type { Pool } from 'pg'
import { DamagedLog } from '../../src/core/log/damaged.ts'
import { latestCheckpoint, type CheckpointRow } from '../../src/core/tables/log-checkpoints.ts'
import { takeQueued } from '../../src/core/tables/log-queue.ts'
import { freezeOpenLog, lockOpenLog, updateLogState, type LogState } from '../../src/core/tables/log-state.ts'
import type { Sql } from '../../src/core/tables/sql.ts'
import { inTransaction, type Transaction } from '../../src/core/tables/transaction.ts'
import { readEdge, type Edge } from './edge.ts'
import { whyBehind, type Guard } from './guard.ts'

/** A checkpoint is published this long after the last one, if the log has grown. */
export const CHECKPOINT_EVERY_MS = 500

export interface Sequenced {
  /** Whether the queue may hold more. */
  readonly more: boolean
  /** Whether the heads were appended: a checkpoint can be published. */
  readonly headed: boolean
}

const NOTHING: Sequenced = { more: false, headed: false }

export interface Sequencer {
  /** Appends what is queued, and the heads of the streams where a checkpoint is due. */
  readonly sequence: () => Promise<Sequenced>
  /** Whether this thread made the last append, so that it need not read the edge of the tree. */
  readonly isAt: (size: number) => boolean
}

export function openSequencer({
  pool,
  guard,
  nowMs,
}: {
  readonly pool: Pool
  readonly guard: Guard
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}): Sequencer {
  let edge: Edge | undefined

  async function append(sql: Transaction): Promise<Sequenced> {
    const state = await lockOpenLog(sql)
    if (state === undefined) return NOTHING
    const behind = whyBehind({ ...state, checkpointSize: state.checkpoint.size }, guard.seen())
    if (behind !== undefined) throw new DamagedLog(behind)
    // Statements after the lock: they see what its last holder committed, and everything that was committed before.
    const [{ batches, more }, last] = await Promise.all([takeQueued(sql), latestCheckpoint(sql, state.log)])
    const withHeads = isDue(state, { appends: batches.length > 0, last, nowMs: nowMs() })
    if (batches.length === 0 && !withHeads) return NOTHING
    edge = await edgeAt(sql, state)
    const steps = edge.append(batches, { withHeads })
    const { log, frontier } = edge
    const checkpoint = withHeads ? { size: frontier.size, root: edge.root() } : state.checkpoint
    sql.runLast([...steps, ...updateLogState({ log, frontier, checkpoint })])
    return { more, headed: withHeads }
  }

  /** The one in memory, if nobody appended since. */
  async function edgeAt(sql: Sql, state: LogState): Promise<Edge> {
    if (edge?.log === state.log && edge.frontier.size === state.frontier.size) return edge
    return readEdge(sql, state)
  }

  return {
    async sequence() {
      try {
        return await inTransaction(pool, append)
      } catch (error) {
        // Whether it was committed may not be known.
        edge = undefined
        if (!(error instanceof DamagedLog)) throw error
        await freezeOpenLog(pool, error.message)
        return NOTHING
      }
    },
    isAt: (size) => edge?.frontier.size === size,
  }
}

/** The log has grown, the last heads are published, and it is time. A first checkpoint waits for nothing. */
function isDue(
  { frontier, checkpoint }: LogState,
  { appends, last, nowMs }: { appends: boolean; last: CheckpointRow | undefined; nowMs: number },
): boolean {
  const grown = appends || frontier.size > checkpoint.size
  const published = checkpoint.size === (last?.size ?? 0)
  return grown && published && nowMs - (last?.publishedAtMs ?? 0) >= CHECKPOINT_EVERY_MS
}

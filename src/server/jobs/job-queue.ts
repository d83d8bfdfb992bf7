// pg-boss of this instance: fetches the jobs that the other files of this folder work on.
import type { Pool } from 'pg'
import type { PgBoss, Queue } from 'pg-boss'
import { openJobQueue } from '../../store/queues/job-queue.ts'
import { openPool } from '../../store/postgres/sql.ts'
import { within } from '../../core/threads/within.ts'

/** One connection fetches, completes and looks after the queues; one is to spare. */
const CONNECTIONS_MAX = 2
/** Instances that start together wait for the instance that makes pg-boss's schema. */
const PATIENCE = { statementMs: 10_000, lockMs: 10_000 }

/** A database that is away fails every poll: the same error is logged once within this time. */
const SAME_ERROR_MS = 60_000

export interface JobQueue {
  readonly boss: PgBoss
  readonly pool: Pool
  /** Fetches no further job, and waits at most `ms` for those under way. */
  readonly close: (ms: number) => Promise<void>
}

/**
 * Starts pg-boss. The first instance creates its schema.
 * @throws Error where the database cannot be opened
 */
export async function startJobQueue({
  connectionString,
  queues,
  log,
}: {
  readonly connectionString: string
  readonly queues: readonly Queue[]
  readonly log: {
    readonly warn: (message: string) => void
    readonly error: (line: object, message: string) => void
  }
}): Promise<JobQueue> {
  const pool = openPool(connectionString, CONNECTIONS_MAX, PATIENCE)
  const boss = await openJobQueue(pool, queues, {
    onError: onceAMinute((error) => log.error({ err: error }, 'queued webhooks and notifications')),
    onWarning: (message) => log.warn(`queued webhooks and notifications: ${message}`),
  }).catch(async (error: unknown) => {
    await pool.end()
    throw error
  })
  return {
    boss,
    pool,
    async close(ms) {
      await boss.stop({ graceful: true, timeout: ms })
      // A statement that never comes back must not hold up the stop.
      await within(ms, pool.end(), undefined)
    },
  }
}

function onceAMinute(report: (error: Error) => void): (error: Error) => void {
  let last = { message: '', atMs: 0 }
  return (error) => {
    const atMs = performance.now()
    if (error.message === last.message && atMs - last.atMs < SAME_ERROR_MS) return
    last = { message: error.message, atMs }
    report(error)
  }
}

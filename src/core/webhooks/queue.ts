// The pg-boss queue of webhook deliveries (decisions §10): a job is inserted in the statement that stores its event and deleted in the
// transaction that processes it (src/core/tables/webhook-events.ts). What fails is tried again with growing delays and ends in the dead-letter queue, where an operator finds it.
import { PgBoss, type ConstructorOptions, type Db, type Queue } from 'pg-boss'
import type { Pool } from 'pg'
import { isUnavailable, type Sql } from '../tables/sql.ts'

export const WEBHOOK_QUEUE = 'webhook-events'
export const DEAD_WEBHOOK_QUEUE = 'webhook-events-dead'

/** What a job says: which row of webhook_events it is of, and how long its body is. */
export interface WebhookJob {
  readonly id: string
  readonly bytes: number
}

/** pg-boss deletes what waits longer. A delivery that was acknowledged waits for an operator however long that takes. */
const KEPT_SECONDS = 10 * 366 * 24 * 3600

/** Ten attempts in a quarter of an hour. A database that is away costs none: without it no job is fetched. */
const queues: readonly Queue[] = [
  { name: DEAD_WEBHOOK_QUEUE, retentionSeconds: KEPT_SECONDS },
  {
    name: WEBHOOK_QUEUE,
    deadLetter: DEAD_WEBHOOK_QUEUE,
    retryLimit: 9,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 300,
    // After a kill -9 its jobs are taken up when this is over. Safe to be short: a job that is run twice finds its event processed.
    expireInSeconds: 15,
    retentionSeconds: KEPT_SECONDS,
  },
]

/** For all of ours: nothing is scheduled by the clock, and the indexes of a table that stays small are not rebuilt. */
const options = {
  schedule: false,
  reindex: false,
  // Polled for features that we do not use.
  flowIntervalSeconds: 3600,
} as const satisfies ConstructorOptions

/** pg-boss over our own connections, with their timeouts. */
function database(sql: Sql): Db {
  return { executeSql: (text, values) => sql.query(text, values) }
}

/** pg-boss of the main thread: makes its schema and the queues where they are not there, and looks after them. */
export async function openWebhookQueue(
  pool: Pool,
  report: { onError: (error: Error) => void; onWarning: (message: string) => void },
): Promise<PgBoss> {
  const boss = new PgBoss({
    ...options,
    db: database(pool),
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
  })
  boss.on('error', report.onError)
  boss.on('warning', ({ message }) => report.onWarning(message))
  try {
    await boss.start()
    for (const { name, ...queue } of queues) {
      await boss.createQueue(name, queue)
      // Made by an earlier release, it has that one's settings.
      await boss.updateQueue(name, queue)
    }
    return boss
  } catch (error) {
    await boss.stop({ graceful: false })
    throw error
  }
}

/** pg-boss of whoever only moves jobs: the operator's command. */
export async function joinWebhookQueue(pool: Pool): Promise<PgBoss> {
  let unavailable: unknown
  const db: Db = {
    async executeSql(text, values) {
      try {
        return await database(pool).executeSql(text, values)
      } catch (error) {
        if (isUnavailable(error)) unavailable = error
        throw error
      }
    },
  }
  const boss = new PgBoss({ ...options, db, migrate: false, supervise: false })
  boss.on('error', () => undefined)
  try {
    await boss.start()
    // It starts without its list of queues where that cannot be read just then, and never inserts a job afterwards.
    // oxlint-disable-next-line typescript/only-throw-error -- what the driver threw
    if (unavailable !== undefined) throw unavailable
    return boss
  } catch (error) {
    await boss.stop({ graceful: false })
    throw error
  }
}

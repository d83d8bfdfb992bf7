// The pg-boss queue of webhook deliveries (decisions §10). A job is inserted in the transaction that stores its event and deleted in the
// transaction that processes it. A job that fails is tried again with growing delays and ends in the dead-letter queue, for an operator.
import { hash } from 'node:crypto'
import type { ConstructorOptions, Db, PgBoss, Queue } from 'pg-boss'
import type { Pool } from 'pg'
import { isUnavailable, type Sql } from '../tables/sql.ts'

export const WEBHOOK_QUEUE = 'webhook-events'
export const DEAD_WEBHOOK_QUEUE = 'webhook-events-dead'

/** Data of a job: the key of its row of webhook_events and the length of the delivery's body. */
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

/** Part of a transaction of ours, prepared: to plan pg-boss's insert takes PostgreSQL as long as to run it. */
function partOf(transaction: Sql): Db {
  return {
    executeSql: (text, values = []) =>
      transaction.query({ name: `pgboss_${hash('sha256', text).slice(0, 32)}`, text, values }),
  }
}

/** pg-boss of the main thread: makes its schema and the queues where they are missing, and supervises them. */
export async function openWebhookQueue(
  pool: Pool,
  report: { onError: (error: Error) => void; onWarning: (message: string) => void },
): Promise<PgBoss> {
  const boss = await newBoss({
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
      // A queue that an earlier release made has that release's settings.
      await boss.updateQueue(name, queue)
    }
    return boss
  } catch (error) {
    await boss.stop({ graceful: false })
    throw error
  }
}

/** pg-boss of a program that only moves jobs: a worker thread, the operator's command. */
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
  const boss = await newBoss({ db, migrate: false, supervise: false })
  boss.on('error', () => undefined)
  try {
    await boss.start()
    // pg-boss starts without its list of queues where that cannot be read just then, and never inserts a job afterwards.
    // oxlint-disable-next-line typescript/only-throw-error -- what the driver threw
    if (unavailable !== undefined) throw unavailable
    return boss
  } catch (error) {
    await boss.stop({ graceful: false })
    throw error
  }
}

/** Loaded where deliveries are taken: the library takes memory in every thread. */
async function newBoss(more: ConstructorOptions): Promise<PgBoss> {
  const { PgBoss } = await import('pg-boss')
  return new PgBoss({ ...options, ...more })
}

/** The jobs of deliveries, as part of a transaction of ours. */
export interface WebhookJobs {
  /** @throws where the queue is missing: the transaction must not commit an event that nobody would process */
  readonly add: (transaction: Sql, jobs: readonly WebhookJob[]) => Promise<void>
  /** Adds them, to be taken up no earlier than in so many seconds. */
  readonly addLater: (transaction: Sql, jobs: readonly WebhookJob[], seconds: number) => Promise<void>
  readonly remove: (transaction: Sql, jobIds: readonly string[]) => Promise<void>
  /**
   * Runs the dead job of a delivery again.
   * @returns whether there was one
   */
  readonly revive: (eventKey: string) => Promise<boolean>
}

/**
 * The jobs as a worker thread knows them.
 *
 * @returns a function that joins the queue when it is first called, and again where that has failed. Call it before the transaction,
 *   which holds a connection that joining may wait for
 */
export function openWebhookJobs(pool: Pool): () => Promise<WebhookJobs> {
  let joined: Promise<WebhookJobs> | undefined
  return () =>
    (joined ??= joinWebhookQueue(pool).then(jobsOf, (error: unknown) => {
      joined = undefined
      throw error
    }))
}

/** @param boss of `joinWebhookQueue` */
export function jobsOf(boss: PgBoss): WebhookJobs {
  async function insert(transaction: Sql, jobs: readonly WebhookJob[], more: { startAfter?: number }) {
    const given = jobs.map((data) => ({ data, ...more }))
    const ids = await boss.insert(WEBHOOK_QUEUE, given, { db: partOf(transaction), returnId: true })
    if (ids?.length !== jobs.length) throw new Error(`pg-boss has no queue ${WEBHOOK_QUEUE}`)
  }
  return {
    add: (transaction, jobs) => insert(transaction, jobs, {}),
    addLater: (transaction, jobs, seconds) => insert(transaction, jobs, { startAfter: seconds }),
    async remove(transaction, jobIds) {
      await boss.deleteJob(WEBHOOK_QUEUE, [...jobIds], { db: partOf(transaction) })
    },
    revive: async (eventKey) => (await boss.redrive(DEAD_WEBHOOK_QUEUE, { data: { id: eventKey } })) > 0,
  }
}

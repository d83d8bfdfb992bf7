// The parts of pg-boss that all our queues share: jobs are inserted in one of our transactions, and any instance works on them.
import { hash } from 'node:crypto'
import type { ConstructorOptions, Db, JobInsert, PgBoss, Queue } from 'pg-boss'
import type { Pool } from 'pg'
import { isUnavailable } from '../postgres/sql-errors.ts'
import type { Sql } from '../postgres/sql.ts'

/** For all our queues: nothing is scheduled by the clock, and the indexes of a table that stays small are not rebuilt. */
const options = {
  schedule: false,
  reindex: false,
  // Polled for features that we do not use.
  flowIntervalSeconds: 3600,
} as const satisfies ConstructorOptions

/** Runs pg-boss over our own connections, with their timeouts. */
function database(sql: Sql): Db {
  return { executeSql: (text, values) => sql.query(text, values) }
}

/** Runs pg-boss in one of our transactions, with prepared statements: planning its insert takes PostgreSQL as long as running it. */
export function partOf(transaction: Sql): Db {
  return {
    executeSql: (text, values = []) =>
      transaction.query({ name: `pgboss_${hash('sha256', text).slice(0, 32)}`, text, values }),
  }
}

/**
 * Adds jobs, as part of our transaction.
 * @throws where the queue is missing: the transaction must not commit work that no job would do
 */
export async function insertJobs<Job extends object>(
  boss: PgBoss,
  transaction: Sql,
  queue: string,
  jobs: JobInsert<Job>[],
): Promise<void> {
  const ids = await boss.insert(queue, jobs, { db: partOf(transaction), returnId: true })
  if (ids?.length !== jobs.length) throw new Error(`pg-boss has no queue ${queue}`)
}

/**
 * pg-boss of the main thread: makes its schema and the queues where they are missing, and supervises them.
 * @param queues a dead-letter queue comes before the queue that uses it
 */
export async function openJobQueue(
  pool: Pool,
  queues: readonly Queue[],
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
export async function joinJobQueue(pool: Pool): Promise<PgBoss> {
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

/**
 * The access of a worker thread to the jobs.
 *
 * @returns a function that joins the queue when it is first called, and again where that has failed. Call it before the transaction,
 *   which holds a connection that joining may wait for
 */
export function openJoinedQueue(pool: Pool): () => Promise<PgBoss> {
  let joined: Promise<PgBoss> | undefined
  return () =>
    (joined ??= joinJobQueue(pool).catch((error: unknown) => {
      joined = undefined
      throw error
    }))
}

/** Imports the library only where jobs are used, because it takes memory in every thread. */
async function newBoss(more: ConstructorOptions): Promise<PgBoss> {
  const { PgBoss } = await import('pg-boss')
  return new PgBoss({ ...options, ...more })
}

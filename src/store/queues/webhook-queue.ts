// The pg-boss queues of webhook deliveries (decisions §10). A job is inserted in the transaction that stores its deliveries and deleted in
// the transaction that processes them. Deliveries that one commit stores share a job; where that fails, each gets a job of its own. Such a
// job is tried again with growing delays and ends in the dead-letter queue, for an operator.
import type { JobInsert, PgBoss, Queue } from 'pg-boss'
import { insertJobs, partOf } from './job-queue.ts'
import type { Sql } from '../postgres/sql.ts'

/** The queue of jobs with one delivery. */
export const WEBHOOK_QUEUE = 'webhook-events'
/**
 * The queue of jobs with several deliveries. It is a separate queue, so that an instance of the release before, which knows no such jobs, takes
 * none.
 */
export const WEBHOOK_BATCH_QUEUE = 'webhook-batches'
export const DEAD_WEBHOOK_QUEUE = 'webhook-events-dead'

/** The delivery in a job: the key of its row of webhook_events and the length of its body. */
export interface QueuedDelivery {
  readonly id: string
  readonly bytes: number
}

/** Data of a job, in `WEBHOOK_QUEUE` and in `WEBHOOK_BATCH_QUEUE`. */
export type WebhookJob = QueuedDelivery | { readonly deliveries: readonly QueuedDelivery[] }

export function deliveriesOf(job: WebhookJob): readonly QueuedDelivery[] {
  return 'deliveries' in job ? job.deliveries : [job]
}

/** SQL: a JSON array of the deliveries of a job. @param job the alias of its row */
export function deliveriesIn(job: string): string {
  return `coalesce(${job}.data -> 'deliveries', jsonb_build_array(${job}.data))`
}

/** pg-boss deletes jobs that wait longer. An acknowledged delivery waits for an operator however long that takes. */
const KEPT_SECONDS = 10 * 366 * 24 * 3600

/** Ten attempts in a quarter of an hour. A database that is away uses up none of them: without it no job is fetched. */
const worked: Omit<Queue, 'name'> = {
  deadLetter: DEAD_WEBHOOK_QUEUE,
  retryLimit: 9,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 300,
  // After a kill -9 its jobs are taken up when this time is over. It may be short: a job that runs twice finds its deliveries processed.
  expireInSeconds: 15,
  retentionSeconds: KEPT_SECONDS,
}

export const webhookQueues: readonly Queue[] = [
  { name: DEAD_WEBHOOK_QUEUE, retentionSeconds: KEPT_SECONDS },
  { name: WEBHOOK_QUEUE, ...worked },
  { name: WEBHOOK_BATCH_QUEUE, ...worked },
]

/** The jobs of deliveries, as part of a transaction of ours. */
export interface WebhookJobs {
  /**
   * Adds one job for all of them.
   * @param deliveries at least one
   * @param more.startAfter seconds before which the job is not taken up
   * @throws where the queue is missing: the transaction must not commit a delivery that would never be processed
   */
  readonly add: (
    transaction: Sql,
    deliveries: readonly QueuedDelivery[],
    more?: { readonly startAfter: number },
  ) => Promise<void>
  /** Replaces a job of several deliveries with a job for each, because one failing delivery would fail them all. */
  readonly split: (transaction: Sql, jobId: string, deliveries: readonly QueuedDelivery[]) => Promise<void>
  readonly remove: (transaction: Sql, queue: string, jobIds: readonly string[]) => Promise<void>
  /**
   * Runs the dead job of a delivery again.
   * @returns whether there was one
   */
  readonly revive: (eventKey: string) => Promise<boolean>
}

/**
 * The access of a worker thread to the jobs.
 * @param join from `openJoinedQueue`. Call the returned function before the transaction, as `join` says
 */
export function openWebhookJobs(join: () => Promise<PgBoss>): () => Promise<WebhookJobs> {
  return async () => jobsOf(await join())
}

/** @param boss from `joinJobQueue` or `openJobQueue` */
export function jobsOf(boss: PgBoss): WebhookJobs {
  const insert = (transaction: Sql, queue: string, jobs: JobInsert<WebhookJob>[]) =>
    insertJobs(boss, transaction, queue, jobs)
  async function remove(transaction: Sql, queue: string, jobIds: readonly string[]) {
    await boss.deleteJob(queue, [...jobIds], { db: partOf(transaction) })
  }
  return {
    add(transaction, deliveries, more) {
      const [first] = deliveries
      return deliveries.length === 1 && first !== undefined
        ? insert(transaction, WEBHOOK_QUEUE, [{ data: first, ...more }])
        : insert(transaction, WEBHOOK_BATCH_QUEUE, [{ data: { deliveries }, ...more }])
    },
    async split(transaction, jobId, deliveries) {
      await insert(
        transaction,
        WEBHOOK_QUEUE,
        deliveries.map((data) => ({ data })),
      )
      await remove(transaction, WEBHOOK_BATCH_QUEUE, [jobId])
    },
    remove,
    revive: async (eventKey) => (await boss.redrive(DEAD_WEBHOOK_QUEUE, { data: { id: eventKey } })) > 0,
  }
}

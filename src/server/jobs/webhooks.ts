// Hands the jobs of webhook deliveries to the worker threads, on every instance (decisions §10). The work is workers/webhooks/process.ts.
import type { Job, JobResult } from 'pg-boss'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { doOwnWork } from '../dispatch/own-work.ts'
import type { DueWebhooks, ProcessedDelivery } from '../../core/operations/process-webhooks.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'
import {
  deliveriesOf,
  jobsOf,
  WEBHOOK_BATCH_QUEUE,
  WEBHOOK_QUEUE,
  type WebhookJob,
} from '../../store/queues/webhook-queue.ts'
import type { JobQueue } from './job-queue.ts'

/**
 * Jobs that are fetched at a time, so that the cost of a fetch is a small part of the work. A job of several deliveries has as many as a
 * stored batch (`receive-webhook` in src/core/operations/), and all of them must be done long before they expire.
 */
const JOBS_MAX = { [WEBHOOK_QUEUE]: 250, [WEBHOOK_BATCH_QUEUE]: 16 }
/** The pause while nothing comes. A full batch is followed by the next one at once. */
const POLL_SECONDS = 0.5

/**
 * Processes the waiting deliveries, on this instance.
 * @param queue with `webhookQueues`
 */
export async function workOnWebhooks({
  queue: { boss, pool },
  submit,
  onProcessed,
}: {
  queue: JobQueue
  submit: Dispatcher['submit']
  /** Called for each delivery, with its outcome. */
  onProcessed: (delivery: ProcessedDelivery) => void
}): Promise<void> {
  const jobsOfDeliveries = jobsOf(boss)
  const split = ({ id, data }: Job<WebhookJob>) =>
    inTransaction(pool, (transaction) => jobsOfDeliveries.split(transaction, id, deliveriesOf(data)))

  async function run(queue: string, fetched: readonly Job<WebhookJob>[]): Promise<JobResult[]> {
    for (const job of fetched.filter(isSplit)) await split(job)
    const jobs = fetched.filter((job) => !isSplit(job))
    const request: DueWebhooks = {
      queue,
      jobs: jobs.map(({ id, data }) => ({ jobId: id, deliveries: deliveriesOf(data) })),
    }
    // Throws where the whole batch failed, which is then tried again.
    const { failed, processed } = await doOwnWork(submit, 'process-webhooks', request)
    processed.forEach(onProcessed)
    const results: JobResult[] = []
    for (const job of fetched) {
      const { id, data } = job
      const message = failed[id]
      if (message === undefined) results.push({ id, status: 'completed' })
      else if (deliveriesOf(data).length === 1) results.push({ id, status: 'failed', output: { message } })
      else {
        await split(job)
        results.push({ id, status: 'completed' })
      }
    }
    return results
  }

  for (const [queue, batchSize] of Object.entries(JOBS_MAX))
    await boss.work(
      queue,
      { batchSize, burstWhenBatchFull: true, pollingIntervalSeconds: POLL_SECONDS, perJobResults: true },
      (jobs: Job<WebhookJob>[]) => run(queue, jobs),
    )
}

/** A retried job is split: one of its deliveries may have ended the run before, and a thread with it. */
function isSplit({ data, retryCount }: Job<WebhookJob>): boolean {
  return retryCount > 0 && deliveriesOf(data).length > 1
}

// Hands the jobs of webhook deliveries to the worker threads, on every instance (decisions §10). The work is workers/webhooks/process.ts.
import type { Pool } from 'pg'
import type { Job, JobResult } from 'pg-boss'
import { SERVICE_CLIENT, type Dispatcher } from '../dispatch/dispatcher.ts'
import type { DueWebhooks, ProcessedDelivery, ProcessedWebhooks } from '../../core/thread-messages.ts'
import { openPool } from '../../core/tables/sql.ts'
import { within } from '../../core/within.ts'
import { openWebhookQueue, WEBHOOK_QUEUE, type WebhookJob } from '../../core/webhooks/queue.ts'

/** One that fetches, completes and looks after the queue; one to spare. */
const CONNECTIONS_MAX = 2
/** Milliseconds of a thread, for the signatures; what a batch costs beside its jobs is then a small part. */
const BATCH_MAX = 250
/** Instances that start together wait for the one that makes pg-boss's schema. */
const PATIENCE = { statementMs: 10_000, lockMs: 10_000 }
/** While nothing comes. A full batch is followed by the next one at once. */
const POLL_SECONDS = 0.5

/** A database that is away fails every poll: the same error is logged once in so long. */
const SAME_ERROR_MS = 60_000

interface WebhookWork {
  readonly pool: Pool
  /** Fetches no further job, and waits at most `ms` for those under way. */
  readonly close: (ms: number) => Promise<void>
}

/**
 * Starts pg-boss. The first instance creates its schema.
 * @throws Error where the database cannot be opened
 */
export async function startWebhookWork({
  connectionString,
  submit,
  onProcessed,
  log,
}: {
  connectionString: string
  submit: Dispatcher['submit']
  /** Called for each delivery, with what became of it. */
  onProcessed: (delivery: ProcessedDelivery) => void
  log: { warn: (message: string) => void; error: (line: object, message: string) => void }
}): Promise<WebhookWork> {
  const pool = openPool(connectionString, CONNECTIONS_MAX, PATIENCE)
  const boss = await openWebhookQueue(pool, {
    onError: onceAMinute((error) => log.error({ err: error }, 'webhook jobs')),
    onWarning: (message) => log.warn(`webhook jobs: ${message}`),
  }).catch(async (error: unknown) => {
    await pool.end()
    throw error
  })

  await boss.work(
    WEBHOOK_QUEUE,
    {
      batchSize: BATCH_MAX,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: POLL_SECONDS,
      perJobResults: true,
    },
    async (jobs: Job<WebhookJob>[]): Promise<JobResult[]> => {
      const request: DueWebhooks = {
        jobs: jobs.map(({ id, data }) => ({ jobId: id, eventKey: data.id, bytes: data.bytes })),
      }
      const body = Buffer.from(JSON.stringify(request))
      const reply = await submit({
        operation: 'process-webhooks',
        client: SERVICE_CLIENT,
        callerIndex: -1,
        body,
      })
      // Thrown: the whole batch failed and is tried again.
      if (reply.status !== 200) throw new Error(failureText(reply.body))
      const { failed, processed } = JSON.parse(Buffer.from(reply.body).toString()) as ProcessedWebhooks
      processed.forEach(onProcessed)
      return jobs.map(({ id }) => {
        const message = failed[id]
        return message === undefined
          ? { id, status: 'completed' }
          : { id, status: 'failed', output: { message } }
      })
    },
  )

  return {
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

function failureText(body: string | Uint8Array): string {
  return (JSON.parse(Buffer.from(body).toString()) as { error: string }).error
}

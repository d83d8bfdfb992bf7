// Runs the jobs of deliveries (decisions §10): one transaction writes a signed audit event of what the delivery is about, marks the
// delivery processed and deletes the job. A job that runs twice finds nothing left to do.
import { errorText } from '../../src/core/error-text.ts'
import type { DueWebhooks, FailedWebhooks } from '../../src/core/thread-messages.ts'
import { isUnavailable } from '../../src/core/tables/sql.ts'
import { inTransaction } from '../../src/core/tables/transaction.ts'
import { markProcessed, type WebhookEventRow } from '../../src/core/tables/webhook-events.ts'
import type { WebhookJobs } from '../../src/core/webhooks/queue.ts'
import type { ThreadContext } from '../context.ts'
import { auditEventRow, storeAuditEvents, type AuditEvent } from '../evidence/audit.ts'
import { Finished, type InFlight } from '../in-flight.ts'
import { togetherOrAlone } from '../together-or-alone.ts'

/** Bodies that are in memory at once: the jobs of one batch can be a quarter of a gigabyte. */
const PIECE_BYTES_MAX = 4_000_000
/** A provider chooses these texts. */
const TEXT_MAX = 256

interface ProcessWith extends Pick<ThreadContext, 'pool' | 'key' | 'startLogBatch'> {
  readonly webhookJobs: () => Promise<WebhookJobs>
}

type Job = DueWebhooks['jobs'][number]

/**
 * Processes due webhooks.
 * @param batch bodies made by the main thread: DueWebhooks
 * @returns FailedWebhooks
 * @throws where the database is away: the jobs stay as they were
 */
export async function processWebhooks(batch: readonly InFlight[], tools: ProcessWith): Promise<Finished[]> {
  const answers: Finished[] = []
  for (const { request } of batch) {
    const { jobs } = JSON.parse(Buffer.from(request.body).toString()) as DueWebhooks
    const failed: Record<string, string> = {}
    for (const piece of pieces(jobs))
      Object.assign(failed, Object.fromEntries(await processEach(piece, tools)))
    answers.push(new Finished(request, { body: JSON.stringify({ failed } satisfies FailedWebhooks) }))
  }
  return answers
}

/** Runs of jobs whose bodies fit, one job at least. */
function pieces(jobs: readonly Job[]): Job[][] {
  const cut: Job[][] = []
  let bytes = Infinity
  for (const job of jobs) {
    bytes += job.bytes
    if (bytes > PIECE_BYTES_MAX) {
      cut.push([])
      bytes = job.bytes
    }
    cut.at(-1)?.push(job)
  }
  return cut
}

/**
 * @returns why each of those that could not be processed was not, by job id
 * @throws where the database is away: the jobs are then as they were
 */
async function processEach(jobs: readonly Job[], tools: ProcessWith): Promise<[string, string][]> {
  const failed = await togetherOrAlone(jobs, {
    work: async (some) => {
      await processAll(some, tools)
      return new Map<Job, string>()
    },
    failed(error) {
      if (isUnavailable(error)) throw error
      return errorText(error)
    },
  })
  return Array.from(failed, ([{ jobId }, why]) => [jobId, why])
}

async function processAll(jobs: readonly Job[], tools: ProcessWith): Promise<void> {
  const { pool, webhookJobs, key, startLogBatch } = tools
  const queue = await webhookJobs()
  await inTransaction(pool, async (transaction) => {
    const at = new Date().toISOString()
    const events = await markProcessed(
      transaction,
      jobs.map(({ eventKey }) => eventKey),
      at,
    )
    const log = startLogBatch()
    const rows = events.map((event) => auditEventRow(processed(event, at), key))
    transaction.runLast([...storeAuditEvents(rows, log), ...log.steps()])
    await queue.remove(
      transaction,
      jobs.map(({ jobId }) => jobId),
    )
  })
}

function processed(event: WebhookEventRow, at: string): AuditEvent {
  const { eventKey, provider, eventId, bodySha256, body, receivedAt } = event
  return {
    eventId: eventKey,
    type: 'webhook.processed',
    occurredAt: at,
    route: 'POST /webhooks/{provider}',
    reason: 'A delivery was received and processed.',
    severity: 'INFO',
    detail: { provider, eventId, bodySha256, receivedAt, ...subject(body) },
  }
}

/** What a delivery is about; nothing else of it is read (interface §6). Any bytes may come: of those that are no JSON, nothing. */
function subject(body: Uint8Array): { event?: string; paymentId?: string; refundId?: string } {
  let envelope: unknown
  try {
    envelope = JSON.parse(Buffer.from(body).toString())
  } catch {
    return {}
  }
  const found = {
    event: text(envelope, ['event']),
    paymentId: text(envelope, ['payload', 'payment', 'entity', 'id']),
    refundId: text(envelope, ['payload', 'refund', 'entity', 'id']),
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/** Cut; well formed, or it could not be signed; and without NUL, which would keep PostgreSQL from reading the event as JSON. */
function text(value: unknown, path: readonly string[]): string | undefined {
  let found = value
  for (const member of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, member)) return undefined
    found = (found as Record<string, unknown>)[member]
  }
  return typeof found === 'string'
    ? found.slice(0, TEXT_MAX).toWellFormed().replaceAll('\0', '\ufffd')
    : undefined
}

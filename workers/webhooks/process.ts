// Runs the jobs of deliveries (decisions §10): one transaction writes the deliveries' statements on executions and a signed audit event of
// each delivery, marks the deliveries processed and deletes their jobs. A job that runs twice finds nothing left to do.
import { randomUUID } from 'node:crypto'
import { errorText } from '../../src/formats/text/error-text.ts'
import type {
  DueWebhooks,
  ProcessedDelivery,
  ProcessedWebhooks,
} from '../../src/core/operations/process-webhooks.ts'
import { isUnavailable } from '../../src/store/postgres/sql-errors.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { lockWaiting, storeEnds, type WaitingDelivery } from '../../src/store/tables/webhook-outcomes.ts'
import type { WebhookJobs } from '../../src/store/queues/webhook-queue.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording, type Done } from '../evidence/recording.ts'
import { togetherOrAlone } from '../together-or-alone.ts'
import { confirmDeliveries, type Confirmed, type ConfirmWith } from './confirm.ts'

/** Bodies that are in memory at once: the jobs of one batch can be a quarter of a gigabyte. */
const PIECE_BYTES_MAX = 4_000_000
/** Deliveries of one transaction: some milliseconds of a thread, for the signatures, in which it stores no delivery. */
const PIECE_COUNT_MAX = 128
/** Bounds the texts that a provider chooses. */
const TEXT_MAX = 256

/** The time until a waiting delivery is checked again for an answer of the connector. */
const WAIT_SECONDS = 1

interface ProcessWith extends Pick<ThreadContext, 'pool' | 'startLogEntries'>, ConfirmWith {
  readonly webhookJobs: () => Promise<WebhookJobs>
}

type Job = DueWebhooks['jobs'][number]

/**
 * Processes due webhooks.
 * @throws where the database is away: the jobs stay as they were
 */
export async function processWebhooks(
  { queue, jobs }: DueWebhooks,
  tools: ProcessWith,
): Promise<ProcessedWebhooks> {
  const failed: Record<string, string> = {}
  const processed: ProcessedDelivery[] = []
  for (const piece of pieces(jobs)) {
    const results = await processEach(piece, queue, tools)
    for (const [i, { jobId }] of piece.entries()) {
      const result = results[i]!
      if (typeof result === 'string') failed[jobId] = result
      else processed.push(...result)
    }
  }
  return { failed, processed }
}

/** Runs of jobs whose deliveries fit, one job at least. */
function pieces(jobs: readonly Job[]): Job[][] {
  const cut: Job[][] = []
  let [count, bytes] = [Infinity, 0]
  for (const job of jobs) {
    const jobBytes = job.deliveries.reduce((sum, one) => sum + one.bytes, 0)
    count += job.deliveries.length
    bytes += jobBytes
    if (count > PIECE_COUNT_MAX || bytes > PIECE_BYTES_MAX) {
      cut.push([])
      count = job.deliveries.length
      bytes = jobBytes
    }
    cut.at(-1)?.push(job)
  }
  return cut
}

/** The ends of its deliveries, without those that wait or that somebody else has processed; or why it failed. */
type Result = ProcessedDelivery[] | string

/** @throws where the database is away: the jobs are then as they were */
function processEach(jobs: readonly Job[], queue: string, tools: ProcessWith): Promise<readonly Result[]> {
  return togetherOrAlone<Job, Result>(jobs, {
    work: (some) => processAll(some, queue, tools),
    failed(error) {
      if (isUnavailable(error)) throw error
      return errorText(error)
    },
  })
}

/** @returns in the order of `jobs` */
async function processAll(
  jobs: readonly Job[],
  queue: string,
  tools: ProcessWith,
): Promise<ProcessedDelivery[][]> {
  const { pool, webhookJobs } = tools
  const queues = await webhookJobs()
  return inTransaction(pool, async (transaction) => {
    const at = new Date().toISOString()
    const deliveries = jobs.flatMap((job) => job.deliveries)
    const events = await lockWaiting(
      transaction,
      deliveries.map(({ id }) => id),
    )
    const recording = startRecording(tools)
    const confirmed = await confirmDeliveries(events, { at, recording, transaction, tools })
    const waiting = confirmed.filter(({ outcome }) => outcome === null)
    const processed = events.flatMap((event, i) => {
      const of = confirmed[i]!
      return of.outcome === null ? [] : [{ event, of, outcome: of.outcome }]
    })
    for (const { event, of } of processed) recording.audit(processedEvent(event, of, at))
    // A waiting delivery is noted once only.
    const ends = confirmed.filter(
      ({ outcome, detail }, i) => outcome !== null || events[i]?.detail !== detail,
    )
    transaction.runLast([...storeEnds(ends, at), ...recording.statements()])
    if (waiting.length > 0) {
      const waits = new Set(waiting.map(({ eventKey }) => eventKey))
      const later = deliveries.filter(({ id }) => waits.has(id))
      await queues.add(transaction, later, { startAfter: WAIT_SECONDS })
    }
    await queues.remove(
      transaction,
      queue,
      jobs.map(({ jobId }) => jobId),
    )
    const ended = new Map<string, ProcessedDelivery>(
      processed.map(({ event, of, outcome }) => [
        event.eventKey,
        { provider: event.provider, says: of.says ?? 'nothing', outcome },
      ]),
    )
    return jobs.map((job) => job.deliveries.flatMap(({ id }) => ended.get(id) ?? []))
  })
}

function processedEvent(event: WaitingDelivery, of: Confirmed, at: string): Done {
  const { eventKey, provider, eventId, bodySha256, body, receivedAt, reruns } = event
  const { outcome, ruleId, businessTransactionId, confirmationId } = of
  const said = { outcome, ruleId, businessTransactionId, confirmationId: confirmationId ?? null }
  const known = Object.entries(said).filter((entry): entry is [string, string] => entry[1] !== null)
  return {
    // Each run has an event of its own; that of the first has the delivery's id.
    eventId: reruns === 0 ? eventKey : randomUUID(),
    type: 'webhook.processed',
    at,
    route: 'POST /webhooks/{provider}',
    reason: `A delivery was received and processed. ${of.detail}`,
    detail: {
      provider,
      eventId,
      bodySha256,
      receivedAt,
      ...(reruns === 0 ? {} : { webhookEventId: eventKey }),
      ...Object.fromEntries(known),
      ...subject(body),
    },
  }
}

/** Reads the subject of a delivery; nothing else of it is read (interface §6). Any bytes may come: nothing is read of bytes that are no JSON. */
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

/** The text is cut; it is made well formed, or it could not be signed; NUL is replaced, since PostgreSQL could not read the event as JSON. */
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

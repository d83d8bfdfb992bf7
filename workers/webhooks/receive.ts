// A batch of deliveries (decisions §10): signature, then event id, by the provider's scheme. New events and their jobs are one commit:
// an acknowledged delivery is processed, whichever process crashes.
import { randomUUID } from 'node:crypto'
import { failures, type Audited, type Failure } from '../../src/core/errors/errors.ts'
import { failureOf } from '../../src/core/errors/failure-of.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import type { QueuedEntry } from '../../src/store/tables/log-queue.ts'
import { isUnavailable } from '../../src/store/postgres/sql-errors.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import {
  findWebhookBodies,
  insertWebhookEvents,
  moveInLog,
  type WebhookEventRow,
} from '../../src/store/tables/webhook-events.ts'
import { schemeOf, type WebhookProviders } from '../../src/core/webhooks/providers.ts'
import type { WebhookJobs } from '../../src/store/queues/webhook-queue.ts'
import type { ThreadContext } from '../context.ts'
import {
  Finished,
  inTheirPlaces,
  runStage,
  stillGoing,
  type WorkerRequest,
  type InFlight,
} from '../in-flight.ts'
import { togetherOrAlone } from '../together-or-alone.ts'

const OTHER_BYTES = 'the event id was received before with other bytes, so these are not stored'

type StoreWith = Pick<ThreadContext, 'pool' | 'startLogEntries'>

interface WebhookTools extends StoreWith {
  readonly webhookJobs: () => Promise<WebhookJobs>
  readonly webhookProviders: WebhookProviders
}

interface Delivery extends InFlight {
  readonly row: WebhookEventRow
}

/** `other-bytes`: the event id came before with another body. `replayed`: bytes that came before under another event id. */
type Outcome = 'accepted' | 'acknowledged' | 'other-bytes' | 'replayed'

/** @returns 200 {status}; 401, 400; 503 where the database is away, so that the provider sends it again */
export async function receiveWebhooks(batch: readonly InFlight[], tools: WebhookTools): Promise<Finished[]> {
  const nowMs = Date.now()
  const read = runStage(batch, ({ request }) => deliveryOf(request, tools.webhookProviders, nowMs))
  let joined = false
  const deliveries = stillGoing(read)
  const outcomes = await togetherOrAlone<Delivery, Outcome | Failure>(deliveries, {
    async work(some) {
      const jobs = await tools.webhookJobs()
      joined = true
      return store(some, tools, jobs)
    },
    failed: failureOf,
    // Where the queue cannot be joined, no delivery can be stored, alone or together.
    failsAll: (error) => !joined || isUnavailable(error),
  })
  return inTheirPlaces(
    read,
    deliveries.map((delivery, i) => answered(delivery, outcomes[i]!)),
  )
}

function deliveryOf(request: WorkerRequest, providers: WebhookProviders, nowMs: number): Delivery | Failure {
  const { body, params } = request
  const { provider = '', signature = '', headers = '{}' } = params
  const configured = providers[provider]
  if (configured === undefined) return failures.pathNotFound()
  const scheme = schemeOf(configured)
  const given = JSON.parse(headers) as Record<string, string>
  const { secrets } = configured
  const read = scheme.read({ provider, signature, headers: given, body, secrets, nowMs })
  if ('unsigned' in read) return failures.invalidSignature(provider, read.unsigned)
  const { eventId } = read
  if (eventId === '')
    return failures.missingEventId(
      `scheme ${configured.scheme} expects the event id in ${scheme.eventIdIn(provider)}`,
    )
  // Printable ASCII without spaces: the values of a repeated header are joined by a comma and a space, so they are no id.
  if (!/^[!-~]{1,255}$/.test(eventId))
    return failures.invalidField(
      `${scheme.eventIdIn(provider)} must be 1 to 255 printable ASCII characters without spaces.`,
    )
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const row = {
    eventKey: randomUUID(),
    provider,
    eventId,
    headers,
    bodySha256: sha256Hex(bytes),
    body: bytes,
    receivedAt: new Date(nowMs).toISOString(),
  }
  return { request, row }
}

/** @returns in the order of `deliveries` */
async function store(
  deliveries: readonly Delivery[],
  tools: StoreWith,
  jobs: WebhookJobs,
): Promise<Outcome[]> {
  // In one order for all callers: two batches with the same deliveries may wait, but never deadlock.
  const rows = deliveries
    .map(({ row }) => row)
    .toSorted((a, b) => (a.bodySha256 < b.bodySha256 ? -1 : Number(a.bodySha256 > b.bodySha256)))
  const inserted = await storeWithJobs(tools, jobs, rows)
  const left = rows.filter(({ eventKey }) => !inserted.has(eventKey))
  const known = await findWebhookBodies(tools.pool, left)
  return deliveries.map(({ row: { eventKey, provider, eventId, bodySha256 } }) => {
    if (inserted.has(eventKey)) return 'accepted'
    const stored = known.get(`${provider} ${eventId}`)
    if (stored === undefined) return 'replayed'
    return stored === bodySha256 ? 'acknowledged' : 'other-bytes'
  })
}

/**
 * Stores new deliveries and their job in one transaction.
 *
 * @param rows as for `insertWebhookEvents`
 * @returns keys of the deliveries that were stored
 */
export function storeWithJobs(
  { pool, startLogEntries }: StoreWith,
  jobs: WebhookJobs,
  rows: readonly WebhookEventRow[],
): Promise<Set<string>> {
  return inTransaction(pool, async (transaction) => {
    let entries = startLogEntries()
    const inserted = await insertWebhookEvents(
      transaction,
      rows.map((row) => ({ ...row, ...entries.add(() => entryOf(row)) })),
    )
    if (inserted.size === 0) return inserted
    const stored = rows.filter(({ eventKey }) => inserted.has(eventKey))
    if (stored.length < rows.length) {
      // Only the insertion says which of them are new, and an entry too many cannot be taken out of the log.
      entries = startLogEntries()
      transaction.runLast(
        moveInLog(stored.map((row) => ({ eventKey: row.eventKey, ...entries.add(() => entryOf(row)) }))),
      )
    }
    transaction.runLast(entries.statements())
    await jobs.add(
      transaction,
      stored.map(({ eventKey, body }) => ({ id: eventKey, bytes: body.byteLength })),
    )
    return inserted
  })
}

function entryOf({ eventKey, bodySha256 }: WebhookEventRow): QueuedEntry {
  return { kind: 'webhook', hash: bodySha256, id: eventKey, streams: {} }
}

function answered({ request, row }: Delivery, outcome: Outcome | Failure): Finished {
  if (typeof outcome !== 'string') return new Finished(request, outcome)
  const body = JSON.stringify({ status: outcome === 'accepted' ? 'accepted' : 'acknowledged' })
  if (outcome === 'replayed') return new Finished(request, { body, audit: replayed(row) })
  // A provider that gives several deliveries one id would lose all but the first, and see only 200.
  if (outcome === 'other-bytes') return new Finished(request, { body, log: { cause: OTHER_BYTES } })
  return new Finished(request, { body })
}

function replayed({ provider, eventId, bodySha256 }: WebhookEventRow): Audited {
  return {
    type: 'webhook.replayed',
    reason: 'The same bytes were received before under another event id.',
    detail: { provider, eventId, bodySha256 },
  }
}

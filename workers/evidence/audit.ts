// Audit events (decisions §9), signed: of refusals, which the front end reports, and of what was done, in the commit that does it.
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import type { EventType } from '../../src/formats/schemas/event-types.ts'
import { artifactEntry } from '../../src/formats/artifacts/entry.ts'
import type { AuditType } from '../../src/formats/schemas/audit-event.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import {
  findAuditEvents,
  insertAuditEvents,
  type AuditEventRow,
} from '../../src/store/tables/audit-events.ts'
import type { LogBatch, QueuedEntry } from '../../src/store/tables/log-queue.ts'
import { classify } from '../../src/store/postgres/sql-errors.ts'
import type { Statement } from '../../src/store/postgres/statement-batch.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import type { ThreadContext } from '../context.ts'
import { finishWithText, runStage, stillGoing, type Finished, type InFlight } from '../in-flight.ts'

/** A row of the route table, as `METHOD /path/{parameter}`. */
export type RoutePattern = `${'GET' | 'POST'} /${string}`

/**
 * Signs and stores audit events.
 * @param batch bodies made by the front end, one event each as JSON
 * @returns 200 once all of them are stored; 500 for one that cannot be signed, which does not affect the others
 */
export async function recordAuditEvents(
  batch: readonly InFlight[],
  { pool, key, startLogBatch }: Pick<ThreadContext, 'pool' | 'key' | 'startLogBatch'>,
): Promise<Finished[]> {
  const signed = runStage(batch, ({ request }) => ({
    request,
    row: signedRow(request.body, key),
    text: 'null',
  }))
  const rows = stillGoing(signed).map(({ row }) => row)
  const store = (some: readonly AuditEventRow[]) =>
    inTransaction(pool, (transaction) => {
      const log = startLogBatch()
      transaction.runLast(auditAndLog(some, log))
    })
  try {
    await store(rows)
  } catch (error) {
    if (classify(error).kind !== 'taken') throw error
    // The front end sends an event again where it did not hear of its commit.
    const stored = await findAuditEvents(
      pool,
      rows.map(({ eventId }) => eventId),
    )
    await store(rows.filter(({ eventId }) => !stored.has(eventId)))
  }
  return finishWithText(signed)
}

/** @returns the last statements of a commit: they store the audit events of it, and all entries of `log`, the events' own behind the others */
export function auditAndLog(rows: readonly AuditEventRow[], log: LogBatch): Statement[] {
  const logged = rows.map((row) => ({
    ...row,
    ...log.add(() => ({
      ...artifactEntry.auditEvent(row.body, sha256Hex),
      id: row.eventId,
      streams: {},
      ...markOf(row),
    })),
  }))
  return [...insertAuditEvents(logged), ...log.statements()]
}

/** The audit types that the feed has events of. Their `detail.submittedBy` is whose they are. */
const followed: { readonly [type: string]: EventType | undefined } = {
  'intent.in_doubt': 'execution.in_doubt',
  'confirmation.contradicts': 'confirmation.contradicts',
  'approval_request.approved': 'approval_request.approved',
  'approval_request.expired': 'approval_request.expired',
  'approval_request.ended': 'approval_request.ended',
}

function markOf({ type, body }: AuditEventRow): Pick<QueuedEntry, 'event' | 'owner'> {
  const event = followed[type]
  if (event === undefined) return {}
  const { submittedBy: owner } = (JSON.parse(body) as Done).detail
  return { event, ...(typeof owner === 'string' ? { owner } : {}) }
}

function signedRow(bytes: Uint8Array, key: SigningKey): AuditEventRow {
  return auditEventRow(JSON.parse(Buffer.from(bytes).toString()) as AuditEvent, key)
}

/** As decisions §9 has it; what else it says is the writer's. */
export interface AuditEvent {
  readonly [member: string]: Json
  readonly eventId: string
  readonly occurredAt: string
  readonly type: string
}

/** The event signed, as its row. */
export function auditEventRow(event: AuditEvent, key: SigningKey): AuditEventRow {
  const body = canonicalize(event)
  const signature = { ...signEd25519('audit-event', body, key), signedAt: new Date().toISOString() }
  const { eventId, occurredAt, type } = event
  return { eventId, occurredAt, type, body, seal: canonicalize(signature) }
}

interface Done {
  /** By default a new one. */
  readonly eventId?: string
  readonly type: AuditType
  /** `service`: it was no request's. */
  readonly route: RoutePattern | 'service'
  /** callerId; of the service's own doing none. */
  readonly by?: string
  /** ISO 8601; now, if it is left out. */
  readonly at?: string
  /** In the words of whoever did it, or a sentence. */
  readonly reason: string
  readonly capability?: string | undefined
  readonly severity?: 'INFO' | 'WARNING'
  /** Ids of what it is about, and what authorized it. */
  readonly detail: Readonly<Record<string, Json>>
}

/** Its event, for whoever does it: stored in the same transaction, the one never stands without the other. */
export function auditEvent(
  {
    eventId = randomUUID(),
    type,
    route,
    by,
    at = new Date().toISOString(),
    reason,
    capability,
    severity = 'INFO',
    detail,
  }: Done,
  key: SigningKey,
): AuditEventRow {
  const event = {
    eventId,
    type,
    occurredAt: at,
    route,
    ...(by === undefined ? {} : { callerId: by }),
    reason,
    ...(capability === undefined ? {} : { capability }),
    severity,
    detail,
  }
  return auditEventRow(event, key)
}

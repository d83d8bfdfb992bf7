// Audit events (decisions §9): the door says what happened, a thread signs and stores it.
import { canonicalize, type Json } from '../../src/canonical.ts'
import type { SigningKey } from '../../src/signing/keys.ts'
import { signEd25519 } from '../../src/signing/signature.ts'
import { insertAuditEvents, type AuditEventRow } from '../../src/tables/audit-events.ts'
import type { Thread } from '../execute/index.ts'
import { arriveWithText, forward, stillGoing, type Answered, type Travelling } from '../execute/road.ts'

/**
 * in   bodies of the door's own making: an event each, as JSON
 * out  200 once all of them are stored; 500 for one that cannot be signed, which is nothing to the others
 */
export async function recordAuditEvents(
  batch: readonly Travelling[],
  { pool, key }: Thread,
): Promise<Answered[]> {
  const signed = forward(batch, ({ request }) => ({ request, row: signedRow(request.body, key), text: '' }))
  await insertAuditEvents(
    pool,
    stillGoing(signed).map(({ row }) => row),
  )
  return arriveWithText(signed)
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

/** The event signed, as its row: for whoever stores it in the commit of what it tells of. */
export function auditEventRow(event: AuditEvent, key: SigningKey): AuditEventRow {
  const body = canonicalize(event)
  const signature = { ...signEd25519('audit-event', body, key), signedAt: new Date().toISOString() }
  const { eventId, occurredAt, type } = event
  return { eventId, occurredAt, type, body, seal: canonicalize(signature) }
}

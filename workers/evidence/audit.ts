// Audit events (decisions §9): the door says what happened, a thread signs and stores it.
import { canonicalize, type Json } from '../../src/canonical.ts'
import { signEd25519 } from '../../src/signing/signature.ts'
import { insertAuditEvents } from '../../src/tables/audit-events.ts'
import type { Thread } from '../execute/index.ts'
import { Answered, type Travelling } from '../execute/road.ts'

/** in  bodies of the door's own making: an event each, as JSON · out  200 once all of them are stored */
export async function recordAuditEvents(
  batch: readonly Travelling[],
  { pool, key }: Thread,
): Promise<Answered[]> {
  const rows = batch.map(({ request }) => {
    const event = JSON.parse(Buffer.from(request.body).toString()) as {
      readonly [member: string]: Json
      readonly eventId: string
      readonly occurredAt: string
      readonly type: string
    }
    const body = canonicalize(event)
    const signature = { ...signEd25519('audit-event', body, key), signedAt: new Date().toISOString() }
    const { eventId, occurredAt, type } = event
    return { eventId, occurredAt, type, body, seal: canonicalize(signature) }
  })
  await insertAuditEvents(pool, rows)
  return batch.map(({ request }) => new Answered(request, { body: '' }))
}

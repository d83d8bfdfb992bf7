// Audit events of refusals, which the front end reports (decisions §9).
import { auditEvent } from '../../src/formats/artifacts/audit-event.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { findAuditEvents, type AuditEventRow } from '../../src/store/tables/audit-events.ts'
import { classify } from '../../src/store/postgres/sql-errors.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import type { ThreadContext } from '../context.ts'
import { auditAndLog, signed } from './recording.ts'
import { finishWithText, runStage, stillGoing, type Finished, type InFlight } from '../in-flight.ts'

/**
 * Signs and stores audit events.
 * @param batch bodies made by the front end, one event each as JSON
 * @returns 200 once all of them are stored; 500 for one that cannot be signed, which does not affect the others
 */
export async function recordAuditEvents(
  batch: readonly InFlight[],
  { pool, key, startLogEntries }: Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries'>,
): Promise<Finished[]> {
  const events = runStage(batch, ({ request }) => ({
    request,
    row: signedRow(request.body, key),
    text: 'null',
  }))
  const rows = stillGoing(events).map(({ row }) => row)
  const store = (some: readonly AuditEventRow[]) =>
    inTransaction(pool, (transaction) => {
      const entries = startLogEntries()
      transaction.runLast(auditAndLog(some, entries))
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
  return finishWithText(events)
}

function signedRow(bytes: Uint8Array, key: SigningKey): AuditEventRow {
  const event = JSON.parse(Buffer.from(bytes).toString()) as AuditEvent
  return signed(auditEvent, event, { key, at: new Date().toISOString() })
}

/** As the front end writes it (decisions §9). */
type AuditEvent = Pick<AuditEventRow, 'eventId' | 'occurredAt' | 'type'>

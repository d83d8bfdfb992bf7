// The columns of webhook_events that say what became of a delivery. They change when its job runs, and no index has them.
import type { DeliveryOutcome } from '../../formats/schemas/webhook-outcomes.ts'
import { overRows } from '../postgres/rows.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'
import type { Statement } from '../postgres/statement-batch.ts'
import type { WebhookEventRow } from './webhook-events.ts'

/** A delivery whose job runs. */
export interface WaitingDelivery extends WebhookEventRow {
  /** How often it was processed again on request. */
  readonly reruns: number
  /** Why it waits, where an earlier run has left it waiting. */
  readonly detail: string | null
}

/**
 * Locks deliveries that are not processed, in the order in which they came. Deliveries that another instance held are processed when
 * this returns without them.
 */
export async function lockWaiting(sql: Sql, eventKeys: readonly string[]): Promise<WaitingDelivery[]> {
  const { rows } = await sql.query<WaitingDelivery>({
    name: 'webhook_events_lock_waiting',
    text: `
      SELECT event_key AS "eventKey", provider, event_id AS "eventId", headers, body_sha256 AS "bodySha256", body,
        ${isoTime('received_at')} AS "receivedAt", reruns, detail
      FROM webhook_events WHERE event_key = ANY($1::uuid[]) AND processed_at IS NULL
      ORDER BY event_key FOR NO KEY UPDATE`,
    values: [eventKeys],
  })
  return rows.toSorted((a, b) => (a.receivedAt < b.receivedAt ? -1 : Number(a.receivedAt > b.receivedAt)))
}

export interface DeliveryEnd {
  readonly eventKey: string
  /** Null: it waits, and is not processed. */
  readonly outcome: DeliveryOutcome | null
  readonly ruleId: string | null
  readonly businessTransactionId: string | null
  /** A sentence. */
  readonly detail: string
}

interface StoredEnd extends DeliveryEnd {
  /** ISO 8601; null: it waits. */
  readonly processedAt: string | null
}

const end = overRows<StoredEnd>({
  name: 'webhook_events_end',
  text: `
    UPDATE webhook_events AS w
    SET processed_at = e.processed_at, outcome = e.outcome, rule_id = e.rule_id, business_transaction_id = e.transaction, detail = e.detail
    FROM (VALUES $rows) AS e ($columns)
    WHERE w.event_key = e.event_key`,
  columns: {
    event_key: ['uuid', (row) => row.eventKey],
    processed_at: ['timestamptz', (row) => row.processedAt],
    outcome: ['text', (row) => row.outcome],
    rule_id: ['text', (row) => row.ruleId],
    transaction: ['uuid', (row) => row.businessTransactionId],
    detail: ['text', (row) => row.detail],
  },
})

/** @param at ISO 8601 */
export function storeEnds(ends: readonly DeliveryEnd[], at: string): Statement[] {
  return end(ends.map((one) => ({ ...one, processedAt: one.outcome === null ? null : at })))
}

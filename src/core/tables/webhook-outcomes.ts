// The columns of webhook_events that say what became of a delivery. They change when its job runs, and in no index.
import type { DeliveryOutcome } from '../webhooks/outcomes.ts'
import type { Sql } from './sql.ts'
import type { Step } from './statement-batch.ts'
import type { WebhookEventRow } from './webhook-events.ts'

/** A delivery whose job runs. */
export interface WaitingDelivery extends WebhookEventRow {
  /** How often somebody has had it processed again. */
  readonly reruns: number
  /** Why it waits, where an earlier run has left it waiting. */
  readonly detail: string | null
}

/**
 * Locks deliveries that are not processed, in the order in which they came. Where another instance held them, they are processed when
 * this returns without them.
 */
export async function lockWaiting(sql: Sql, eventKeys: readonly string[]): Promise<WaitingDelivery[]> {
  const { rows } = await sql.query<Omit<WaitingDelivery, 'receivedAt'> & { receivedAt: Date }>({
    name: 'webhook_events_lock_waiting',
    text: `
      SELECT event_key AS "eventKey", provider, event_id AS "eventId", headers, body_sha256 AS "bodySha256", body,
        received_at AS "receivedAt", reruns, detail
      FROM webhook_events WHERE event_key = ANY($1::uuid[]) AND processed_at IS NULL
      ORDER BY event_key FOR NO KEY UPDATE`,
    values: [eventKeys],
  })
  return rows
    .map((row) => ({ ...row, receivedAt: row.receivedAt.toISOString() }))
    .toSorted((a, b) => (a.receivedAt < b.receivedAt ? -1 : Number(a.receivedAt > b.receivedAt)))
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

/** @param at ISO 8601 */
export function storeEnds(ends: readonly DeliveryEnd[], at: string): Step[] {
  return ends.map(({ eventKey, outcome, ruleId, businessTransactionId, detail }) => ({
    name: 'webhook_events_end',
    text: `
      UPDATE webhook_events
      SET processed_at = CASE WHEN $2::text IS NULL THEN NULL ELSE $6::timestamptz END, outcome = $2::text,
        rule_id = $3::text, business_transaction_id = $4::uuid, detail = $5::text
      WHERE event_key = $1::uuid`,
    rows: [[eventKey, outcome, ruleId, businessTransactionId, detail, at]],
  }))
}

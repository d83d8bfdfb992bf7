// A payment provider called bank, in tests: the rules for its deliveries, and what it delivers.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { readWebhookRules } from '../src/core/webhook-rules/load.ts'
import type { TestDatabase } from './database.ts'
import type { Called, TestService } from './service.ts'
import { SECRET, signatureOf } from './webhooks.ts'

const WEBHOOK_DIR = join(import.meta.dirname, 'bank')

/** A service that takes its deliveries needs these. The very first start on a database puts the rules into effect. */
export const bankEnv = { BANK_WEBHOOK_SECRET: SECRET, WEBHOOK_DIR }

export const { rulesHash: bankRulesHash } = readWebhookRules(join(WEBHOOK_DIR, 'bank.yaml'))

export interface BankDelivery {
  readonly body: string
  readonly eventId: string
}

/** @param ids of the transaction; several are ambiguous */
export function aBankDelivery(
  event: 'paid' | 'refused' | 'held' | 'odd' | 'other',
  ids: string | readonly string[],
  members: object = {},
): BankDelivery {
  const [eventId, at] = [`evt_${randomUUID()}`, randomUUID()]
  return { body: JSON.stringify({ event, ids, amount: 42, at, ...members }), eventId }
}

export function deliverFromBank(service: TestService, { body, eventId }: BankDelivery): Promise<Called> {
  const headers = { 'X-Bank-Signature': signatureOf(body), 'X-Bank-Event-Id': eventId }
  return service.post('/webhooks/bank', body, { key: null, headers })
}

export interface DeliveryRow {
  readonly outcome: string | null
  readonly rule_id: string | null
  readonly business_transaction_id: string | null
  readonly detail: string | null
  readonly processed_at: Date | null
}

/** Reads the outcome of a delivery. */
export async function outcomeOf({ pool }: TestDatabase, { eventId }: BankDelivery): Promise<DeliveryRow> {
  const { rows } = await pool.query<DeliveryRow>(
    `SELECT outcome, rule_id, business_transaction_id, detail, processed_at FROM webhook_events WHERE event_id = $1`,
    [eventId],
  )
  const [row] = rows
  if (row === undefined) throw new Error(`no delivery ${eventId}`)
  return row
}

// Deliveries as a provider sends them: signed over their bytes, under a header of its own name.
import { createHmac, randomUUID } from 'node:crypto'
import type { TestDatabase } from './database.ts'
import type { Called, TestService } from './service.ts'

export const PROVIDER = 'razorpay'
export const SECRET = 'whsec_0123456789abcdef'
/** A service that takes deliveries needs these. */
export const env = { RAZORPAY_WEBHOOK_SECRET: SECRET }

export function signatureOf(body: string | Uint8Array, secret = SECRET): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** Byte for byte as the provider documents one: its key order, its indentation, a space too many and an escape. */
export const PAYMENT_CAPTURED = `{
  "entity": "event",
  "account_id": "acc_BFQ7uQEaa7j2z7",
  "event": "payment.captured",
  "contains": [
    "payment"
  ],
  "payload": {
    "payment": {
      "entity": {
        "id": "pay_DESlfW9H8K9uqM",
        "entity": "payment",
        "amount": 100,
        "currency": "INR",
        "base_amount":100,
        "status": "captured",
        "order_id": "order_DESlLckIVRkHWj",
        "invoice_id": null,
        "international": false,
        "method": "netbanking",
        "amount_refunded": 0,
        "captured": true,
        "bank": "HDFC",
        "email": "gaurav.kumar@example.com",
        "contact": "+919876543210",
        "notes": [],
        "fee": 2,
        "tax": 0
      }
    }
  },
  "created_at": 1567674606
}
`
export const REFUND_PROCESSED = `{"event":"refund.processed" ,\t"entity":"event","contains":["refund","payment"],\r\n"payload":{"refund":{"entity":{"entity":"refund","amount":5e4,"id":"rfnd_FP8QHiV938haTz","notes":{"comment":"zur\\u00fcck \\/ ₹"}}},"payment":{"entity":{"id":"pay_FFX5FdEYx8jPwA"}}},"created_at":1597734071}`

/** A payment of its own: bytes that nobody sent before. */
export function aPayment(id = `pay_${randomUUID()}`): string {
  return JSON.stringify({
    entity: 'event',
    event: 'payment.captured',
    payload: { payment: { entity: { id } } },
  })
}

export interface Delivery {
  readonly body: string | Uint8Array
  readonly eventId: string
  readonly headers: Record<string, string>
}

export function aDelivery({
  body = aPayment(),
  eventId = `evt_${randomUUID()}`,
  secret = SECRET,
  headers = {},
}: {
  body?: string | Uint8Array
  eventId?: string
  secret?: string
  headers?: Record<string, string>
} = {}): Delivery {
  return {
    body,
    eventId,
    headers: {
      'X-Razorpay-Signature': signatureOf(body, secret),
      'X-Razorpay-Event-Id': eventId,
      ...headers,
    },
  }
}

export function deliver(service: TestService, delivery: Delivery): Promise<Called> {
  return service.post(`/webhooks/${PROVIDER}`, delivery.body, { key: null, headers: delivery.headers })
}

export interface StoredEvent {
  readonly event_key: string
  readonly event_id: string
  readonly body: Buffer
  readonly body_sha256: string
  readonly processed_at: Date | null
}

export async function storedEvents(
  database: TestDatabase,
  eventIds?: readonly string[],
): Promise<StoredEvent[]> {
  const { rows } = await database.pool.query<StoredEvent>(
    `SELECT event_key, event_id, body, body_sha256, processed_at FROM webhook_events
     WHERE event_id = ANY($1) OR $1 IS NULL ORDER BY received_at`,
    [eventIds],
  )
  return rows
}

/** The details of `webhook.*` events of the audit, by type, of one delivery or of all. */
export async function auditedDetails(
  database: TestDatabase,
  type: string,
  eventId?: string,
): Promise<Record<string, string>[]> {
  const { rows } = await database.pool.query<{ detail: Record<string, string> }>(
    `SELECT body::json -> 'detail' AS detail FROM audit_events
     WHERE type = $1 AND (body::json -> 'detail' ->> 'eventId' = $2 OR $2 IS NULL)`,
    [type, eventId],
  )
  return rows.map(({ detail }) => detail)
}

/** Makes every processing of a delivery fail whose id begins with `poison`, until `cure`. */
export async function poisoned(database: TestDatabase): Promise<{ cure: () => Promise<void> }> {
  await database.pool.query(`
    CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'poison cannot be processed'; END $$`)
  await database.pool.query(`
    CREATE TRIGGER refuse_poison BEFORE UPDATE ON webhook_events FOR EACH ROW
    WHEN (NEW.event_id LIKE 'poison%') EXECUTE FUNCTION refuse_poison()`)
  return {
    async cure() {
      await database.pool.query('DROP TRIGGER refuse_poison ON webhook_events')
    },
  }
}

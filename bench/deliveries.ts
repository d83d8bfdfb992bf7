// Deliveries of a provider: the requests, and the work that a run waits for and counts after the last reply.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { RequestKind } from './request.ts'
import type { Scenario } from './scenario.ts'
import { PROVIDER, WEBHOOK_SECRET } from './service.ts'

/** A payment as the provider documents it, with an id of its own. */
const DELIVERY = `{"entity":"event","account_id":"acc_BFQ7uQEaa7j2z7","event":"payment.captured","contains":["payment"],"payload":{"payment":{"entity":{"id":"pay_{{0}}","entity":"payment","amount":100,"currency":"INR","base_amount":100,"status":"captured","order_id":"order_DESlLckIVRkHWj","invoice_id":null,"international":false,"method":"netbanking","amount_refunded":0,"captured":true,"bank":"HDFC","email":"gaurav.kumar@example.com","contact":"+919876543210","notes":[],"fee":2,"tax":0}}},"created_at":1567674606}`

/**
 * @param body with `{{0}}`, so that no two bodies are alike
 * @param leaves the rows that each delivery leaves behind
 */
export function deliveries(body: string, leaves: RequestKind['leaves'] & object): RequestKind {
  return {
    name: 'delivery',
    method: 'POST',
    path: `/webhooks/${PROVIDER}`,
    bodies: [body],
    headers: { [`X-${PROVIDER}-Event-Id`]: 'evt_{{0}}' },
    hmac: { header: `X-${PROVIDER}-Signature`, secret: WEBHOOK_SECRET },
    status: 200,
    leaves,
  }
}

export const webhook: Scenario = {
  name: 'webhook',
  description: 'POST /webhooks/{provider}: signed deliveries, stored with their job and processed once',
  isLocal: true,
  connections: [64, 256],
  settle: drained,
  setUp: ({ subject }) => ({
    kinds: [deliveries(DELIVERY, { deliveries: 1, 'audit events': 1 })],
    senders: subject.senders,
  }),
}

const DRAIN_MS_MAX = 300_000

/**
 * Waits until every delivery is processed.
 *
 * @returns deliveries processed per second, from the first arrival to the last end; the deliveries that waited at the worst moment, the
 *   milliseconds from arrival to processing, and the seconds after the last reply. Read from the times in the table, because a query
 *   during the run is part of the load
 * @throws Error where a delivery was not audited, or takes too long
 */
export async function drained(database: Client, since: Date): Promise<Record<string, number>> {
  const startMs = performance.now()
  for (;;) {
    const { rowCount } = await database.query('SELECT FROM webhook_events WHERE processed_at IS NULL LIMIT 1')
    if (rowCount === 0) break
    if (performance.now() - startMs > DRAIN_MS_MAX)
      throw new Error(`deliveries wait ${DRAIN_MS_MAX / 1000} s after the last`)
    await sleep(50)
  }
  const drainSeconds = (performance.now() - startMs) / 1000
  const { rows } = await database.query<Record<'backlog' | 'lag' | 'rate' | 'unaudited', number>>(
    `WITH mine AS (
       SELECT received_at, processed_at, extract(epoch FROM processed_at - received_at)::float8 * 1000 AS lag
       FROM webhook_events WHERE received_at >= $1::timestamptz
     ), waiting AS (
       SELECT sum(change) OVER (ORDER BY at, change)::integer AS count
       FROM (SELECT received_at AS at, 1 AS change FROM mine UNION ALL SELECT processed_at, -1 FROM mine) AS changes
     )
     SELECT (SELECT max(count) FROM waiting) AS backlog, percentile_disc(0.99) WITHIN GROUP (ORDER BY lag) AS lag,
       count(*) / extract(epoch FROM max(processed_at) - min(received_at))::float8 AS rate,
       (SELECT count(*) FROM webhook_events)::integer - (
         SELECT count(DISTINCT body::json -> 'detail' ->> 'eventId') FROM audit_events WHERE type = 'webhook.processed'
       )::integer AS unaudited
     FROM mine`,
    [since],
  )
  const { backlog = 0, lag = 0, rate = 0, unaudited = 0 } = rows[0] ?? {}
  if (unaudited !== 0) throw new Error(`${unaudited} deliveries were processed and not audited`)
  return { 'processed per s': rate, 'lag p99 ms': lag, 'backlog max': backlog, 'drain s': drainSeconds }
}

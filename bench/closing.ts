// Deliveries with rules in effect: each is confirmed by a signature and closes an intent that was in doubt.
import type { Client } from 'pg'
import { putIntoEffect } from './authority.ts'
import { call, type CallRoute } from './calls.ts'
import { deliveries, drained } from './deliveries.ts'
import { filledOnce } from './request.ts'
import type { Scenario } from './scenario.ts'
import { PROVIDER } from './service.ts'
import { transactionBody } from './transaction.ts'

/** More than the deliveries of a run: further deliveries would close nothing. */
const INTENTS = 20_000
/** The number of intents that are released together. */
const BATCH = 64

/** A payout event. Its amount is that of the bench's executions. */
const DELIVERY = `{"entity":"event","account_id":"acc_BFQ7uQEaa7j2z7","event":"payout.processed","contains":["payout"],"payload":{"payout":{"entity":{"id":"pout_{{0}}","entity":"payout","fund_account_id":"fa_IaFmNYqHDzVwOZ","amount":42,"currency":"EUR","notes":{"business_transaction_id":"{{next}}"},"fees":590,"tax":90,"status":"processed","purpose":"payout","utr":"201812201321016","mode":"IMPS","reference_id":"invoice-118","narration":"Acme Fund Transfer","failure_reason":null,"created_at":1648742400}}},"created_at":1648742460}`

const rules = [
  {
    id: 'payout-processed',
    when: "payload.event == 'payout.processed' && has(payload.payload.payout.entity.notes.business_transaction_id)",
    transaction: 'payload.payload.payout.entity.notes.business_transaction_id',
    says: 'executed',
    compare: ['payload.payload.payout.entity.amount == transaction.intent.parameters.amount'],
  },
]

export const closing: Scenario = {
  name: 'webhook-rules',
  description:
    'POST /webhooks/{provider}: each delivery is confirmed by a rule and closes an intent in doubt',
  isLocal: true,
  connections: [64],
  async setUp({ subject }) {
    const { own, senders } = subject
    if (own === undefined) throw new Error('intents are put in doubt in the database of the bench')
    const calls: CallRoute = (route, given) => call(subject, route, given)
    await putIntoEffect(calls, 'rules', { body: { provider: PROVIDER, rules } })
    const body = filledOnce(transactionBody({}))
    await call(subject, 'POST /execute', { body })
    const { businessTransactionId } = JSON.parse(body) as { businessTransactionId: string }
    const stored = await copyInDoubt(own.database, businessTransactionId)
    return {
      kinds: [deliveries(DELIVERY, { deliveries: 1, confirmations: 1 })],
      senders: senders.map((sender) => ({ ...sender, stored })),
    }
  },
  async settle(database, since) {
    const figures = await drained(database, since)
    return { ...figures, ...(await closed(database, since)) }
  },
}

/**
 * Copies a released execution under new ids. The connectors of the copies never answered, and the sweep has noticed it.
 * @returns their ids
 */
async function copyInDoubt(database: Client, id: string): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `WITH copy AS MATERIALIZED (
       SELECT gen_random_uuid() AS id, t.* FROM generate_series(1, ${INTENTS}), business_transactions AS t
       WHERE t.business_transaction_id = $1::uuid
     ), transactions AS (
       INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body, execution_authorization)
       SELECT id, caller_id, created_at, replace(body, $1::text, id::text), execution_authorization FROM copy
     ), noticed AS (
       INSERT INTO in_doubt_intents (business_transaction_id, noticed_at) SELECT id, now() FROM copy
     ), open AS (
       INSERT INTO released_batches (batch, ids, deadline)
       SELECT gen_random_uuid(), array_agg(id), now() - interval '1 s'
       FROM (SELECT id, row_number() OVER () / ${BATCH} AS n FROM copy) AS numbered GROUP BY n
     )
     SELECT id FROM copy`,
    [id],
  )
  await database.query('VACUUM ANALYZE business_transactions, released_batches, in_doubt_intents')
  return rows.map((row) => row.id)
}

/**
 * Puts the intents that a run has closed in doubt again, for the next run.
 * @returns milliseconds from the arrival of a delivery to the end of its intent, by the times in the tables
 * @throws Error where a delivery has not confirmed a transaction whose intent is closed now
 */
async function closed(database: Client, since: Date): Promise<Record<string, number>> {
  const { rows } = await database.query<{ others: number; p50: number; p99: number }>(
    `SELECT count(*) FILTER (WHERE i.at IS NULL OR w.outcome <> 'confirmed')::integer AS others,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY took.ms) AS p50,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY took.ms) AS p99
     FROM webhook_events AS w
     LEFT JOIN intent_transitions AS i ON i.business_transaction_id = w.business_transaction_id AND i.at >= $1::timestamptz
     CROSS JOIN LATERAL (SELECT extract(epoch FROM i.at - w.received_at)::float8 * 1000 AS ms) AS took
     WHERE w.received_at >= $1::timestamptz`,
    [since],
  )
  const { others = 0, p50 = 0, p99 = 0 } = rows[0] ?? {}
  if (others !== 0) throw new Error(`${others} deliveries closed no intent`)
  await database.query(
    `WITH reopened AS (
       SELECT business_transaction_id AS id, row_number() OVER () / ${BATCH} AS n FROM intent_transitions WHERE at >= $1::timestamptz
     ), open AS (
       INSERT INTO released_batches (batch, ids, deadline)
       SELECT gen_random_uuid(), array_agg(id), now() - interval '1 s' FROM reopened GROUP BY n
     )
     INSERT INTO in_doubt_intents (business_transaction_id, noticed_at) SELECT id, now() FROM reopened`,
    [since],
  )
  await database.query('VACUUM released_batches, in_doubt_intents')
  return { 'closed p50 ms': p50, 'closed p99 ms': p99 }
}

// All scenarios of the suite, in the order in which they run. To add one: a row here, and a case of test/bench.test.ts if its
// figures are not those of a load.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { coldStart } from './cold-start.ts'
import { aConnector, aPolicy, putIntoEffect } from './authority.ts'
import { call, type CallRoute } from './calls.ts'
import { openProgram } from './program.ts'
import type { ReceiverJob, ReceiverReady } from './receiver.ts'
import { filledOnce, type RequestKind, type Sender } from './request.ts'
import type { Scenario, SelfMeasured, Setting } from './scenario.ts'
import { PROVIDER, WEBHOOK_SECRET } from './service.ts'
import { transactionBodies, type TransactionOptions } from './transaction.ts'

const RECORD = { status: 200, evidence: 'trust-record' } as const

export function executions(transaction: TransactionOptions): RequestKind {
  const bodies = transactionBodies(transaction)
  const stores = {
    business_transactions: 1,
    execution_intents: 1,
    trust_records: 1,
    verifications: 1,
    receipts: 1,
  }
  return { name: 'execute', method: 'POST', path: '/execute', bodies, stores, ...RECORD }
}

const reads: RequestKind = { name: 'read', method: 'GET', path: '/trust-records/{{stored}}', ...RECORD }

const posted = (path: string, table: string): RequestKind => ({
  name: path.slice(1),
  method: 'POST',
  path,
  bodies: ['{"businessTransactionId":"{{stored}}"}'],
  stores: { [table]: 1 },
  ...RECORD,
})

const STORING_AT_ONCE = 16

/**
 * Executes about `storedCount` transactions.
 *
 * @returns the senders with what each has executed: what is another's cannot be read
 * @throws Error that quotes the first answer that is not a 200
 */
async function withStored({ subject, storedCount }: Setting): Promise<Sender[]> {
  const bodies = transactionBodies(subject.transaction)
  const each = Math.ceil(storedCount / subject.senders.length)
  const senders: Sender[] = []
  for (const sender of subject.senders) {
    const stored: string[] = []
    const one = async () => {
      const body = filledOnce(bodies[stored.length % bodies.length] ?? '', sender)
      await call(subject, 'POST /execute', { body, key: sender.key })
      stored.push((JSON.parse(body) as { businessTransactionId: string }).businessTransactionId)
    }
    for (let left = each; left > 0; left -= STORING_AT_ONCE)
      await Promise.all(Array.from({ length: Math.min(left, STORING_AT_ONCE) }, one))
    senders.push({ ...sender, stored })
  }
  return senders
}

const executing = ({ subject }: Setting) => ({
  kinds: [executions(subject.transaction)],
  senders: subject.senders,
})

const ofStored = (kinds: (setting: Setting) => RequestKind[]) => async (setting: Setting) => ({
  kinds: kinds(setting),
  senders: await withStored(setting),
})

const external = (delayMs: number): Scenario => ({
  name: `external-${delayMs}ms`,
  description: `POST /execute, approved, by an external connector that answers after ${delayMs} ms`,
  isLocal: true,
  connections: [1, 64, 256],
  async setUp({ subject, stack }) {
    const receiver = stack.use(openProgram<ReceiverJob, ReceiverReady>('receiver.ts'))
    const { origin } = await receiver.run({ delayMs }, { withinMs: 20_000 })
    const action = `bench:external-${delayMs}`
    const policy = `bench-external-${delayMs}`
    const calls: CallRoute = (route, given) => call(subject, route, given)
    await putIntoEffect(calls, 'policy', aPolicy(policy, '1.0.0', action))
    await putIntoEffect(calls, 'connector', aConnector(action, policy, `${origin}/`))
    return { kinds: [executions({ ...subject.transaction, action, policy })], senders: subject.senders }
  },
})

/** As the provider documents a payment, with an id of its own. */
const DELIVERY = `{"entity":"event","account_id":"acc_BFQ7uQEaa7j2z7","event":"payment.captured","contains":["payment"],"payload":{"payment":{"entity":{"id":"pay_{{0}}","entity":"payment","amount":100,"currency":"INR","base_amount":100,"status":"captured","order_id":"order_DESlLckIVRkHWj","invoice_id":null,"international":false,"method":"netbanking","amount_refunded":0,"captured":true,"bank":"HDFC","email":"gaurav.kumar@example.com","contact":"+919876543210","notes":[],"fee":2,"tax":0}}},"created_at":1567674606}`

const webhook: Scenario = {
  name: 'webhook',
  description: 'POST /webhooks/{provider}: signed deliveries, stored with their job and processed once',
  isLocal: true,
  connections: [64],
  settle: processed,
  setUp: ({ subject }) => ({
    kinds: [
      {
        name: 'delivery',
        method: 'POST',
        path: `/webhooks/${PROVIDER}`,
        bodies: [DELIVERY],
        headers: { [`X-${PROVIDER}-Event-Id`]: 'evt_{{0}}' },
        hmac: { header: `X-${PROVIDER}-Signature`, secret: WEBHOOK_SECRET },
        status: 200,
        stores: { webhook_events: 1, audit_events: 1 },
      },
    ],
    senders: subject.senders,
  }),
}

const DRAIN_MS_MAX = 300_000

/**
 * Waits until every delivery is processed.
 *
 * @returns the deliveries that waited at the worst moment, the milliseconds from arrival to processing, and the seconds after the
 *   last reply; from the times in the table, because a query while it happens is part of the load
 * @throws Error where one of them was not audited, or takes too long
 */
async function processed(database: Client, since: Date): Promise<Record<string, number>> {
  const startMs = performance.now()
  for (;;) {
    const { rowCount } = await database.query('SELECT FROM webhook_events WHERE processed_at IS NULL LIMIT 1')
    if (rowCount === 0) break
    if (performance.now() - startMs > DRAIN_MS_MAX)
      throw new Error(`deliveries wait ${DRAIN_MS_MAX / 1000} s after the last`)
    await sleep(50)
  }
  const drainSeconds = (performance.now() - startMs) / 1000
  const { rows } = await database.query<{ backlog: number; lag: number; unaudited: number }>(
    `WITH mine AS (
       SELECT received_at, processed_at, extract(epoch FROM processed_at - received_at)::float8 * 1000 AS lag
       FROM webhook_events WHERE received_at >= $1::timestamptz
     ), waiting AS (
       SELECT sum(change) OVER (ORDER BY at, change)::integer AS count
       FROM (SELECT received_at AS at, 1 AS change FROM mine UNION ALL SELECT processed_at, -1 FROM mine) AS changes
     )
     SELECT (SELECT max(count) FROM waiting) AS backlog, percentile_disc(0.99) WITHIN GROUP (ORDER BY lag) AS lag,
       (SELECT count(*) FROM webhook_events)::integer - (
         SELECT count(DISTINCT body::json -> 'detail' ->> 'eventId') FROM audit_events WHERE type = 'webhook.processed'
       )::integer AS unaudited
     FROM mine`,
    [since],
  )
  const { backlog = 0, lag = 0, unaudited = 0 } = rows[0] ?? {}
  if (unaudited !== 0) throw new Error(`${unaudited} deliveries were processed and not audited`)
  return { 'lag p99 ms': lag, 'backlog max': backlog, 'drain s': drainSeconds }
}

export const scenarios: readonly (Scenario | SelfMeasured)[] = [
  {
    name: 'execute',
    description: 'POST /execute, approved: every request a transaction of its own',
    connections: [1, 4, 16, 64, 256, 1024],
    hasFloor: true,
    setUp: executing,
  },
  {
    name: 'rejected',
    description: 'POST /execute, rejected by the policy: a 500 RUNTIME_ERROR and a signed Refusal Record',
    connections: [1, 64],
    isSandboxOnly: true,
    setUp({ subject }) {
      const tooLarge = { parameters: { amount: 1001 }, signals: { approved: true, amount: 1001 } }
      const kind: RequestKind = {
        ...executions({ ...subject.transaction, ...tooLarge }),
        name: 'rejected',
        status: 500,
        stores: { business_transactions: 1, refusal_records: 1 },
        evidence: 'refusal-record',
      }
      return { kinds: [kind], senders: subject.senders }
    },
  },
  {
    name: 'duplicates',
    description: 'POST /execute with an id that is stored already: a 409',
    connections: [1, 64],
    setUp: ofStored(({ subject }) => {
      const { bodies = [], ...kind } = executions(subject.transaction)
      const stored = bodies.map((body) => body.replaceAll('{{0}}', '{{stored}}'))
      return [{ ...kind, name: 'duplicate', bodies: stored, status: 409, stores: {} }]
    }),
  },
  {
    name: 'mixed',
    description: '80 % POST /execute, 20 % GET /trust-records/{id}',
    connections: [1, 64],
    setUp: ofStored(({ subject }) => [
      { ...executions(subject.transaction), weight: 80 },
      { ...reads, weight: 20 },
    ]),
  },
  {
    name: 'read',
    description: 'GET /trust-records/{id}',
    connections: [1, 64],
    setUp: ofStored(() => [reads]),
  },
  {
    name: 'verify',
    description: 'POST /verify: recomputes a stored record and appends a verification',
    connections: [1, 64],
    setUp: ofStored(() => [posted('/verify', 'verifications')]),
  },
  {
    name: 'receipt',
    description: 'POST /receipt: verifies a stored record and signs one more receipt',
    connections: [1, 64],
    setUp: ofStored(() => [posted('/receipt', 'receipts')]),
  },
  webhook,
  external(5),
  external(50),
  {
    name: 'hybrid',
    description: 'POST /execute, approved, with records and receipts signed by Ed25519 and by ML-DSA-65',
    isLocal: true,
    env: { RECEIPT_ALGORITHMS: 'ed25519,ml-dsa-65' },
    connections: [1, 64],
    setUp: executing,
  },
  coldStart,
  {
    name: 'growth',
    description: 'POST /execute, approved, with more and more records stored before',
    isLocal: true,
    connections: [64],
    hasLevels: true,
    setUp: executing,
  },
]

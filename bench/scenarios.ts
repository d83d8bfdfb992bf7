// All scenarios of the suite, in the order in which they run. To add one: a row here, and a case of test/bench.test.ts if its
// figures are not those of a load.
import { closing } from './closing.ts'
import { coldStart } from './cold-start.ts'
import { webhook } from './deliveries.ts'
import { aConnector, aPolicy, putIntoEffect } from './authority.ts'
import { call, type CallRoute } from './calls.ts'
import { openReceiver } from './program.ts'
import { filledOnce, type RequestKind, type Sender } from './request.ts'
import type { Scenario, SelfMeasured, Setting } from './scenario.ts'
import { transactionBodies, type TransactionOptions } from './transaction.ts'

const RECORD = { status: 200, evidence: 'trust-record' } as const

export function executions(transaction: TransactionOptions): RequestKind {
  const bodies = transactionBodies(transaction)
  const leaves = { claims: 1, records: 1 }
  return { name: 'execute', method: 'POST', path: '/execute', bodies, leaves, ...RECORD }
}

const reads: RequestKind = { name: 'read', method: 'GET', path: '/trust-records/{{stored}}', ...RECORD }

const posted = (path: string, leaves: RequestKind['leaves'] & object): RequestKind => ({
  name: path.slice(1),
  method: 'POST',
  path,
  bodies: ['{"businessTransactionId":"{{stored}}"}'],
  leaves,
  ...RECORD,
})

const STORING_AT_ONCE = 16

/**
 * Executes about `storedCount` transactions.
 *
 * @returns the senders, each with the ids of its executions: a sender cannot read those of another
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
    const url = await openReceiver(delayMs, stack)
    const action = `bench:external-${delayMs}`
    const policy = `bench-external-${delayMs}`
    const calls: CallRoute = (route, given) => call(subject, route, given)
    await putIntoEffect(calls, 'policy', aPolicy(policy, '1.0.0', action))
    await putIntoEffect(calls, 'connector', aConnector(action, policy, url))
    return { kinds: [executions({ ...subject.transaction, action, policy })], senders: subject.senders }
  },
})

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
    isSandboxOnly: true,
    setUp({ subject }) {
      const tooLarge = { parameters: { amount: 1001 }, signals: { approved: true, amount: 1001 } }
      const kind: RequestKind = {
        ...executions({ ...subject.transaction, ...tooLarge }),
        name: 'rejected',
        status: 500,
        leaves: { claims: 1, refusals: 1 },
        evidence: 'refusal-record',
      }
      return { kinds: [kind], senders: subject.senders }
    },
  },
  {
    name: 'duplicates',
    description: 'POST /execute with an id that is stored already: a 409',
    setUp: ofStored(({ subject }) => {
      const { bodies = [], ...kind } = executions(subject.transaction)
      const stored = bodies.map((body) => body.replaceAll('{{0}}', '{{stored}}'))
      return [{ ...kind, name: 'duplicate', bodies: stored, status: 409, leaves: {} }]
    }),
  },
  {
    name: 'mixed',
    description: '80 % POST /execute, 20 % GET /trust-records/{id}',
    setUp: ofStored(({ subject }) => [
      { ...executions(subject.transaction), weight: 80 },
      { ...reads, weight: 20 },
    ]),
  },
  {
    name: 'read',
    description: 'GET /trust-records/{id}',
    setUp: ofStored(() => [reads]),
  },
  {
    name: 'verify',
    description: 'POST /verify: recomputes a stored record and appends a verification',
    setUp: ofStored(() => [posted('/verify', { 'later verifications': 1 })]),
  },
  {
    name: 'receipt',
    description: 'POST /receipt: verifies a stored record and signs one more receipt',
    setUp: ofStored(() => [posted('/receipt', { 'later receipts': 1 })]),
  },
  webhook,
  closing,
  external(5),
  external(50),
  {
    name: 'hybrid',
    description: 'POST /execute, approved, with records and receipts signed by Ed25519 and by ML-DSA-65',
    isLocal: true,
    env: { RECEIPT_ALGORITHMS: 'ed25519,ml-dsa-65' },
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

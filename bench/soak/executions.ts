// Stories of executions: approved, refused, failed, in doubt (interface §4.2, decisions §3, §8).
import { randomUUID } from 'node:crypto'
import { aSignedApproval } from './people.ts'
import { must, type Story, type World } from './story.ts'
import { APPROVED_BY_A_HUMAN, aTransaction, EXTERNAL, type Given } from './transactions.ts'

const execute = (world: World, given: Given, expect: number) =>
  world.client.call('POST /execute', { key: world.keys.caller, body: aTransaction(given), expect })

/** Posts one transaction that must end so. */
const ends = (name: string, weight: number, expect: number, given: () => Given): Story => ({
  name,
  routes: ['POST /execute'],
  pace: { weight },
  tell: (world) => execute(world, given(), expect),
})

const external = (parameters: Readonly<Record<string, unknown>>, id: string = randomUUID()): Given => ({
  id,
  action: EXTERNAL.capability,
  policy: { name: EXTERNAL.name, version: EXTERNAL.version },
  parameters,
})

export const executionStories: readonly Story[] = [
  {
    name: 'executes',
    routes: ['POST /execute'],
    pace: { weight: 40 },
    async tell(world) {
      const id = randomUUID()
      await execute(world, { id }, 200)
      world.executed.add(id)
    },
  },
  {
    name: 'submits a transaction',
    routes: ['POST /transactions'],
    pace: { weight: 10 },
    async tell({ client, keys, executed }) {
      const id = randomUUID()
      await client.call('POST /transactions', { key: keys.caller, body: aTransaction({ id }), expect: 201 })
      executed.add(id)
    },
  },
  {
    name: 'sends the same twice at once',
    routes: ['POST /execute'],
    pace: { weight: 2 },
    async tell({ client, keys }) {
      const body = aTransaction()
      const call = { key: keys.caller, body, expect: [200, 409] }
      const replies = await Promise.all([
        client.call('POST /execute', call),
        client.call('POST /execute', call),
      ])
      const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b)
      must(statuses.join() === '200,409', `the same transaction twice was answered ${statuses.join()}`)
    },
  },
  {
    name: 'is rejected, and checks the refusal',
    routes: ['POST /execute', 'GET /refusal/{businessTransactionId}', 'POST /refusal/verify'],
    pace: { weight: 3 },
    async tell(world) {
      const { client, keys } = world
      const id = randomUUID()
      await execute(world, { id, signals: { approved: false, amount: 42 } }, 500)
      const params = { businessTransactionId: id }
      const { text } = await client.call('GET /refusal/{businessTransactionId}', { params, key: keys.caller })
      const { json } = await client.call('POST /refusal/verify', { body: text })
      must(json()['valid'] === true, `the refusal of ${id} does not verify`)
    },
  },
  ends('declares what is not so', 1, 403, () => ({ signals: { approved: true, amount: 43 } })),
  ends('names an unknown policy', 1, 404, () => ({ policy: { name: 'nobody', version: '1.0.0' } })),
  ends('asks for what no connector does', 1, 500, () => ({
    action: 'vendor:pay',
    policy: { name: 'vendor-payment', version: '2.0.0' },
  })),
  ends('fails for certain', 1, 500, () => ({ parameters: { amount: 42, fail: true } })),
  ends('takes a while', 1, 200, () => ({ parameters: { amount: 42, delayMs: 100 } })),
  ends('goes to an external connector', 4, 200, () => external({ amount: 42 })),
  {
    name: 'loses its connector, is in doubt, and a human finds out',
    routes: [
      'POST /execute',
      'GET /execution-intents/unfinalized',
      'GET /execution-intents/{id}',
      'POST /execution-intents/{id}/resolve',
    ],
    pace: { weight: 0.5 },
    async tell(world) {
      const { client, maker } = world
      const id = randomUUID()
      await execute(world, external({ amount: 42, drop: true }, id), 502)
      await client.call('GET /execution-intents/unfinalized', { key: maker.key })
      const shown = await client.call('GET /execution-intents/{id}', { params: { id }, key: maker.key })
      must(shown.json()['state'] === 'RELEASED', `the intent ${id} is not RELEASED after a 502`)
      const body = { resolution: 'NOT_EXECUTED', note: 'The receiver has dropped it.' }
      await client.call('POST /execution-intents/{id}/resolve', { params: { id }, key: maker.key, body })
    },
  },
  {
    name: 'has lost its end to a restored backup, and a human finalizes it',
    routes: ['POST /execute', 'POST /execution-intents/{id}/finalize'],
    pace: { everySeconds: 5 },
    async tell(world) {
      const { client, maker, database } = world
      const id = randomUUID()
      await execute(world, { id }, 200)
      await database.query(
        `UPDATE execution_intents SET state = 'RELEASED', closed_at = NULL, deadline = now() - interval '1 s'
         WHERE business_transaction_id = $1::uuid`,
        [id],
      )
      // The service's own sweep may come first.
      const expect = [200, 409]
      await client.call('POST /execution-intents/{id}/finalize', { params: { id }, key: maker.key, expect })
    },
  },
  {
    name: 'is approved by a human, once',
    routes: ['POST /approvals', 'GET /approvals', 'GET /approvals/{id}', 'POST /execute'],
    pace: { weight: 1 },
    async tell(world) {
      const { client, keys, approver, maker } = world
      const target = randomUUID()
      const approval = aSignedApproval(approver, target)
      await client.call('POST /approvals', { key: keys.caller, body: approval, expect: 201 })
      await execute(world, { target, policy: APPROVED_BY_A_HUMAN }, 200)
      await execute(world, { target, policy: APPROVED_BY_A_HUMAN }, 403)
      const params = { id: approval.payload.approvalId }
      await client.call('GET /approvals/{id}', { params, key: maker.key })
      await client.call('GET /approvals', { key: maker.key })
    },
  },
  {
    name: 'goes away while it sends',
    routes: ['POST /execute'],
    pace: { weight: 1 },
    tell: ({ client, keys }) =>
      client.abandon('POST /execute', { key: keys.caller, body: JSON.stringify(aTransaction()) }),
  },
]

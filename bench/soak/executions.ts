// Stories of executions: approved, refused, failed, in doubt (interface §4.2, decisions §3, §8).
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { maker } from '../authority.ts'
import type { TransactionOptions } from '../transaction.ts'
import { APPROVED_BY_A_HUMAN, aSignedApproval, aTransaction, EXTERNAL, EXTERNAL_CAPABILITY } from './story.ts'
import { must, type Story, type World } from './story.ts'

type Given = TransactionOptions & { readonly id?: string }

const execute = ({ client }: World, given: Given, expect: number) =>
  client.call('POST /execute', { body: aTransaction(given), expect })

/** Posts one transaction that must end so. */
const ends = (name: string, weight: number, expect: number, given: Given): Story => ({
  name,
  weight,
  tell: (world) => execute(world, given, expect),
})

const external = (parameters: object): Given => ({
  action: EXTERNAL_CAPABILITY,
  policy: EXTERNAL,
  parameters,
})

interface Asked {
  readonly request: { readonly requestId: string; readonly parameters: Json }
  readonly requestHash: string
}

async function ask({ client }: World, given: Given): Promise<Asked & { params: { id: string } }> {
  const transaction = JSON.parse(aTransaction(given)) as object
  const { json } = await client.call('POST /approval-requests', { body: { transaction }, expect: 201 })
  const asked = json() as unknown as Asked
  return { ...asked, params: { id: asked.request.requestId } }
}

export const executionStories: readonly Story[] = [
  {
    name: 'executes',
    weight: 40,
    async tell(world) {
      const id = randomUUID()
      await execute(world, { id }, 200)
      world.executed.add(id)
    },
  },
  {
    name: 'submits a transaction',
    weight: 10,
    async tell({ client, executed }) {
      const id = randomUUID()
      await client.call('POST /transactions', { body: aTransaction({ id }), expect: 201 })
      executed.add(id)
    },
  },
  {
    name: 'sends the same twice at once',
    weight: 2,
    async tell({ client }) {
      const call = { body: aTransaction(), expect: [200, 409] }
      const twice = [client.call('POST /execute', call), client.call('POST /execute', call)]
      const statuses = (await Promise.all(twice)).map(({ status }) => status).toSorted((a, b) => a - b)
      must(statuses.join() === '200,409', `the same transaction twice was answered ${statuses.join()}`)
    },
  },
  {
    name: 'is rejected, and checks the refusal',
    weight: 3,
    async tell(world) {
      const { client } = world
      const id = randomUUID()
      await execute(world, { id, signals: { approved: false, amount: 42 } }, 500)
      const params = { businessTransactionId: id }
      const { text } = await client.call('GET /refusal/{businessTransactionId}', { params })
      const { json } = await client.call('POST /refusal/verify', { body: text })
      must(json()['valid'] === true, `the refusal of ${id} does not verify`)
    },
  },
  ends('declares what is not so', 1, 403, { signals: { approved: true, amount: 43 } }),
  ends('names an unknown policy', 1, 404, { policy: 'nobody' }),
  ends('asks for what no connector does', 1, 500, {
    action: 'vendor:pay',
    policy: 'vendor-payment',
    policyVersion: '2.0.0',
  }),
  ends('fails for certain', 1, 500, { parameters: { amount: 42, fail: true } }),
  ends('takes a while', 1, 200, { parameters: { amount: 42, delayMs: 100 } }),
  ends('goes to an external connector', 4, 200, external({ amount: 42 })),
  {
    name: 'loses its connector, is in doubt, and a human finds out',
    weight: 0.5,
    async tell(world) {
      const { client } = world
      const id = randomUUID()
      const call = { params: { id }, key: maker.key }
      await execute(world, { id, ...external({ amount: 42, drop: true }) }, 502)
      await client.call('GET /execution-intents/unfinalized', { key: maker.key })
      const shown = await client.call('GET /execution-intents/{id}', call)
      must(shown.json()['state'] === 'RELEASED', `the intent ${id} is not RELEASED after a 502`)
      const body = { resolution: 'NOT_EXECUTED', note: 'The receiver has dropped it.' }
      await client.call('POST /execution-intents/{id}/resolve', { ...call, body })
    },
  },
  {
    name: 'has lost its end to a restored backup, and a human finalizes it',
    everySeconds: 5,
    async tell(world) {
      const id = randomUUID()
      await execute(world, { id }, 200)
      await world.database.query(
        `UPDATE execution_intents SET state = 'RELEASED', closed_at = NULL, deadline = now() - interval '1 s'
         WHERE business_transaction_id = $1::uuid`,
        [id],
      )
      // The service's own sweep may come first.
      const call = { params: { id }, key: maker.key, expect: [200, 409] }
      await world.client.call('POST /execution-intents/{id}/finalize', call)
    },
  },
  {
    name: 'is approved by a human, once',
    weight: 1,
    async tell(world) {
      const { client, approver } = world
      const target = randomUUID()
      const approval = aSignedApproval(approver, target)
      await client.call('POST /approvals', { body: approval, expect: 201 })
      await execute(world, { target, policy: APPROVED_BY_A_HUMAN }, 200)
      await execute(world, { target, policy: APPROVED_BY_A_HUMAN }, 403)
      const params = { id: approval.payload.approvalId }
      await client.call('GET /approvals/{id}', { params, key: maker.key })
      await client.call('GET /approvals', { key: maker.key })
    },
  },
  {
    name: 'asks a human, waits, and executes',
    weight: 1,
    async tell(world) {
      const { client, approver } = world
      const given = { target: randomUUID(), policy: APPROVED_BY_A_HUMAN }
      const { request, requestHash, params } = await ask(world, given)
      const again = { transaction: JSON.parse(aTransaction(given)) as object }
      await client.call('POST /approval-requests', { body: again, expect: 200 })
      const waiting = client.call('GET /approval-requests/{id}', { params, headers: { Prefer: 'wait=5' } })
      const scope = { parametersHash: sha256Hex(canonicalize(request.parameters)) }
      const approval = aSignedApproval(approver, given.target, { version: 2, scope, requestHash })
      await client.call('POST /approvals', { body: approval, expect: 201 })
      must((await waiting).json()['status'] === 'APPROVED', 'an approval was not seen by who waits for it')
      await execute(world, given, 200)
      await execute(world, given, 403)
    },
  },
  {
    name: 'asks a human, who declines; and takes a question back',
    everySeconds: 10,
    async tell(world) {
      const { client } = world
      const given = { target: randomUUID(), policy: APPROVED_BY_A_HUMAN }
      const human = { key: maker.key }
      const declined = await ask(world, given)
      await client.call('GET /approval-requests', { ...human, query: '?waitingFor=me' })
      const no = { body: { reason: 'Not today.' }, params: declined.params, ...human }
      await client.call('POST /approval-requests/{id}/decline', no)
      await execute(world, given, 403)
      const { params } = await ask(world, given)
      await client.call('POST /approval-requests/{id}/withdraw', { params, body: {} })
    },
  },
  {
    name: 'goes away while it sends',
    weight: 1,
    tell: ({ client }) => client.abandon('POST /execute', aTransaction()),
  },
]

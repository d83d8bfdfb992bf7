// Stories of executions: approved, refused, failed, in doubt (interface §4.2, decisions §3, §8).
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { maker } from '../authority.ts'
import {
  APPROVED_BY_A_HUMAN,
  aSignedApproval,
  aTransaction,
  EXTERNAL,
  EXTERNAL_CAPABILITY,
  must,
  one,
  rarely,
  remember,
  told,
  type Given,
  type Story,
  type World,
} from './story.ts'

const execute = ({ call }: World, given: Given, expect: number) =>
  call('POST /execute', { body: aTransaction(given), expect })

/** Posts one transaction that must be answered with the expected status. */
const ends = (name: string, weight: number, expect: number, given: Given): Story =>
  one(weight, 'POST /execute', () => ({ body: aTransaction(given), expect }), name)

const external = (parameters: object): Given => ({
  action: EXTERNAL_CAPABILITY,
  policy: EXTERNAL,
  parameters,
})

interface Asked {
  readonly request: { readonly requestId: string; readonly parameters: Json }
  readonly requestHash: string
}

async function ask({ call }: World, given: Given): Promise<Asked & { params: { id: string } }> {
  const transaction = JSON.parse(aTransaction(given)) as object
  const { json } = await call('POST /approval-requests', { body: { transaction }, expect: 201 })
  const asked = json() as unknown as Asked
  return { ...asked, params: { id: asked.request.requestId } }
}

const human = { key: maker.key }

export const executionStories: readonly Story[] = [
  told('executes', 40, async (world) => {
    const id = randomUUID()
    await execute(world, { id }, 200)
    remember(world, id)
  }),
  told('submits a transaction', 10, async (world) => {
    const id = randomUUID()
    await world.call('POST /transactions', { body: aTransaction({ id }), expect: 201 })
    remember(world, id)
  }),
  told('sends the same twice at once', 2, async ({ call }) => {
    const given = { body: aTransaction(), expect: [200, 409] }
    const replies = await Promise.all([call('POST /execute', given), call('POST /execute', given)])
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b)
    must(statuses.join() === '200,409', `the same transaction twice was answered ${statuses.join()}`)
  }),
  told('is rejected, and checks the refusal', 3, async (world) => {
    const id = randomUUID()
    await execute(world, { id, signals: { approved: false, amount: 42 } }, 500)
    const params = { businessTransactionId: id }
    const { text } = await world.call('GET /refusal/{businessTransactionId}', { params })
    const { json } = await world.call('POST /refusal/verify', { body: text })
    must(json()['valid'] === true, `the refusal of ${id} does not verify`)
  }),
  ends('asks for what no connector does', 1, 500, {
    action: 'vendor:pay',
    policy: 'vendor-payment',
    policyVersion: '2.0.0',
  }),
  ends('fails for certain', 1, 500, { parameters: { amount: 42, fail: true } }),
  ends('takes a while', 1, 200, { parameters: { amount: 42, delayMs: 100 } }),
  ends('goes to an external connector', 4, 200, external({ amount: 42 })),
  told('loses its connector, is in doubt, and a human finds out', 0.5, async (world) => {
    const id = randomUUID()
    const given = { params: { id }, ...human }
    await execute(world, { id, ...external({ amount: 42, drop: true }) }, 502)
    await world.call('GET /execution-intents/unfinalized', human)
    const shown = await world.call('GET /execution-intents/{id}', given)
    must(shown.json()['state'] === 'RELEASED', `the intent ${id} is not RELEASED after a 502`)
    const body = { resolution: 'NOT_EXECUTED', note: 'The receiver has dropped it.' }
    await world.call('POST /execution-intents/{id}/resolve', { ...given, body })
  }),
  rarely('has lost its end to a restored backup, and a human finalizes it', 5, async (world) => {
    const id = randomUUID()
    await execute(world, { id }, 200)
    await world.database.query(
      `INSERT INTO released_batches (batch, ids, deadline) VALUES (gen_random_uuid(), ARRAY[$1::uuid], now() - interval '1 s')`,
      [id],
    )
    // The service's own sweep may come first.
    const given = { params: { id }, ...human, expect: [200, 409] }
    await world.call('POST /execution-intents/{id}/finalize', given)
  }),
  told('is approved by a human, once', 1, async (world) => {
    const { call, approver } = world
    const target = randomUUID()
    const approval = aSignedApproval(approver, target)
    await call('POST /approvals', { body: approval, expect: 201 })
    await execute(world, { target, policy: APPROVED_BY_A_HUMAN }, 200)
    await execute(world, { target, policy: APPROVED_BY_A_HUMAN }, 403)
    await call('GET /approvals/{id}', { params: { id: approval.payload.approvalId }, ...human })
    await call('GET /approvals', human)
  }),
  told('asks a human, waits, and executes', 1, async (world) => {
    const { call, approver } = world
    const given = { target: randomUUID(), policy: APPROVED_BY_A_HUMAN }
    const { request, requestHash, params } = await ask(world, given)
    const again = { transaction: JSON.parse(aTransaction(given)) as object }
    await call('POST /approval-requests', { body: again, expect: 200 })
    const judged = await call('GET /approval-requests/{id}/judgement', { params, ...human })
    must(
      (judged.json()['decision'] as { outcome: string }).outcome === 'APPROVED',
      'a request is not judged as its approval would let it be',
    )
    const waiting = call('GET /approval-requests/{id}', { params, headers: { Prefer: 'wait=5' } })
    const scope = { parametersHash: sha256Hex(canonicalize(request.parameters)) }
    const approval = aSignedApproval(approver, given.target, { version: 2, scope, requestHash })
    await call('POST /approvals', { body: approval, expect: 201 })
    must((await waiting).json()['status'] === 'APPROVED', 'an approval was not seen by who waits for it')
    await execute(world, given, 200)
    await execute(world, given, 403)
  }),
  rarely('asks a human, who declines; and takes a question back', 10, async (world) => {
    const { call } = world
    const given = { target: randomUUID(), policy: APPROVED_BY_A_HUMAN }
    const declined = await ask(world, given)
    await call('GET /approval-requests', { ...human, query: '?waitingFor=me' })
    const no = { body: { reason: 'Not today.' }, params: declined.params, ...human }
    const question = { body: { text: 'Which one?' }, params: declined.params, expect: 201 }
    await call('POST /approval-requests/{id}/notes', { ...question, ...human })
    await call('POST /approval-requests/{id}/notes', question)
    await call('POST /approval-requests/{id}/decline', no)
    await execute(world, given, 403)
    const { params } = await ask(world, given)
    await call('POST /approval-requests/{id}/withdraw', { params, body: {} })
  }),
  told('goes away while it sends', 1, ({ abandon }) => abandon('POST /execute', aTransaction())),
]

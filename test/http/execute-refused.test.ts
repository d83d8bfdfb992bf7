// POST /execute where nothing is executed (interface §7, decisions §3): one describe per failure, in the order of checks.
// Bad bodies stand in execute-bodies.test.ts.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { rowsOf, type TestDatabase } from '../database.ts'
import { addPolicy } from '../policies.ts'
import { aCaller, reply, startService, until, type TestService } from '../service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const payer = { name: 'payer', version: '1.0.0' }
const limited = aCaller('limited', { allowedPrincipalIds: ['alice'], allowedCapabilities: ['vendor:pay'] })

let database: TestDatabase
let service: TestService
let policyDir: string

withService((made) => ({ database, service } = made), {
  callers: [limited.entry],
  addPolicies(folder) {
    policyDir = folder
    addPolicy(folder, { ...payer, capability: 'vendor:pay' })
  },
})

const execute = (body: unknown, options = {}) => service.post('/execute', body, options)
const nothing = {
  business_transactions: 0,
  execution_intents: 0,
  trust_records: 0,
  verifications: 0,
  receipts: 0,
  refusal_records: 0,
}
const onlyTheTransaction = { ...nothing, business_transactions: 1 }
const refused = { ...onlyTheTransaction, refusal_records: 1 }

describe('POST /execute 403 principalOutsideScope', () => {
  // proves §5 Each key resolves to a `callerId`
  test('a principal that the caller may not speak for, and nothing is stored', async () => {
    const transaction = aTransaction({ authority: { principalId: 'bob' } })
    expect(reply(await execute(transaction, { key: limited.key }))).toEqual({
      status: 403,
      body: { error: 'Caller is not permitted to assert this authority.principalId.' },
    })
    expect(await rowsOf(database, transaction.businessTransactionId)).toEqual(nothing)
  })
})

describe('POST /execute 403 capabilityOutsideScope', () => {
  // proves §5 Each key resolves to a `callerId`; §7 403 · none · the action; §7 The body of the 403
  test('a capability that the caller does not have, and nothing is stored', async () => {
    const transaction = aTransaction({ authority: { principalId: 'alice' } })
    expect(reply(await execute(transaction, { key: limited.key }))).toEqual({
      status: 403,
      body: { error: 'Caller is not permitted to invoke this capability.' },
    })
    expect(await rowsOf(database, transaction.businessTransactionId)).toEqual(nothing)
  })
})

const duplicate = (id: string) => ({
  status: 409,
  body: { error: `Business Transaction '${id}' already exists.` },
})

describe('POST /execute 409 duplicateTransaction', () => {
  // proves §4.2 POST /execute: A duplicate; §7 409 · none · `Business; §7 A direct caller of the execution
  // proves §7 Idempotency `businessTransactionId` is the idempotency
  test.each([
    ['executed', aTransaction()],
    ['rejected', aRejectedTransaction()],
    ['denied', aMismatchedTransaction()],
    ['of an unknown policy', aTransaction({ policy: { name: 'unknown' } })],
    ['without connector', aTransaction({ policy: payer, intent: { action: 'vendor:pay' } })],
    ['failed', aTransaction({ intent: { parameters: { amount: 42, fail: true } } })],
  ])('wins over every other outcome once the id is that of one %s', async (_title, transaction) => {
    const id = transaction.businessTransactionId
    await execute(transaction)
    const before = await rowsOf(database, id)
    const again = [
      transaction,
      { ...aTransaction(), ...transaction, policy: { name: 'unknown', version: '1' } },
      { ...transaction, signals: { approved: false, amount: 42 } },
      { ...transaction, signals: { approved: true, amount: 1 } },
    ]
    for (const path of ['/execute', '/transactions']) {
      for (const body of again) {
        const answer = await service.post(path, body)
        expect(reply(answer)).toEqual(duplicate(id))
        expect(answer.headers.get('location')).toBe(`/trust-records/${id}`)
      }
    }
    expect(await rowsOf(database, id)).toEqual(before)
  })

  test('an id is the same in upper case', async () => {
    const transaction = aTransaction()
    const id = transaction.businessTransactionId
    expect((await execute(JSON.stringify(transaction).replaceAll(id, id.toUpperCase()))).status).toBe(200)
    expect(reply(await execute(transaction))).toEqual(duplicate(id))
  })

  test('an id is taken for every caller, but whose it is stays untold: scope is asked first', async () => {
    const transaction = aTransaction()
    await execute(transaction)
    expect((await execute(transaction, { key: limited.key })).status).toBe(403)
  })
})

describe('POST /execute 404 policyNotFound', () => {
  // proves §7 404 · none · `Policy
  test.each([
    ['no-such-policy', '1.0.0'],
    ['sandbox-echo', '1.0.1'],
    ['sandbox-echo', '1.0.0 '],
    ["it's \0 ' not", '../..'],
    ['constructor', 'prototype'],
  ])('%j version %j; the transaction is stored and its id is used', async (name, version) => {
    const transaction = aTransaction({ policy: { name, version } })
    const error = `Policy '${name}' version '${version}' was not found.`
    expect(reply(await execute(transaction))).toEqual({ status: 404, body: { error } })
    expect(await rowsOf(database, transaction.businessTransactionId)).toEqual(onlyTheTransaction)
    expect((await execute(transaction)).status).toBe(409)
    expect((await service.get(`/transactions/${transaction.businessTransactionId}`)).body.status).toBe(
      'RECEIVED',
    )
  })
})

describe('POST /execute 403 policyDenied', () => {
  // proves §7 403 · `POLICY_DENIED` · message
  test('a declared signal that is not what the intent says, with a Refusal Record', async () => {
    const transaction = aMismatchedTransaction()
    expect(reply(await execute(transaction))).toEqual({
      status: 403,
      body: {
        error:
          'Execution rejected: declared signals do not match independently verified state (amount=42 != verified amount=7).',
        code: 'POLICY_DENIED',
      },
    })
    expect(await rowsOf(database, transaction.businessTransactionId)).toEqual(refused)
  })

  test('a long value is told in part, without half a character at its end, and the Refusal Record has it whole', async () => {
    const amount = '😀'.repeat(40)
    const transaction = aTransaction({ intent: { parameters: { amount } } })
    const { status, body } = await execute(transaction)
    expect([status, body.code]).toEqual([403, 'POLICY_DENIED'])
    expect(body.error).toContain(`(amount=42 != verified amount="${'😀'.repeat(31)}\ufffd…)`)
    expect(await rowsOf(database, transaction.businessTransactionId)).toEqual(refused)
    const refusal = await service.get(`/refusal/${transaction.businessTransactionId}`)
    expect(refusal.body).toMatchObject({ mismatches: [{ signal: 'amount', verified: amount }] })
  })
})

const rejected = (reason: string) => ({
  status: 500,
  body: { error: `Execution rejected: ${reason}`, code: 'RUNTIME_ERROR' },
})

describe('POST /execute 500 executionRejected', () => {
  // proves §7 500 · `RUNTIME_ERROR` · `Execution
  test.each([
    ['a rule', aRejectedTransaction(), 'Amount above 1000.'],
    ['no rule', aTransaction({ signals: { approved: false } }), 'No rule matched.'],
    ['a missing signal', { ...aTransaction(), signals: { amount: 42 } }, "Signal 'approved' is missing."],
    [
      'a signal of another type',
      aTransaction({ signals: { approved: 1 } }),
      "Signal 'approved' must be a boolean.",
    ],
  ])('by %s, with a Refusal Record', async (_title, transaction, reason) => {
    expect(reply(await execute(transaction))).toEqual(rejected(reason))
    expect(await rowsOf(database, transaction.businessTransactionId)).toEqual(refused)
  })

  test('under a version that came after the first start and nobody has approved', async () => {
    const later = { name: 'later', version: '2.0.0' }
    addPolicy(policyDir, { ...later, capability: 'sandbox:echo' })
    const upgraded = await startService({ databaseUrl: database.url, env: { POLICY_DIR: policyDir } })
    expect(reply(await upgraded.post('/execute', aTransaction({ policy: later })))).toEqual(
      rejected("Policy 'later' version '2.0.0' is not approved."),
    )
    expect(await upgraded.stop()).toBe(0)
  })
})

describe('a refusal by a policy, rejected or denied', () => {
  test.each([
    ['rejected', aRejectedTransaction()],
    ['denied', aMismatchedTransaction()],
  ])(
    '%s: Link leads to the signed Refusal Record, and the duplicate has none',
    async (_title, transaction) => {
      const id = transaction.businessTransactionId
      const answer = await service.post('/transactions', transaction)
      expect(answer.headers.get('link')).toBe(`</refusal/${id}>; rel="refusal"`)
      const refusal = await service.get(`/refusal/${id}`)
      expect(refusal.body).toMatchObject({ businessTransactionId: id })
      const again = await execute(transaction)
      expect([again.status, again.headers.get('link')]).toEqual([409, null])
    },
  )
})

const lineOf = (id: string, status: number) =>
  until(
    () => service.lines().find((line) => line['businessTransactionId'] === id && line['status'] === status),
    `the line of ${id}`,
  )

describe('the log line of an execution', () => {
  const policy = { name: `no\n"such"\u0085\u2028\u202e${'x'.repeat(1000)}` }

  test.each<[string, ReturnType<typeof aTransaction>, number, object]>([
    [
      'rejected',
      aRejectedTransaction(),
      500,
      { code: 'RUNTIME_ERROR', reason: 'Execution rejected: Amount above 1000.', caller: 'tester' },
    ],
    [
      'denied',
      aMismatchedTransaction(),
      403,
      {
        code: 'POLICY_DENIED',
        reason:
          'Execution rejected: declared signals do not match independently verified state (amount=42 != verified amount=7).',
      },
    ],
    [
      'failed',
      aTransaction({ intent: { parameters: { amount: 42, fail: true } } }),
      500,
      { code: 'RUNTIME_ERROR', reason: 'Execution failed: the sandbox was asked to fail.' },
    ],
    ['invalid', aTransaction({ intent: { target: '' } }), 400, { reason: 'intent.target is required.' }],
    [
      'of an unknown policy, whose name is cut and has no control character left',
      aTransaction({ policy }),
      404,
      { reason: `Policy 'no\ufffd"such"\ufffd\ufffd\ufffd${'x'.repeat(1000)}`.slice(0, 300) },
    ],
  ])('%s names it, with code and reason', async (_title, transaction, status, line) => {
    expect((await execute(transaction)).status).toBe(status)
    expect(await lineOf(transaction.businessTransactionId, status)).toMatchObject(line)
  })

  test('executed, and a duplicate of it, name it too', async () => {
    const transaction = aTransaction()
    const id = transaction.businessTransactionId
    const upper = JSON.stringify(transaction).replaceAll(id, id.toUpperCase())
    const first = await execute(upper)
    expect([first.status, (await execute(transaction)).status]).toEqual([200, 409])
    expect(first.headers.get('cache-control')).toBe('private, no-store')
    expect(await lineOf(id, 200)).not.toHaveProperty('reason')
    expect(await lineOf(id, 409)).toMatchObject({ reason: `Business Transaction '${id}' already exists.` })
  })

  test('an id that is none is no id in the log', async () => {
    const headers = { 'X-Request-Id': randomUUID() }
    await execute({ ...aTransaction(), businessTransactionId: 'x\ny' }, { headers })
    const line = await until(
      () => service.lines().find(({ requestId }) => requestId === headers['X-Request-Id']),
      'the line',
    )
    expect(line).toMatchObject({ status: 400, reason: 'businessTransactionId must be a valid UUID.' })
    expect(line).not.toHaveProperty('businessTransactionId')
  })
})

describe('POST /execute 500 noConnector', () => {
  // proves §7 500 · varies · see; §7 No-connector case: the status
  test('an approved action that nothing carries out; only the transaction is stored', async () => {
    const transaction = aTransaction({ policy: payer, intent: { action: 'vendor:pay' } })
    expect(reply(await execute(transaction))).toEqual({
      status: 500,
      body: { error: 'No connector registered for action: vendor:pay.', code: 'RUNTIME_ERROR' },
    })
    expect(await rowsOf(database, transaction.businessTransactionId)).toEqual(onlyTheTransaction)
  })
})

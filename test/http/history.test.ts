// Velocity limits (decisions §6 `history`): counts and sums over the caller's own executions, correct under concurrency.
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import type { TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, reply, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'
import { intentState, putInDoubt } from '../intents.ts'

const policyDir = aPolicyFolder()
const limited = (name: string, verify: object, when: string, version = '1.0.0') =>
  addPolicy(policyDir, {
    name,
    version,
    capability: 'sandbox:echo',
    signals: { before: 'number' },
    verify: { before: { by: 'history', window: '1h', ...verify } },
    rules: [{ id: 'few', when, outcome: 'approve', reason: 'Few enough.' }],
  })
limited('three-an-hour', {}, 'signals.before < 3.0')
limited('sum-an-hour', { sum: 'intent.parameters.invoice.total' }, 'signals.before < 100.0')

limited('two-a-target', { per: ['target'] }, 'signals.before < 2.0')
addPolicy(policyDir, { name: 'two-a-target', version: '0.9.0', capability: 'sandbox:echo' })
limited(
  'sum-a-currency',
  { sum: 'intent.parameters.amount', per: ['caller', 'intent.parameters.currency'] },
  'signals.before < 100.0',
)
limited('one-refund', { where: 'intent.parameters.kind == "refund"' }, 'signals.before < 1.0')

addPolicy(policyDir, { name: 'limited-later', version: '1.0.0', capability: 'sandbox:echo' })

let database: TestDatabase
let service: TestService
let other: TestService
const callers = Array.from({ length: 14 }, (_, i) =>
  aCaller(`caller-${i}`, { allowedPrincipalIds: ['tester'] }),
)
let used = 0
const aFreshCaller = () => callers[used++] as (typeof callers)[number]

withDatabase(async ({ database: made, start }) => {
  database = made
  const options = {
    callers: callers.map(({ entry }) => entry),
    env: { POLICY_DIR: policyDir },
  }
  service = await start(options)
  other = await start({ ...options, signingKeyDir: service.signingKeyDir, key: service.key })
})

const counted = (before: number) => aTransaction({ policy: { name: 'three-an-hour' }, signals: { before } })
const summed = (before: number, total: unknown) =>
  aTransaction({
    policy: { name: 'sum-an-hour' },
    signals: { before },
    intent: { parameters: { invoice: { total } } },
  })
const denied = (declared: number, verified: number) => ({
  status: 403,
  body: {
    error: `Execution rejected: declared signals do not match independently verified state (before=${declared} != verified before=${verified}).`,
    code: 'POLICY_DENIED',
  },
})

test('counts the executions before this one, of this caller and this policy alone', async () => {
  const [one, another] = [aFreshCaller(), aFreshCaller()]
  await service.post('/execute', aTransaction(), one)
  expect((await service.post('/execute', counted(0), one)).status).toBe(200)
  expect(reply(await service.post('/execute', counted(0), one))).toEqual(denied(0, 1))
  expect((await service.post('/execute', counted(0), another)).status).toBe(200)
  const { body } = await service.post('/execute', counted(1), one)
  expect(body.executions[0].decision.verifiedSignals).toEqual({ before: { value: 1, by: 'history' } })
  expect(body.verifications[0].status).toBe('VERIFIED')
})

// proves abuse: A declared state that is not
test('lets three of forty through that all claim to be one of the first, on two instances', async () => {
  const one = aFreshCaller()
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      (i % 2 === 0 ? service : other).post('/execute', counted(i % 4), one),
    ),
  )
  const passed = replies.filter(({ status }) => status === 200)
  const values = passed.map(({ body }) => body.executions[0].decision.verifiedSignals.before.value as number)
  // Each passed at its own count: no two saw the same past.
  expect(values).toHaveLength(new Set(values).size)
  expect(passed.length).toBeLessThanOrEqual(3)
  expect(passed.length).toBeGreaterThan(0)
})

// proves abuse: A declared state that is not
test('sums as decimals, not as floating point, and takes nothing from what is no number', async () => {
  const one = aFreshCaller()
  for (const [before, total] of [
    [0, 0.1],
    [0.1, 0.2],
    [0.3, '99'],
    [0.3, 99],
  ] as const)
    expect((await service.post('/execute', summed(before, total), one)).status, String(before)).toBe(200)
  expect((await service.post('/execute', summed(99.3, 1), one)).status).toBe(200)
  expect(reply(await service.post('/execute', summed(100.3, 1), one))).toMatchObject({ status: 500 })
})

test('counts one in doubt, and not one that failed for certain', async () => {
  const one = aFreshCaller()
  const hanging = aTransaction({
    policy: { name: 'three-an-hour' },
    signals: { before: 0 },
    intent: { parameters: { fail: true } },
  })
  expect((await service.post('/execute', hanging, one)).status).toBe(500)
  expect((await service.post('/execute', counted(0), one)).status).toBe(200)
  const { rows } = await database.pool.query<{ id: string }>(
    `SELECT business_transaction_id AS id FROM trust_records WHERE caller_id = 'caller-4'`,
  )
  for (const { id } of rows)
    if ((await intentState(database, id)) === 'FINALIZED') await putInDoubt(database, id)
  expect(reply(await service.post('/execute', counted(0), one))).toEqual(denied(0, 1))
})

test('counts whatever else stands in a transaction, an escaped NUL too', async () => {
  const one = aFreshCaller()
  const odd = aTransaction({
    policy: { name: 'sum-an-hour' },
    signals: { before: 0 },
    intent: { parameters: { invoice: { total: 2 }, note: 'a\0b', path: '\\u0000' } },
  })
  expect((await service.post('/execute', odd, one)).status).toBe(200)
  expect(reply(await service.post('/execute', summed(0, 1), one))).toEqual(denied(0, 2))
})

test('counts what was executed under an older version, before anybody knew of a limit', async () => {
  const one = aFreshCaller()
  const name = 'limited-later'
  const before = aTransaction({ policy: { name }, signals: { approved: true } })
  expect((await service.post('/execute', before, one)).status).toBe(200)
  // As an upgrade would ship it; approved by hand, which is not what this test is about.
  limited(name, {}, 'signals.before < 3.0', '2.0.0')
  const options = { databaseUrl: database.url, callers: [one.entry], env: { POLICY_DIR: policyDir } }
  const upgraded = await startService(options)
  await database.pool.query(
    `UPDATE authority SET began_by = 'test', began_at = now() WHERE key LIKE $1 AND began_at IS NULL`,
    [`${name}/%`],
  )
  await database.pool.query(`UPDATE authority_epoch SET epoch = epoch + 1`)
  const under = (count: number) =>
    aTransaction({ policy: { name, version: '2.0.0' }, signals: { before: count } })
  await until(
    async () => isDeepStrictEqual(reply(await upgraded.post('/execute', under(0), one)), denied(0, 1)),
    'the approval to be in effect',
  )
  expect((await upgraded.post('/execute', under(1), one)).status).toBe(200)
  // The older version is counted from now on too, and once.
  expect(
    (await upgraded.post('/execute', aTransaction({ policy: { name }, signals: { approved: true } }), one))
      .status,
  ).toBe(200)
  expect(reply(await upgraded.post('/execute', under(2), one))).toEqual(denied(2, 3))
  expect(await upgraded.stop()).toBe(0)
})

test('forgets what lies before the window', async () => {
  const one = aFreshCaller()
  expect((await service.post('/execute', counted(0), one)).status).toBe(200)
  // In the transactions too, which are looked at while the limit is new.
  for (const [table, time] of [
    ['history_entries', 'released_at'],
    ['business_transactions', 'created_at'],
  ] as const)
    await database.pool.query(`UPDATE ${table} SET ${time} = $1::timestamptz WHERE caller_id = 'caller-7'`, [
      new Date(Date.now() - 61 * 60_000),
    ])
  expect((await service.post('/execute', counted(0), one)).status).toBe(200)
})

const leftOut = () => ({ ...aTransaction({ policy: { name: 'three-an-hour' } }), signals: {} })

test('a signal that is left out is filled in, shown and decided on; each of many at once gets its own value', async () => {
  const one = aFreshCaller()
  const replies = await Promise.all(
    Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? service : other).post('/execute', leftOut(), one)),
  )
  const passed = replies.filter(({ status }) => status === 200).map(({ body }) => body)
  const values = passed.map((body) => body.executions[0].decision.verifiedSignals.before.value as number)
  expect(values.toSorted((a, b) => a - b)).toEqual([0, 1, 2])
  for (const body of passed) {
    expect(body.transaction.signals).toEqual({})
    expect(body.executions[0].decision.signals).toEqual({})
    expect(body.verifications[0].status).toBe('VERIFIED')
  }

  const fourth = leftOut()
  const rejected = { error: 'Execution rejected: No rule matched.', code: 'RUNTIME_ERROR' }
  expect(reply(await service.post('/execute', fourth, one))).toEqual({ status: 500, body: rejected })
  const { body: refusal } = await service.get(`/refusal/${fourth.businessTransactionId}`, one)
  expect(refusal.decision.verifiedSignals).toEqual({ before: { value: 3, by: 'history' } })
  expect((await service.post('/refusal/verify', refusal)).body.valid).toBe(true)

  const { body: tried } = await service.post('/sandbox/evaluate', leftOut(), one)
  expect(tried).toMatchObject({
    problems: [],
    decision: { outcome: 'REJECTED', presentState: { before: { value: 3, by: 'history' } } },
    wouldAnswer: { status: 500 },
  })
})

const unsaid = (name: string, intent: { target?: string; parameters?: object }) => ({
  ...aTransaction({ policy: { name }, intent }),
  signals: {},
})
const valueOf = (body: { executions: { decision: { verifiedSignals: { before: { value: number } } } }[] }) =>
  body.executions[0]?.decision.verifiedSignals.before.value as number

// proves abuse: A declared state that is not
test('per target counts the executions of every caller and version on that target, each of many at once in its turn', async () => {
  const [one, another] = [aFreshCaller(), aFreshCaller()]
  const post = (target: string, i: number) =>
    (i % 2 === 0 ? service : other).post(
      '/execute',
      unsaid('two-a-target', { target }),
      i % 3 === 0 ? one : another,
    )
  const replies = await Promise.all(Array.from({ length: 12 }, (_, i) => post('shared', i)))
  const passed = replies.filter(({ status }) => status === 200)
  expect(passed.map(({ body }) => valueOf(body)).toSorted((a, b) => a - b)).toEqual([0, 1])
  expect(replies.filter(({ status }) => status === 500)).toHaveLength(10)
  expect((await post('another', 0)).status).toBe(200)

  const older = aTransaction({
    policy: { name: 'two-a-target', version: '0.9.0' },
    intent: { target: 'third' },
    signals: { approved: true },
  })
  expect((await service.post('/execute', older, another)).status).toBe(200)
  const afterOlder = await post('third', 0)
  expect(valueOf(afterOlder.body)).toBe(1)
  expect((await post('third', 1)).status).toBe(500)
})

test('per caller and parameter sums what is equal in both; a parameter that is missing is a value of its own', async () => {
  const [one, another] = [aFreshCaller(), aFreshCaller()]
  const pay = async (caller: typeof one, parameters: object) => {
    const { status, body } = await service.post('/execute', unsaid('sum-a-currency', { parameters }), caller)
    return status === 200 ? valueOf(body) : status
  }
  const eur = { currency: 'EUR', amount: 60 }
  expect(await pay(one, eur)).toBe(0)
  expect(await pay(one, { ...eur, amount: 50 })).toBe(60)
  expect(await pay(one, eur)).toBe(500)
  expect(await pay(one, { ...eur, currency: 'CHF' })).toBe(0)
  expect(await pay(another, eur)).toBe(0)
  expect(await pay(one, { amount: 60 })).toBe(0)
  expect(await pay(one, { amount: 1 })).toBe(60)
  // An execution that fails for certain adds nothing.
  expect(await pay(another, { ...eur, fail: true })).toBe(500)
  expect(await pay(another, { ...eur, amount: 1 })).toBe(60)

  const { body } = await service.post('/sandbox/evaluate', unsaid('sum-a-currency', { parameters: eur }), one)
  expect(body.decision).toMatchObject({ outcome: 'REJECTED', presentState: { before: { value: 110 } } })
})

test('where counts what it was true of, and what it could not be evaluated of', async () => {
  const one = aFreshCaller()
  const execute = async (parameters: object) =>
    (await service.post('/execute', unsaid('one-refund', { parameters }), one)).status
  expect(await execute({ kind: 'sale' })).toBe(200)
  expect(await execute({ kind: 'sale' })).toBe(200)
  // Nobody gets past a limit by leaving out what it looks at.
  expect(await execute({})).toBe(200)
  expect(await execute({ kind: 'refund' })).toBe(500)
})

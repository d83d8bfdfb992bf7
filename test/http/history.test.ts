// Velocity limits (decisions §6 `history`): counts and sums over the caller's own executions, correct under concurrency.
import { rmSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, reply, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

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

addPolicy(policyDir, { name: 'limited-later', version: '1.0.0', capability: 'sandbox:echo' })

let database: TestDatabase
let service: TestService
let other: TestService
const callers = Array.from({ length: 8 }, (_, i) =>
  aCaller(`caller-${i}`, { allowedPrincipalIds: ['tester'] }),
)
let used = 0
const aFreshCaller = () => callers[used++] as (typeof callers)[number]

beforeAll(async () => {
  database = await createDatabase()
  const options = {
    databaseUrl: database.url,
    callers: callers.map(({ entry }) => entry),
    env: { POLICY_DIR: policyDir },
  }
  service = await startService(options)
  other = await startService({ ...options, signingKeyDir: service.signingKeyDir, key: service.key })
})

afterAll(async () => {
  expect(await other.stop()).toBe(0)
  expect(await service.stop()).toBe(0)
  await database.drop()
  rmSync(policyDir, { recursive: true })
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
  await database.pool.query(
    `UPDATE execution_intents SET state = 'RELEASED', closed_at = NULL WHERE business_transaction_id IN
      (SELECT business_transaction_id FROM business_transactions WHERE caller_id = 'caller-4') AND state = 'FINALIZED'`,
  )
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
    `UPDATE policy_versions SET approved_by = 'test', approved_at = now() WHERE name = $1`,
    [name],
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

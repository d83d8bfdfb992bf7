// One of several instances loses the database without a word: its connections stay open and pass nothing, as when a network swallows
// packets (docs/handbook/operating.md "Several instances").
import { expect, test } from 'vitest'
import { putInEffect } from '../authority.ts'
import { readStored } from '../evidence.ts'
import { openDatabaseProxy, type DatabaseProxy } from '../proxy.ts'
import { reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { aCountedTransaction, expectAccounted, humans, openFleet, startCallers } from './instances.ts'
import { intentState } from '../intents.ts'

/** Four to five seconds, and what a busy machine adds: less than the twelve after which a statement is given up anyway. For the fastest. */
const NOTICED_MAX_MS = 10_000
/** For each. */
const HELD_MAX_MS = 60_000
/** Less than a connection is waited for. */
const AT_ONCE_MAX_MS = 2_000
const MENDED_MAX_MS = 60_000

const HEALTH = 600
const from = (address: string) => ({ key: null, headers: { 'X-Forwarded-For': address } })

const under = (name: string) => aTransaction({ policy: { name, version: '1.0.0' } })

const away = {
  status: 503,
  body: { error: 'Database unavailable. Nothing was executed.', code: 'DATABASE_UNAVAILABLE' },
}

/** Two with the database, and one behind a proxy of its own. */
async function openPartitioned() {
  const fleet = await openFleet()
  const proxy = await openDatabaseProxy(fleet.database.url)
  const env = { RATE_LIMIT_HEALTH_PER_MINUTE: String(HEALTH), TRUST_PROXY_HOPS: '1' }
  const [alone, ...others] = await fleet.startThree({ databaseUrl: proxy.url, env }, { env }, { env })
  return { fleet, proxy, alone, other: others[0], others }
}

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const startedMs = performance.now()
  return { result: await work, ms: performance.now() - startedMs }
}

async function mended(proxy: DatabaseProxy, alone: TestService): Promise<void> {
  await proxy.mend()
  const ready = async () => (await alone.get('/ready')).status === 200
  await until(ready, 'GET /ready to answer 200', MENDED_MAX_MS)
}

// proves fault: The network between one instance
test('before an execution: 503 within seconds, then at once, and /ready says so; the others go on, and it comes back by itself', async () => {
  const { fleet, proxy, alone, other, others } = await openPartitioned()
  let inService: readonly TestService[] = [alone, ...others]
  const callers = startCallers(() => inService)
  await callers.more(40)

  // Under load: some are between two statements of a transaction.
  proxy.stall()
  const unheard = Array.from({ length: 20 }, () => aCountedTransaction())
  const first = await Promise.all([
    timed(alone.get('/ready')),
    timed(alone.get('/transactions')),
    ...unheard.map((one) => timed(alone.post('/execute', one))),
  ])
  inService = others
  for (const { result, ms } of first) {
    expect(result.status).toBe(503)
    expect(ms).toBeLessThan(HELD_MAX_MS)
  }
  expect(Math.min(...first.map(({ ms }) => ms))).toBeLessThan(NOTICED_MAX_MS)
  const transaction = aCountedTransaction()
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const { result, ms } = await timed(alone.post('/execute', transaction))
    expect(reply(result)).toEqual(away)
    expect(result.headers.get('retry-after')).toBe('1')
    times.push(ms)
  }
  expect(Math.min(...times)).toBeLessThan(AT_ONCE_MAX_MS)
  expect((await alone.get('/ready')).body).toMatchObject({
    status: 'NOT_READY',
    reason: 'The database cannot be used: it does not answer.',
  })
  expect((await alone.get('/health')).status).toBe(200)
  // Said to be not executed: it can be sent to another instance, and is executed there.
  expect((await other.post('/execute', transaction)).status).toBe(200)

  await callers.more(40)
  await mended(proxy, alone)
  inService = [alone, ...others]
  const answeredAlone = () =>
    callers.seen.filter(({ service, status }) => service === alone && status === 200).length
  const before = answeredAlone()
  await until(() => answeredAlone() > before + 10, 'executions on the one that was alone')
  await callers.stop()

  const unexpected = callers.seen.filter(
    ({ service, status }) => status !== 200 && (service !== alone || (status !== 503 && status !== 502)),
  )
  expect(unexpected).toEqual([])
  expect(callers.seen.filter((one) => one.ms > HELD_MAX_MS)).toEqual([])
  await expectAccounted(fleet, callers)
  expect(fleet.receiver.calls.get(transaction.businessTransactionId)).toBe(1)
  // Even if statements of these arrived when the network was mended, none of them was executed.
  expect(unheard.filter((one) => fleet.receiver.calls.has(one.businessTransactionId))).toEqual([])
  await until(async () => {
    const { inDoubt } = await readStored(fleet.database.pool)
    return inDoubt.isDisjointFrom(new Set(fleet.receiver.calls.keys()))
  }, 'the pending evidence')
  for (const instance of [alone, ...others]) expect(await instance.stop()).toBe(0)
})

// proves fault: The same, while an execution
test('during an execution: 502 within seconds, one call outside, and the evidence is stored when the network is mended', async () => {
  const { fleet, proxy, alone, other, others } = await openPartitioned()
  const held = aCountedTransaction({ hold: true })
  const id = held.businessTransactionId
  const answer = timed(alone.post('/execute', held))
  await until(() => fleet.receiver.calls.has(id), 'the call')
  proxy.stall()
  const releasedMs = performance.now()
  fleet.receiver.release()
  const { result } = await answer
  expect(result.status).toBe(502)
  expect(result.body.code).toBe('EXECUTION_OUTCOME_UNKNOWN')
  expect(performance.now() - releasedMs).toBeLessThan(NOTICED_MAX_MS)
  // For the others it is claimed and open: nobody executes it again.
  expect((await other.get(`/execution-intents/${id}`)).body).toMatchObject({ state: 'RELEASED' })
  expect((await other.post('/execute', aCountedTransaction({}, id))).status).toBe(409)

  await mended(proxy, alone)
  await until(async () => (await intentState(fleet.database, id)) === 'FINALIZED', 'the evidence')
  for (const instance of [alone, ...others])
    expect((await instance.get(`/trust-records/${id}`)).status).toBe(200)
  expect(fleet.receiver.calls.get(id)).toBe(1)

  // A stop in the middle of it is not held up either.
  proxy.stall()
  expect((await alone.get('/ready')).status).toBe(503)
  const { result: exitCode, ms } = await timed(alone.stop())
  expect(exitCode).toBe(0)
  expect(ms).toBeLessThan(60_000)
  await proxy.cut()
  for (const instance of others) expect(await instance.stop()).toBe(0)
})

// proves fault: The same, while humans approve
test('afterwards they share again: what was approved elsewhere is in effect within seconds, and a budget is one', async () => {
  const { proxy, alone, other, others } = await openPartitioned()
  proxy.stall()
  await until(async () => (await alone.get('/ready')).status === 503, 'the partition to be noticed')
  const document = {
    policyId: 'made-meanwhile',
    policyVersion: '1.0.0',
    schemaVersion: '1.0.0',
    description: 'Made by a test.',
    capabilities: ['sandbox:echo'],
    signals: { approved: 'boolean' },
    rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' }],
  }
  const path = '/policies/made-meanwhile/1.0.0/pending-changes'
  await putInEffect(other, humans, path, { reason: 'test', proposedContent: document })
  expect((await other.post('/execute', under('made-meanwhile'))).status).toBe(200)

  // The others do not count the requests that it let through on its own.
  const said = () => alone.lines().filter(({ limit }) => limit === 'health')
  for (let i = 0; i < HEALTH / 2; i++) await alone.get('/health', from('198.51.100.1'))
  expect(said().at(-1)?.['msg']).toBe('rate limits: each instance counts for itself')

  await mended(proxy, alone)
  await until(
    async () => (await alone.post('/execute', under('made-meanwhile'))).status === 200,
    'the policy to be in effect',
    MENDED_MAX_MS,
  )
  let client = 2
  await until(async () => {
    const address = `198.51.100.${client++}`
    await Promise.all(Array.from({ length: HEALTH / 2 }, () => alone.get('/health', from(address))))
    const { headers } = await other.get('/health', from(address))
    const left = Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1])
    return left < HEALTH * 0.75 && said().some(({ msg }) => msg === 'rate limits are shared again')
  }, 'a budget to be shared')
  for (const instance of [alone, ...others]) expect(await instance.stop()).toBe(0)
})

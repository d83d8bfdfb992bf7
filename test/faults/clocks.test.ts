// Clocks that were wrong for a while, the service's and the database's: once they are right, every execution in doubt is listed within
// seconds and a human can resolve it, whenever it was released.
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { aDealId, openReceiver, type Receiver } from '../crash/points/receiver.ts'
import { databaseUrl } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { describeWithClocks, openClock, type Clock } from './clocks.ts'
import { runAt, startServer, type Server } from './database-server.ts'

const CAPABILITY = 'hubspot:deal-update'
const human = aCaller('olive', { credentialHolderType: 'USER' })
const key = makeRawKey()

/** Executes with a connector that hangs up: 502, in doubt at once. Returns the id. */
async function leaveUnknown(service: TestService): Promise<string> {
  const transaction = aTransaction({
    intent: { action: CAPABILITY, target: aDealId('lost'), parameters: { amount: 7 } },
    policy: { name: 'deal' },
    signals: { approved: true },
  })
  // A budget that was spent while the clock ran ahead is refused for a moment.
  const answer = await until(async () => {
    const one = await service.post('/execute', transaction)
    return one.status === 429 ? undefined : one
  }, 'the rate limit')
  expect(answer.status, answer.text).toBe(502)
  return transaction.businessTransactionId
}

/** Leaves an intent released by killing its service. Returns the id. */
async function leaveReleased(service: TestService, url: string): Promise<string> {
  const transaction = aTransaction({ intent: { parameters: { amount: 42, hang: true } } })
  const id = transaction.businessTransactionId
  void service.post('/execute', transaction).catch(() => undefined)
  await until(async () => {
    const released = `SELECT FROM released_batches WHERE '${id}' = ANY (ids)`
    return (await runAt(url, released)).length === 1
  }, 'the release')
  return id
}

async function kill(service: TestService): Promise<void> {
  service.process.kill('SIGKILL')
  await once(service.process, 'exit')
  await service.stop()
}

async function listed(service: TestService): Promise<Set<string>> {
  const { status, body, text } = await service.get('/execution-intents/unfinalized?pageSize=100', human)
  expect(status, text).toBe(200)
  const { intents } = body as { intents: { businessTransactionId: string }[] }
  return new Set(intents.map(({ businessTransactionId }) => businessTransactionId))
}

describeWithClocks('a clock that was wrong', () => {
  let receiver: Receiver
  let policyDir: string
  let databaseClock: Clock
  let server: Server
  let databases = 0
  beforeAll(async () => {
    receiver = await openReceiver()
    policyDir = aPolicyFolder()
    addPolicy(policyDir, { name: 'deal', version: '1.0.0', capability: CAPABILITY })
    databaseClock = openClock()
    server = await startServer({}, { env: databaseClock.env })
  })
  afterAll(async () => {
    await receiver.close()
    rmSync(policyDir, { recursive: true })
  })

  function start(url: string, clock: Clock): Promise<TestService> {
    return startService({
      databaseUrl: url,
      key,
      callers: [human.entry],
      env: {
        ...clock.env,
        WORKER_THREADS: '1',
        POLICY_DIR: policyDir,
        HUBSPOT_PRIVATE_APP_TOKEN: 'pat',
        HUBSPOT_BASE_URL: receiver.origin,
      },
    })
  }

  async function hidesNothing(wrong: { service: string; database: string }): Promise<void> {
    const name = `clock_${++databases}`
    await server.run(`CREATE DATABASE ${name}`)
    const url = databaseUrl(server.url, name)
    const serviceClock = openClock()
    const first = await start(url, serviceClock)
    databaseClock.set(wrong.database)
    serviceClock.set(wrong.service)
    const [{ offsetMs } = { offsetMs: NaN }] = (await server.run(
      `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 - ${Date.now()} AS "offsetMs"`,
    )) as { offsetMs: number }[]
    // Nobody would notice a clock that cannot be moved.
    expect(Math.abs(offsetMs) > 60_000).toBe(wrong.database !== '+0')
    const ids = [await leaveUnknown(first)]
    // A sweep while the clock is wrong.
    await listed(first)
    ids.push(await leaveReleased(first, url))
    await kill(first)
    databaseClock.set('+0')
    serviceClock.set('+0')

    const second = await start(url, serviceClock)
    ids.push(await leaveUnknown(second), await leaveReleased(second, url))
    await kill(second)
    // No need to wait for this one: it was released by clocks that were right.
    await runAt(url, `UPDATE released_batches SET deadline = now() WHERE '${ids.at(-1)}' = ANY (ids)`)
    const third = await start(url, serviceClock)
    const inDoubt = new Set(ids)
    await until(async () => (await listed(third)).isSupersetOf(inDoubt), 'all to be listed')
    for (const id of ids) {
      const body = { resolution: 'NOT_EXECUTED', note: 'The receiver says so.' }
      const resolved = await third.post(`/execution-intents/${id}/resolve`, body, human)
      expect(resolved.status, resolved.text).toBe(200)
    }
    expect(await listed(third)).toEqual(new Set())
    expect(await third.stop()).toBe(0)
  }

  // proves fault: The clock of the database
  test.each([
    { service: '+2d', database: '+2d' },
    { service: '+10m', database: '+10m' },
    { service: '-2d', database: '-2d' },
    { service: '+0', database: '+2d' },
  ])(
    'by $service in the service and $database in the database hides nothing that is in doubt',
    hidesNothing,
    120_000,
  )

  // proves fault: The clock of an instance
  test('in the services alone, behind by ten minutes or two days or ahead, hides nothing that is in doubt', async () => {
    await Promise.all(['-10m', '-2d', '+2d'].map((service) => hidesNothing({ service, database: '+0' })))
  })
})

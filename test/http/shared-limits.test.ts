// Limits that instances on one database share (interface §8 rule 3), over HTTP: together they allow what one would; a kill, a restart
// and a database that is away cost what docs/design-notes.md "Shared limits" says.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../database.ts'
import { openDatabaseProxy } from '../proxy.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

const EXECUTE = 30
const HEALTH = 300

const acme = aCaller('acme', { allowedPrincipalIds: ['tester'] })
const restarting = aCaller('restarting', { allowedPrincipalIds: ['tester'] })
const flooding = aCaller('flooding', { allowedPrincipalIds: ['tester'] })

let database: TestDatabase
let instances: TestService[]

const start = (databaseUrl = database.url) =>
  startService({
    databaseUrl,
    callers: [acme.entry, restarting.entry, flooding.entry],
    env: {
      RATE_LIMIT_EXECUTE_PER_MINUTE: String(EXECUTE),
      RATE_LIMIT_HEALTH_PER_MINUTE: String(HEALTH),
      TRUST_PROXY_HOPS: '1',
    },
  })

beforeAll(async () => {
  database = await createDatabase()
  instances = [await start(), await start(), await start()]
})

afterAll(async () => {
  for (const instance of instances) expect(await instance.stop()).toBe(0)
  await database.drop()
})

const from = (address: string) => ({ key: null, headers: { 'X-Forwarded-For': address } })

const health = async (instance: TestService, address: string) =>
  (await instance.get('/health', from(address))).status

/** Counts the requests that may have come while `startedMs` was past: a bucket that is emptied once allows this much more. */
const comeSince = (startedMs: number, perMinute: number) =>
  Math.ceil(((performance.now() - startedMs) * perMinute) / 60_000)

/** A machine so busy that PostgreSQL takes a quarter of a second has instances count for themselves, and they say so. */
const budgets = (limit: string, services = instances) => {
  const said = services.filter((service) =>
    service.lines().some((line) => line['limit'] === limit && line['level'] === 50),
  )
  return 1 + said.length
}

const allowedOf = (statuses: readonly number[], allowed = 200) => {
  expect(statuses.filter((status) => status !== allowed && status !== 429)).toEqual([])
  return statuses.filter((status) => status === allowed).length
}

describe('POST /execute over three instances', () => {
  // proves §8 When `DATABASE_URL` is configured
  test('a caller has one budget, whichever it asks, one after the other', async () => {
    const startedMs = performance.now()
    const statuses = []
    for (let i = 0; i < EXECUTE + 9; i++) {
      const { status } = await instances[i % 3]!.post('/execute', aTransaction(), acme)
      statuses.push(status)
    }
    const allowed = allowedOf(statuses)
    expect(allowed).toBeGreaterThanOrEqual(EXECUTE)
    expect(allowed).toBeLessThanOrEqual(EXECUTE * budgets('execute') + comeSince(startedMs, EXECUTE))
    expect(statuses.slice(0, EXECUTE)).toEqual(Array(EXECUTE).fill(200))
  })

  test('and all at once; a refusal says when to come again', async () => {
    const startedMs = performance.now()
    const answers = await Promise.all(
      instances.flatMap((instance) =>
        Array.from({ length: EXECUTE }, () => instance.post('/execute', aTransaction(), flooding)),
      ),
    )
    const allowed = allowedOf(answers.map(({ status }) => status))
    expect(allowed).toBeGreaterThanOrEqual(EXECUTE)
    expect(allowed).toBeLessThanOrEqual(EXECUTE * budgets('execute') + comeSince(startedMs, EXECUTE))
    for (const { status, headers, body } of answers) {
      if (status !== 429) continue
      expect(body).toEqual({ error: 'Rate limit exceeded. Try again later.', code: 'RATE_LIMITED' })
      expect(headers.get('ratelimit')).toMatch(/^"execute";r=0;t=\d+$/)
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60 / EXECUTE + 1)
    }
  })

  test('a verdict that has to be waited for still comes before the body is looked at', async () => {
    for (const instance of instances) {
      const statuses: number[] = []
      while (statuses.at(-1) !== 429) statuses.push((await instance.post('/execute', '{', flooding)).status)
      expect(new Set([...statuses, 400])).toEqual(new Set([400, 429]))
    }
  })

  // proves §8 When `DATABASE_URL` is configured; fault: A rolling restart under load
  test('a rolling restart gives nobody a new budget', async () => {
    const startedMs = performance.now()
    let allowed = 0
    const first = await start()
    for (let i = 0; i < EXECUTE / 2; i++)
      allowed += allowedOf([(await first.post('/execute', aTransaction(), restarting)).status])
    expect(await first.stop()).toBe(0)
    const second = await start()
    for (let i = 0; i < EXECUTE; i++)
      allowed += allowedOf([(await second.post('/execute', aTransaction(), restarting)).status])
    expect(await second.stop()).toBe(0)
    expect(allowed).toBeGreaterThanOrEqual(EXECUTE)
    expect(allowed).toBeLessThanOrEqual(
      EXECUTE * budgets('execute', [first, second]) + comeSince(startedMs, EXECUTE),
    )
  })
})

describe('GET /health over three instances', () => {
  // proves §8 When `DATABASE_URL` is configured
  test('a client address has one budget, whichever instance it asks', async () => {
    const startedMs = performance.now()
    const statuses = (
      await Promise.all(
        instances.map(async (instance) => {
          const own = []
          for (let i = 0; i < HEALTH / 2; i++) own.push(await health(instance, '198.51.100.1'))
          return own
        }),
      )
    ).flat()
    const allowed = allowedOf(statuses)
    expect(allowed).toBeLessThanOrEqual(HEALTH * budgets('health') + comeSince(startedMs, HEALTH))
    expect(allowed).toBeGreaterThanOrEqual(HEALTH)
  })

  // proves fault: kill -9 of an instance
  test('a killed instance loses nothing of a budget, and gives nothing back', async () => {
    const startedMs = performance.now()
    const killed = await start()
    expect(await health(killed, '198.51.100.2')).toBe(200)
    killed.process.kill('SIGKILL')
    await killed.stop()
    const statuses = []
    for (let i = 0; i < HEALTH; i++) statuses.push(await health(instances[0]!, '198.51.100.2'))
    const allowed = allowedOf(statuses)
    expect(allowed).toBeGreaterThanOrEqual(HEALTH - 1)
    expect(allowed + 1).toBeLessThanOrEqual(
      HEALTH * budgets('health', [...instances, killed]) + comeSince(startedMs, HEALTH),
    )
  })
})

// proves fault: One instance cannot reach the database
test('GET /health without the database: an instance counts for itself and answers at once; afterwards they share again', async () => {
  const proxy = await openDatabaseProxy(database.url)
  const alone = await start(proxy.url)
  const call = (address: string) => alone.get('/health', from(address))
  try {
    expect((await call('198.51.100.3')).status).toBe(200)
    await proxy.cut()
    const startedMs = performance.now()
    const answers = []
    for (let i = 0; i < HEALTH + 20; i++) answers.push(await call('198.51.100.4'))
    const allowed = allowedOf(answers.map(({ status }) => status))
    expect(allowed).toBeGreaterThanOrEqual(HEALTH)
    expect(allowed).toBeLessThanOrEqual(HEALTH + comeSince(startedMs, HEALTH))
    const said = () => alone.lines().filter(({ limit }) => limit === 'health')
    expect(said().map(({ msg }) => msg)).toEqual(['rate limits: each instance counts for itself'])

    await proxy.mend()
    await until(async () => {
      await call('198.51.100.5')
      return said().length === 2
    }, 'the limits to be shared again')
    // The requests that one has let through are spent for the other.
    let client = 6
    await until(async () => {
      const address = `198.51.100.${client++}`
      await Promise.all(Array.from({ length: HEALTH / 2 }, () => call(address)))
      const { headers } = await instances[0]!.get('/health', from(address))
      return Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]) < HEALTH * 0.75
    }, 'a budget to be shared')
  } finally {
    expect(await alone.stop()).toBe(0)
  }
})

// Limits that several instances share over a real PostgreSQL (interface §8 rule 3): how often it is asked, what they allow together,
// and what happens without it.
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Limit, LimitVerdict } from '../../src/core/concurrency/rate-limit.ts'
import { openSharedLimits, type SharedLimits } from '../../src/server/http/gates/shared-limit.ts'
import { forgetWhole, spendRequests } from '../../src/store/tables/rate-buckets.ts'
import { openPool, type Sql } from '../../src/store/postgres/sql.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { openDatabaseProxy } from '../proxy.ts'
import { until } from '../service.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

const opened: { pool: Pool; limits: SharedLimits }[] = []
afterEach(async () => {
  for (const { pool, limits } of opened.splice(0)) {
    limits.close()
    await pool.end()
  }
})

interface Instance {
  readonly limits: SharedLimits
  readonly statements: () => number
  readonly said: string[]
  /** How many of `count` requests that come at once are allowed. */
  readonly allowed: (limit: Limit, key: string, count: number) => Promise<number>
  readonly take: (limit: Limit, key: string) => Promise<LimitVerdict>
}

/** A machine that runs other tests may keep PostgreSQL from answering in time; only one test is about that. */
const PATIENT_MS = 20_000

function anInstance({ url = database.url, waitMs = PATIENT_MS } = {}): Instance {
  const pool = openPool(url, 3)
  let statements = 0
  const sql = {
    query: (...given: Parameters<Pool['query']>) => {
      statements++
      return pool.query(...given)
    },
  } as Sql
  const said: string[] = []
  const note = (_line: object, message: string) => void said.push(message)
  const limits = openSharedLimits({ sql, log: { error: note, info: note }, waitMs })
  opened.push({ pool, limits })
  const take = async (limit: Limit, key: string) => limits.take(limit, key, performance.now())
  return {
    limits,
    said,
    take,
    statements: () => statements,
    async allowed(limit, key, count) {
      const verdicts = await Promise.all(Array.from({ length: count }, () => take(limit, key)))
      return verdicts.filter((verdict) => verdict.allowed).length
    },
  }
}

const aLimit = (perMinute: number, name = 'execute'): Limit => ({ name, perMinute })

/** The theoretical arrival time of `key` in milliseconds, which does not move by itself. */
async function tatOf({ name }: Limit, key: string): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    `SELECT extract(epoch FROM tat)::float8 * 1000 AS ms FROM rate_buckets WHERE key = $1`,
    [`${name}:${key}`],
  )
  return rows[0]?.ms ?? 0
}

/** Asks the table itself for requests of one key, ten a minute. */
async function spendOfTen(key: string, requests: number, aheadMs = 0) {
  const [row] = await spendRequests(database.pool, {
    limit: aLimit(10),
    wanted: [{ key, requests, aheadMs }],
  })
  return row
}

describe('how often the database is queried', () => {
  test('once for all requests of one turn of the event loop, of whatever keys', async () => {
    const { take, statements } = anInstance()
    const limit = aLimit(600, 'health')
    const keys = Array.from({ length: 900 }, (_, i) => `10.0.${i}`)
    const verdicts = await Promise.all(
      [...keys, ...Array<string>(100).fill('same')].map((key) => take(limit, key)),
    )
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(1_000)
    expect(statements()).toBe(1)
  })

  test('once for all requests that come while a statement is under way', async () => {
    const { take, statements } = anInstance()
    const limit = aLimit(600)
    const verdicts: Promise<LimitVerdict>[] = []
    const locking = await database.pool.connect()
    try {
      await locking.query('BEGIN; LOCK TABLE rate_buckets')
      verdicts.push(take(limit, 'first'))
      await until(() => statements() === 1, 'the first statement')
      for (let i = 0; i < 10; i++) {
        verdicts.push(take(limit, 'others'))
        await new Promise(setImmediate)
      }
    } finally {
      await locking.query('COMMIT')
      locking.release()
    }
    await Promise.all(verdicts)
    expect(statements()).toBe(2)
  })

  test('of a flood of new keys for a thousand; the others are counted in memory', async () => {
    const { take, statements, said } = anInstance()
    const limit = aLimit(1, 'flood')
    const flood = () => Promise.all(Array.from({ length: 20_000 }, (_, i) => take(limit, `10.${i}`)))
    const first = await flood()
    expect(first.every(({ allowed }) => allowed)).toBe(true)
    expect((await flood()).some(({ allowed }) => allowed)).toBe(false)
    expect(statements()).toBe(1)
    expect(said).toEqual([])
  })

  test('not for a key that is known to have nothing left, however often it tries', async () => {
    const { take, allowed, statements } = anInstance()
    const limit = aLimit(3)
    expect(await allowed(limit, 'stubborn', 10)).toBe(3)
    for (let i = 0; i < 1_000; i++) expect((await take(limit, 'stubborn')).allowed).toBe(false)
    expect(statements()).toBe(1)
  })
})

describe('a statement spends ahead for a key that asks again', () => {
  test('a 64th of the budget, which its next requests take without one', async () => {
    const { take, statements } = anInstance()
    const limit = aLimit(6_400)
    const remaining: number[] = []
    for (let i = 0; i < 102; i++) remaining.push((await take(limit, 'often')).remaining)
    // A slow machine may take longer than what was spent ahead is kept for.
    expect(statements()).toBeLessThan(10)
    // Each verdict says what is left after it, whatever is spent already; a permit comes back every 9 ms.
    for (const [i, left] of remaining.slice(1).entries()) expect(left).toBeLessThanOrEqual(remaining[i]! + 1)
    expect(remaining.at(-1)).toBeLessThan(6_400)
  })

  test('nothing where the budget is small or half used up', async () => {
    const { take, allowed, statements } = anInstance()
    for (let i = 0; i < 5; i++) await take(aLimit(63), 'small')
    expect(statements()).toBe(5)
    const large = aLimit(6_400, 'large')
    expect(await allowed(large, 'half', 3_300)).toBe(3_300)
    for (let i = 0; i < 5; i++) await take(large, 'half')
    expect(statements()).toBe(11)
  })

  test('and what is back in the budget is not used twice', async () => {
    const { take, limits, statements } = anInstance()
    const limit = aLimit(6_400)
    for (let i = 0; i < 3; i++) await take(limit, 'late')
    expect(statements()).toBe(2)
    await limits.take(limit, 'late', performance.now() + 2_000)
    expect(statements()).toBe(3)
  })
})

describe('three instances allow what one would', () => {
  test.each([1, 2, 7, 31, 20_000])('%i a minute, all at once', async (perMinute) => {
    const instances = [anInstance(), anInstance(), anInstance()]
    const startedMs = performance.now()
    const counts = await Promise.all(
      instances.map(({ allowed }) => allowed(aLimit(perMinute), `at once ${perMinute}`, perMinute + 5)),
    )
    const come = Math.floor(((performance.now() - startedMs) * perMinute) / 60_000)
    const all = counts.reduce((a, b) => a + b)
    expect(all).toBeGreaterThanOrEqual(perMinute)
    expect(all).toBeLessThanOrEqual(perMinute + come)
  })

  // proves §8 When `DATABASE_URL` is configured
  test.each([60, 1_200, 6_000])('%i a minute, in turns until each is refused', async (perMinute) => {
    const instances = [anInstance(), anInstance(), anInstance()]
    const limit = aLimit(perMinute)
    const startedMs = performance.now()
    let all = 0
    const refused = new Set<Instance>()
    while (refused.size < 3) {
      for (const instance of instances) {
        if ((await instance.take(limit, `in turns ${perMinute}`)).allowed) all++
        else refused.add(instance)
      }
    }
    const come = Math.ceil(((performance.now() - startedMs) * perMinute) / 60_000)
    expect(all).toBeLessThanOrEqual(perMinute + come)
    expect(all).toBeGreaterThanOrEqual(perMinute)
  })

  test('one budget for each key and each limit', async () => {
    const [a, b] = [anInstance(), anInstance()]
    expect(await a.allowed(aLimit(2), 'own', 3)).toBe(2)
    expect(await b.allowed(aLimit(2, 'health'), 'own', 3)).toBe(2)
    expect(await b.allowed(aLimit(2), 'other', 3)).toBe(2)
    expect(await b.allowed(aLimit(2), 'own', 3)).toBe(0)
  })

  test('a verdict says what is left for all of them, and when to come again', async () => {
    const [a, b] = [anInstance(), anInstance()]
    const limit = aLimit(3)
    expect(await a.take(limit, 'told')).toEqual({
      allowed: true,
      remaining: 2,
      resetSeconds: expect.closeTo(20, 0) as number,
      retryAfterSeconds: 0,
    })
    expect(await b.take(limit, 'told')).toMatchObject({ allowed: true, remaining: 1 })
    expect(await a.take(limit, 'told')).toMatchObject({ allowed: true, remaining: 0 })
    const refusal = await b.take(limit, 'told')
    expect(refusal).toMatchObject({ allowed: false, remaining: 0 })
    expect(refusal.retryAfterSeconds).toBeGreaterThan(18)
    expect(refusal.retryAfterSeconds).toBeLessThanOrEqual(20)
  })
})

test('requests of one turn are answered as if each had come by itself', async () => {
  const { take } = anInstance()
  const limit = aLimit(3)
  const verdicts = await Promise.all(Array.from({ length: 5 }, () => take(limit, 'one turn')))
  expect(verdicts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
    [true, 2],
    [true, 1],
    [true, 0],
    [false, 0],
    [false, 0],
  ])
  expect(verdicts.map(({ resetSeconds }) => resetSeconds)).toEqual(
    [20, 40, 60, 60, 60].map((seconds) => expect.closeTo(seconds, 0) as number),
  )
})

describe('rows', () => {
  test('a refused request costs nothing, and no more are allowed than the minute has', async () => {
    const allowed = async (requests: number) => (await spendOfTen('whole', requests))?.allowed
    expect([await allowed(8), await allowed(8), await allowed(1)]).toEqual([8, 2, 0])
    expect((await spendOfTen('whole', 10))?.aheadMs).toBeLessThanOrEqual(60_000)
  })

  test('what an instance knows to be spent is spent, once', async () => {
    await spendOfTen('known', 1)
    for (let i = 0; i < 2; i++) {
      expect(await spendOfTen('known', 0, 30_000)).toMatchObject({ allowed: 0 })
      const { aheadMs } = (await spendOfTen('known', 0)) ?? {}
      expect(aheadMs).toBeGreaterThan(29_000)
      expect(aheadMs).toBeLessThanOrEqual(30_000)
    }
    expect(await spendOfTen('known', 10)).toMatchObject({ allowed: 5 })
    expect(await spendOfTen('known to nobody else', 1, 30_000)).toMatchObject({ allowed: 1 })
    expect(await spendOfTen('known to nobody else', 10)).toMatchObject({ allowed: 4 })
  })

  test('a clock that was set back shuts nobody out for more than a minute', async () => {
    await database.pool.query(
      `INSERT INTO rate_buckets (key, tat, granted) VALUES ('execute:ahead', now() + interval '1 day', 1)`,
    )
    const row = await spendOfTen('ahead', 1)
    expect(row?.allowed).toBe(0)
    expect(row?.aheadMs).toBeCloseTo(60_000, 0)
  })

  test('are deleted when their budget is whole again, in batches', async () => {
    await database.pool.query(`
      INSERT INTO rate_buckets (key, tat, granted)
      SELECT 'old ' || i, now() - interval '1 second', 1 FROM generate_series(1, 250) AS i`)
    await database.pool.query(
      `INSERT INTO rate_buckets (key, tat, granted) VALUES ('young', now() + interval '30 seconds', 1)`,
    )
    let forgotten = 0
    for (let last = 100; last === 100; forgotten += last) last = await forgetWhole(database.pool, 100)
    expect(forgotten).toBeGreaterThanOrEqual(250)
    const { rows } = await database.pool.query(
      `SELECT key FROM rate_buckets WHERE key LIKE 'old %' OR key = 'young'`,
    )
    expect(rows).toEqual([{ key: 'young' }])
  })
})

describe('without the database', () => {
  // proves fault: One instance cannot reach the database
  test('each instance counts for itself at once, says so once, and shares again when it is back', async () => {
    const proxy = await openDatabaseProxy(database.url)
    const { take, allowed, said } = anInstance({ url: proxy.url })
    const limit = aLimit(5)
    expect(await allowed(limit, 'spent', 6)).toBe(5)
    await proxy.cut()
    const startedMs = performance.now()
    expect(await allowed(limit, 'away', 10)).toBe(5)
    expect(performance.now() - startedMs).toBeLessThan(PATIENT_MS)
    expect(await allowed(limit, 'away too', 10)).toBe(5)
    expect(said).toEqual(['rate limits: each instance counts for itself'])
    await proxy.mend()
    await until(async () => {
      await take(limit, 'prober')
      return said.length === 2
    }, 'the limits to be shared again')
    expect(said[1]).toBe('rate limits are shared again')
    // Permits that were spent before the cut are still spent.
    expect((await take(limit, 'spent')).allowed).toBe(false)
  })

  test('what one has let through meanwhile is spent for all when the database is back', async () => {
    const proxy = await openDatabaseProxy(database.url)
    const alone = anInstance({ url: proxy.url })
    const other = anInstance()
    const limit = aLimit(10)
    const startedMs = performance.now()
    expect(await other.allowed(limit, 'paid', 2)).toBe(2)
    expect((await alone.take(limit, 'paid')).remaining).toBe(7)
    await proxy.cut()
    expect(await alone.allowed(limit, 'paid', 5)).toBe(5)
    await proxy.mend()
    const before = await tatOf(limit, 'paid')
    await until(async () => {
      await alone.take(limit, 'paid')
      return alone.said.length === 2
    }, 'the limits to be shared again')
    expect(await tatOf(limit, 'paid')).toBeGreaterThan(before + 4.9 * 6_000)
    const left = await other.allowed(limit, 'paid', 10)
    expect(left).toBeLessThanOrEqual(2 + Math.ceil((performance.now() - startedMs) / 6_000))
  })

  // proves fault: One instance cannot reach the database
  test('a database that does not answer holds nobody up for longer than a quarter of a second', async () => {
    const { allowed, take, said } = anInstance({ waitMs: 250 })
    const limit = aLimit(4)
    const locking = await database.pool.connect()
    try {
      await locking.query('BEGIN; LOCK TABLE rate_buckets')
      const startedMs = performance.now()
      expect(await allowed(limit, 'slow', 6)).toBe(4)
      const tookMs = performance.now() - startedMs
      expect(tookMs).toBeGreaterThan(200)
      expect(tookMs).toBeLessThan(PATIENT_MS)
      expect((await take(limit, 'slow')).allowed).toBe(false)
      expect(said).toEqual(['rate limits: each instance counts for itself'])
    } finally {
      await locking.query('COMMIT')
      locking.release()
    }
    await until(async () => {
      await take(limit, 'slow')
      return said.length === 2
    }, 'the limits to be shared again')
  })
})

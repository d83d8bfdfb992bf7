// Limits that several instances share over a real PostgreSQL (interface §8 rule 3): how often it is asked, what they allow together,
// and what happens without it.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Limit, Verdict } from '../../src/server/http/limit.ts'
import { openSharedLimits, type SharedLimits } from '../../src/server/http/shared-limit.ts'
import { forgetWhole, takePermits } from '../../src/core/tables/rate-buckets.ts'
import { openPool, type Sql } from '../../src/core/tables/sql.ts'
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
    await limits.close()
    await pool.end()
  }
})

interface Instance {
  readonly limits: SharedLimits
  readonly statements: () => number
  readonly said: string[]
  /** How many of `count` requests that come at once are allowed. */
  readonly allowed: (limit: Limit, key: string, count: number) => Promise<number>
  readonly take: (limit: Limit, key: string) => Promise<Verdict>
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

/** How far `key` is spent ahead: its theoretical arrival time in milliseconds, which does not move by itself. */
async function arrivalOf({ name }: Limit, key: string): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    `SELECT extract(epoch FROM tat)::float8 * 1000 AS ms FROM rate_buckets WHERE key = $1`,
    [`${name}:${key}`],
  )
  return rows[0]?.ms ?? 0
}

/** Straight at the table, ten a minute. out  what was granted */
async function takeOfTen(permits: number): Promise<number | undefined> {
  const [row] = await takePermits(database.pool, { perMinute: 10, asked: [{ key: 'back', permits }] })
  return row?.granted
}

describe('how often the database is asked', () => {
  test('10,000 requests of one caller, one after the other, cause a few dozen statements', async () => {
    const { take, statements } = anInstance()
    const limit = aLimit(12_000)
    let allowed = 0
    for (let i = 0; i < 10_000; i++) if ((await take(limit, 'busy')).allowed) allowed++
    expect(allowed).toBe(10_000)
    expect(statements()).toBeLessThan(40)
  })

  test('most verdicts are there before the next turn of the event loop', async () => {
    const { limits } = anInstance()
    const limit = aLimit(60_000)
    let waited = 0
    for (let i = 0; i < 2_000; i++) {
      let turned = false
      setImmediate(() => (turned = true))
      await limits.take(limit, 'at once', performance.now())
      if (turned) waited++
      // The callback of this round must not count for the next one.
      else await new Promise(setImmediate)
    }
    expect(waited).toBeGreaterThan(0)
    expect(waited).toBeLessThan(40)
  })

  test('requests of the same key and of 900 others that miss at once share one statement', async () => {
    const { take, statements } = anInstance()
    const limit = aLimit(600, 'health')
    const keys = Array.from({ length: 900 }, (_, i) => `10.0.${i}`)
    const verdicts = await Promise.all(
      [...keys, ...Array<string>(100).fill('same')].map((key) => take(limit, key)),
    )
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(1_000)
    expect(statements()).toBe(1)
  })

  test('of a flood of new keys a thousand are asked for at once, the others counted in memory', async () => {
    const { take, statements, said } = anInstance()
    const limit = aLimit(1, 'flood')
    const flood = () => Promise.all(Array.from({ length: 20_000 }, (_, i) => take(limit, `10.${i}`)))
    const first = await flood()
    expect(first.every(({ allowed }) => allowed)).toBe(true)
    expect((await flood()).some(({ allowed }) => allowed)).toBe(false)
    expect(statements()).toBe(2)
    expect(said).toEqual([])
  })

  test('a refused key is asked for about once a second, however often it tries', async () => {
    const { take, statements } = anInstance()
    const limit = aLimit(1)
    expect((await take(limit, 'stubborn')).allowed).toBe(true)
    const startedMs = performance.now()
    while (performance.now() - startedMs < 1_500) {
      expect((await take(limit, 'stubborn')).allowed).toBe(false)
      await delay(1)
    }
    expect(statements()).toBeLessThanOrEqual(4)
  })
})

describe('three instances allow what one would', () => {
  test.each([1, 2, 7, 31])('%i a minute, all at once', async (perMinute) => {
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

  test.each([60, 1_200, 20_000])('%i a minute, in turns until each is refused', async (perMinute) => {
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
    // Whoever still has permits goes on: at the end nobody holds any.
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

describe('what is leased and not used', () => {
  const limit = aLimit(600)
  const intervalMs = 100
  /** Spends half a minute ahead, so that nothing of a lease passes by itself, and takes one of six, of which one is used. */
  async function leaseSix(key: string): Promise<SharedLimits & { readonly before: number }> {
    const { take, limits } = anInstance()
    await takePermits(database.pool, { perMinute: 600, asked: [{ key: `execute:${key}`, permits: 300 }] })
    const before = await arrivalOf(limit, key)
    expect((await take(limit, key)).allowed).toBe(true)
    // A hundredth of the minute at first: what is lost, once, with an instance that is killed.
    expect(await arrivalOf(limit, key)).toBeCloseTo(before + 6 * intervalMs, 1)
    return { ...limits, before }
  }

  test('comes back when its instance has been quiet for a second', async () => {
    const { before } = await leaseSix('quiet')
    await until(
      async () => (await arrivalOf(limit, 'quiet')) < before + 1.5 * intervalMs,
      'the lease to come back',
    )
    expect(await arrivalOf(limit, 'quiet')).toBeCloseTo(before + intervalMs, 1)
  })

  test('comes back at a stop', async () => {
    const { before, close } = await leaseSix('stopped')
    await close()
    expect(await arrivalOf(limit, 'stopped')).toBeCloseTo(before + intervalMs, 1)
  })
})

describe('rows', () => {
  test('a permit given back is there again, never more than the whole budget', async () => {
    expect([
      await takeOfTen(8),
      await takeOfTen(8),
      await takeOfTen(-4),
      await takeOfTen(8),
      await takeOfTen(1),
    ]).toEqual([8, 2, -4, 4, 0])
    expect([await takeOfTen(-10), await takeOfTen(-10), await takeOfTen(20)]).toEqual([-10, -10, 10])
  })

  test('a clock that was set back shuts nobody out for more than a minute', async () => {
    await database.pool.query(
      `INSERT INTO rate_buckets (key, tat, granted) VALUES ('ahead', now() + interval '1 day', 1)`,
    )
    const [row] = await takePermits(database.pool, { perMinute: 60, asked: [{ key: 'ahead', permits: 1 }] })
    expect(row?.granted).toBe(0)
    expect(row?.levelMs).toBeCloseTo(60_000, 0)
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
    // What was spent before the cut is still spent.
    expect((await take(limit, 'spent')).allowed).toBe(false)
  })

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

// A pool whose network swallows packets: connections stay open and carry nothing (src/store/postgres/dead-connections.ts).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { isUnavailable } from '../../src/store/postgres/sql-errors.ts'
import { openPool, type Sql } from '../../src/store/postgres/sql.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { createDatabase } from '../database.ts'
import { openDatabaseProxy } from '../proxy.ts'
import { until } from '../service.ts'

/** Four to five seconds, and what a busy machine adds: less than the twelve after which a statement is given up anyway. For the fastest. */
const NOTICED_MAX_MS = 10_000
/** For each. */
const HELD_MAX_MS = 60_000
/** Less than a connection is waited for. */
const AT_ONCE_MAX_MS = 2_000

async function open() {
  const database = await createDatabase()
  const proxy = await openDatabaseProxy(database.url)
  const pool = openPool(proxy.url, 3)
  const direct = openPool(database.url, 2)
  onTestFinished(async () => {
    await proxy.cut()
    await Promise.all([pool.end(), direct.end()])
    await database.drop()
  })
  return { proxy, pool, direct }
}

async function failed(work: Promise<unknown>): Promise<{ error: unknown; ms: number }> {
  const startedMs = performance.now()
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { error, ms: performance.now() - startedMs }
}

const lock = (sql: Sql) => sql.query('SELECT pg_advisory_xact_lock(7)')
const one = (sql: Sql) => sql.query('SELECT 1')

// proves fault: The network between one instance
test('what waits fails within seconds, what comes fails at once, and both pass when it answers again', async () => {
  const { proxy, pool } = await open()
  await Promise.all([one(pool), one(pool), one(pool)])
  proxy.stall()
  // More than there are connections: the others wait for one.
  const waiting = await Promise.all(Array.from({ length: 9 }, () => failed(one(pool))))
  for (const { error, ms } of waiting) {
    expect(error).toSatisfy(isUnavailable)
    expect(ms).toBeLessThan(HELD_MAX_MS)
  }
  expect(Math.min(...waiting.map(({ ms }) => ms))).toBeLessThan(NOTICED_MAX_MS)
  const next = await Promise.all(Array.from({ length: 5 }, () => failed(inTransaction(pool, one))))
  expect(next.map(({ error }) => isUnavailable(error))).toEqual(Array(5).fill(true))
  expect(Math.min(...next.map(({ ms }) => ms))).toBeLessThan(AT_ONCE_MAX_MS)
  await proxy.mend()
  await until(async () => (await failed(one(pool))).error === undefined, 'an answer')
})

// proves fault: The same, while a transaction
test('what it has locked is free for the others before they give up', async () => {
  const { proxy, pool, direct } = await open()
  const stuck = failed(
    inTransaction(pool, async (sql) => {
      await lock(sql)
      proxy.stall()
      await one(sql)
    }),
  )
  await until(async () => !(await isFree(direct)), 'the lock to be taken')
  expect((await failed(inTransaction(direct, lock))).error).toBeUndefined()
  expect((await stuck).error).toSatisfy(isUnavailable)
})

async function isFree(pool: Pool): Promise<boolean | undefined> {
  const { rows } = await pool.query<{ free: boolean }>('SELECT pg_try_advisory_xact_lock_shared(7) AS free')
  return rows[0]?.free
}

test('a statement that takes its time is waited for: the database answers on another connection', async () => {
  const { pool } = await open()
  const { rows } = await pool.query<{ slept: string }>(`SELECT pg_sleep(5)::text || 'slept' AS slept`)
  expect(rows).toEqual([{ slept: 'slept' }])
})

// proves fault: The same, while that instance
test('one that falls silent while it migrates does not keep the others from starting', async () => {
  const database = await createDatabase('template0')
  const proxy = await openDatabaseProxy(database.url)
  const dir = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
  onTestFinished(async () => {
    rmSync(dir, { recursive: true })
    await database.drop()
  })
  writeFileSync(join(dir, '0001_slow.sql'), 'CREATE TABLE once (); SELECT pg_sleep(1)')
  const silent = migrate(proxy.url, { dir }).catch((error: unknown) => error)
  await until(async () => {
    const { rows } = await database.pool.query('SELECT FROM pg_stat_activity WHERE query LIKE $1', [
      '%pg_sleep(1)',
    ])
    return rows.length > 0
  }, 'the migration to be under way')
  proxy.stall()
  expect(await migrate(database.url, { dir })).toEqual(['0001_slow.sql'])
  await proxy.cut()
  expect(await silent).toBeInstanceOf(Error)
})

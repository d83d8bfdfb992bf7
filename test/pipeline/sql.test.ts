// Some errors mean that a database is away; a broken connection does nothing to its thread.
import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { classify, isUnavailable, mayHaveCommitted } from '../../src/store/postgres/sql-errors.ts'
import { openPool, type Sql } from '../../src/store/postgres/sql.ts'
import { inOneMessage, inTransaction } from '../../src/store/postgres/transaction.ts'
import { createDatabase, databaseUrl, type TestDatabase } from '../database.ts'

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await createDatabase()
  pool = openPool(database.url, 2)
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

/** Reads the error that one transaction fails with. */
async function failureOf(on: Pool, work: (sql: Sql) => Promise<unknown>): Promise<unknown> {
  return inTransaction(on, work).then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  )
}

const select = (sql: Sql) => sql.query('SELECT 1')

const settings = `SELECT current_setting('jit') AS jit, current_setting('enable_seqscan') AS scans,
  current_setting('max_parallel_workers_per_gather') AS parallel, current_setting('work_mem') AS memory`

test('no plan is compiled, none reads a whole table and none takes more than a core: PostgreSQL 15 would take 0.3 s over twenty rows that no index finds', async () => {
  const { rows } = await pool.query(settings)
  expect(rows).toMatchObject([{ jit: 'off', scans: 'off', parallel: '0' }])
})

test('options in the URL are added to these, and win where they name the same', async () => {
  const options = `options=${encodeURIComponent('-c work_mem=5MB -c jit=on')}`
  const given = openPool(`${database.url}${database.url.includes('?') ? '&' : '?'}${options}`, 1)
  const { rows } = await given.query(settings)
  await given.end()
  expect(rows).toEqual([{ jit: 'on', scans: 'off', parallel: '0', memory: '5MB' }])
})

describe('the database is away', () => {
  test('where nothing listens, under an address or a name that has several', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    for (const host of ['127.0.0.1', 'localhost']) {
      const nobody = openPool(`postgres://u:p@${host}:${port}/x`, 1)
      expect(isUnavailable(await failureOf(nobody, select))).toBe(true)
      await nobody.end()
    }
  })

  test('where no socket file is', async () => {
    const nobody = openPool('postgres:///x?host=/nothing/here', 1)
    expect(isUnavailable(await failureOf(nobody, select))).toBe(true)
    await nobody.end()
  })

  test('where it does not let us in', async () => {
    const missing = openPool(databaseUrl(database.url, 'missing'), 1)
    expect(await failureOf(missing, select)).toSatisfy(isUnavailable)
    await missing.end()
  })

  test.each([
    ['ended by an operator', 'SELECT pg_terminate_backend(pg_backend_pid())'],
    ['out of disk', `DO $$ BEGIN RAISE SQLSTATE '53100'; END $$`],
    ['a replica whose replay this read held up', `DO $$ BEGIN RAISE SQLSTATE '40001'; END $$`],
    ['kept from a lock by somebody who holds it', `DO $$ BEGIN RAISE SQLSTATE '55P03'; END $$`],
    ['too slow', `SET LOCAL statement_timeout = '1ms'; SELECT pg_sleep(5)`],
    ['rid of a deadlock by ending this', `DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$`],
    ['tired of waiting for us', `DO $$ BEGIN RAISE SQLSTATE '25P03'; END $$`],
    [
      'a coordinator of Citus that was killed',
      `DO $$ BEGIN RAISE 'postmaster was shut down, exiting' USING ERRCODE = 'XX000'; END $$`,
    ],
    [
      'out of disk where a connection opens',
      `DO $$ BEGIN RAISE 'could not write init file' USING ERRCODE = 'XX000'; END $$`,
    ],
    ['demoted to a standby', `DO $$ BEGIN RAISE SQLSTATE '25006'; END $$`],
  ])('when it is %s', async (_, statement) => {
    const failure = await failureOf(pool, (sql) => sql.query(statement))
    expect(failure).toSatisfy(isUnavailable)
    expect(classify(failure)).not.toHaveProperty('sqlState')
    await inTransaction(pool, select)
  })

  test.each([
    ['08006', 'partly away'],
    ['08P01', 'away'],
  ])('or only a server behind it: SQLSTATE %s is %s', async (code, kind) => {
    const failure = await failureOf(pool, (sql) => sql.query(`DO $$ BEGIN RAISE SQLSTATE '${code}'; END $$`))
    expect(classify(failure)).toEqual({ kind })
  })

  test('when a connection in use is cut between two statements', async () => {
    const failure = await failureOf(pool, async (sql) => {
      const { rows } = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      await database.pool.query('SELECT pg_terminate_backend($1::integer, 5000)', [rows[0]?.pid])
      await select(sql)
    })
    expect(failure).toSatisfy(isUnavailable)
    await inTransaction(pool, select)
  })
})

describe('the database is there', () => {
  test.each([
    ['refuses a row', (sql: Sql) => sql.query('INSERT INTO appended_receipts VALUES (NULL, 1, NULL)')],
    ['refuses a statement', (sql: Sql) => sql.query('SELECT nothing')],
    ['has nothing to do with an error of ours', () => Promise.reject(new Error('x'))],
    ['has nothing to do with a file that is not there', () => readFile('/nothing/here')],
    ['has nothing to do with a mistake', () => Promise.reject(new TypeError('x is not a function'))],
    [
      'has nothing to do with an assertion',
      () => Promise.reject(new assert.AssertionError({ message: 'no' })),
    ],
  ])('and %s', async (_, work) => {
    expect(isUnavailable(await failureOf(pool, work))).toBe(false)
    await inTransaction(pool, select)
  })

  test('what a failed transaction wrote is gone, and nothing of it leaks into the next', async () => {
    await failureOf(pool, async (sql) => {
      await sql.query(`INSERT INTO appended_receipts VALUES (gen_random_uuid(), 1, '{}')`)
      throw new TypeError('after the write')
    })
    const { rows } = await pool.query('SELECT FROM appended_receipts')
    expect(rows).toEqual([])
  })
})

const one = (name: string, id: string) => ({
  name,
  text: `INSERT INTO appended_receipts VALUES ($1::uuid, 1, '{}') /* ${name} */`,
  rows: [[id]],
})

describe('one message', () => {
  test.each(['first', 'second', 'third'])(
    'whose %s statement fails for its rows stores nothing, and its connection goes on and knows what it has prepared',
    async (failing) => {
      const single = openPool(database.url, 1)
      const processes = `SELECT pg_backend_pid() AS pid`
      const before = await single.query(processes)
      const names = ['first', 'second', 'third']
      const ids = new Map(names.map((name) => [name, randomUUID()]))
      const all = () => names.map((name) => one(name, ids.get(name)!))
      await inTransaction(single, (tx) => tx.run([one('apart', ids.get(failing)!)]))
      for (const _ of ['prepares', 'has prepared'])
        expect(classify(await inOneMessage(single, all()))).toEqual({ kind: 'taken' })
      await single.query('DELETE FROM appended_receipts WHERE business_transaction_id = $1', [
        ids.get(failing),
      ])
      expect(await inOneMessage(single, all())).toBeUndefined()
      const { rows } = await single.query(
        'SELECT FROM appended_receipts WHERE business_transaction_id = ANY ($1)',
        [[...ids.values()]],
      )
      expect(rows).toHaveLength(3)
      expect((await single.query(processes)).rows).toEqual(before.rows)
      await single.end()
    },
  )

  test('with a statement that cannot be parsed closes its connection, and the next one is sound', async () => {
    const single = openPool(database.url, 1)
    const mistaken = { name: 'mistaken', text: 'INSERT INTO nothing VALUES (1)', rows: [] }
    const failure = await inOneMessage(single, [one('first', randomUUID()), mistaken])
    expect(classify(failure)).toEqual({ kind: 'refused', sqlState: '42P01' })
    expect(mayHaveCommitted(failure)).toBe(false)
    expect(await inOneMessage(single, [one('first', randomUUID())])).toBeUndefined()
    await single.end()
  })

  test('without an answer may have committed, and where no connection is to be had nothing was sent', async () => {
    const ends = { name: 'ends', text: 'SELECT pg_terminate_backend(pg_backend_pid())', rows: [] }
    expect(mayHaveCommitted(await inOneMessage(pool, [ends]))).toBe(true)
    const nobody = openPool('postgres:///x?host=/nothing/here', 1)
    await expect(inOneMessage(nobody, [ends])).rejects.toSatisfy(isUnavailable)
    await nobody.end()
  })
})

// Whether this role can use the execution-intents table, which GET /ready asks (interface §4.1), and how its rows are found.
import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkIntentsUsable, closeIntents } from '../../src/store/tables/execution-intents.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { patientPool } from '../patient-pool.ts'

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await createDatabase()
  pool = patientPool(database.url, 1)
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})

const ROLLED_BACK = new Error('rolled back')

/** Why the table cannot be used after `prepare`, which leaves nothing behind; undefined where it can. */
async function reasonAfter(prepare: (sql: Sql) => Promise<unknown>): Promise<string | undefined> {
  let reason: string | undefined
  const work = inTransaction(pool, async (sql) => {
    await prepare(sql)
    await checkIntentsUsable(sql, randomUUID()).catch((error: unknown) => {
      assert(error instanceof Error)
      reason = error.message
    })
    throw ROLLED_BACK
  })
  await expect(work).rejects.toBe(ROLLED_BACK)
  return reason
}

/** Goes on as a role that may do this to the table, and nothing else. */
const as = (privileges: string) => (sql: Sql) =>
  sql.query(`
    CREATE ROLE countersign_test_intents;
    GRANT ${privileges} ON execution_intents TO countersign_test_intents;
    SET LOCAL ROLE countersign_test_intents`)

describe('the execution-intents table', () => {
  test('is usable by a role that may read it, insert and update', async () => {
    expect(await reasonAfter(as('SELECT, INSERT, UPDATE'))).toBeUndefined()
  })

  // proves §4.1 GET /ready · none; abuse: Execution where no claim can
  test.each(['SELECT', 'SELECT, INSERT', 'SELECT, UPDATE'])(
    'is not by one that may only %s',
    async (privileges) => {
      expect(await reasonAfter(as(privileges))).toBe('The execution-intents table is not writable.')
    },
  )

  test('is not by one that may write it and not read it', async () => {
    expect(await reasonAfter(as('INSERT, UPDATE'))).toMatch('permission denied')
  })

  // proves abuse: Execution where no claim can
  test('is not where nothing can be written: on a standby', async () => {
    expect(await reasonAfter((sql) => sql.query('SET TRANSACTION READ ONLY'))).toBe(
      'The execution-intents table is not writable.',
    )
  })
})

/** Sequential scans that this connection has counted and not reported yet, also of earlier transactions: the difference counts. */
async function wholeReads(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ count: string }>(
    `SELECT seq_scan AS count FROM pg_stat_xact_user_tables WHERE relname = 'execution_intents'`,
  )
  return Number(rows[0]?.count)
}

describe('closing intents', () => {
  test('reads no whole table, by a statement that was prepared while there were none', async () => {
    const close = (ids: readonly string[]) =>
      inTransaction(pool, async (transaction) => {
        const before = await wholeReads(transaction)
        const closed = await closeIntents(transaction, { FINALIZED: ids, ERRORED: [] })
        return { closed: closed.size, wholeReads: (await wholeReads(transaction)) - before }
      })
    const ids = Array.from({ length: 128 }, () => randomUUID())
    // PostgreSQL plans five times with the values it is given, and then once for all.
    for (let i = 0; i < 10; i++) expect(await close(ids)).toEqual({ closed: 0, wholeReads: 0 })
    await pool.query(
      `INSERT INTO execution_intents (business_transaction_id, nonce, state, deadline)
       SELECT id, 'nonce', 'RELEASED', now() FROM unnest($1::uuid[]) AS given (id)`,
      [ids],
    )
    expect(await close(ids)).toEqual({ closed: 128, wholeReads: 0 })
    expect(await close(ids)).toEqual({ closed: 0, wholeReads: 0 })
  })
})

// Batches of open intents: who ends one, and whether this role can use their table, which GET /ready asks (interface §4.1).
import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  checkReleasable,
  findOpen,
  lockOpen,
  markInDoubt,
  releaseBatches,
  takeOutAll,
  type ReleasedBatch,
} from '../../src/store/tables/released-batches.ts'
import { classify } from '../../src/store/postgres/sql-errors.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { inOneMessage, inTransaction } from '../../src/store/postgres/transaction.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { patientPool } from '../patient-pool.ts'

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await createDatabase()
  pool = patientPool(database.url, 8)
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
    await checkReleasable(sql, randomUUID()).catch((error: unknown) => {
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
    GRANT ${privileges} ON released_batches TO countersign_test_intents;
    SET LOCAL ROLE countersign_test_intents`)

describe('the execution-intents table', () => {
  test('is usable by a role that may read it, insert, update and delete', async () => {
    expect(await reasonAfter(as('SELECT, INSERT, UPDATE, DELETE'))).toBeUndefined()
  })

  // proves §4.1 GET /ready · none; abuse: Execution where no claim can
  test.each(['SELECT, UPDATE', 'SELECT, INSERT, UPDATE', 'SELECT, UPDATE, DELETE'])(
    'is not by one that may only %s',
    async (privileges) => {
      expect(await reasonAfter(as(privileges))).toBe('The execution-intents table is not writable.')
    },
  )

  test('is not by one that may write it and not read it', async () => {
    expect(await reasonAfter(as('INSERT, UPDATE, DELETE'))).toMatch('permission denied')
  })

  // proves abuse: Execution where no claim can
  test('is not where nothing can be written: on a standby', async () => {
    expect(await reasonAfter((sql) => sql.query('SET TRANSACTION READ ONLY'))).toMatch(
      'in a read-only transaction',
    )
  })
})

const someIds = (count: number) => Array.from({ length: count }, () => randomUUID() as string).toSorted()

const inStatement = (statements: Parameters<typeof inOneMessage>[1]) => inOneMessage(pool, statements)

/** Releases a batch. */
async function aBatch(count: number): Promise<ReleasedBatch> {
  const batch = { batch: randomUUID(), ids: someIds(count) }
  expect(await inStatement(releaseBatches([{ ...batch, inDoubtAfterMs: 30_000 }]))).toBeUndefined()
  return batch
}

/** Ids of the batch whose intents are open. */
const openOf = async ({ ids }: ReleasedBatch) => [...(await findOpen(pool, ids)).keys()].toSorted()

const rowsOf = async ({ batch }: ReleasedBatch) =>
  (await pool.query('SELECT FROM released_batches WHERE batch = $1', [batch])).rowCount

describe('a batch of open intents', () => {
  test.each([1, 2, 128])('of %i goes with a statement that ends all of them, once', async (count) => {
    const batch = await aBatch(count)
    expect(await openOf(batch)).toEqual(batch.ids)
    const takeOut = takeOutAll([{ ...batch, ended: batch.ids }])
    expect(await inStatement(takeOut)).toBeUndefined()
    expect([await openOf(batch), await rowsOf(batch)]).toEqual([[], 0])
    expect(classify(await inStatement(takeOut))).toEqual({ kind: 'values' })
  })

  test('stays in its row: nothing of it is stored elsewhere', async () => {
    const { batch } = await aBatch(128)
    const { rows } = await pool.query<{ toasted: string; bytes: number }>(
      `SELECT pg_relation_size(reltoastrelid) AS toasted, (SELECT pg_column_size(ids) FROM released_batches WHERE batch = $1) AS bytes
       FROM pg_class WHERE relname = 'released_batches'`,
      [batch],
    )
    expect(rows[0]?.bytes).toBeGreaterThan(2_048)
    expect(rows[0]?.toasted).toBe('0')
  })

  test('ends in parts, and goes with the last of them, whichever that is', async () => {
    const batch = await aBatch(5)
    const [a = '', b = '', ...others] = batch.ids
    for (const ended of [[b], others, [a]]) {
      expect(await rowsOf(batch)).toBe(1)
      expect(await inStatement(takeOutAll([{ ...batch, ended }]))).toBeUndefined()
    }
    expect(await rowsOf(batch)).toBe(0)
  })

  test('of several batches, all or none end', async () => {
    const [one, other] = [await aBatch(3), await aBatch(3)]
    const [first = ''] = other.ids
    expect(await inStatement(takeOutAll([{ ...other, ended: [first] }]))).toBeUndefined()
    const both = [one, other].map((batch) => ({ ...batch, ended: batch.ids }))
    expect(classify(await inStatement(takeOutAll(both)))).toEqual({ kind: 'values' })
    expect(await openOf(one)).toEqual(one.ids)
    expect(await openOf(other)).toEqual(other.ids.slice(1))
  })

  test.each([
    [
      'a statement',
      (batch: ReleasedBatch, id: string) => inStatement(takeOutAll([{ ...batch, ended: [id] }])),
    ],
    ['a look', (_: ReleasedBatch, id: string) => takeOutLocked([id])],
  ])('of two that end its last two at once by %s, neither leaves an empty row', async (_, end) => {
    for (let n = 0; n < 10; n++) {
      const batch = await aBatch(2)
      const ended = await Promise.all(batch.ids.map((id) => end(batch, id)))
      // One that fails has found the other one's row, and looks.
      for (const [i, failure] of ended.entries())
        if (failure !== undefined) expect(await takeOutLocked([batch.ids[i]!])).toBeUndefined()
      expect(await rowsOf(batch)).toBe(0)
    }
  })

  test('gives an intent to one of many that end it at once', async () => {
    const batch = await aBatch(8)
    const [id = ''] = batch.ids
    const owned = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0
          ? inStatement(takeOutAll([{ ...batch, ended: [id] }])).then((failure) => failure === undefined)
          : takeOutLocked([id]).then((failure) => failure === undefined),
      ),
    )
    expect(owned.filter(Boolean)).toHaveLength(1)
    expect(await openOf(batch)).toEqual(batch.ids.slice(1))
  })

  test('is split where some are put in doubt: the others keep their deadline, and those who wait find both', async () => {
    const batch = await aBatch(4)
    const [doubted = '', ...others] = batch.ids
    const waiting = await inTransaction(pool, async (tx) => {
      await markInDoubt(tx, [doubted])
      await tx.query('SELECT 1')
      const found = inTransaction(pool, async (other) => [
        ...(await lockOpen(other, batch.ids)).open.values(),
      ])
      return { found }
    })
    expect((await waiting.found).map(({ id }) => id).toSorted()).toEqual(batch.ids)
    const open = Array.from(
      (await findOpen(pool, batch.ids)).values(),
      ({ id, inDoubt }) => [id, inDoubt] as const,
    )
    expect(new Map(open)).toEqual(new Map([...others.map((id) => [id, false] as const), [doubted, true]]))
    await inTransaction(pool, (tx) => markInDoubt(tx, batch.ids))
    expect([...(await findOpen(pool, batch.ids)).values()].every(({ inDoubt }) => inDoubt)).toBe(true)
    expect(await rowsOf(batch)).toBe(0)
  })

  test('cannot hold an id that the gateway has released alone', async () => {
    const [id = '', other = ''] = someIds(2)
    const alone = { batch: id, ids: [id], inDoubtAfterMs: 0 }
    expect(await inStatement(releaseBatches([alone]))).toBeUndefined()
    for (const again of [alone, { batch: randomUUID(), ids: [id, other].toSorted(), inDoubtAfterMs: 0 }])
      expect(classify(await inStatement(releaseBatches([again])))).toEqual({ kind: 'taken' })
    expect([...(await findOpen(pool, [id, other])).keys()]).toEqual([id])
  })
})

/** @returns undefined where it was this call that took them out */
async function takeOutLocked(ids: readonly string[]): Promise<unknown> {
  return inTransaction(pool, async (tx) => {
    const { open, takeOut } = await lockOpen(tx, ids)
    if (open.size < ids.length) return new Error('closed')
    await tx.run(takeOut(ids))
    return undefined
  })
}

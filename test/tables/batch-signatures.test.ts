// The ML-DSA signature of a batch: stored once, and back in every text that a reader gets.
import { expect, test } from 'vitest'
import {
  listAppended,
  listTrustRecords,
  readEvidence,
  readTrustRecord,
} from '../../src/store/tables/trust-records.ts'
import { trustRecordText } from '../../src/store/tables/sealed.ts'
import { verifyRecords } from '../../workers/evidence/verify-records.ts'
import { issueReceipts } from '../../workers/evidence/issue-receipts.ts'
import { whyNotStorable } from '../../workers/execute/store/commit.ts'
import type { ExecutionContext } from '../../workers/execute/index.ts'
import type { TestDatabase } from '../database.ts'
import { aRequest, executeAll, withThread } from '../pipeline/thread.ts'
import { aTransaction } from '../transactions.ts'

let database: TestDatabase
let thread: ExecutionContext
withThread((made) => ({ database, thread } = made), ['ed25519', 'ml-dsa-65'])

const LENGTH = 3309

async function execute(count: number, on: ExecutionContext = thread) {
  const transactions = Array.from({ length: count }, () => aTransaction())
  const replies = await executeAll(transactions, on)
  expect(replies.map(({ status }) => status)).toEqual(transactions.map(() => 200))
  return transactions.map(({ businessTransactionId }, i) => ({
    id: businessTransactionId,
    reply: replies[i]?.body,
  }))
}

const stored = async (sql: string) => (await database.pool.query<Record<string, never>>(sql)).rows

test('a batch stores two, one for its records and one for its receipts, and one of a single execution none', async () => {
  await execute(1)
  expect(await stored('SELECT batch FROM batch_signatures')).toEqual([])
  await execute(5)
  expect(await stored('SELECT octet_length(value) AS length FROM batch_signatures')).toEqual([
    { length: LENGTH },
    { length: LENGTH },
  ])
  const [sizes] = await stored(
    `SELECT max(length(seal)) FILTER (WHERE seal LIKE '%"value":""%') AS shared, max(length(seal)) AS alone FROM trust_records`,
  )
  expect(sizes).toEqual({
    shared: expect.toSatisfy((n: number) => n < 2000),
    alone: expect.toSatisfy((n: number) => n > 4400),
  })
})

test('whoever reads a record or a receipt gets what the caller got', async () => {
  const executed = await execute(3)
  const { pool } = thread
  const listed = await listTrustRecords(
    pool,
    { limit: 3, offset: 0, after: null },
    { callerId: null, since: null, until: null },
  )
  for (const { id, reply } of executed) {
    const record = await readTrustRecord(pool, id, null)
    expect(record === null ? null : JSON.parse(trustRecordText(record))).toEqual(reply)
    expect(listed.rows.map((row) => JSON.parse(trustRecordText(row)) as unknown)).toContainEqual(reply)
    const receipts = reply?.['receipts'] as object[]
    const list = await listAppended(
      pool,
      'receipts',
      { id, callerId: null },
      { limit: 5, offset: 0, after: null },
    )
    expect(list?.texts.map((text) => JSON.parse(text) as unknown)).toEqual(receipts)
  }
  const evidence = await readEvidence(
    pool,
    executed.map(({ id }) => ({ id, owner: null })),
  )
  for (const one of evidence) expect(one?.seal).not.toContain('"value":""')
})

test('receipts that are issued together share one too, and hold', async () => {
  const ids = (await execute(4)).map(({ id }) => id)
  const requests = ids.map((businessTransactionId) => aRequest({ businessTransactionId }))
  const before = (await stored('SELECT FROM batch_signatures')).length
  const issued = await issueReceipts(requests, thread)
  expect(issued.map(({ answer }) => answer.status)).toEqual([200, 200, 200, 200])
  expect((await stored('SELECT FROM batch_signatures')).length).toBe(before + 1)
  for (const [
    i,
    {
      answer: { body },
    },
  ] of issued.entries()) {
    expect(JSON.parse(body)).toMatchObject({
      signatures: [{ algorithm: 'ed25519' }, { algorithm: 'ml-dsa-65-batch' }],
    })
    const newest = await listAppended(
      thread.pool,
      'receipts',
      { id: ids[i] as string, callerId: null },
      { limit: 1, offset: 0, after: null },
    )
    expect(newest?.texts).toEqual([body])
  }
})

test('a record whose batch signature is missing or changed does not verify', async () => {
  const [{ id }] = (await execute(2)) as [{ id: string }, object]
  const verification = async () => {
    const [reply] = await verifyRecords([aRequest({ businessTransactionId: id })], thread)
    return JSON.parse(reply?.answer.body ?? '{}') as { status: string; message: string }
  }
  expect(await verification()).toMatchObject({ status: 'VERIFIED' })
  await database.pool.query(
    'UPDATE batch_signatures SET value = set_byte(value, 100, get_byte(value, 100) # 1)',
  )
  expect(await verification()).toMatchObject({
    status: 'FAILED',
    message: 'The trust record signature is not valid',
  })
  await database.pool.query('DELETE FROM batch_signatures')
  expect(await verification()).toMatchObject({
    status: 'FAILED',
    message: 'The trust record signature is not valid',
  })
})

test('trying a store tries this table too: without it the database refuses evidence', async () => {
  const [{ id }] = (await execute(2)) as [{ id: string }, object]
  await database.pool.query('ALTER TABLE batch_signatures RENAME TO away')
  expect(await whyNotStorable(id, thread)).toMatchObject({ code: '42P01' })
  await database.pool.query('ALTER TABLE away RENAME TO batch_signatures')
  expect(await whyNotStorable(id, thread)).toBeUndefined()
})

test('with BATCH_SIGNATURES=false each artifact of a batch is signed by itself', async () => {
  const before = await stored('SELECT FROM batch_signatures')
  for (const { reply } of await execute(3, { ...thread, batchSignatures: false })) {
    const { authorization, signatures, receipts } = reply as {
      authorization: object
      signatures: object[]
      receipts: { signatures: object[] }[]
    }
    const all = [authorization, ...signatures, ...(receipts[0]?.signatures ?? [])]
    expect(all).toMatchObject(
      ['ed25519', 'ed25519', 'ml-dsa-65', 'ed25519', 'ml-dsa-65'].map((algorithm) => ({ algorithm })),
    )
    for (const one of all) expect(one).not.toHaveProperty('batch')
  }
  expect(await stored('SELECT FROM batch_signatures')).toEqual(before)
})

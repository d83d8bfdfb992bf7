// A batch is independent items: whatever the database does to one of them, its neighbours are executed and answered.
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { describe, expect, inject, test } from 'vitest'
import { openPool } from '../../src/store/postgres/sql.ts'
import { patientPool } from '../patient-pool.ts'
import type { Connector } from '../../workers/connectors/connector.ts'
import { execute, finish, type ExecutionContext } from '../../workers/execute/index.ts'
import type { TestDatabase } from '../database.ts'
import { readStored } from '../evidence.ts'
import { aSlowTransaction } from '../load.ts'
import { until } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { aRequest, executeAll, withThread } from './thread.ts'
import { findOpen } from '../../src/store/tables/released-batches.ts'
import { closeBySomebody } from '../intents.ts'

let database: TestDatabase
let thread: ExecutionContext
withThread((made) => ({ database, thread } = made))

const DUPLICATE = { status: 409 }
const EXECUTED = { status: 200, body: { executions: [{ status: 'COMPLETED' }] } }
const OUTCOME_UNKNOWN = { status: 502, body: { code: 'EXECUTION_OUTCOME_UNKNOWN' } }
const INTERNAL = { status: 500, body: { error: 'Internal Server Error' } }

/** From now on the database takes no row of this id into the table. */
async function refuse(table: 'business_transactions' | 'execution_evidence', id: string): Promise<void> {
  await database.pool.query(
    `ALTER TABLE ${table} ADD CONSTRAINT not_${id.slice(0, 8)} CHECK (business_transaction_id <> '${id}')`,
  )
}

/** Reads the rows that are stored of each transaction, in their order. */
async function whatIsStored(transactions: readonly { businessTransactionId: string }[]): Promise<string[]> {
  const { claimed, inDoubt, recorded } = await readStored(database.pool)
  return transactions.map(({ businessTransactionId: id }) =>
    recorded.has(id) ? 'recorded' : inDoubt.has(id) ? 'in doubt' : claimed.has(id) ? 'claimed' : 'nothing',
  )
}

/** Statements of this database that run or wait. */
const running = (where: string) => `
  SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND ${where}`
const CLAIMING = running(
  `application_name = 'countersign' AND query LIKE '%INSERT INTO business_transactions%'`,
)
const HOLDING = running(`query LIKE 'INSERT INTO business_transactions%VALUES ($1, ''other''%'`)

/** Puts a row of this id into the client's transaction: a claim of the id waits for that to end. */
const hold = (client: Client, id: string | undefined) =>
  client.query(
    `INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body) VALUES ($1, 'other', now(), '{}')`,
    [id],
  )

describe('the claim', () => {
  // proves fault: The database refuses one row
  test('an item that the database refuses fails alone, and a repeat of it is not told that it exists', async () => {
    const refused = aTransaction()
    await refuse('business_transactions', refused.businessTransactionId)
    const batch = [aTransaction(), refused, aRejectedTransaction(), refused, aTransaction()]
    const rejected = { status: 500, body: { code: 'RUNTIME_ERROR' } }
    expect(await executeAll(batch, thread)).toMatchObject([EXECUTED, INTERNAL, rejected, INTERNAL, EXECUTED])
    expect(await whatIsStored(batch)).toEqual(['recorded', 'nothing', 'claimed', 'nothing', 'recorded'])
  })

  test('of a repeated id the first is executed, in another letter case too, and the rest are duplicates', async () => {
    const transaction = aTransaction()
    const id = transaction.businessTransactionId.toUpperCase()
    const shouted = { ...transaction, businessTransactionId: id, metadata: { businessTransactionId: id } }
    const batch = [transaction, shouted, transaction]
    expect(await executeAll(batch, thread)).toMatchObject([EXECUTED, DUPLICATE, DUPLICATE])
    expect(await executeAll(batch, thread)).toMatchObject([DUPLICATE, DUPLICATE, DUPLICATE])
  })

  test('an id whose intent was released outside the pipeline is not executed again, and its neighbours are', async () => {
    const released = aTransaction()
    await database.pool.query(
      `INSERT INTO released_batches (batch, ids, deadline) VALUES ($1, ARRAY[$1::uuid], now())`,
      [released.businessTransactionId],
    )
    expect(await executeAll([aTransaction(), released], thread)).toMatchObject([EXECUTED, INTERNAL])
    const { rowCount } = await database.pool.query('DELETE FROM released_batches WHERE batch = $1', [
      released.businessTransactionId,
    ])
    expect(rowCount).toBe(1)
    expect(await whatIsStored([released])).toEqual(['nothing'])
  })

  test('counts the deadline from the release, however long it waited for somebody else who holds an id', async () => {
    const id = randomUUID()
    const holder = await database.pool.connect()
    await holder.query('BEGIN')
    await holder.query(
      `INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body) VALUES ($1, 'other', now(), '{}')`,
      [id],
    )
    const slow = aTransaction({
      businessTransactionId: id,
      intent: { parameters: { amount: 42, delayMs: 200 } },
    })
    const claiming = execute([aRequest(slow)], thread)
    await until(async () => (await database.pool.query(CLAIMING)).rowCount === 1, 'the claim to wait')
    const { rows } = await holder.query<{ at: Date }>('SELECT clock_timestamp() AS at')
    await holder.query('ROLLBACK')
    holder.release()
    const { deferred } = await claiming
    const open = await findOpen(database.pool, [id])
    const { timeoutMs } = thread.connectors.find('sandbox:echo', 'sandbox-echo') as Connector
    const leastMs = (rows[0]?.at.getTime() ?? NaN) + timeoutMs + 2_000
    expect(Date.parse(open.get(id)?.deadline ?? '')).toBeGreaterThanOrEqual(leastMs)
    expect(await finish(await Promise.all(deferred), thread)).toMatchObject([{ answer: { status: 200 } }])
  })

  // Citus claims shard by shard: which of the ids the batch holds first is not known there. test/http/execute-duplicates.test.ts has such batches.
  const onCitus = inject('nodeUrls').length > 1
  test.skipIf(onCitus)(
    'a batch that the database ends to break a deadlock is claimed one by one',
    async () => {
      const sorted = [aTransaction(), aTransaction(), aTransaction()].toSorted((a, b) =>
        a.businessTransactionId < b.businessTransactionId ? -1 : 1,
      )
      const [first, second, third] = sorted.map(({ businessTransactionId }) => businessTransactionId)
      const [one, other] = [new Client(database.url), new Client(database.url)]
      await Promise.all([one.connect(), other.connect()])
      await one.query('BEGIN')
      await hold(one, second)
      // A session that has waited for this long looks for a deadlock, and is the one that is ended: never this one.
      await other.query(`SET deadlock_timeout = '60s'`)
      await other.query('BEGIN')
      await hold(other, third)
      const answers = executeAll(sorted, thread)
      await until(
        async () => (await database.pool.query(CLAIMING)).rowCount === 1,
        'the claim to hold the first id',
      )
      const held = hold(other, first)
      await until(async () => (await database.pool.query(HOLDING)).rowCount === 1, 'the other to wait for it')
      await one.end()
      await held
      await other.end()
      expect(await answers).toMatchObject([EXECUTED, EXECUTED, EXECUTED])
    },
  )

  // proves fault: The same id is posted
  test('two batches that claim the same ids in opposite orders execute each once', async () => {
    const transactions = Array.from({ length: 64 }, () => aTransaction())
    const [one, other] = await Promise.all([
      executeAll(transactions, thread),
      executeAll(transactions.toReversed(), thread),
    ])
    for (const [i, { status }] of one.entries())
      expect(new Set([status, other[63 - i]?.status])).toEqual(new Set([200, 409]))
  })
})

/** A thread whose connectors differ from the real ones in these members. */
const connectedTo = (connector: Partial<Connector>): ExecutionContext => ({
  ...thread,
  connectors: {
    ...thread.connectors,
    find: (action) => ({ ...(thread.connectors.find(action) as Connector), ...connector }),
  },
})

describe('the connector', () => {
  // proves fault: The same id is posted
  test('is called once for 200 copies of a transaction, in many batches on two threads', async () => {
    const transaction = aTransaction()
    const calls: string[] = []
    const one = connectedTo({
      async call({ businessTransactionId }) {
        calls.push(businessTransactionId)
        return { kind: 'completed', result: 'done' }
      },
    })
    const other = { ...one, pool: patientPool(database.url, 4) }
    const batches = Array.from({ length: 20 }, (_, i) =>
      executeAll(Array<object>(10).fill(transaction), i % 2 === 0 ? one : other),
    )
    const answers = (await Promise.all(batches)).flat()
    await other.pool.end()
    expect(calls).toEqual([transaction.businessTransactionId])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(199)
  })

  test('that is silent leaves the intent in doubt as soon as that is answered, not only at its deadline', async () => {
    const transaction = aTransaction({ intent: { parameters: { amount: 42, hang: true } } })
    expect(await executeAll([transaction], connectedTo({ timeoutMs: 50 }))).toMatchObject([OUTCOME_UNKNOWN])
    const answeredAt = new Date()
    const id = transaction.businessTransactionId
    const { deadline = '', inDoubt } = (await findOpen(database.pool, [id])).get(id) ?? {}
    expect(inDoubt).toBe(true)
    expect(Date.parse(deadline)).toBeLessThanOrEqual(answeredAt.getTime())
  })
})

test('an outcome that is unknown is answered while the database is too slow to note the doubt', async () => {
  const pool = openPool(database.url, 4, { statementMs: 600_000, lockMs: 600_000, connectMs: 60_000 })
  const transaction = aTransaction({ intent: { parameters: { amount: 42, hang: true } } })
  const id = transaction.businessTransactionId
  const { deferred } = await execute([aRequest(transaction)], { ...connectedTo({ timeoutMs: 50 }), pool })
  const holder = await database.pool.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT FROM released_batches WHERE $1 = ANY (ids) FOR UPDATE', [id])
  const answered = await finish(await Promise.all(deferred), { ...thread, pool })
  expect(answered).toMatchObject([{ answer: { status: 502 } }])
  await holder.query('ROLLBACK')
  holder.release()
  await pool.end()
})

describe('the evidence', () => {
  // proves fault: The database refuses one row
  test('an item whose record the database refuses is in doubt alone', async () => {
    const refused = aTransaction()
    await refuse('execution_evidence', refused.businessTransactionId)
    const batch = [aTransaction(), refused, aTransaction()]
    expect(await executeAll(batch, thread)).toMatchObject([EXECUTED, OUTCOME_UNKNOWN, EXECUTED])
    expect(await whatIsStored(batch)).toEqual(['recorded', 'in doubt', 'recorded'])
  })

  test('an id that has a record already gets no second one', async () => {
    const recorded = aTransaction()
    const id = recorded.businessTransactionId
    await database.pool.query(
      `INSERT INTO trust_records VALUES ($1, 'tester', now(), '{"a":1}', '{"b":2}')`,
      [id],
    )
    const batch = [aTransaction(), recorded, aTransaction()]
    expect(await executeAll(batch, thread)).toMatchObject([EXECUTED, OUTCOME_UNKNOWN, EXECUTED])
    const { rows } = await database.pool.query(
      `DELETE FROM execution_evidence WHERE business_transaction_id = $1 RETURNING body`,
      [id],
    )
    expect(rows).toEqual([{ body: '{"a":1}' }])
    expect(await whatIsStored(batch)).toEqual(['recorded', 'in doubt', 'recorded'])
  })

  test('an intent that somebody closed while the connector was working gets no record', async () => {
    const closed = aSlowTransaction(50)
    const batch = [closed, aSlowTransaction(50), aTransaction()]
    const { answered, deferred } = await execute(batch.map(aRequest), thread)
    const reopen = await closeBySomebody(database, closed.businessTransactionId)
    answered.push(...(await finish(await Promise.all(deferred), thread)))
    expect(answered.filter(({ answer }) => answer.status === 200)).toHaveLength(2)
    expect(answered.find(({ answer }) => answer.status !== 200)?.answer).toMatchObject({ status: 502 })
    await reopen()
    expect(await whatIsStored(batch)).toEqual(['in doubt', 'recorded', 'recorded'])
  })

  // proves fault: It answers what cannot be signed
  test('a result that cannot be signed is in doubt, not a failure: the effect has happened', async () => {
    const connector: Connector = {
      connectorId: 'garbler',
      connectorVersion: '1',
      endpoint: 'local:garbler',
      actions: ['sandbox:echo'],
      timeoutMs: 1_000,
      call: async ({ target }) => ({ kind: 'completed', result: target === 'garble' ? '\ud800' : 'fine' }),
    }
    const batch = [aTransaction(), aTransaction({ intent: { target: 'garble' } })]
    const answers = await executeAll(batch, {
      ...thread,
      connectors: { find: () => connector, registered: () => undefined },
    })
    expect(answers).toMatchObject([EXECUTED, OUTCOME_UNKNOWN])
    expect(await whatIsStored(batch)).toEqual(['recorded', 'in doubt'])
  })
})

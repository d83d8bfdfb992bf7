// A connection that breaks at COMMIT, in pairs: failed and did nothing, failed but did it anyway.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queuedEntries } from '../../src/store/tables/log-queue.ts'
import { execute, finish, type ExecutionContext } from '../../workers/execute/index.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { readStored } from '../evidence.ts'
import { aSlowTransaction } from '../load.ts'
import { until } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { loseCommits, type LostCommits } from './lost-commits.ts'
import { aRequest, executeAll, openThread } from './thread.ts'
import { closeBySomebody } from '../intents.ts'

let database: TestDatabase
let proxy: LostCommits
let thread: ExecutionContext
beforeAll(async () => {
  database = await createDatabase()
  proxy = await loseCommits(database.url)
  thread = openThread(proxy.url)
})
afterAll(async () => {
  await thread.pool.end()
  await proxy.close()
  await database.drop()
})

const aBatch = () => Array.from({ length: 3 }, () => aTransaction())
const idsOf = (batch: readonly { businessTransactionId: string }[]) =>
  batch.map((one) => one.businessTransactionId)
const statusesOf = async (batch: readonly object[]) =>
  (await executeAll(batch, thread)).map(({ status }) => status)

describe('the claim', () => {
  // proves fault: The connection is lost at the COMMIT of a claim, before
  // proves fault: The connection is lost at the COMMIT of a claim, after the server
  test.each([
    ['not committed: it is claimed again', 'before'],
    ['committed: its own authorization is found', 'after'],
  ] as const)('%s, and the execution goes on', async (_, fate) => {
    const batch = aBatch()
    proxy.lose(fate)
    expect(await statusesOf(batch)).toEqual([200, 200, 200])
    expect(await statusesOf(batch)).toEqual([409, 409, 409])
  })

  test('committed, of a batch with ids that were taken before: they are told apart', async () => {
    const [taken, ...free] = aBatch()
    expect(await statusesOf([taken!])).toEqual([200])
    // The message fails, and is lost only after that: the claim of each goes on in a transaction.
    proxy.lose('pass', 'after')
    expect(await statusesOf([taken!, ...free])).toEqual([503, 503, 503])
    expect((await readStored(database.pool)).inDoubt.isSupersetOf(new Set(idsOf(free)))).toBe(true)
  })

  test('committed, with nothing to execute: 503, and a repeat is a duplicate', async () => {
    const unknown = aTransaction({ policy: { name: 'nobody-knows', version: '1' } })
    proxy.lose('after')
    expect(await statusesOf([unknown])).toEqual([503])
    expect(await statusesOf([unknown])).toEqual([409])
  })

  // proves fault: The connection is lost at the COMMIT of a claim, before
  test('not committed, and the second attempt is lost too: 503, and the ids are free', async () => {
    const batch = aBatch()
    proxy.lose('before', 'before')
    expect(await statusesOf(batch)).toEqual([503, 503, 503])
    expect((await readStored(database.pool)).claimed.isDisjointFrom(new Set(idsOf(batch)))).toBe(true)
    expect(await statusesOf(batch)).toEqual([200, 200, 200])
  })

  // proves fault: The connection is lost at the COMMIT of a claim, after the server
  test('committed, and its outcome cannot be read: 503, nothing is executed then or later, and the intents are in doubt', async () => {
    const batch = aBatch()
    proxy.lose('after', 'before')
    expect(await statusesOf(batch)).toEqual([503, 503, 503])
    expect((await readStored(database.pool)).inDoubt.isSupersetOf(new Set(idsOf(batch)))).toBe(true)
    expect(await statusesOf(batch)).toEqual([409, 409, 409])
  })
})

describe('the evidence', () => {
  // proves fault: The connection is lost at the COMMIT of the evidence
  test.each([
    ['not committed: it is stored again', 'before'],
    ['committed: its own record is found', 'after'],
  ] as const)('%s, and the execution is answered as stored', async (_, fate) => {
    const batch = aBatch()
    proxy.lose('pass', fate, fate)
    expect(await statusesOf(batch)).toEqual([200, 200, 200])
    expect((await readStored(database.pool)).recorded.isSupersetOf(new Set(idsOf(batch)))).toBe(true)
  })

  test('of an intent that somebody closed, kept by one audit event although its commit was not heard of', async () => {
    const slow = aSlowTransaction(50)
    const id = slow.businessTransactionId
    const { deferred } = await execute([aRequest(slow)], thread)
    const reopen = await closeBySomebody(database, id)
    // The message of each attempt fails, because an intent is closed; its transaction commits.
    proxy.lose('pass', 'after', 'pass', 'after')
    const answered = await finish(await Promise.all(deferred), thread)
    expect(answered).toMatchObject([{ answer: { status: 502 } }])
    const { rows } = await database.pool.query<{ body: string }>(
      `SELECT body FROM audit_events WHERE type = 'intent.late_evidence'`,
    )
    expect(rows.map(({ body }) => JSON.parse(body) as object)).toMatchObject([
      { detail: { businessTransactionId: id } },
    ])
    // As `readStored` expects: no transition is stored of it.
    await reopen()
  })

  // proves fault: The connection is lost at the COMMIT of the evidence
  test('not committed as long as the caller waits: 502, in doubt, and stored when commits pass', async () => {
    const batch = aBatch()
    proxy.lose('pass', ...Array<'before'>(5).fill('before'))
    expect(await statusesOf(batch)).toEqual([502, 502, 502])
    expect((await readStored(database.pool)).inDoubt.isSupersetOf(new Set(idsOf(batch)))).toBe(true)
    // Citus shows the rows of each node as that node commits: before all have, an execution is neither in doubt nor recorded.
    const rowsOf = async (text: string) => (await database.pool.query(text, [idsOf(batch)])).rowCount
    const isWhole = async () =>
      (await rowsOf('SELECT FROM released_batches WHERE ids && $1::uuid[]')) === 0 &&
      (await rowsOf('SELECT FROM execution_evidence WHERE business_transaction_id = ANY ($1::uuid[])')) ===
        batch.length
    await until(isWhole, 'the evidence')
    expect((await readStored(database.pool)).recorded.isSupersetOf(new Set(idsOf(batch)))).toBe(true)
  })
})

const sorted = (entries: readonly { kind: string; id: string }[]) =>
  entries.map(({ kind, id }) => `${kind} ${id}`).toSorted()

test('whatever was lost, the log has an entry for each artifact that is stored, and no other', async () => {
  const queued = await database.pool.query<{ entries: string }>('SELECT entries FROM log_queue')
  const rows = queued.rows.flatMap(({ entries }) => queuedEntries(entries))
  const stored = await database.pool.query<{ kind: string; id: string }>(`
    SELECT 'authorization' AS kind, business_transaction_id::text AS id FROM business_transactions WHERE execution_authorization IS NOT NULL
    UNION ALL SELECT 'receipt', business_transaction_id::text FROM receipts
    UNION ALL SELECT 'audit-event', event_id::text FROM audit_events`)
  expect(sorted(rows)).toEqual(sorted(stored.rows))
})

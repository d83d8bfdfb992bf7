// Our own database away after the effect, for longer than a caller waits: the evidence is kept and stored when it is back. That is not
// the provider's doubt (decisions §3 "database gone after the effect").
import { randomUUID } from 'node:crypto'
import { DatabaseError } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../src/formats/json/canonical.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { openEvidenceFaults } from '../../src/core/threads/evidence-fault.ts'
import { classify } from '../../src/store/postgres/sql-errors.ts'
import { openPool } from '../../src/store/postgres/sql.ts'
import type { Evidence, NotStored } from '../../workers/execute/store/commit.ts'
import { execute, finish } from '../../workers/execute/index.ts'
import { openPendingEvidence } from '../../workers/execute/store/pending-evidence.ts'
import { createDatabase, rowsOf, type TestDatabase } from '../database.ts'
import { expectEvidence, type Members } from '../evidence.ts'
import { intentState, notedInDoubt, passDeadline } from '../intents.ts'
import { aSlowTransaction } from '../load.ts'
import { openDatabaseProxy, type DatabaseProxy } from '../proxy.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aRequest, openSteps, openThread } from '../pipeline/thread.ts'
import { aTransaction } from '../transactions.ts'

const human = aCaller('olive', { credentialHolderType: 'USER' })

let database: TestDatabase
let proxy: DatabaseProxy
beforeAll(async () => {
  database = await createDatabase()
  proxy = await openDatabaseProxy(database.url)
})
afterAll(async () => {
  await proxy.cut()
  await database.drop()
})

const start = (env: Record<string, string> = {}) =>
  startService({ databaseUrl: proxy.url, callers: [human.entry], env })

/** Executes while the database is away, and resolves when each has its 502. */
async function executeWithout(
  service: TestService,
  count: number,
  parameters: object = {},
): Promise<string[]> {
  const transactions = Array.from({ length: count }, () =>
    aTransaction({ intent: { parameters: { amount: 42, delayMs: 600, ...parameters } } }),
  )
  const ids = transactions.map((one) => one.businessTransactionId)
  const answers = transactions.map((one) => service.post('/execute', one))
  for (const id of ids) await until(() => intentState(database, id), 'the release')
  await proxy.cut()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses).toEqual(Array(count).fill(502))
  return ids
}

const states = (ids: readonly string[]) => Promise.all(ids.map((id) => intentState(database, id)))

// proves fault: The database is gone after the effect; abuse: The effect happened and the database
test('is stored once the database is back, without a human: FINALIZED or ERRORED, whole, once, and off the list', async () => {
  const service = await start()
  const ids = await executeWithout(service, 5)
  for (const id of ids) await passDeadline(database, id)
  expect(await states(ids)).toEqual(Array(5).fill('RELEASED'))
  await proxy.mend()
  // In the meantime it may have been found in doubt; that ends too.
  await until(async () => (await states(ids)).every((state) => state === 'FINALIZED'), 'the evidence')
  const keys = readPublicKeys(service.signingKeyDir)
  for (const id of ids) {
    expectEvidence((await service.get(`/trust-records/${id}`)).body as Members, keys)
    expect(await rowsOf(database, id)).toMatchObject({ trust_records: 1, verifications: 1, receipts: 1 })
    expect((await service.get(`/execution-intents/${id}`)).body).toMatchObject({
      state: 'FINALIZED',
      inDoubt: false,
      transitions: [],
    })
  }
  const [failed = ''] = await executeWithout(service, 1, { fail: true })
  await proxy.mend()
  await until(async () => (await intentState(database, failed)) === 'ERRORED', 'the evidence')

  const list = (await service.get('/execution-intents/unfinalized', human)).body as Json
  expect(list).toEqual({ intents: [] })
  expect(await notedInDoubt(database)).toEqual(new Set())
  expect(await service.stop()).toBe(0)
  expect(service.lines().filter(({ msg }) => msg === 'evidence lost: in doubt')).toEqual([])
})

// proves fault: SIGTERM while evidence waits for a database that is away
test('a clean stop waits for a database that comes back within the drain', async () => {
  const service = await start()
  const ids = await executeWithout(service, 3)
  const stopped = service.stop()
  await until(() => service.lines().some(({ msg }) => msg === 'stopping'), 'the stop')
  await proxy.mend()
  expect(await stopped).toBe(0)
  expect(await states(ids)).toEqual(Array(3).fill('FINALIZED'))
})

// proves fault: SIGTERM while evidence waits for a database that stays
test('a clean stop without a database ends with the drain, and says what it leaves in doubt', async () => {
  const service = await start({ SHUTDOWN_TIMEOUT_MS: '700' })
  const ids = await executeWithout(service, 2)
  expect(await service.stop()).toBe(0)
  const lost = service.lines().filter(({ msg }) => msg === 'evidence lost: in doubt')
  expect(lost).toMatchObject([{ level: 50, executions: 2 }])
  await proxy.mend()
  expect(await states(ids)).toEqual(['RELEASED', 'RELEASED'])
})

// proves fault: The same, and a human
test('what a human has resolved in the meantime stays so', async () => {
  const away = await start()
  const elsewhere = await startService({ databaseUrl: database.url, callers: [human.entry] })
  const [id = ''] = await executeWithout(away, 1)
  await passDeadline(database, id)
  const body = { resolution: 'NOT_EXECUTED', note: 'Nothing arrived.' }
  expect((await elsewhere.post(`/execution-intents/${id}/resolve`, body, human)).status).toBe(200)
  await proxy.mend()
  await until(async () => (await away.get('/ready')).status === 200, 'the database')
  expect((await away.post('/execute', aTransaction())).status).toBe(200)
  // A stop waits until no evidence is pending: by then it has tried.
  expect(await away.stop()).toBe(0)
  expect(away.lines().filter(({ msg }) => msg === 'evidence lost: in doubt')).toEqual([])
  expect(await intentState(database, id)).toBe('RESOLVED')
  expect(await rowsOf(database, id)).toMatchObject({ trust_records: 0, verifications: 0, receipts: 0 })
  // The evidence that proves that he was wrong is not lost.
  const { body: audit } = await elsewhere.get('/audit/events?type=intent.late_evidence', human)
  const { detail } = audit.events[0].event
  expect(detail).toMatchObject({ businessTransactionId: id, end: 'FINALIZED' })
  expect(JSON.parse(detail.record as string)).toMatchObject({ businessTransactionId: id })
  expect(await elsewhere.stop()).toBe(0)
})

const anEvidence = (body: string): Evidence => ({
  businessTransactionId: 'none',
  callerId: 'tester',
  createdAt: '2026-11-21T00:00:00.000Z',
  batch: { batch: randomUUID(), ids: [] },
  end: 'FINALIZED',
  record: { body, seal: '' },
  copies: { authorization: 0, transaction: 0 },
  verification: '',
  receipt: '',
  logEntry: { kind: 'receipt', hash: '', id: '', streams: {} },
  lateEventId: randomUUID(),
})

/** Adds evidence to a thread's own, of which the database takes none: nothing listens there. */
function addAll(evidence: readonly Evidence[]) {
  const pool = openPool('postgres://nobody@127.0.0.1:1/none', 1)
  const count = new Int32Array(new SharedArrayBuffer(4))
  const pending = openPendingEvidence({ ...openSteps(), pool, count, faults: openEvidenceFaults() })
  const away: NotStored = { kind: 'unavailable', cause: new Error('Connection terminated') }
  const lost = pending.add(
    evidence,
    evidence.map(() => away),
  )
  return { pending, lost, count }
}

// proves fault: The same, with more evidence
test('what is kept is bounded, by count and by size, and what is lost is known', () => {
  for (const [evidence, kept] of [
    [Array.from({ length: 10_001 }, () => anEvidence('{}')), 10_000],
    [Array.from({ length: 65 }, () => anEvidence('x'.repeat(1024 * 1024))), 64],
  ] as const) {
    const { lost, count } = addAll(evidence)
    expect(count[0]).toBe(kept)
    expect(lost).toEqual(evidence.map((_, i) => i >= kept))
  }
})

// proves fault: The same, with more evidence
test('evidence that is lost is named in the log line of its execution, which stays in doubt', async () => {
  const thread = openThread(database.url)
  const { pending: pendingEvidence } = addAll(Array.from({ length: 10_000 }, () => anEvidence('{}')))
  const transaction = aSlowTransaction(50)
  const { deferred } = await execute([aRequest(transaction)], thread)
  const performed = await Promise.all(deferred)
  await database.pool.query('ALTER TABLE execution_evidence RENAME TO evidence_away')
  const answered = await finish(performed, { ...thread, pendingEvidence })
  await database.pool.query('ALTER TABLE evidence_away RENAME TO execution_evidence')
  expect(answered).toMatchObject([{ answer: { status: 502, log: { code: 'EXECUTION_OUTCOME_UNKNOWN' } } }])
  expect(answered[0]?.answer.log['cause']).toMatch(
    /^the evidence is lost, because too much is pending already; not stored: relation "execution_evidence" does not exist/,
  )
  expect(await intentState(database, transaction.businessTransactionId)).toBe('RELEASED')
  await thread.pool.end()
})

// proves fault: A table of the evidence
test('a thread that starts while evidence is refused tries what a store does, keeps nothing of it, and ends the fault when it succeeds', async () => {
  await database.pool.query('ALTER TABLE execution_evidence RENAME TO evidence_away')
  const found = openEvidenceFaults()
  found.raise({ kind: 'refused', sqlState: '42P01' }, randomUUID())
  const pool = openPool(database.url, 1)
  let refused = 0
  pool.on('remove', () => refused++)
  const count = new Int32Array(new SharedArrayBuffer(4))
  openPendingEvidence({ ...openSteps(), pool, count, faults: openEvidenceFaults(found.memory) })
  await until(() => refused > 0, 'an attempt')
  expect(found.current()).toEqual({ kind: 'refused', sqlState: '42P01' })
  await database.pool.query('ALTER TABLE evidence_away RENAME TO execution_evidence')
  await until(() => found.current() === undefined, 'a store to succeed')
  for (const table of ['trust_records', 'verifications', 'receipts'])
    expect((await database.pool.query(`SELECT FROM ${table} WHERE body = ''`)).rowCount, table).toBe(0)
  await pool.end()
})

// proves fault: The database is gone after the effect
test('what a batch leaves behind it is tried again with pauses, also after a batch that was taken whole', async () => {
  const pool = openPool(database.url, 1)
  const attempts: number[] = []
  pool.on('acquire', () => attempts.push(performance.now()))
  const count = new Int32Array(new SharedArrayBuffer(4))
  const pending = openPendingEvidence({ ...openSteps(), pool, count, faults: openEvidenceFaults() })
  // No column takes the first 128, so they end with their batch. How the last one ended is never visible.
  const evidence = [
    ...Array.from({ length: 128 }, () => anEvidence('{}')),
    { ...anEvidence('{}'), businessTransactionId: randomUUID() },
  ]
  const away: NotStored = { kind: 'unavailable', cause: new Error('Connection terminated') }
  expect(
    pending.add(
      evidence,
      evidence.map(() => away),
    ),
  ).not.toContain(true)
  await until(() => count[0] === 1, 'the first batch to end')
  const first = attempts.length
  await until(() => attempts.length >= first + 6, 'the last one to be tried again')
  const pausesMs = attempts.slice(first).map((ms, i, all) => ms - (all[i - 1] ?? ms))
  expect(Math.max(...pausesMs)).toBeGreaterThan(490)
  expect(count[0]).toBe(1)
  await pool.end()
})

test.each([
  ['XX001', 'XX001'],
  ['XX002', 'XX002'],
  ['58030', '58030'],
  ['42P01', '42P01'],
  ['23502', '23502'],
  ['23505', undefined],
  ['23514', undefined],
  ['22021', undefined],
  ['54000', undefined],
  ['P0001', undefined],
  ['53100', undefined],
  ['57P01', undefined],
  ['08006', undefined],
])('SQLSTATE %s is a refusal that no value explains: %s', (code, refusal) => {
  const error = Object.assign(new DatabaseError('made by a test', 0, 'error'), { code })
  const trouble = classify(error)
  expect('sqlState' in trouble ? trouble.sqlState : undefined).toBe(refusal)
})

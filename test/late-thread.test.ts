// Which part a 503 names: the database, or this process where it was itself too late to hear it.
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { failures } from '../src/core/errors/errors.ts'
import { LATE_MS, watchLateness } from '../src/core/threads/lateness.ts'
import { blameLateThread } from '../workers/late-thread.ts'
import { Finished } from '../workers/in-flight.ts'
import { createDatabase } from './database.ts'
import { aRequest } from './pipeline/thread.ts'
import { addPolicy, aPolicyFolder } from './policies.ts'
import { startService, until } from './service.ts'
import { aTransaction } from './transactions.ts'

const answers = () => {
  const { request } = aRequest({})
  const away = new Error('timeout exceeded when trying to connect')
  return [new Finished(request, { body: '{}' }), new Finished(request, failures.databaseUnavailable(away))]
}
const codes = (answered: readonly Finished[]) =>
  answered.map(({ answer: { status, log } }) => [status, log['code']])

/** Keeps the event loop from doing anything else. */
function block(ms: number): void {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt);
}

test('the database is named where the thread was in time', () => {
  const lateness = { wasLate: () => false }
  expect(codes(blameLateThread(answers(), lateness))).toEqual([
    [200, undefined],
    [503, 'DATABASE_UNAVAILABLE'],
  ])
})

test('a thread that was late names itself, and keeps the cause for the log', () => {
  const lateness = watchLateness()
  const given = answers()
  block(LATE_MS + 200)
  const answered = blameLateThread(given, lateness)
  expect(codes(answered)).toEqual([
    [200, undefined],
    [503, 'OVERLOADED'],
  ])
  expect(answered.map(({ answer }) => answer.gate)).toEqual([undefined, 'late-thread'])
  expect(answered[1]?.answer.headers).toEqual({ 'Retry-After': '1' })
  expect(answered[1]?.answer.log['cause']).toContain('timeout exceeded when trying to connect')
})

test('lateness is remembered as long as it is asked for, and no longer', async () => {
  const lateness = watchLateness()
  expect(lateness.wasLate(60_000)).toBe(false)
  block(LATE_MS + 200)
  await new Promise((resolve) => setTimeout(resolve, 1))
  expect(lateness.wasLate(60_000)).toBe(true)
  expect(lateness.wasLate(-1)).toBe(false)
})

test('an execution that left its batch to verify state names a late thread too', async () => {
  const policyDir = aPolicyFolder()
  addPolicy(policyDir, {
    name: 'limited',
    version: '1.0.0',
    capability: 'sandbox:echo',
    signals: { before: 'number' },
    verify: { before: { by: 'history', window: '1h' } },
    rules: [{ id: 'few', when: 'signals.before < 3.0', outcome: 'approve', reason: 'Few enough.' }],
  })
  const database = await createDatabase()
  const service = await startService({ databaseUrl: database.url, env: { POLICY_DIR: policyDir } })
  const holder = await database.pool.connect()
  await holder.query('BEGIN; LOCK TABLE history_entries')
  const answer = service.post(
    '/execute',
    aTransaction({ policy: { name: 'limited' }, signals: { before: 0 } }),
  )
  const waiting = `
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND query LIKE '%WITH released%' AND pid <> pg_backend_pid()`
  await until(async () => (await database.pool.query(waiting)).rowCount === 1, 'the read of the history')
  service.process.kill('SIGSTOP')
  block(LATE_MS + 200)
  service.process.kill('SIGCONT')
  // It gives up waiting for the lock after three seconds.
  expect(await answer).toMatchObject({ status: 503, body: { code: 'OVERLOADED' } })
  await holder.query('ROLLBACK')
  holder.release()
  expect(await service.stop()).toBe(0)
  await database.drop()
  rmSync(policyDir, { recursive: true })
})

// Which part a 503 names: the database, or this process where it was itself too late to hear it.
import { expect, test } from 'vitest'
import { failures } from '../src/core/errors.ts'
import { LATE_MS, watchLateness } from '../src/core/lateness.ts'
import { truthful } from '../workers/blame.ts'
import { Finished } from '../workers/in-flight.ts'
import { aRequest } from './pipeline/thread.ts'

const answers = () => {
  const { request } = aRequest({})
  const away = new Error('timeout exceeded when trying to connect')
  return [new Finished(request, { body: '{}' }), new Finished(request, failures.databaseUnavailable(away))]
}
const codes = (answered: readonly Finished[]) => answered.map(({ status, log }) => [status, log['code']])

/** Keeps the event loop from doing anything else. */
function block(ms: number): void {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt);
}

test('the database is named where the thread was in time', () => {
  const lateness = { wasLate: () => false }
  expect(codes(truthful(answers(), lateness, performance.now()))).toEqual([
    [200, undefined],
    [503, 'DATABASE_UNAVAILABLE'],
  ])
})

test('a thread that was late names itself, and keeps the cause for the log', () => {
  const lateness = watchLateness()
  const startedMs = performance.now()
  block(LATE_MS + 200)
  const answered = truthful(answers(), lateness, startedMs)
  expect(codes(answered)).toEqual([
    [200, undefined],
    [503, 'OVERLOADED'],
  ])
  expect(answered[1]?.headers).toEqual({ 'Retry-After': '1' })
  expect(answered[1]?.log['cause']).toContain('timeout exceeded when trying to connect')
})

test('lateness is remembered as long as it is asked for, and no longer', async () => {
  const lateness = watchLateness()
  expect(lateness.wasLate(60_000)).toBe(false)
  block(LATE_MS + 200)
  await new Promise((resolve) => setTimeout(resolve, 1))
  expect(lateness.wasLate(60_000)).toBe(true)
  expect(lateness.wasLate(-1)).toBe(false)
})

// A 503 names the part that failed: where this thread itself was late, its time-outs ran out although the database had answered.
import { failures } from '../src/core/errors.ts'
import type { Lateness } from '../src/core/lateness.ts'
import { Finished } from './in-flight.ts'

/** What is answered in place of DATABASE_UNAVAILABLE where the thread was late since `startedMs` (of `performance.now()`). */
export function truthful(
  answered: readonly Finished[],
  { wasLate }: Lateness,
  startedMs: number,
): readonly Finished[] {
  if (!answered.some(blamesDatabase) || !wasLate(performance.now() - startedMs)) return answered
  return answered.map((one) => {
    if (!blamesDatabase(one)) return one
    return new Finished(one.request, failures.overloaded(`the thread was late: ${String(one.log['cause'])}`))
  })
}

function blamesDatabase({ log }: Finished): boolean {
  return log['code'] === 'DATABASE_UNAVAILABLE'
}

// A 503 names the part that failed: where this thread itself was late, its time-outs ran out although the database had answered.
import { failures } from '../src/core/errors/errors.ts'
import type { Lateness } from '../src/core/threads/lateness.ts'
import { Finished } from './in-flight.ts'

/** Answers OVERLOADED in place of DATABASE_UNAVAILABLE where the thread was late while it had the request. */
export function blameLateThread(answered: readonly Finished[], { wasLate }: Lateness): readonly Finished[] {
  return answered.map((one) => {
    if (one.answer.gate !== 'database' || !wasLate(performance.now() - one.request.takenMs)) return one
    return new Finished(one.request, failures.overloaded('late-thread', String(one.answer.log['cause'])))
  })
}

// Whether this instance keeps up with its load: if not, GET /ready says so, and a load balancer sends callers elsewhere.
import { LATE_MS, watchLateness } from '../../../core/threads/lateness.ts'
import type { Dispatcher } from '../../dispatch/dispatcher.ts'
import { bounds } from './index.ts'

/** How long a late event loop counts as overload. */
const REMEMBERED_MS = 2_000

/** @returns a function that answers a sentence about why the service does not keep up; undefined: it keeps up */
export function openOverload({ executionsWaitedMs }: Pick<Dispatcher, 'executionsWaitedMs'>) {
  const lateness = watchLateness()
  return (): string | undefined => {
    if (executionsWaitedMs() > bounds.executionWaitMs)
      return `The service is overloaded: executions wait more than ${bounds.executionWaitMs / 1_000} seconds for a thread.`
    if (lateness.wasLate(REMEMBERED_MS))
      return `The service is overloaded: its event loop is late by ${LATE_MS / 1_000} second or more.`
    return undefined
  }
}

// Deferred executions wait longer than their batch, for verified state or a slow connector, and finish with the next group that is ready.
import { failures } from '../../src/core/errors/errors.ts'
import { Finished } from '../in-flight.ts'
import { openStopwatch, type Stopwatch } from '../stopwatch.ts'
import type { Performed } from './perform.ts'

/** The most executions that finish together; they need not come from one batch. */
const GROUP_MAX = 128

export interface Deferred {
  /** @param items none of them rejects */
  add(items: readonly Promise<Performed | Finished>[]): void
}

export function openDeferred(
  finish: (performed: readonly (Performed | Finished)[], stopwatch: Stopwatch) => Promise<Finished[]>,
  deliver: (answered: readonly Finished[], stopwatch: Stopwatch) => void,
): Deferred {
  let waiting: (Performed | Finished)[] = []
  let busy = false

  async function drain(): Promise<void> {
    if (busy) return
    busy = true
    while (waiting.length > 0) {
      const group = waiting.slice(0, GROUP_MAX)
      waiting = waiting.slice(GROUP_MAX)
      const stopwatch = openStopwatch()
      let answered: readonly Finished[]
      try {
        answered = await finish(group, stopwatch)
      } catch (error) {
        // A bug. Uncaught it would end the thread and lose the results of the thread's other executions.
        answered = group.map((item) =>
          item instanceof Finished ? item : new Finished(item.request, failures.outcomeUnknown(error)),
        )
      }
      deliver(answered, stopwatch)
    }
    busy = false
  }

  return {
    add(items) {
      for (const item of items) {
        void item.then((performed) => {
          waiting.push(performed)
          return drain()
        })
      }
    },
  }
}

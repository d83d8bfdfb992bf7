// Deferred executions wait longer than their batch, for verified state or a slow connector, and finish with the next group that is ready.
import { openStopwatch, type Stopwatch } from '../stopwatch.ts'
import type { Performed } from './perform.ts'
import type { Finished } from '../in-flight.ts'

const BATCH_MAX = 128

interface Deferred {
  add(items: readonly Promise<Performed | Finished>[]): void
}

/** @param finish never rejects, see `finish` in index.ts */
export function openDeferred(
  finish: (performed: readonly (Performed | Finished)[], watch: Stopwatch) => Promise<Finished[]>,
  deliver: (answered: readonly Finished[], watch: Stopwatch) => void,
): Deferred {
  let waiting: (Performed | Finished)[] = []
  let busy = false

  async function drain(): Promise<void> {
    if (busy) return
    busy = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      const watch = openStopwatch()
      deliver(await finish(batch, watch), watch)
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

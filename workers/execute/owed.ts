// Evidence that the database did not take in time: its effect has happened and its caller has a 502. Our own store being away is not
// the provider's doubt, so it is kept and stored when the database is back (docs/design-notes.md "When the database is away").
import { setTimeout as delay } from 'node:timers/promises'
import { isUnavailable } from '../../src/tables/sql.ts'
import { commit, type CommitWith, type Evidence } from './commit.ts'

export interface Owed {
  /** Takes what there is room for. What is left out stays in doubt, for a human. */
  readonly add: (evidence: readonly Evidence[]) => void
}

const COUNT_MAX = 10_000
const CHARACTERS_MAX = 64 * 1024 * 1024
const BATCH_MAX = 128
const FIRST_DELAY_MS = 500
const DELAY_MAX_MS = 5_000

/** in  count  of what all threads owe together: a stop waits for it to become 0 */
export function openOwed({ count, ...tools }: CommitWith & { count: Int32Array<SharedArrayBuffer> }): Owed {
  let waiting: Evidence[] = []
  let characters = 0
  let paying = false

  async function pay(): Promise<void> {
    paying = true
    let delayMs = FIRST_DELAY_MS
    while (waiting.length > 0) {
      await delay(delayMs)
      const batch = waiting.slice(0, BATCH_MAX)
      const causes = await commit(batch, tools)
      // What a human has closed in the meantime, or the database refuses, is not owed any more.
      const still = new Set(batch.filter((item) => isUnavailable(causes.get(item))))
      waiting = waiting.filter((item, i) => i >= batch.length || still.has(item))
      for (const item of batch) if (!still.has(item)) paid(item)
      delayMs = still.size === 0 ? 0 : Math.min(delayMs * 2, DELAY_MAX_MS)
    }
    paying = false
  }

  function paid(item: Evidence): void {
    characters -= sizeOf(item)
    Atomics.sub(count, 0, 1)
    Atomics.notify(count, 0)
  }

  return {
    add(evidence) {
      for (const item of evidence) {
        if (waiting.length >= COUNT_MAX || characters + sizeOf(item) > CHARACTERS_MAX) continue
        waiting.push(item)
        characters += sizeOf(item)
        Atomics.add(count, 0, 1)
      }
      if (!paying && waiting.length > 0) void pay()
    },
  }
}

function sizeOf({ record, verification, receipt }: Evidence): number {
  return record.body.length + record.seal.length + verification.length + receipt.length
}

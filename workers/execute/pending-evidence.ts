// Evidence that the database did not take: its effect has happened and its caller has a 502. Our own store failing is not the provider's
// doubt, so it is kept and stored when the database takes it (docs/design-notes.md "When the database is away"). Where the database
// refuses it, as against being away, the instance admits no execution until a store has succeeded.
import { setTimeout as delay } from 'node:timers/promises'
import type { StoreFault } from '../../src/core/store-fault.ts'
import { isUnavailable, refusedBy } from '../../src/core/tables/sql.ts'
import { commit, whyNotStorable, type CommitWith, type Evidence } from './commit.ts'

export interface PendingEvidence {
  /**
   * Keeps what may be stored later, as far as there is room. What is left out stays in doubt, for a human.
   * in  causes  why each is not stored
   */
  readonly add: (causes: ReadonlyMap<Evidence, unknown>) => void
}

const COUNT_MAX = 10_000
const CHARACTERS_MAX = 64 * 1024 * 1024
const BATCH_MAX = 128
const FIRST_DELAY_MS = 500
const DELAY_MAX_MS = 5_000

/**
 * in  count  of what all threads owe together: a stop waits for it to become 0
 *     fault  of the instance
 */
export function openPendingEvidence({
  count,
  fault,
  ...tools
}: CommitWith & { count: Int32Array<SharedArrayBuffer>; fault: StoreFault }): PendingEvidence {
  let waiting: Evidence[] = []
  let characters = 0
  let paying = false
  // A fault at the start was found by a thread that has died, perhaps with the evidence whose store would end it.
  let mustProbe = fault.sqlState() !== undefined
  if (mustProbe) void pay()

  async function pay(): Promise<void> {
    paying = true
    let delayMs = FIRST_DELAY_MS
    while (waiting.length > 0 || mustProbe) {
      await delay(delayMs)
      const all = (await payBatch()) && (await probe())
      delayMs = all ? 0 : Math.min(delayMs * 2, DELAY_MAX_MS)
    }
    paying = false
  }

  /** out  whether the database took all of it */
  async function payBatch(): Promise<boolean> {
    const batch = waiting.slice(0, BATCH_MAX)
    const causes = await commit(batch, tools)
    noteRefusals(causes)
    // What a human has closed in the meantime, or its own data keeps out, is not owed any more.
    const still = batch.filter((item) => isOwed(causes.get(item)))
    const settled = new Set(batch).difference(new Set(still))
    // To the end: what is refused must not keep what stands behind it from being stored.
    waiting = [...waiting.slice(batch.length), ...still]
    for (const item of settled) paid(item)
    return still.length === 0
  }

  /** Ends the fault where a store succeeds. out  whether there is none (any more) for this thread to watch over */
  async function probe(): Promise<boolean> {
    if (!mustProbe) return true
    const why = await whyNotStorable(fault.businessTransactionId(), tools)
    if (why === undefined) {
      mustProbe = false
      fault.clear()
    }
    return !mustProbe
  }

  function noteRefusals(causes: ReadonlyMap<Evidence, unknown>): void {
    for (const [{ businessTransactionId }, cause] of causes) {
      const sqlState = refusedBy(cause)
      if (sqlState === undefined) continue
      fault.raise(sqlState, businessTransactionId)
      mustProbe = true
    }
  }

  function paid(item: Evidence): void {
    characters -= sizeOf(item)
    Atomics.sub(count, 0, 1)
    Atomics.notify(count, 0)
  }

  return {
    add(causes) {
      noteRefusals(causes)
      for (const [item, cause] of causes) {
        if (!isOwed(cause)) continue
        if (waiting.length >= COUNT_MAX || characters + sizeOf(item) > CHARACTERS_MAX) continue
        waiting.push(item)
        characters += sizeOf(item)
        Atomics.add(count, 0, 1)
      }
      if (!paying && (waiting.length > 0 || mustProbe)) void pay()
    },
  }
}

function isOwed(cause: unknown): boolean {
  return isUnavailable(cause) || refusedBy(cause) !== undefined
}

function sizeOf({ record, verification, receipt }: Evidence): number {
  return record.body.length + record.seal.length + verification.length + receipt.length
}

// Evidence that the database did not take: its effect has happened and its caller has a 502. A failure of our own store must not leave
// the outcome in doubt, so the evidence is kept and stored when the database takes it (docs/design-notes.md "When the database is
// away"). If the database refuses it, and is not away, the instance admits no execution until a store has succeeded.
import { setTimeout as delay } from 'node:timers/promises'
import type { PendingCount } from '../../../src/core/threads/thread-messages.ts'
import type { EvidenceFaults } from '../../../src/core/threads/evidence-fault.ts'
import { commit, whyNotStorable, type CommitWith, type Evidence, type NotStored } from './commit.ts'

export interface PendingEvidence {
  /**
   * Keeps evidence that the database may take later, up to a limit.
   *
   * @param notStored in the order of `evidence` why each is not stored; undefined: it is
   * @returns in the same order whether each is lost, because it is beyond the limit: its intent stays in doubt, for a human
   */
  readonly add: (evidence: readonly Evidence[], notStored: readonly (NotStored | undefined)[]) => boolean[]
}

const COUNT_MAX = 10_000
const CHARACTERS_MAX = 64 * 1024 * 1024
const BATCH_MAX = 128
const FIRST_DELAY_MS = 500
const DELAY_MAX_MS = 5_000

/**
 * @param count executions of this thread whose evidence is not stored yet; a stop waits for 0
 * @param faults of the instance
 */
export function openPendingEvidence({
  count,
  faults,
  ...tools
}: CommitWith & { count: PendingCount; faults: EvidenceFaults }): PendingEvidence {
  let waiting: Evidence[] = []
  let characters = 0
  let storing = false
  // Another thread found a fault that is there at the start: it may have died, with the evidence whose store would end the fault.
  let mustProbe = faults.current()?.kind === 'refused'
  if (mustProbe) void storeAll()

  async function storeAll(): Promise<void> {
    storing = true
    let delayMs = FIRST_DELAY_MS
    while (waiting.length > 0 || mustProbe) {
      await delay(delayMs)
      const all = (await storeBatch()) && (await probe())
      delayMs = all ? 0 : Math.min(Math.max(FIRST_DELAY_MS, delayMs * 2), DELAY_MAX_MS)
    }
    storing = false
  }

  /** Resolves to whether nothing of it is left to be stored later. */
  async function storeBatch(): Promise<boolean> {
    const batch = waiting.slice(0, BATCH_MAX)
    const notStored = await commit(batch, tools)
    noteRefusals(batch, notStored)
    const remaining = batch.filter((_, i) => mayBeStoredLater(notStored[i]))
    const ended = batch.filter((_, i) => !mayBeStoredLater(notStored[i]))
    // Moved to the end: refused evidence must not keep the evidence behind it from being stored.
    waiting = [...waiting.slice(batch.length), ...remaining]
    for (const item of ended) remove(item)
    return remaining.length === 0
  }

  /** Ends the fault where a store succeeds. Resolves to whether this thread no longer has a fault to watch. */
  async function probe(): Promise<boolean> {
    if (!mustProbe) return true
    const why = await whyNotStorable(faults.businessTransactionId(), tools)
    if (why === undefined) {
      mustProbe = false
      faults.endRefused()
    }
    return !mustProbe
  }

  function noteRefusals(evidence: readonly Evidence[], notStored: readonly (NotStored | undefined)[]): void {
    for (const [i, { businessTransactionId }] of evidence.entries()) {
      const why = notStored[i]
      if (why?.kind !== 'refused') continue
      faults.raise({ kind: 'refused', sqlState: why.sqlState }, businessTransactionId)
      mustProbe = true
    }
  }

  /** @returns whether there was room for it */
  function keep(item: Evidence): boolean {
    if (waiting.length >= COUNT_MAX || characters + sizeOf(item) > CHARACTERS_MAX) return false
    waiting.push(item)
    characters += sizeOf(item)
    Atomics.add(count, 0, 1)
    return true
  }

  function remove(item: Evidence): void {
    characters -= sizeOf(item)
    Atomics.sub(count, 0, 1)
    Atomics.notify(count, 0)
  }

  return {
    add(evidence, notStored) {
      noteRefusals(evidence, notStored)
      const isLost = evidence.map((item, i) => mayBeStoredLater(notStored[i]) && !keep(item))
      if (!storing && (waiting.length > 0 || mustProbe)) void storeAll()
      return isLost
    },
  }
}

/** Evidence that no later attempt would store is not pending. */
const MAY_BE_STORED_LATER: Readonly<Record<NotStored['kind'], boolean>> = {
  unavailable: true,
  'end not visible': true,
  refused: true,
  'intent closed': false,
  unstorable: false,
}

/** @param why undefined: it is stored */
function mayBeStoredLater(why: NotStored | undefined): boolean {
  return why !== undefined && MAY_BE_STORED_LATER[why.kind]
}

function sizeOf({ record, verification, receipt }: Evidence): number {
  return record.body.length + record.seal.length + verification.length + receipt.length
}

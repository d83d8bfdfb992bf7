// The pipeline of an execution, a batch at a time, in the order that interface §4.2 and decisions §3 fix.
import type { ThreadContext } from '../context.ts'
import { openStopwatch, type Stopwatch } from '../stopwatch.ts'
import { Finished, runStage, runTogether, finishedOf, stillGoing, type InFlight } from '../in-flight.ts'
import { claim } from './claim.ts'
import { proveAndClaim, type Semaphores } from './prove/prove-and-claim.ts'
import { openSignatureMemo } from '../../src/core/signing/signature.ts'
import { authorize, type Claimable } from './decide/authorize.ts'
import { decide, type Concluded, type StateUnverified } from './decide/decide.ts'
import { putInDoubt } from './store/in-doubt.ts'
import { gate } from './gate.ts'
import type { PendingEvidence } from './store/pending-evidence.ts'
import { perform, performOne, type Performed } from './perform.ts'
import { receipt } from './receipt.ts'
import { seal } from './seal.ts'
import { store } from './store/store.ts'
import { validate } from './validate/validate.ts'
import { verify } from './verify.ts'

/** The part of a thread's context that only executions need: the pending evidence, and the concurrency limits for verified state. */
export interface ExecutionContext extends ThreadContext {
  readonly pendingEvidence: PendingEvidence
  readonly semaphores: Semaphores
}

/**
 * Runs a batch through the pipeline. Items are independent: each ends with its own answer, in any order.
 *
 * A stage adds to what the one before it returned: Accepted → (decide) Concluded → (authorize) Gateable → (gate) Claimable → (claim) Released → Performed →
 * SealedExecution → VerifiedExecution → ReceiptedExecution. Where an item ends, it is a Finished from there on.
 *
 * A crash up to the commit of the claim has executed nothing, and the ids are free; where only the answer to the COMMIT is lost, they are
 * taken. From there on nothing is executed a second time, and an intent without a record stays RELEASED: its connector may have been
 * called. After the deadline it is in doubt, until a delivery, a read-back or a human says how it ended. Once `store` has committed,
 * a repeated request finds the record.
 *
 * @returns those that have ended, and the deferred ones, which wait for verified state or for their connector: `finish` ends each
 */
export async function execute(
  batch: readonly InFlight[],
  thread: ExecutionContext,
  stopwatch: Stopwatch = openStopwatch(),
): Promise<{ answered: Finished[]; deferred: Promise<Performed | Finished>[] }> {
  const { lap } = stopwatch
  const now = thread.clock()
  const tools = { ...thread, now, signatureMemo: openSignatureMemo() }
  const accepted = runStage(batch, (item) => validate(item, now.toISOString())) // 400 403 500
  lap('validate')
  const decided = runStage(accepted, (item) => decide(item, tools)) // 404, signed refusals, and authorizations to sign
  // Policies that verify state: each of their executions is decided, claimed and performed separately.
  const stateUnverified = decided.filter(isStateUnverified)
  const ready = decided.filter((item): item is Concluded | Finished => !isStateUnverified(item))
  const signed = await runTogether(ready, (items) => authorize(items, tools)) // one signature for all that is approved
  lap('decide')
  const gated = gate(signed, tools) // the gateway's pure checks
  lap('gate')
  const claimed = await claim(gated, tools) // one commit stores every outcome; 409 wins
  lap('admit')
  countOutcomes(gated, claimed, thread)
  const { atOnce, deferred } = await perform(stillGoing(claimed), tools) // the only outside effect
  lap('perform')
  // These executions share nothing with the rest of the batch: they are claimed and performed while its evidence is stored.
  const proving = stateUnverified.map((item) => proveClaimAndPerform(item, thread))
  return {
    answered: [...finishedOf(claimed), ...(await finish(atOnce, thread, stopwatch))],
    deferred: [...deferred, ...proving],
  }
}

/** Executes under a policy that verifies state: locked, read, decided and claimed in a transaction of its own. */
async function proveClaimAndPerform(
  item: StateUnverified,
  thread: ExecutionContext,
): Promise<Performed | Finished> {
  const claimed = await proveAndClaim(item, thread)
  thread.outcomes.count(item.transaction.policy.name, claimed)
  return claimed instanceof Finished ? claimed : performOne(claimed, thread)
}

/** Counts the executions that a policy decided. */
function countOutcomes(
  gated: readonly (Claimable | Finished)[],
  claimed: readonly (InFlight | Finished)[],
  { outcomes }: ThreadContext,
): void {
  for (const [i, item] of gated.entries())
    if (!(item instanceof Finished)) outcomes.count(item.transaction.policy.name, claimed[i] ?? item)
}

function isStateUnverified(item: Concluded | StateUnverified | Finished): item is StateUnverified {
  return !(item instanceof Finished) && item.outcome === 'state unverified'
}

/**
 * From the effect to the answer, for any group of executions that have come that far. Any failure here is a 502: a 500 would say that nothing was
 * carried out. The intent stays RELEASED, unless the database has stored more than it could answer.
 */
export async function finish(
  performed: readonly (Performed | Finished)[],
  thread: ExecutionContext,
  { lap }: Stopwatch = openStopwatch(),
): Promise<Finished[]> {
  if (performed.length === 0) return []
  const { pool } = thread
  const tools = { ...thread, signatureMemo: openSignatureMemo() }
  const sealed = await seal(performed, tools) // record
  lap('seal')
  const verified = verify(sealed, tools) // verification
  lap('verify')
  const receipted = await receipt(verified, tools) // receipt
  lap('receipt')
  const answered = await store(receipted, thread) // one transaction; 200 500 502
  lap('store')
  const outcomeNotKnown = performed.filter((_, i) => answered[i]?.answer.status === 502)
  await putInDoubt(stillGoing(outcomeNotKnown), pool)
  return answered
}

// The pipeline of an execution, a batch at a time, in the order that interface §4.2 and decisions §3 fix.
import { failures } from '../../src/core/errors.ts'
import type { ThreadContext } from '../context.ts'
import { openStopwatch, type Stopwatch } from '../stopwatch.ts'
import { Answered, forward, forwardAsync, answeredOf, stillGoing, type InFlight } from './pipeline.ts'
import { admit } from './admit.ts'
import { admitProven, type Semaphores } from './admit-proven.ts'
import { decide, type Decided, type Unproven } from './decide.ts'
import { doubt } from './doubt.ts'
import { gate } from './gate.ts'
import type { PendingEvidence } from './pending-evidence.ts'
import { perform, performOne, type Performed } from './perform.ts'
import { receipt } from './receipt.ts'
import { seal } from './seal.ts'
import { store } from './store.ts'
import { validate } from './validate.ts'
import { verify } from './verify.ts'

/** What an execution needs beside: evidence that the database has yet to take, and who may wait for verified state. */
export interface ExecutionContext extends ThreadContext {
  readonly pendingEvidence: PendingEvidence
  readonly semaphores: Semaphores
}

/**
 * Runs a batch through the pipeline. Items are independent: each ends with its own answer, in any order.
 * out  answered  those that are through
 *      later     those that wait for verified state or for their connector; `finish` takes each further as it comes
 */
export async function execute(
  batch: readonly InFlight[],
  thread: ExecutionContext,
  watch: Stopwatch = openStopwatch(),
): Promise<{ answered: Answered[]; later: Promise<Performed | Answered>[] }> {
  const { lap } = watch
  const now = new Date()
  const tools = { ...thread, now }
  const accepted = forward(batch, (item) => validate(item, now.toISOString())) // 400 403 500
  lap('validate')
  const decided = forward(accepted, (item) => decide(item, tools)) // computes 404, refusals, authorizations
  lap('decide')
  const proven = decided.filter((item): item is Decided | Answered => !isUnproven(item))
  const gated = forward(proven, (item) => gate(item, tools)) // the gateway's pure checks
  lap('gate')
  const admitted = await admit(gated, tools) // one transaction stores every outcome; 409 wins
  lap('admit')
  countOutcomes(gated, admitted, thread)
  const { atOnce, later } = perform(stillGoing(admitted)) // the only outside effect
  lap('perform')
  return {
    answered: [...answeredOf(admitted), ...(await finish(atOnce, thread, watch))],
    later: [...later, ...decided.filter(isUnproven).map((item) => performProven(item, thread))],
  }
}

/** The same way for one whose signals are verified first: locked, read, decided and claimed by itself. */
async function performProven(item: Unproven, thread: ExecutionContext): Promise<Performed | Answered> {
  const admitted = await admitProven(item, thread)
  thread.outcomes.count(item.transaction.policy.name, admitted)
  return admitted instanceof Answered ? admitted : performOne(admitted)
}

/** Of those that a policy decided. */
function countOutcomes(
  gated: readonly (Decided | Answered)[],
  admitted: readonly object[],
  { outcomes }: ThreadContext,
): void {
  for (const [i, item] of gated.entries())
    if (!(item instanceof Answered)) outcomes.count(item.transaction.policy.name, admitted[i] ?? item)
}

function isUnproven(item: Decided | Unproven | Answered): item is Unproven {
  return !(item instanceof Answered) && item.outcome === 'unproven'
}

/**
 * From the effect to the answer, for any group of executions that have come that far. Whatever fails here leaves the intent
 * RELEASED and is a 502: a 500 would say that nothing was carried out.
 */
export async function finish(
  performed: readonly (Performed | Answered)[],
  thread: ExecutionContext,
  { lap }: Stopwatch = openStopwatch(),
): Promise<Answered[]> {
  if (performed.length === 0) return []
  const { signingKeys, pool, key, pendingEvidence } = thread
  const { outcomeUnknown } = failures
  const sealed = await forwardAsync(performed, (item) => seal(item, signingKeys), outcomeUnknown) // record
  lap('seal')
  const verified = forward(sealed, (item) => verify(item, thread), outcomeUnknown) // verification
  lap('verify')
  const receipted = await forwardAsync(verified, (item) => receipt(item, signingKeys), outcomeUnknown) // receipt
  lap('receipt')
  const answered = await store(receipted, { pool, key, pendingEvidence }) // one transaction; 200 500 502
  lap('store')
  await doubt(stillGoing(performed.filter((_, i) => answered[i]?.status === 502)), pool)
  return answered
}

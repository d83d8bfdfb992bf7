// Stages 2 to 4 for policies that verify state: one execution is locked, read, decided again, gated and claimed in one transaction, so that
// nothing in our database that it rests on can be used or changed in between. Apart from the batch: one transaction each, a few at a time.
import pLimit, { type LimitFunction } from 'p-limit'
import { Failure, failures } from '../../../src/core/errors/errors.ts'
import { failureOf } from '../../../src/core/errors/failure-of.ts'
import { useApprovalRequests } from '../../../src/store/tables/approval-requests.ts'
import { consumeApprovals } from '../../../src/store/tables/approvals.ts'
import { isClaimed } from '../../../src/store/tables/business-transactions.ts'
import { takeLocks } from '../../../src/store/postgres/sql.ts'
import { inTransaction, type Transaction } from '../../../src/store/postgres/transaction.ts'
import { claimTogether, released, type Released } from '../claim.ts'
import { authorizeAlone } from '../decide/authorize.ts'
import type { StateUnverified } from '../decide/decide.ts'
import { gateAlone, notAdmitted } from '../gate.ts'
import type { ThreadContext } from '../../context.ts'
import { locksOf, looksOutside, observe, prove, type Observed } from './prove.ts'
import { Finished } from '../../in-flight.ts'

/** Executions that wait for a lock hold a connection each: the batches' own are never among these. */
export const CLAIMS_AT_ONCE = 2
/** At most this many read outside state at once; the provider counts our requests too. */
const OBSERVATIONS_AT_ONCE = 16
/** The longest wait for a free slot: observed state gets out of date, and callers stop waiting. */
const QUEUED_MAX_MS = 10_000

/** Concurrency limits of a thread: `observe` for requests to a provider, `claim` for the transactions. */
export interface Semaphores {
  readonly observe: LimitFunction
  readonly claim: LimitFunction
}

export function openSemaphores(): Semaphores {
  return { observe: pLimit(OBSERVATIONS_AT_ONCE), claim: pLimit(CLAIMS_AT_ONCE) }
}

/** Never rejects: every failure is an answer, and then nothing was executed. */
export async function proveAndClaim(
  item: StateUnverified,
  thread: ThreadContext & { semaphores: Semaphores },
): Promise<Released | Finished> {
  const { semaphores, pool } = thread
  try {
    const observed = await withinLimit(semaphores.observe, () => observeOne(item, thread))
    if (observed instanceof Failure) return new Finished(item.request, observed)
    const outcome = await withinLimit(semaphores.claim, () =>
      inTransaction(pool, (tx) => claimOne(item, observed, { ...thread, tx })),
    )
    return outcome instanceof Failure ? new Finished(item.request, outcome) : outcome
  } catch (error) {
    return new Finished(item.request, failureOf(error))
  }
}

/** @returns a 503 for work that has waited too long to start: nothing is claimed yet, and the caller may try again */
function withinLimit<T>(limit: LimitFunction, work: () => Promise<T>): Promise<T | Failure> {
  const since = performance.now()
  return limit<[], T | Failure>(() => {
    const waitedTooLong = performance.now() - since > QUEUED_MAX_MS
    return waitedTooLong ? failures.overloaded('claims') : work()
  })
}

/** A duplicate id sends no request outside. The claim decides, but a caller that repeats itself costs nothing. */
async function observeOne(item: StateUnverified, thread: ThreadContext): Promise<Observed | Failure> {
  const { businessTransactionId } = item.transaction
  if (looksOutside(item) && (await isClaimed(thread.pool, businessTransactionId)))
    return failures.duplicateTransaction(businessTransactionId)
  return observe(item, { ...thread, now: thread.clock() })
}

async function claimOne(
  item: StateUnverified,
  observed: Observed,
  thread: ThreadContext & { tx: Transaction },
): Promise<Released | Failure> {
  const { tx, key } = thread
  const refused = notAdmitted(thread)
  if (refused !== undefined) return refused
  // In a statement of its own: later reads are then as new as the locks.
  await takeLocks(tx, locksOf(observed))
  // Not the time of the batch's start: an approval may have expired while the lock was waited for, and the authorization begins now.
  const now = thread.clock()
  // Content never changes, but the version may have been retired while the lock was waited for.
  const version = thread.policies.find(item.transaction.policy) ?? item.version
  const { concluded, consumes } = await prove({ ...item, version }, observed, { ...thread, sql: tx, now })
  const gated = gateAlone(authorizeAlone(concluded, key), { ...thread, now })
  if (gated instanceof Failure) return gated
  const { businessTransactionId } = item.transaction
  const [claimed] = await claimTogether(tx, [gated], { ...thread, now })
  if (claimed instanceof Failure) return claimed
  if (gated.outcome !== 'approved') return gated.failure
  const used = await consumeApprovals(tx, {
    ids: consumes.map(({ approvalId }) => approvalId),
    consumedBy: businessTransactionId,
    consumedAt: now.toISOString(),
  })
  const requests = [...new Set(consumes.flatMap(({ requestHash = [] }) => requestHash))]
  const ended = await useApprovalRequests(tx, requests)
  // Impossible under the lock; if it happens, everything is undone and nothing executed.
  if (used !== consumes.length) throw new Error('an approval was used by another execution')
  if (ended !== requests.length) throw new Error('an approval request was closed')
  return released(gated, claimed!)
}

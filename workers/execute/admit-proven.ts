// The fourth step for policies that verify state: locks, reads, decides and claims one execution in one transaction, so that nothing
// that it rests on can be used or changed in between. Apart from the batch: one transaction each, a few at a time.
import pLimit, { type LimitFunction } from 'p-limit'
import { Failure, failures } from '../../src/core/errors.ts'
import { failureOf } from '../../src/core/failure-of.ts'
import { consumeApprovals } from '../../src/core/tables/approvals.ts'
import { isClaimed } from '../../src/core/tables/business-transactions.ts'
import { takeLocks } from '../../src/core/tables/sql.ts'
import { inTransaction, type Transaction } from '../../src/core/tables/transaction.ts'
import { claimAll } from './admit.ts'
import type { Authorized, Unproven } from './decide.ts'
import { gate } from './gate.ts'
import type { ThreadContext } from '../context.ts'
import { locksOf, looksOutside, observe, prove, type Observed } from './prove.ts'
import { Answered } from './pipeline.ts'

/** Executions that wait for a lock hold a connection each: the batches' own are never among these. */
export const PROVEN_AT_ONCE = 2
/** Of those that look outside first; the provider counts our requests too. */
const OBSERVED_AT_ONCE = 16
/** How long one may wait for its turn. What was observed for it, and the caller's patience, grow old. */
const QUEUED_MAX_MS = 10_000

/** Concurrency limits of a thread: `observe` for requests to a provider, `claim` for the transactions. */
export interface Semaphores {
  readonly observe: LimitFunction
  readonly claim: LimitFunction
}

export function openSemaphores(): Semaphores {
  return { observe: pLimit(OBSERVED_AT_ONCE), claim: pLimit(PROVEN_AT_ONCE) }
}

/** Never rejects: everything that goes wrong is an answer, and then nothing was executed. */
export async function admitProven(
  item: Unproven,
  thread: ThreadContext & { semaphores: Semaphores },
): Promise<Authorized | Answered> {
  const { semaphores, pool } = thread
  try {
    const observed = await withinLimit(semaphores.observe, () => observeOne(item, thread))
    if (observed instanceof Failure) return new Answered(item.request, observed)
    const outcome = await withinLimit(semaphores.claim, () =>
      inTransaction(pool, (sql) => admitOne(item, observed, { ...thread, sql })),
    )
    return outcome instanceof Failure ? new Answered(item.request, outcome) : outcome
  } catch (error) {
    return new Answered(item.request, failureOf(error))
  }
}

/** fails as 503 where its turn comes too late: nothing is claimed yet, and the caller may try again */
function withinLimit<T>(turn: LimitFunction, work: () => Promise<T>): Promise<T | Failure> {
  const since = performance.now()
  return turn<[], T | Failure>(() => {
    const late = performance.now() - since > QUEUED_MAX_MS
    return late ? failures.overloaded() : work()
  })
}

/** Nobody outside is asked about an id that is used; the claim decides, but a caller that repeats itself costs nothing. */
async function observeOne(item: Unproven, thread: ThreadContext): Promise<Observed | Failure> {
  const { businessTransactionId } = item.transaction
  if (looksOutside(item) && (await isClaimed(thread.pool, businessTransactionId)))
    return failures.duplicateTransaction(businessTransactionId)
  return observe(item, { ...thread, now: new Date() })
}

async function admitOne(
  item: Unproven,
  observed: Observed,
  thread: ThreadContext & { sql: Transaction },
): Promise<Authorized | Failure> {
  const { sql, findKey, storeFault } = thread
  const sqlState = storeFault.sqlState()
  if (sqlState !== undefined) return failures.evidenceRefused(sqlState)
  // A statement of its own: what is read after it is as new as the locks are.
  await takeLocks(sql, locksOf(observed))
  // Not of the batch's start: an approval may have expired while the lock was waited for, and the authorization begins now.
  const now = new Date()
  const { decided, consumes } = await prove(item, observed, { ...thread, now })
  const gated = gate(decided, { findKey, now })
  if (gated instanceof Failure) return gated
  const { businessTransactionId } = item.transaction
  const claimed = await claimAll(sql, [gated], now)
  if (!claimed.has(businessTransactionId)) return failures.duplicateTransaction(businessTransactionId)
  if (gated.outcome !== 'authorized') return gated.failure
  const used = await consumeApprovals(sql, {
    ids: consumes.map(({ approvalId }) => approvalId),
    consumedBy: businessTransactionId,
    consumedAt: now.toISOString(),
  })
  // Cannot be, under the lock; if it is, everything is undone and nothing executed.
  if (used !== consumes.length) throw new Error('an approval was used by another execution')
  return gated
}

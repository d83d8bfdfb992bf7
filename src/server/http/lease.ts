// Permits that an instance spends in the database before requests need them, so that a caller who sends many waits for few statements
// (docs/design-notes.md "Shared limits"). They are spent first and used later: no use of them can exceed the budget.
import { intervalMs, permitsLeft, verdictAt, type Limit, type LimitVerdict } from './limit.ts'

/** Permits that were not used by then are given back. */
export const LEASE_MS = 200
/** The largest lease is the budget ÷ this, so that what another instance misses for so long is little. */
const BUDGET_SHARE = 64

/** The permits of one key that its last statement spent, beyond the requests that waited for it. */
export interface Lease {
  used: number
  left: number
  /** Milliseconds of `performance.now()`. */
  readonly endsMs: number
}

/**
 * Uses a permit of a lease.
 *
 * @param tatMs the key's TAT, the whole lease included
 * @returns undefined where nothing is left
 */
export function usePermit(
  limit: Limit,
  {
    lease,
    tatMs,
    nowMs,
  }: { readonly lease: Lease | undefined; readonly tatMs: number; readonly nowMs: number },
): LimitVerdict | undefined {
  if (lease === undefined || lease.left === 0 || nowMs >= lease.endsMs) return undefined
  lease.used++
  lease.left--
  const aheadMs = tatMs - nowMs - lease.left * intervalMs(limit)
  return verdictAt(limit, { allowed: true, aheadMs: Math.max(aheadMs, intervalMs(limit)) })
}

/**
 * @param waiting requests that the next statement spends for
 * @param aheadMs how far the key's TAT is ahead of now before them
 * @returns the permits to ask for beyond them: twice what came since the last statement, and nothing of the second half of the
 *   budget, where each permit goes to the instance that needs it first
 */
export function leaseSize(
  limit: Limit,
  {
    lease,
    waiting,
    aheadMs,
  }: { readonly lease: Lease | undefined; readonly waiting: number; readonly aheadMs: number },
): number {
  if (lease === undefined || waiting === 0) return 0
  const wanted = 2 * (lease.used + waiting)
  const firstHalf = permitsLeft(limit, aheadMs) - waiting - Math.ceil(limit.perMinute / 2)
  return Math.max(0, Math.min(wanted, Math.floor(limit.perMinute / BUDGET_SHARE), firstHalf))
}

/**
 * @param aheadMs how far the key's TAT is ahead of now
 * @returns the permits to give back; one whose interval has passed is in the budget again already
 */
export function permitsToReturn(limit: Limit, lease: Lease | undefined, aheadMs: number): number {
  return Math.min(lease?.left ?? 0, Math.floor(Math.max(0, aheadMs) / intervalMs(limit)))
}

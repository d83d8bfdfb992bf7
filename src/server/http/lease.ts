// Permits that an instance spends in the database before requests need them, so that a caller who sends many waits for few statements
// (docs/design-notes.md "Shared limits"). They are spent first and used later: no use of them can exceed the budget.
import { intervalMs, permitsLeft, verdictAt, type Limit, type LimitVerdict, type Tats } from './limit.ts'

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

/** What a statement is to spend for a key. */
interface Wanted {
  readonly key: string
  /** For those who wait and the next lease, less `returned`. */
  readonly requests: number
  readonly aheadMs: number
  /** Permits of the last lease that were not used. */
  readonly returned: number
}

interface Leases {
  /** Uses a permit of the key's lease. @returns undefined where nothing is left */
  readonly use: (key: string, nowMs: number) => LimitVerdict | undefined
  /** Ends the key's lease. @param waiting requests that wait for the statement */
  readonly renew: (key: string, waiting: number, nowMs: number) => Wanted
  /** @param left permits that the statement of `sentMs` brought beyond what waited */
  readonly begin: (key: string, left: number, sentMs: number) => void
  /**
   * Forgets leases that have ended.
   * @param canReturn whether the database can take permits back
   * @returns the keys that have permits to give back by `renew`; their leases are kept until then
   */
  readonly ended: (nowMs: number, canReturn: boolean) => string[]
}

/** The leases of one limit, a key at most one. */
export function openLeases(limit: Limit, tats: Tats): Leases {
  const leases = new Map<string, Lease>()
  return {
    use: (key, nowMs) => usePermit(limit, { lease: leases.get(key), tatMs: tats.get(limit, key), nowMs }),
    renew(key, waiting, nowMs) {
      const lease = leases.get(key)
      const returned = permitsToReturn(limit, lease, tats.get(limit, key) - nowMs)
      if (returned > 0) tats.set(limit, key, tats.get(limit, key) - returned * intervalMs(limit))
      const aheadMs = Math.max(0, tats.get(limit, key) - nowMs)
      const size = leaseSize(limit, { lease, waiting, aheadMs })
      // A key that only gives back is remembered by what it used, so that its next lease is large enough at once.
      const used = waiting === 0 ? (lease?.used ?? 0) : 0
      leases.set(key, { used, left: 0, endsMs: nowMs + LEASE_MS })
      const requests = Math.min(waiting, permitsLeft(limit, aheadMs)) + size - returned
      return { key, requests, aheadMs, returned }
    },
    begin(key, left, sentMs) {
      if (left > 0) leases.set(key, { used: 0, left, endsMs: sentMs + LEASE_MS })
    },
    ended(nowMs, canReturn) {
      const returning: string[] = []
      for (const [key, { left, endsMs }] of leases) {
        if (nowMs < endsMs) continue
        if (canReturn && left > 0) returning.push(key)
        else leases.delete(key)
      }
      return returning
    },
  }
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

// Rate limits by GCRA, the generic cell rate algorithm (interface §8), and the header fields that report them.
// It keeps one number per key: the theoretical arrival time (TAT), at which the whole budget is available again.
import { failures, type Failure } from '../errors/errors.ts'

export interface Limit {
  /** Name of the policy in the RateLimit fields. */
  readonly name: string
  /** Also the burst. */
  readonly perMinute: number
}

export interface LimitVerdict {
  readonly allowed: boolean
  /** Requests that would be allowed right now after this one. */
  readonly remaining: number
  /** Seconds until the whole quota is available again. */
  readonly resetSeconds: number
  /** Seconds until the next request is allowed; 0 if this request was allowed. */
  readonly retryAfterSeconds: number
}

/** Rate limits as a front end uses them, in memory or shared by instances. */
export interface Limits {
  /**
   * Counts one request of `key`. Never rejects.
   *
   * @param nowMs milliseconds of `performance.now()`
   */
  take(limit: Limit, key: string, nowMs: number): Promise<LimitVerdict>
}

/** Counters in memory. */
export interface LimitStore {
  take(limit: Limit, key: string, nowMs: number): LimitVerdict
}

const MINUTE_MS = 60_000
/** Sums of intervals are not exact: seven times a seventh of a minute must still be a minute. */
const ROUNDING_MS = 0.001
/** Maximum keys of one limit in memory; beyond it the longest unused keys are dropped, as if their budget were whole. */
const KEYS_MAX = 100_000

/**
 * Decides on one request.
 *
 * @param tatMs the key's TAT so far, in any clock
 * @param nowMs now, in the same clock
 * @returns the verdict and the TAT after it; a refused request costs nothing
 */
export function maybeSpend(
  limit: Limit,
  tatMs: number,
  nowMs: number,
): { readonly verdict: LimitVerdict; readonly newTatMs: number } {
  // A TAT that has passed leaves no credit behind: the budget is never more than whole.
  const startMs = Math.max(tatMs, nowMs)
  const spentMs = startMs + intervalMs(limit)
  const allowed = spentMs - nowMs <= MINUTE_MS + ROUNDING_MS
  const newTatMs = allowed ? spentMs : startMs
  return { verdict: verdictAt(limit, { allowed, aheadMs: newTatMs - nowMs }), newTatMs }
}

/**
 * The verdict for the caller.
 *
 * @param aheadMs how far the TAT is ahead of now after this request, in milliseconds
 */
export function verdictAt(
  limit: Limit,
  { allowed, aheadMs }: { readonly allowed: boolean; readonly aheadMs: number },
): LimitVerdict {
  const waitMs = aheadMs + intervalMs(limit) - MINUTE_MS
  return {
    allowed,
    remaining: allowed ? permitsLeft(limit, aheadMs) : 0,
    resetSeconds: Math.max(0, Math.ceil(aheadMs / 1000)),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil(waitMs / 1000)),
  }
}

/** Number of requests that would be allowed at once if the TAT is `aheadMs` ahead of now. */
export function permitsLeft(limit: Limit, aheadMs: number): number {
  const left = Math.floor((MINUTE_MS + ROUNDING_MS - Math.max(0, aheadMs)) / intervalMs(limit))
  return Math.min(limit.perMinute, Math.max(0, left))
}

export function intervalMs({ perMinute }: Limit): number {
  return MINUTE_MS / perMinute
}

/** The TAT of each key of each limit, in milliseconds of `performance.now()`. */
export interface Tats {
  readonly get: (limit: Limit, key: string) => number
  readonly set: (limit: Limit, key: string, tatMs: number) => void
}

export function openTats(keysMax: number = KEYS_MAX): Tats {
  // A map for each limit: a flood of client addresses must not push out the counts of callers.
  const tatsOf = new Map<string, Map<string, number>>()
  return {
    get: ({ name }, key) => tatsOf.get(name)?.get(key) ?? 0,
    set({ name }, key, tatMs) {
      const tats = tatsOf.get(name) ?? new Map<string, number>()
      tatsOf.set(name, tats)
      setLastUsed(tats, { key, value: tatMs, keysMax })
    },
  }
}

/** Sets the value of a key, and drops the keys that were not set for longest if there are more than `keysMax`. */
export function setLastUsed<T>(
  byUse: Map<string, T>,
  { key, value, keysMax }: { readonly key: string; readonly value: T; readonly keysMax: number },
): void {
  // Deleted first so that the map stays in the order of last use.
  byUse.delete(key)
  byUse.set(key, value)
  if (byUse.size <= keysMax) return
  // Drops a hundredth at once: a Map whose first entries were deleted is slow to find its first entry, 60 µs at 100,000.
  let toForget = Math.ceil(byUse.size / 100)
  for (const oldest of byUse.keys()) {
    byUse.delete(oldest)
    if (--toForget === 0) return
  }
}

export function openMemoryLimits(tats: Tats = openTats()): LimitStore {
  return {
    take(limit, key, nowMs) {
      const { verdict, newTatMs } = maybeSpend(limit, tats.get(limit, key), nowMs)
      // A refusal is noted too: a key that keeps trying is not quiet.
      tats.set(limit, key, newTatMs)
      return verdict
    },
  }
}

/** Budgets of thread time. A request's cost is known only afterwards, so it is admitted while any budget is left, and charged then. */
interface Budgets {
  /** Whether `key` has anything left. Units of the verdict are milliseconds of thread time. */
  look(budget: Limit, key: string, nowMs: number): LimitVerdict
  /**
   * Charges a request that is done. Requests that ran at once may overdraw the budget; waiting pays it back.
   *
   * @param costMs thread time, milliseconds
   */
  charge(budget: Limit, key: string, costMs: number, nowMs: number): void
}

/** Kept in memory, separately for each instance, because it divides the instance's own threads. */
export function openBudgets(tats: Tats = openTats()): Budgets {
  return {
    look(budget, key, nowMs) {
      const aheadMs = Math.max(0, tats.get(budget, key) - nowMs)
      return verdictAt(budget, { allowed: aheadMs < MINUTE_MS, aheadMs })
    },
    charge(budget, key, costMs, nowMs) {
      tats.set(budget, key, Math.max(tats.get(budget, key), nowMs) + costMs * intervalMs(budget))
    },
  }
}

/**
 * RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-11.
 *
 * @param before the fields of another limit of the same request, to be merged into one list
 */
export function limitHeaders(
  limit: Limit,
  verdict: LimitVerdict,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const listed = (name: string, item: string) =>
    before[name] === undefined ? item : `${before[name]}, ${item}`
  return {
    'RateLimit-Policy': listed('RateLimit-Policy', `"${limit.name}";q=${limit.perMinute};w=60`),
    RateLimit: listed('RateLimit', `"${limit.name}";r=${verdict.remaining};t=${verdict.resetSeconds}`),
  }
}

/** The 429 of a limit or a budget, with the fields of that first check: a later check would report less. */
export function refusalBy(
  limit: Limit,
  verdict: LimitVerdict,
  before?: Readonly<Record<string, string>>,
): Failure {
  return failures.rateLimited(limit.name, verdict.retryAfterSeconds, limitHeaders(limit, verdict, before))
}

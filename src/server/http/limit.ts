// Rate limits: GCRA over a store of one number per key (interface §8), and the header fields that report them.

export interface Limit {
  /** Name of the policy in the RateLimit fields. */
  readonly name: string
  /** Also the burst. */
  readonly perMinute: number
}

export interface Verdict {
  readonly allowed: boolean
  /** Requests that would be allowed right now after this one. */
  readonly remaining: number
  /** Seconds until the whole quota is there again. */
  readonly resetSeconds: number
  /** Seconds until the next request is allowed; 0 where this one was. */
  readonly retryAfterSeconds: number
}

/** What the front end asks, of memory or of what the instances share (shared-limit.ts). Never rejects. */
export interface Limits {
  /** Counts one request of `key` at `nowMs`, milliseconds of `performance.now()`. */
  take(limit: Limit, key: string, nowMs: number): Promise<Verdict>
}

/** Counters in memory. */
export interface LimitStore {
  take(limit: Limit, key: string, nowMs: number): Verdict
}

export const MINUTE_MS = 60_000
/** Sums of intervals are not exact: seven times a seventh of a minute must still be a minute. */
const ROUNDING_MS = 0.001
/** A key whose burst is whole again is the same as no key, so idle ones go; past this many, those that were quiet longest do. */
export const KEYS_MAX = 100_000

/**
 * GCRA in memory: for each key the theoretical arrival time of the next request. A minute's worth may come at once, then one
 * every `60 s / perMinute`.
 */
export function openMemoryLimits(keysMax: number = KEYS_MAX): LimitStore {
  // A map for each limit: a flood of client addresses must not push out what a caller has spent.
  const arrivalsOf = new Map<string, Map<string, number>>()
  return {
    take(limit, key, nowMs) {
      const arrivals = arrivalsOf.get(limit.name) ?? new Map<string, number>()
      arrivalsOf.set(limit.name, arrivals)
      const { allowed, arrivalMs } = arrive(limit, arrivals.get(key) ?? 0, nowMs)
      // Deleted first so that the map stays in the order of last use, refused ones included: a key that keeps trying is not quiet.
      arrivals.delete(key)
      arrivals.set(key, arrivalMs)
      if (arrivals.size > keysMax) forgetOldest(arrivals)
      return verdictAt(limit, { allowed, arrivalMs, nowMs })
    },
  }
}

/** Budgets of thread time: what a request costs is known when it is done, so it is let in while anything is left, and charged then. */
export interface Budgets {
  /** Whether `key` has anything left. Units of the verdict are milliseconds of thread time. */
  look(budget: Limit, key: string, nowMs: number): Verdict
  /** in  costMs  thread time; the budget may go below nothing by what was under way, which is paid back by waiting */
  charge(budget: Limit, key: string, costMs: number, nowMs: number): void
}

/** In memory, for each instance by itself: what is shared out is this instance's threads. */
export function openBudgets(keysMax: number = KEYS_MAX): Budgets {
  const arrivalsOf = new Map<string, Map<string, number>>()
  return {
    look({ name, perMinute }, key, nowMs) {
      const arrivalMs = Math.max(arrivalsOf.get(name)?.get(key) ?? 0, nowMs)
      return verdictAt({ name, perMinute }, { allowed: arrivalMs - nowMs < MINUTE_MS, arrivalMs, nowMs })
    },
    charge({ name, perMinute }, key, costMs, nowMs) {
      const arrivals = arrivalsOf.get(name) ?? new Map<string, number>()
      arrivalsOf.set(name, arrivals)
      const arrivalMs = Math.max(arrivals.get(key) ?? 0, nowMs) + (costMs * MINUTE_MS) / perMinute
      arrivals.delete(key)
      arrivals.set(key, arrivalMs)
      if (arrivals.size > keysMax) forgetOldest(arrivals)
    },
  }
}

/** GCRA itself. in  arrivalMs  the theoretical arrival time so far. out  the one after a request at `nowMs`; a refused one costs nothing */
export function arrive(
  { perMinute }: Limit,
  arrivalMs: number,
  nowMs: number,
): { readonly allowed: boolean; readonly arrivalMs: number } {
  const arrival = Math.max(arrivalMs, nowMs)
  const next = arrival + MINUTE_MS / perMinute
  const allowed = next - nowMs <= MINUTE_MS + ROUNDING_MS
  return { allowed, arrivalMs: allowed ? next : arrival }
}

/**
 * What a caller is told.
 * in  arrivalMs  the theoretical arrival time after this request: how far ahead its budget is spent
 */
export function verdictAt(
  { perMinute }: Limit,
  {
    allowed,
    arrivalMs,
    nowMs,
  }: { readonly allowed: boolean; readonly arrivalMs: number; readonly nowMs: number },
): Verdict {
  const intervalMs = MINUTE_MS / perMinute
  return {
    allowed,
    remaining: allowed ? permitsLeft(perMinute, arrivalMs - nowMs) : 0,
    resetSeconds: Math.max(0, Math.ceil((arrivalMs - nowMs) / 1000)),
    retryAfterSeconds: allowed
      ? 0
      : Math.max(1, Math.ceil((arrivalMs + intervalMs - nowMs - MINUTE_MS) / 1000)),
  }
}

/** How many would be allowed at once where the budget is spent so far ahead. */
export function permitsLeft(perMinute: number, aheadMs: number): number {
  const left = Math.floor((MINUTE_MS + ROUNDING_MS - Math.max(0, aheadMs)) / (MINUTE_MS / perMinute))
  return Math.min(perMinute, Math.max(0, left))
}

/** A hundredth at once: a Map whose first entries were deleted is slow to find its first one, 60 µs at this size. */
export function forgetOldest<T>(byUse: Map<string, T>, isKept: (value: T) => boolean = () => false): void {
  let toForget = Math.ceil(byUse.size / 100)
  for (const [key, value] of byUse) {
    if (!isKept(value)) byUse.delete(key)
    if (--toForget === 0) return
  }
}

/**
 * RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-11.
 * in  before  what another limit of the same request has put there: both stand in one list
 */
export function limitHeaders(
  limit: Limit,
  verdict: Verdict,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const listed = (name: string, item: string) =>
    before[name] === undefined ? item : `${before[name]}, ${item}`
  return {
    'RateLimit-Policy': listed('RateLimit-Policy', `"${limit.name}";q=${limit.perMinute};w=60`),
    RateLimit: listed('RateLimit', `"${limit.name}";r=${verdict.remaining};t=${verdict.resetSeconds}`),
  }
}

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

/** Where the counters live. In memory here; a store that instances share has the same seam. */
export interface LimitStore {
  /** Counts one request of `key` at `nowMs`, milliseconds. */
  take(limit: Limit, key: string, nowMs: number): Verdict
}

const MINUTE_MS = 60_000
/** Sums of intervals are not exact: seven times a seventh of a minute must still be a minute. */
const ROUNDING_MS = 0.001
/** A key whose burst is whole again is the same as no key, so idle ones go; past this many, those that were quiet longest do. */
const KEYS_MAX = 100_000

/**
 * GCRA in memory: for each key the theoretical arrival time of the next request. A minute's worth may come at once, then one
 * every `60 s / perMinute`.
 */
export function openMemoryLimits(keysMax: number = KEYS_MAX): LimitStore {
  // A map for each limit: a flood of client addresses must not push out what a caller has spent.
  const arrivalsOf = new Map<string, Map<string, number>>()
  return {
    take(limit, key, nowMs) {
      const intervalMs = MINUTE_MS / limit.perMinute
      const arrivals = arrivalsOf.get(limit.name) ?? new Map<string, number>()
      arrivalsOf.set(limit.name, arrivals)
      const arrival = Math.max(arrivals.get(key) ?? 0, nowMs)
      const allowed = arrival + intervalMs - nowMs <= MINUTE_MS + ROUNDING_MS
      const next = allowed ? arrival + intervalMs : arrival
      // Deleted first so that the map stays in the order of last use, refused ones included: a key that keeps trying is not quiet.
      arrivals.delete(key)
      arrivals.set(key, next)
      if (arrivals.size > keysMax) forgetOldest(arrivals)
      return {
        allowed,
        remaining: Math.max(0, Math.floor((MINUTE_MS + ROUNDING_MS - (next - nowMs)) / intervalMs)),
        resetSeconds: Math.ceil((next - nowMs) / 1000),
        retryAfterSeconds: allowed
          ? 0
          : Math.max(1, Math.ceil((arrival + intervalMs - nowMs - MINUTE_MS) / 1000)),
      }
    },
  }
}

function forgetOldest(arrivals: Map<string, number>): void {
  for (const key of arrivals.keys()) {
    arrivals.delete(key)
    return
  }
}

/** RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-11. */
export function limitHeaders(limit: Limit, verdict: Verdict): Record<string, string> {
  return {
    'RateLimit-Policy': `"${limit.name}";q=${limit.perMinute};w=60`,
    RateLimit: `"${limit.name}";r=${verdict.remaining};t=${verdict.resetSeconds}`,
  }
}

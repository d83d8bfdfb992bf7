// What one instance holds of a budget that instances share, and how much it asks for next (interface §8 rule 3): arithmetic only.
// Permits are spent in the database when they are leased, so that no use of them can ever exceed the budget; what is kept too long
// is only used late. Times are this process's monotonic clock, and differences of the database's: two clocks are never compared.
import { arrive, MINUTE_MS, permitsLeft, verdictAt, type Limit, type Verdict } from './limit.ts'

/** A lease ends this long after it was asked for. */
const LEASE_MS = 2_000
/** A lease in use is renewed in the background at this age, or when a quarter is left. */
const RENEW_MS = 1_500
const LOW_SHARE = 4
/** Without a request for so long the rest is given back. */
const IDLE_MS = 1_000
/** A lease used up sooner is followed by one twice as large. */
const GROW_MS = 1_000
/** Of the count per minute: the first lease, and the largest. */
const FIRST_SHARE = 100
const LARGEST_SHARE = 10
/** Of what was left when last asked: near its end a budget is dealt out in single permits, so that no instance sits on the last ones. */
const LEFT_SHARE = 8
/** A refusal holds until a permit has come about: at least so long, or a fast limit would be asked all the time, ... */
const REFUSED_MIN_MS = 10
/** ... and at most so long: another instance may give some back. */
const REFUSED_MAX_MS = 1_000

/** Of one key. */
export interface Holding {
  /** To be used without asking. */
  left: number
  /** How many the newest lease had, 0 where it has ended. */
  granted: number
  /** When the newest lease was asked for. */
  askedMs: number
  usedMs: number
  /** The newest lease is the budget's last `granted` intervals before this time; what of them has passed is back in the budget anyway. */
  endMs: number
  /** The theoretical arrival time of all instances together, as last known. */
  arrivalMs: number
  refusedUntilMs: number
  /** Requests let through without the database, to be paid when it is back. */
  owed: number
  /** Of the next lease. */
  size: number
}

export function newHolding({ perMinute }: Limit): Holding {
  return {
    left: 0,
    granted: 0,
    askedMs: -Infinity,
    usedMs: -Infinity,
    endMs: -Infinity,
    arrivalMs: -Infinity,
    refusedUntilMs: -Infinity,
    owed: 0,
    size: Math.max(1, Math.floor(perMinute / FIRST_SHARE)),
  }
}

/** Uses a permit. out  undefined: neither a lease nor a refusal that still holds decides, and the database must be asked */
export function usePermit(holding: Holding, limit: Limit, nowMs: number): Verdict | undefined {
  if (holding.left > 0) {
    holding.left--
    holding.usedMs = nowMs
    const intervalMs = MINUTE_MS / limit.perMinute
    // What is held is not spent for whoever asks; and a request that was just let through is.
    const arrivalMs = Math.max(holding.arrivalMs - holding.left * intervalMs, nowMs + intervalMs)
    return verdictAt(limit, { allowed: true, arrivalMs, nowMs })
  }
  if (nowMs < holding.refusedUntilMs)
    return verdictAt(limit, { allowed: false, arrivalMs: holding.arrivalMs, nowMs })
  return undefined
}

/** Counts a request without the database, on from what was last known of the budget: all of it where nothing was. */
export function countAlone(holding: Holding, limit: Limit, nowMs: number): Verdict {
  const { allowed, arrivalMs } = arrive(limit, holding.arrivalMs, nowMs)
  holding.arrivalMs = arrivalMs
  if (allowed) holding.owed = stillOwed(holding, limit, nowMs) + 1
  return verdictAt(limit, { allowed, arrivalMs, nowMs })
}

/** What has passed meanwhile would be back in the budget. */
function stillOwed({ owed, arrivalMs }: Holding, { perMinute }: Limit, nowMs: number): number {
  return Math.min(owed, Math.max(0, Math.ceil(((arrivalMs - nowMs) * perMinute) / MINUTE_MS)))
}

/** How many permits to ask for. in  waiting  requests that need one now */
export function permitsWanted(holding: Holding, limit: Limit, waiting: number, nowMs: number): number {
  const { perMinute } = limit
  const share = Math.floor(permitsLeft(perMinute, holding.arrivalMs - nowMs) / LEFT_SHARE)
  const wanted = Math.max(1, waiting, Math.min(holding.size, share))
  return Math.min(perMinute, wanted + stillOwed(holding, limit, nowMs))
}

/** Whether a lease in use should be renewed before its end. */
export function isRunningOut(holding: Holding, nowMs: number): boolean {
  return (
    holding.left > 0 &&
    nowMs >= holding.refusedUntilMs &&
    (holding.left <= holding.granted / LOW_SHARE || nowMs - holding.askedMs >= RENEW_MS)
  )
}

/** Whether its lease must not be kept any longer. */
export function isOver(holding: Holding, nowMs: number): boolean {
  return nowMs - holding.askedMs >= LEASE_MS || nowMs - holding.usedMs >= IDLE_MS
}

export interface LeaseAnswer {
  readonly wanted: number
  readonly granted: number
  /** How far the budget was spent ahead when the database answered. */
  readonly levelMs: number
  readonly askedMs: number
}

/** Takes in what the database answered. out  permits of the lease before that are to be given back */
export function takeLease(holding: Holding, limit: Limit, answer: LeaseAnswer, nowMs: number): number {
  const { wanted, granted, levelMs, askedMs } = answer
  const intervalMs = MINUTE_MS / limit.perMinute
  const owed = stillOwed(holding, limit, nowMs)
  // At the latest: whoever comes again when told so must be let through.
  holding.arrivalMs = nowMs + levelMs
  if (granted < wanted) {
    const nextMs = levelMs + intervalMs - MINUTE_MS
    holding.refusedUntilMs = nowMs + Math.min(REFUSED_MAX_MS, Math.max(REFUSED_MIN_MS, nextMs))
  }
  if (granted === 0) return 0
  let back = 0
  if (holding.granted > 0) {
    if (nowMs - holding.askedMs < GROW_MS) {
      const largest = Math.max(1, Math.floor(limit.perMinute / LARGEST_SHARE))
      holding.size = Math.min(largest, holding.size * 2)
    }
    // A little of it is used up first; more would be carried on from lease to lease.
    if (holding.left > holding.granted / LOW_SHARE) back = endLease(holding, limit, nowMs)
  }
  const paid = Math.min(owed, granted)
  holding.owed = owed - paid
  holding.left += granted - paid
  holding.granted = granted
  holding.askedMs = askedMs
  // At the earliest: a permit given back must not have passed yet.
  holding.endMs = askedMs + levelMs
  return back
}

/**
 * Ends a lease, and asks for less next time where much of it was not used.
 * out  unused permits that are worth giving back: an interval that has passed is not spent any more, whoever had it
 */
export function endLease(holding: Holding, { perMinute }: Limit, nowMs: number): number {
  const notPassed = Math.floor(((holding.endMs - nowMs) * perMinute) / MINUTE_MS)
  const back = Math.max(0, Math.min(holding.left, holding.granted, notPassed))
  const used = Math.max(0, holding.granted - holding.left)
  holding.size = Math.max(1, Math.min(holding.size, used * 2))
  holding.left = 0
  holding.granted = 0
  return back
}

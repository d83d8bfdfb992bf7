// Rate limits that all instances on one database share (interface §8 rule 3): leases of permits, so that a request rarely asks it;
// each limit asks by itself, one statement at a time for all keys that miss meanwhile (docs/design-notes.md "Shared limits").
import { takePermits, forgetWhole, type PermitsAsked } from '../../core/tables/rate-buckets.ts'
import type { Sql } from '../../core/tables/sql.ts'
import { within } from '../../core/within.ts'
import {
  countAlone,
  endLease,
  isOver,
  isRunningOut,
  newHolding,
  permitsWanted,
  takeLease,
  usePermit,
  type Holding,
} from './lease.ts'
import { forgetOldest, KEYS_MAX, type Limit, type Limits, type Verdict } from './limit.ts'

/** A database that takes longer is away: requests are then counted here alone until it answers in time again. */
const WAIT_MS = 250
/** How often one that is away is asked. */
const RETRY_MS = 500
/** Keys of one statement, and those that wait for the next; what comes beyond both is counted in memory. */
const BATCH_MAX = 1_000
const SWEEP_EVERY_MS = 250
const FORGET_EVERY_MS = 60_000
const FORGET_MAX = 10_000

export interface SharedLimits extends Limits {
  /** Gives back what is leased, where the database takes it in time. */
  readonly close: () => Promise<void>
}

interface Log {
  readonly error: (line: object, message: string) => void
  readonly info: (line: object, message: string) => void
}

interface Bucket {
  readonly key: string
  readonly holding: Holding
  /** Requests that wait for the answer, in the order in which they came. */
  waiting: ((verdict: Verdict) => void)[]
  /** In the next statement, or in the one under way. */
  asking: boolean
}

interface SharedLimitsWith {
  readonly sql: Sql
  /** Told once when the database is away or slow, and once when it is back. */
  readonly log: Log
  readonly waitMs?: number
}

export function openSharedLimits({ sql, log, waitMs = WAIT_MS }: SharedLimitsWith): SharedLimits {
  const limiters = new Map<string, Limiter>()
  const sweeping = setInterval(() => {
    for (const limiter of limiters.values()) limiter.sweep()
  }, SWEEP_EVERY_MS).unref()
  const forgetting = setInterval(() => void forget(), FORGET_EVERY_MS).unref()

  async function forget(): Promise<void> {
    try {
      while ((await forgetWhole(sql, FORGET_MAX)) === FORGET_MAX);
    } catch {
      // Again in a minute: rows that stay longer change nothing.
    }
  }

  return {
    take(limit, key, nowMs) {
      let limiter = limiters.get(limit.name)
      if (limiter === undefined)
        limiters.set(limit.name, (limiter = openLimiter({ limit, sql, log, waitMs })))
      return limiter.take(key, nowMs)
    },
    async close() {
      clearInterval(sweeping)
      clearInterval(forgetting)
      const given = Promise.all([...limiters.values()].map((limiter) => limiter.close()))
      await within(waitMs, given, undefined)
    },
  }
}

interface Limiter {
  readonly take: (key: string, nowMs: number) => Promise<Verdict>
  /** Ends the leases that are over. */
  readonly sweep: () => void
  readonly close: () => Promise<void>
}

function openLimiter({ limit, sql, log, waitMs }: Required<SharedLimitsWith> & { limit: Limit }): Limiter {
  const { perMinute } = limit
  /** In the order of last use. */
  const buckets = new Map<string, Bucket>()
  /** The last of them. */
  let newest: Bucket | undefined
  const leased = new Set<Bucket>()
  const queue: Bucket[] = []
  let flight: Promise<void> | undefined
  let away = false
  let tryAgainMs = 0

  async function take(key: string, nowMs: number): Promise<Verdict> {
    const bucket = bucketOf(key)
    const known = usePermit(bucket.holding, limit, nowMs)
    if (known !== undefined) {
      if (isRunningOut(bucket.holding, nowMs)) ask(bucket, nowMs)
      return known
    }
    if (!ask(bucket, nowMs) || away) return countAlone(bucket.holding, limit, nowMs)
    return new Promise((resolve) => bucket.waiting.push(resolve))
  }

  function bucketOf(key: string): Bucket {
    if (newest?.key === key) return newest
    const bucket = buckets.get(key) ?? { key, holding: newHolding(limit), waiting: [], asking: false }
    newest = bucket
    buckets.delete(key)
    buckets.set(key, bucket)
    // Of those forgotten the budget is in the database. One made anew while it is asked for would be in a statement twice.
    if (buckets.size > KEYS_MAX) forgetOldest(buckets, ({ asking }) => asking)
    return bucket
  }

  /** Puts a key into the next statement. out  false: there is no room for it, or the database is away and is not asked yet */
  function ask(bucket: Bucket, nowMs: number): boolean {
    if (bucket.asking) return true
    if (away && (nowMs < tryAgainMs || flight !== undefined)) return false
    if (queue.length >= BATCH_MAX) return false
    bucket.asking = true
    queue.push(bucket)
    flight ??= fly()
    return true
  }

  async function fly(): Promise<void> {
    // What misses in this turn of the event loop travels together; later, what misses while a statement is under way.
    await new Promise(setImmediate)
    while (queue.length > 0) await askFor(queue.splice(0))
    flight = undefined
  }

  async function askFor(batch: readonly Bucket[]): Promise<void> {
    const askedMs = performance.now()
    const asked = batch.map(({ key, holding, waiting }) => ({
      key,
      permits: permitsWanted(holding, limit, waiting.length, askedMs),
    }))
    let answered = false
    const tooLong = setTimeout(() => {
      // Not where this process was held up: an answer that has come meanwhile is read before this runs.
      setImmediate(() => answered || beAway(batch, { reason: `no answer within ${waitMs} ms` }))
    }, waitMs)
    try {
      const answers = await takeSorted(asked)
      answered = true
      const nowMs = performance.now()
      if (away && nowMs - askedMs <= waitMs) {
        away = false
        log.info({ limit: limit.name }, 'rate limits are shared again')
      }
      const back: PermitsAsked[] = []
      for (const [i, bucket] of batch.entries()) {
        bucket.asking = false
        const answer = answers.get(bucket.key)
        const wanted = asked[i]?.permits ?? 0
        if (answer === undefined) throw new Error('a rate limit was not answered')
        const permits = takeLease(bucket.holding, limit, { ...answer, wanted, askedMs }, nowMs)
        if (permits > 0) back.push({ key: bucket.key, permits: -permits })
        if (bucket.holding.left > 0) leased.add(bucket)
        serve(bucket, nowMs)
      }
      void giveBack(back)
    } catch (error) {
      answered = true
      for (const bucket of batch) bucket.asking = false
      beAway(batch, { err: error })
    } finally {
      clearTimeout(tooLong)
    }
  }

  /** Those who waited, as far as the answer goes. */
  function serve(bucket: Bucket, nowMs: number): void {
    const { waiting } = bucket
    let served = 0
    for (; served < waiting.length; served++) {
      const verdict = usePermit(bucket.holding, limit, nowMs)
      if (verdict === undefined) break
      waiting[served]?.(verdict)
    }
    bucket.waiting = waiting.slice(served)
    // They came after the statement had been sent.
    if (bucket.waiting.length > 0 && !ask(bucket, nowMs)) insure(bucket)
  }

  function insure(bucket: Bucket): void {
    const nowMs = performance.now()
    for (const resolve of bucket.waiting.splice(0)) resolve(countAlone(bucket.holding, limit, nowMs))
  }

  /** Nobody waits any longer, neither for the statement under way nor for the next. */
  function beAway(batch: readonly Bucket[], line: object): void {
    if (!away) log.error({ limit: limit.name, ...line }, 'rate limits: each instance counts for itself')
    away = true
    tryAgainMs = performance.now() + RETRY_MS
    for (const bucket of queue) bucket.asking = false
    for (const bucket of [...batch, ...queue.splice(0)]) insure(bucket)
  }

  async function takeSorted(asked: readonly PermitsAsked[]) {
    const rows = asked
      .map(({ key, permits }) => ({ key: `${limit.name}:${key}`, permits }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const answers = await takePermits(sql, { perMinute, asked: rows })
    return new Map(answers.map((answer) => [answer.key.slice(limit.name.length + 1), answer]))
  }

  function sweep(): void {
    const nowMs = performance.now()
    void giveBack(endLeases((bucket) => isOver(bucket.holding, nowMs)))
  }

  function endLeases(which: (bucket: Bucket) => boolean): PermitsAsked[] {
    const nowMs = performance.now()
    const back: PermitsAsked[] = []
    for (const bucket of leased) {
      if (bucket.holding.left > 0 && !which(bucket)) continue
      // Used up, it stays as it is: how soon says how much to ask for next.
      const permits = bucket.holding.left === 0 ? 0 : endLease(bucket.holding, limit, nowMs)
      leased.delete(bucket)
      if (permits > 0) back.push({ key: bucket.key, permits: -permits })
    }
    return back
  }

  /** Where the database does not take them they are lost, for as long as their intervals last: nothing is given back twice. */
  async function giveBack(permits: readonly PermitsAsked[]): Promise<void> {
    try {
      for (let start = 0; start < permits.length; start += BATCH_MAX) {
        if (away) return
        await takeSorted(permits.slice(start, start + BATCH_MAX))
      }
    } catch {
      // The next question finds out whether it is away.
    }
  }

  return {
    take,
    sweep,
    async close() {
      await flight
      await giveBack(endLeases(() => true))
    },
  }
}

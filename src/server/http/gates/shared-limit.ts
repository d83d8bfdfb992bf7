// Rate limits that all instances on one database share (interface §8 rule 3): one statement spends for all requests that come in one
// turn of the event loop, and for some that are likely to follow (docs/design-notes.md "Shared limits").
import { forgetWhole, spendRequests } from '../../../store/tables/rate-buckets.ts'
import type { Sql } from '../../../store/postgres/sql.ts'
import { within } from '../../../core/threads/within.ts'
import {
  intervalMs,
  maybeSpend,
  openMemoryLimits,
  openTats,
  permitsLeft,
  setLastUsed,
  verdictAt,
  type Limit,
  type Limits,
  type Tats,
  type LimitVerdict,
} from '../../../core/concurrency/rate-limit.ts'

/** A database that takes longer counts as away: requests are then counted here alone until it answers in time again. */
const WAIT_MS = 250
/** How often a database that is away is tried again. */
const RETRY_MS = 500
/** The part of a budget that a statement spends ahead: small, so that other instances miss little of it. */
const AHEAD_SHARE = 64
/** A key whose last statement was longer ago is not likely to send more than one request. */
const AHEAD_WITHIN_MS = 1_000
const AHEAD_KEYS_MAX = 10_000
/** Keys of one statement; requests of further keys are counted in memory. */
const KEYS_PER_STATEMENT_MAX = 1_000
const FORGET_EVERY_MS = 60_000
const FORGET_MAX = 10_000

export interface SharedLimits extends Limits {
  readonly close: () => void
}

interface Log {
  readonly error: (line: object, message: string) => void
  readonly info: (line: object, message: string) => void
}

interface SharedLimitsWith {
  readonly sql: Sql
  /** Called once when the database is away or slow, and once when it is back. */
  readonly log: Log
  readonly waitMs?: number
}

export function openSharedLimits({ sql, log, waitMs = WAIT_MS }: SharedLimitsWith): SharedLimits {
  const tats = openTats()
  // Each limit has its own statement: a flood of addresses must not hold up or loosen the limit of executions.
  const limiters = new Map<string, Limiter>()
  const forgetting = setInterval(() => void forget(sql), FORGET_EVERY_MS).unref()
  return {
    take(limit, key, nowMs) {
      let limiter = limiters.get(limit.name)
      if (limiter === undefined)
        limiters.set(limit.name, (limiter = openLimiter({ limit, tats, sql, log, waitMs })))
      return limiter(key, nowMs)
    },
    close: () => clearInterval(forgetting),
  }
}

async function forget(sql: Sql): Promise<void> {
  try {
    while ((await forgetWhole(sql, FORGET_MAX)) === FORGET_MAX);
  } catch {
    // The next attempt is in a minute: rows that stay longer change nothing.
  }
}

type Limiter = (key: string, nowMs: number) => Promise<LimitVerdict>

/** Permits that the last statement spent for a key before its requests came: spending first never exceeds the budget. */
interface Ahead {
  readonly left: number
  /** When the statement was sent, milliseconds of `performance.now()`. */
  readonly sentMs: number
}

type Resolve = (verdict: LimitVerdict) => void
/** The requests of each key that wait for a verdict, in the order in which they came. */
type Batch = Map<string, Resolve[]>

/** @param tats this instance's state of each budget: never further ahead than the database, unless it counts alone */
function openLimiter({
  limit,
  tats,
  sql,
  log,
  waitMs,
}: Required<SharedLimitsWith> & { limit: Limit; tats: Tats }): Limiter {
  const memory = openMemoryLimits(tats)
  const aheads = new Map<string, Ahead>()
  let next: Batch = new Map()
  let isSending = false
  let isAway = false
  let retryAtMs = 0

  function take(key: string, nowMs: number): Promise<LimitVerdict> {
    const spent = takeSpent(key, nowMs)
    if (spent !== undefined) return Promise.resolve(spent)
    const { verdict } = maybeSpend(limit, tats.get(limit, key), nowMs)
    const hasRoom = next.has(key) || next.size < KEYS_PER_STATEMENT_MAX
    // A TAT never goes back, so a refusal here would be one in the database too: a caller that keeps trying costs no statement.
    if (verdict.allowed && hasRoom && !isAway) return new Promise((resolve) => join(key).push(resolve))
    if (isAway && !isSending && nowMs >= retryAtMs) join(key)
    return Promise.resolve(memory.take(limit, key, nowMs))
  }

  /** @returns undefined where no permit of the key is spent ahead */
  function takeSpent(key: string, nowMs: number): LimitVerdict | undefined {
    const ahead = aheads.get(key)
    if (ahead === undefined || ahead.left === 0) return undefined
    const aheadMs = tats.get(limit, key) - nowMs
    // Further permits have expired in the database by now: they are in the budget again.
    const left = Math.min(ahead.left, Math.floor(aheadMs / intervalMs(limit))) - 1
    if (left < 0) return undefined
    aheads.set(key, { ...ahead, left })
    return verdictAt(limit, { allowed: true, aheadMs: aheadMs - left * intervalMs(limit) })
  }

  /** @returns how many permits to spend beyond the waiting requests; the second half of a budget is left to the first instance that needs it */
  function toSpendAhead(key: string, left: number, nowMs: number): number {
    const ahead = aheads.get(key)
    if (ahead === undefined || nowMs - ahead.sentMs > AHEAD_WITHIN_MS) return 0
    const { perMinute } = limit
    return Math.max(0, Math.floor(Math.min(perMinute / AHEAD_SHARE, left - perMinute / 2)))
  }

  /** Puts a key into the next statement. */
  function join(key: string): Resolve[] {
    const waiting = next.get(key) ?? []
    next.set(key, waiting)
    if (!isSending) void send()
    return waiting
  }

  /** Sends one statement at a time: the requests of this turn of the event loop, then those that came meanwhile. */
  async function send(): Promise<void> {
    isSending = true
    await new Promise(setImmediate)
    while (next.size > 0) await spend(takeNext())
    isSending = false
  }

  function takeNext(): Batch {
    const batch = next
    next = new Map()
    return batch
  }

  async function spend(batch: Batch): Promise<void> {
    const sentMs = performance.now()
    const wanted = [...batch].map(([key, { length }]) => {
      const aheadMs = Math.max(0, tats.get(limit, key) - sentMs)
      const permits = permitsLeft(limit, aheadMs)
      const waiting = Math.min(length, permits)
      return { key, requests: waiting + toSpendAhead(key, permits - waiting, sentMs), aheadMs }
    })
    const spending = spendRequests(sql, { limit, wanted })
    try {
      const answers = await within(waitMs, spending, undefined)
      if (answers === undefined) throw new Error(`no answer within ${waitMs} ms`)
      if (isAway) log.info({ limit: limit.name }, 'rate limits are shared again')
      isAway = false
      for (const { key, allowed, aheadMs } of answers) {
        const waiting = batch.get(key) ?? []
        const left = Math.max(0, allowed - waiting.length)
        setLastUsed(aheads, { key, value: { left, sentMs }, keysMax: AHEAD_KEYS_MAX })
        answerEach(limit, waiting, { allowed: allowed - left, aheadMs: aheadMs - left * intervalMs(limit) })
        // Based on the time before the statement: the state here must not be ahead of the database.
        tats.set(limit, key, Math.max(tats.get(limit, key), sentMs + aheadMs))
      }
    } catch (error) {
      countAlone(batch, error)
    }
    // Waits however long it takes: a database that hangs gets no further statement.
    await spending.catch(() => undefined)
  }

  /** Answers all waiting requests from memory, those of the sent statement and those of the next. */
  function countAlone(batch: Batch, error: unknown): void {
    if (!isAway) log.error({ limit: limit.name, err: error }, 'rate limits: each instance counts for itself')
    isAway = true
    const nowMs = performance.now()
    retryAtMs = nowMs + RETRY_MS
    for (const [key, waiting] of [...batch, ...takeNext()])
      for (const resolve of waiting) resolve(memory.take(limit, key, nowMs))
  }

  return take
}

/**
 * Answers the waiting requests, each as if it had come alone.
 *
 * @param allowed how many of them are allowed, from the first on
 * @param aheadMs how far the TAT is ahead of now after those requests
 */
function answerEach(
  limit: Limit,
  waiting: readonly Resolve[],
  { allowed, aheadMs }: { readonly allowed: number; readonly aheadMs: number },
): void {
  for (const [i, resolve] of waiting.entries()) {
    const laterOnes = Math.max(0, allowed - 1 - i)
    resolve(verdictAt(limit, { allowed: i < allowed, aheadMs: aheadMs - laterOnes * intervalMs(limit) }))
  }
}

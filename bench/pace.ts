// Decides when requests are sent: at open throttle as soon as a connection is free; at a rate when each is due, even if earlier replies
// are missing.
import { setMaxListeners } from 'node:events'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'

/** Requests per second, rising or falling evenly over the seconds of a run; equal ends are a constant rate. */
export interface Stage {
  readonly from: number
  readonly to: number
}

/** Sends a request that was due at this time; undefined: the run is over. */
type Go = (dueMs: number | undefined) => void

interface Pace {
  /** Calls `go` when a free connection may send. */
  readonly take: (go: Go) => void
  /**
   * Calls `go` after a wait, or `end` at once where the wait would outlast the run.
   *
   * @param skips drops requests that are late, or fall due meanwhile and find no free connection: a rate limit is not made up for
   */
  readonly rest: (rest: { ms: number; skips: boolean; go: () => void; end: () => void }) => void
  /** Requests that were due and have not been sent. */
  readonly notSent: () => number
}

/** How late a timer fires at most on an idle machine. Its delay would count as the service's latency. */
const TIMER_LATE_MS = 2
/** Requests per second up to which the clock is polled, without a timer, just before a request is due: half of a core at most. */
const WATCHED_RATE_MAX = 250
/** How long after the end late requests are still sent: at a rate that is too high they never end. */
const LATE_MS_MAX = 5_000

interface PaceOptions {
  readonly seconds: number
  /** Stages one after another, `seconds` each; undefined: open throttle for so many seconds. */
  readonly stages: readonly Stage[] | undefined
  /** Ends the run. */
  readonly signal: AbortSignal
}

export function openPace(options: PaceOptions): Pace {
  const { seconds, stages, signal } = options
  const startMs = performance.now()
  const endMs = startMs + seconds * (stages?.length ?? 1) * 1000
  // Every connection may rest.
  setMaxListeners(0, signal)
  const queue = stages && openQueue(stages, options, startMs)
  return {
    take(go) {
      const nowMs = performance.now()
      if (signal.aborted) go(undefined)
      else if (queue === undefined) go(nowMs < endMs ? nowMs : undefined)
      else queue.take(go, nowMs < endMs + LATE_MS_MAX)
    },
    rest({ ms, skips, go, end }) {
      const skipped = skips ? queue?.skip() : undefined
      if (signal.aborted || performance.now() + ms > endMs) return end()
      const isOver = () => {
        skipped?.()
        if (signal.aborted) end()
        else go()
      }
      sleep(ms, undefined, { signal }).then(isOver, isOver)
    },
    notSent: () => queue?.notSent() ?? 0,
  }
}

/** Matches requests that fall due with connections that are free. */
function openQueue(stages: readonly Stage[], { seconds, signal }: PaceOptions, startMs: number) {
  /** Connections that wait for a request to fall due, used in turn, as callers of their own would. */
  const free: Go[] = []
  /** Requests that were due when no connection was free. Their wait counts. */
  const late: number[] = []
  let skipping = 0
  let isAllDue = false
  let due = 0
  let sent = 0

  const send = (go: Go, dueMs: number) => {
    sent++
    go(dueMs)
  }

  async function schedule(): Promise<void> {
    const isWatched = stages.every(({ from, to }) => Math.max(from, to) <= WATCHED_RATE_MAX)
    for (const second of dueSeconds(stages, seconds)) {
      const dueMs = startMs + second * 1000
      for (let aheadMs; !signal.aborted && (aheadMs = dueMs - performance.now()) > 0;)
        await (isWatched && aheadMs < TIMER_LATE_MS ? turn() : sleep(1))
      if (signal.aborted) break
      due++
      const go = free.shift()
      if (go !== undefined) send(go, dueMs)
      else if (skipping === 0) late.push(dueMs)
    }
    isAllDue = true
    for (const go of free.splice(0)) go(undefined)
  }

  void schedule()
  return {
    take(go: Go, sendsLate: boolean): void {
      const dueMs = sendsLate ? late.shift() : undefined
      if (dueMs !== undefined) send(go, dueMs)
      else if (isAllDue) go(undefined)
      else free.push(go)
    },
    /** Drops late requests, also those that become late before the returned function is called. */
    skip(): () => void {
      skipping++
      late.length = 0
      return () => void skipping--
    },
    notSent: () => due - sent,
  }
}

/** @returns when each request is due, in seconds from the start */
export function* dueSeconds(stages: readonly Stage[], seconds: number): Generator<number> {
  for (const [i, { from, to }] of stages.entries()) {
    const count = Math.max(1, Math.round(((from + to) / 2) * seconds))
    for (let sent = 0; sent < count; sent++) {
      // By then the rate, from · t + (to − from) · t² ÷ 2 seconds, adds up to `sent`: solved for t in the form that has no 0 ÷ 0.
      const root = Math.sqrt(from ** 2 + (2 * (to - from) * sent) / seconds)
      yield i * seconds + (sent === 0 ? 0 : (2 * sent) / (from + root))
    }
  }
}

/** @returns requests per second that are due after so many seconds */
export function rateAt(stages: readonly Stage[], seconds: number, at: number): number {
  const stage = stages[Math.min(stages.length - 1, Math.floor(at / seconds))]
  if (stage === undefined) return 0
  return stage.from + ((stage.to - stage.from) * (at % seconds)) / seconds
}

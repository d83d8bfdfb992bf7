// When requests go: at open throttle as soon as a connection is free; at a rate when each is due, whatever has become of those before.
import { setMaxListeners } from 'node:events'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'

/** Requests per second, rising or falling evenly over the seconds of a run; equal ends are a constant rate. */
export interface Stage {
  readonly from: number
  readonly to: number
}

interface Pace {
  /** Calls `go` when a free connection may send: with the time at which the request was due, or undefined when it is over. */
  readonly take: (go: (dueMs: number | undefined) => void) => void
  /**
   * Calls `go` after a wait, or `end` at once where the wait would outlast the run.
   *
   * @param skips requests that are late, or fall due meanwhile and find no free connection, are not sent: a rate limit is not made up for
   */
  readonly rest: (rest: { ms: number; skips: boolean; go: () => void; end: () => void }) => void
  /** Requests that were due and have not been sent. */
  readonly notSent: () => number
}

/** A timer fires so late at most on an idle machine, and what it is late would count as the service's latency. */
const TIMER_LATE_MS = 2
/** Requests per second up to which the clock is watched in its place for the last of the time: half of a core at most. */
const WATCHED_RATE_MAX = 250
/** So long after the end late requests are still sent: at a rate that is too high there is no end to them. */
const LATE_MS_MAX = 5_000

/**
 * @param stages one after another, `seconds` each; undefined: open throttle for so many seconds
 * @param signal ends it
 */
export function openPace({
  seconds,
  stages,
  signal,
}: {
  seconds: number
  stages: readonly Stage[] | undefined
  signal: AbortSignal
}): Pace {
  const startMs = performance.now()
  const endMs = startMs + seconds * (stages?.length ?? 1) * 1000
  /** Connections that wait for a request to fall due, used in turn, as callers of their own would. */
  const free: ((dueMs: number | undefined) => void)[] = []
  /** Requests that were due when no connection was free. Their wait counts. */
  const late: number[] = []
  let skipping = 0
  let isAllDue = false
  let due = 0
  let sent = 0

  const send = (go: (dueMs: number) => void, dueMs: number) => {
    sent++
    go(dueMs)
  }

  async function schedule(all: readonly Stage[]): Promise<void> {
    const isWatched = all.every(({ from, to }) => Math.max(from, to) <= WATCHED_RATE_MAX)
    for (const second of dueSeconds(all, seconds)) {
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

  // Every connection may rest.
  setMaxListeners(0, signal)
  if (stages !== undefined) void schedule(stages)
  return {
    take(go) {
      const nowMs = performance.now()
      if (stages === undefined || signal.aborted)
        return go(nowMs < endMs && !signal.aborted ? nowMs : undefined)
      const dueMs = nowMs < endMs + LATE_MS_MAX ? late.shift() : undefined
      if (dueMs !== undefined) send(go, dueMs)
      else if (isAllDue) go(undefined)
      else free.push(go)
    },
    rest({ ms, skips, go, end }) {
      if (skips) {
        skipping++
        late.length = 0
      }
      if (signal.aborted || performance.now() + ms > endMs) return end()
      const isOver = () => {
        if (skips) skipping--
        if (signal.aborted) end()
        else go()
      }
      sleep(ms, undefined, { signal }).then(isOver, isOver)
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

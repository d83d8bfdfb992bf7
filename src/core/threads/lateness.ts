// Detects whether a thread's event loop keeps up: if not, late answers are the fault of this process, not of the database.

const LOOK_EVERY_MS = 100
/** An event loop that is late by this much is overloaded. */
export const LATE_MS = 1_000

export interface Lateness {
  /** Whether the loop was late by LATE_MS or more at any time in the last `ms` milliseconds. */
  readonly wasLate: (ms: number) => boolean
}

/** Watches the thread that calls it, from then on; the timer does not keep the process running. */
export function watchLateness(): Lateness {
  let dueMs = performance.now() + LOOK_EVERY_MS
  let lateAtMs = -Infinity
  const look = (nowMs: number): void => {
    if (nowMs - dueMs >= LATE_MS) lateAtMs = nowMs
  }
  setInterval(() => {
    const nowMs = performance.now()
    look(nowMs)
    dueMs = nowMs + LOOK_EVERY_MS
  }, LOOK_EVERY_MS).unref()
  return {
    wasLate(ms) {
      const nowMs = performance.now()
      // The timer itself may be late.
      look(nowMs)
      return nowMs - lateAtMs <= ms
    },
  }
}

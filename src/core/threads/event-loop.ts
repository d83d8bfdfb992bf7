// How late and how busy the event loop of a thread is, read at each scrape: of the main thread and of every worker.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** Milliseconds between two looks of the monitor at its own lateness. */
const RESOLUTION_MS = 10

export interface LoopReport {
  /** Seconds by which the loop ran late, since it was read last: half of the time, one time in a hundred, and at worst. */
  readonly lagSeconds: { readonly p50: number; readonly p99: number; readonly max: number }
  /** The part of the time, 0 to 1, in which it did not wait. */
  readonly utilization: number
}

/** Watches the event loop of the calling thread. */
export function watchEventLoop(): { readonly sinceLastRead: () => LoopReport } {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let before = performance.eventLoopUtilization()
  // Node measures from one look to the next: what is beyond the resolution is lateness.
  const seconds = (ns: number) => (Number.isFinite(ns) ? Math.max(0, ns / 1e9 - RESOLUTION_MS / 1e3) : 0)
  return {
    sinceLastRead() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      const lagSeconds = {
        p50: seconds(delay.percentile(50)),
        p99: seconds(delay.percentile(99)),
        max: seconds(delay.max),
      }
      delay.reset()
      return { lagSeconds, utilization: Number.isFinite(utilization) ? utilization : 0 }
    },
  }
}

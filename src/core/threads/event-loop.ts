// Measures at each scrape how late and how busy the event loop of a thread is: of the main thread and of every worker.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** Milliseconds between two samples of the monitor. */
const RESOLUTION_MS = 10

export interface LoopReport {
  /** Lag of the loop in seconds since the last read: median, 99th percentile and maximum. */
  readonly lagSeconds: { readonly p50: number; readonly p99: number; readonly max: number }
  /** The share of the time, 0 to 1, in which the loop did not wait. */
  readonly utilization: number
}

/** Watches the event loop of the calling thread. */
export function watchEventLoop(): { readonly sinceLastRead: () => LoopReport } {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let before = performance.eventLoopUtilization()
  // Node measures the time between two samples: the excess over the resolution is lag.
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

// Limits for a pipeline: what the figures must not be worse than.
import { saturation, type Report } from './report.ts'

export interface Thresholds {
  /** Milliseconds at the fixed rate, of the connection count that brought the most. */
  readonly maxP99Ms?: number
  /** Replies per second that it brought. */
  readonly minRate?: number
}

/** out  a sentence for each scenario that missed one; medians decide */
export function missed({ scenarios }: Report, { maxP99Ms, minRate }: Thresholds): string[] {
  return scenarios.flatMap((scenario) => {
    const { perSecond, latency } = saturation(scenario) ?? {}
    const rate = perSecond?.median
    const p99 = latency?.p99.median
    return [
      ...(minRate !== undefined && rate !== undefined && rate < minRate
        ? [`${scenario.name}: ${rate.toFixed(0)} per second, less than --min-rate ${minRate}`]
        : []),
      ...(maxP99Ms !== undefined && p99 !== undefined && p99 > maxP99Ms
        ? [`${scenario.name}: p99 of ${p99.toFixed(1)} ms, more than --max-p99-ms ${maxP99Ms}`]
        : []),
    ]
  })
}

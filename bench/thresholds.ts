// Limits for a pipeline: what the figures must not be worse than.
import { named, saturation, type Report } from './report.ts'

export interface Thresholds {
  /** Milliseconds at the fixed rate, of the connection count that brought the most. */
  readonly maxP99Ms?: number
  /** Replies per second that it brought. */
  readonly minRate?: number
}

/** out  a sentence for each scenario that missed one, and for a threshold that nothing was measured for; medians decide */
export function missed({ scenarios }: Report, { maxP99Ms, minRate }: Thresholds): string[] {
  const figures = scenarios.map((scenario) => {
    const best = saturation(scenario)
    return {
      where: best === undefined ? scenario.name : `${scenario.name}, ${named(best)}`,
      rate: best?.perSecond?.median,
      p99: best?.latency?.p99.median,
    }
  })
  return [
    ...(minRate !== undefined && figures.every(({ rate }) => rate === undefined)
      ? ['--min-rate: nothing was measured that has a rate']
      : []),
    ...(maxP99Ms !== undefined && figures.every(({ p99 }) => p99 === undefined)
      ? ['--max-p99-ms: nothing was measured that has a p99']
      : []),
    ...figures.flatMap(({ where, rate, p99 }) => [
      ...(minRate !== undefined && rate !== undefined && rate < minRate
        ? [`${where}: ${rate.toFixed(0)} per second, less than --min-rate ${minRate}`]
        : []),
      ...(maxP99Ms !== undefined && p99 !== undefined && p99 > maxP99Ms
        ? [`${where}: p99 of ${p99.toFixed(1)} ms, more than --max-p99-ms ${maxP99Ms}`]
        : []),
    ]),
  ]
}

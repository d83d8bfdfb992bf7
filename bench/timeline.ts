// The timeline: a table of the report with the replies over time.
import { figuresOf, sum, text } from './figures.ts'
import type { OverTime } from './load.ts'
import { named, saturation, type Measurement, type ScenarioReport } from './report.ts'

/** Adds the timeline for a deployment, whose replies over time are kept nowhere else. */
export function withTimeline(report: ScenarioReport): ScenarioReport {
  const best = saturation(report)
  const { paced } = best?.lastRound ?? {}
  if (best === undefined || paced === undefined) return report
  return { ...report, further: { [`Over time at the rate, ${named(best)}, last round`]: timeline(paced) } }
}

const TIMELINE_ROWS = 10

/** @returns rows of about a tenth of the time each */
function timeline({ stepSeconds, ...overTime }: OverTime): Measurement[] {
  const steps = Math.ceil(overTime.perSecond.length / TIMELINE_ROWS)
  return Array.from({ length: Math.ceil(overTime.perSecond.length / steps) }, (_, row) => {
    const from = row * steps
    const of = (values: readonly number[]) => values.slice(from, from + steps)
    const mean = (values: readonly number[]) => sum(of(values)) / of(values).length
    const round = {
      'due/s': mean(overTime.duePerSecond),
      'replies/s': mean(overTime.perSecond),
      'worst p99 ms': Math.max(...of(overTime.p99Ms)),
      errors: sum(of(overTime.errors)),
      '429s': sum(of(overTime.limited)),
    }
    const until = Math.min(from + steps, overTime.perSecond.length)
    return {
      label: `${text(from * stepSeconds)}–${text(until * stepSeconds)} s`,
      figures: figuresOf([round]),
    }
  })
}

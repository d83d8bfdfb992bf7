// What a report is judged by: an earlier report, where a change counts that exceeds the noise of both, and thresholds.
import { spreadOf, type Figure } from './figures.ts'
import { readJson } from './outputs.ts'
import { named, REPORT_VERSION, saturation, type Measurement, type Report } from './report.ts'
import type { Table } from './tables.ts'

export interface Difference {
  readonly scenario: string
  /** The measurement's label. */
  readonly label: string
  readonly figure: string
  readonly before: number
  readonly after: number
  /** Of the earlier median. */
  readonly change: number
  /** Half of the ranges of both, as a share of the earlier median; undefined where either has one round only. */
  readonly noise: number | undefined
  readonly verdict: 'better' | 'worse' | 'within noise' | 'one round: noise unknown'
}

/** Beside an earlier report. */
export interface Comparison {
  readonly differences: readonly Difference[]
  readonly remarks: readonly string[]
}

/** @throws Error with a sentence where the file is no report of this version */
export function readReport(file: string): Report {
  const report = readJson(file) as Partial<Report> | null
  if (typeof report?.version !== 'number' || !Array.isArray(report.scenarios))
    throw new Error(`${file} is no report of this bench, as --json writes it.`)
  if (report.version !== REPORT_VERSION)
    throw new Error(`${file} is a report of another version of this bench.`)
  return report as Report
}

/** What a reader must know before the differences. */
export function remarks(before: Report, after: Report, differences: readonly Difference[]): string[] {
  const unlike = Object.entries(conditions(after)).flatMap(([name, now]) => {
    const then = conditions(before)[name]
    return then === now ? [] : [`not alike, ${name}: ${then ?? 'not said'} before, ${now} now`]
  })
  if (differences.length > 0) return unlike
  return [...unlike, `nothing was measured in both: ${measuredIn(before)} before, ${measuredIn(after)} now`]
}

function measuredIn({ scenarios }: Report): string {
  return scenarios
    .map(({ name, measurements }) => `${name} at ${measurements.map(({ label }) => label).join(', ')}`)
    .join('; ')
}

function conditions({ subject, constants, machine }: Report): Record<string, string> {
  return {
    subject,
    machine: `${machine?.cpu}, ${machine?.cores} cores`,
    ...Object.fromEntries(Object.entries(constants ?? {}).map(([name, value]) => [name, String(value)])),
  }
}

export function compare(before: Report, after: Report): Difference[] {
  return after.scenarios.flatMap(({ name, measurements }) => {
    const earlier = before.scenarios.find((scenario) => scenario.name === name)?.measurements ?? []
    return measurements.flatMap((measurement) => {
      const old = earlier.find(({ label }) => label === measurement.label)
      return old === undefined ? [] : differencesOf(name, old, measurement)
    })
  })
}

function differencesOf(scenario: string, before: Measurement, after: Measurement): Difference[] {
  const olds = figuresOf(before)
  return Object.entries(figuresOf(after)).flatMap(([figure, now]) => {
    const old = olds[figure]
    if (old === undefined || now === undefined || !(Math.abs(old.median) > 0)) return []
    const change = (now.median - old.median) / Math.abs(old.median)
    const isKnown = old.values.length > 1 && now.values.length > 1
    const noise = isKnown
      ? spreadOf(old) + (spreadOf(now) * Math.abs(now.median)) / Math.abs(old.median)
      : undefined
    const rises = figure === 'per s' || figure.startsWith('rate ÷ ')
    const verdict =
      noise === undefined
        ? 'one round: noise unknown'
        : Math.abs(change) <= noise
          ? 'within noise'
          : change > 0 === rises
            ? 'better'
            : 'worse'
    return [
      { scenario, label: after.label, figure, before: old.median, after: now.median, change, noise, verdict },
    ]
  })
}

/** All but the rates are better when they are smaller. */
function figuresOf({ perSecond, latency, cpu, more }: Measurement): Record<string, Figure | undefined> {
  return {
    'per s': perSecond,
    'p50 ms': latency?.p50,
    'p99 ms': latency?.p99,
    'CPU µs': cpu?.total,
    '× floor': cpu?.timesFloor,
    ...more,
  }
}

export function differenceTable(differences: readonly Difference[]): Table {
  return [
    ['scenario', 'at', 'figure', 'before', 'after', 'change', 'noise', ''],
    ...differences.map(({ scenario, label, figure, before, after, change, noise, verdict }) => [
      scenario,
      label,
      figure,
      rounded(before),
      rounded(after),
      `${change > 0 ? '+' : ''}${(change * 100).toFixed(1)} %`,
      noise === undefined ? 'n/a' : `±${(noise * 100).toFixed(1)} %`,
      verdict,
    ]),
  ]
}

function rounded(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

export interface Thresholds {
  /** Milliseconds at the fixed rate, of the connection count that brought the most. */
  readonly maxP99Ms?: number
  /** Replies per second that it brought. */
  readonly minRate?: number
}

/** Returns a sentence for each scenario that missed one, and for a threshold that nothing was measured for; medians decide. */
export function missed({ scenarios }: Report, { maxP99Ms, minRate }: Thresholds): string[] {
  const figures = scenarios.map((scenario) => {
    const best = saturation(scenario)
    return {
      where: best === undefined ? scenario.name : `${scenario.name}, ${named(best)}`,
      rate: best?.perSecond?.median,
      p99: best?.latency?.p99.median,
    }
  })
  const none = (option: string, what: 'rate' | 'p99') =>
    figures.every((figure) => figure[what] === undefined)
      ? [`${option}: nothing was measured that has a ${what}`]
      : []
  return [
    ...(minRate === undefined ? [] : none('--min-rate', 'rate')),
    ...(maxP99Ms === undefined ? [] : none('--max-p99-ms', 'p99')),
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

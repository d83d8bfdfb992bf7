// Judges a report by thresholds and by an earlier report, where a change counts if it exceeds the noise of both.
import { readFileSync } from 'node:fs'
import { CPU_PARTS } from './cpu.ts'
import { spreadOf, text } from './figures.ts'
import { named, rateHead, REPORT_VERSION, saturation, type Measurement, type Report } from './report.ts'

interface Difference {
  readonly scenario: string
  /** The measurement's label. */
  readonly label: string
  readonly figure: string
  readonly before: number
  readonly after: number
  /** The change as a share of the earlier median. */
  readonly change: number
  /** Half of the ranges of both, as a share of the earlier median; undefined where either has one round only. */
  readonly noise: number | undefined
  readonly verdict: 'better' | 'worse' | 'within noise' | 'one round: noise unknown'
}

/** The comparison with an earlier report. */
export interface Comparison {
  readonly file: string
  readonly differences: readonly Difference[]
  readonly remarks: readonly string[]
}

/** @throws Error with a sentence where the file is no report of this version */
export function readReport(file: string): Report {
  let report: Partial<Report> | null
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as Partial<Report> | null
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON: ${(error as Error).message}`, { cause: error })
  }
  if (typeof report?.version !== 'number' || !Array.isArray(report.scenarios))
    throw new Error(`${file} is no report of this bench, as --json writes it.`)
  if (report.version !== REPORT_VERSION)
    throw new Error(`${file} is a report of another version of this bench.`)
  return report as Report
}

export function compare(file: string, before: Report, after: Report): Comparison {
  const differences = differencesBetween(before, after)
  return { file, differences, remarks: remarks(before, after, differences) }
}

/** Facts that a reader must know before the differences. */
function remarks(before: Report, after: Report, differences: readonly Difference[]): string[] {
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

function differencesBetween(before: Report, after: Report): Difference[] {
  return after.scenarios.flatMap(({ name, measurements }) => {
    const earlier = before.scenarios.find((scenario) => scenario.name === name)?.measurements ?? []
    return measurements.flatMap((measurement) => {
      const old = earlier.find(({ label }) => label === measurement.label)
      return old === undefined ? [] : differencesOf(name, old, measurement)
    })
  })
}

/** Figures that are by themselves neither better nor worse. */
const NOT_COMPARED = new Set<string>([
  ...CPU_PARTS,
  'at rate',
  'max ms',
  'errors',
  '429s',
  'not sent',
  'generator',
  'its core %',
  'steal %',
  'others %',
])

function differencesOf(scenario: string, before: Measurement, after: Measurement): Difference[] {
  return Object.entries(after.figures).flatMap(([figure, now]) => {
    const old = before.figures[figure]
    if (
      NOT_COMPARED.has(figure) ||
      figure.startsWith('batch ') ||
      old === undefined ||
      !(Math.abs(old.median) > 0)
    )
      return []
    const change = (now.median - old.median) / Math.abs(old.median)
    const isKnown = old.values.length > 1 && now.values.length > 1
    const noise = isKnown
      ? spreadOf(old) + (spreadOf(now) * Math.abs(now.median)) / Math.abs(old.median)
      : undefined
    // All but the rates are better when they are smaller.
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

/** @returns rows of cells, the heads first */
export function differenceTable(differences: readonly Difference[]): string[][] {
  return [
    ['scenario', 'at', 'figure', 'before', 'after', 'change', 'noise', ''],
    ...differences.map(({ scenario, label, figure, before, after, change, noise, verdict }) => [
      scenario,
      label,
      figure,
      text(before),
      text(after),
      `${change > 0 ? '+' : ''}${(change * 100).toFixed(1)} %`,
      noise === undefined ? 'n/a' : `±${(noise * 100).toFixed(1)} %`,
      verdict,
    ]),
  ]
}

export interface Thresholds {
  /** Milliseconds at the fixed rate, at the connection count with the most replies per second. */
  readonly maxP99Ms?: number
  /** Replies per second at that connection count. */
  readonly minRate?: number
}

/** @returns a sentence for each scenario that missed a threshold, and for each threshold without a measurement; medians decide */
export function missed({ scenarios }: Report, { maxP99Ms, minRate }: Thresholds): string[] {
  const best = scenarios.flatMap((scenario) => {
    const one = saturation(scenario)
    if (one === undefined) return []
    const median = (head: string) => one.figures[head]?.median
    return [
      { where: `${scenario.name}, ${named(one)}`, rate: median(rateHead(one)), p99Ms: median('p99 ms') },
    ]
  })
  const misses: string[] = []
  if (minRate !== undefined) {
    if (best.every(({ rate }) => rate === undefined))
      misses.push('--min-rate: nothing was measured that has a rate')
    for (const { where, rate = minRate } of best)
      if (rate < minRate) misses.push(`${where}: ${text(rate)} per second, less than --min-rate ${minRate}`)
  }
  if (maxP99Ms !== undefined) {
    if (best.every(({ p99Ms }) => p99Ms === undefined))
      misses.push('--max-p99-ms: nothing was measured that has a p99')
    for (const { where, p99Ms = 0 } of best)
      if (p99Ms > maxP99Ms)
        misses.push(`${where}: p99 of ${text(p99Ms)} ms, more than --max-p99-ms ${maxP99Ms}`)
  }
  return misses
}

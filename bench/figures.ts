// Figures of several rounds, with the value of each round, so that a reader sees how much of a difference is noise.
import { createHistogram } from 'node:perf_hooks'

/** One value for each round, in their order; never empty. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly values: readonly number[]
}

/** Figures by the heads of their columns. */
export type Figures = Readonly<Record<string, Figure>>

/** The figures of one round, by the same names in every round; undefined or not a number where a figure is not known. */
export type Round = Readonly<Record<string, number | undefined>>

export function figureOf(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  const low = sorted[(sorted.length - 1) >> 1] ?? Number.NaN
  const high = sorted[sorted.length >> 1] ?? Number.NaN
  const [min = Number.NaN, max = Number.NaN] = [sorted[0], sorted.at(-1)]
  return { median: (low + high) / 2, min, max, values }
}

/** @returns a figure for every name that all rounds know */
export function figuresOf(rounds: readonly Round[]): Figures {
  return Object.fromEntries(
    Object.keys(rounds[0] ?? {}).flatMap((name) => {
      const values = rounds.map((round) => round[name]).filter((value) => Number.isFinite(value)) as number[]
      return values.length === rounds.length ? [[name, figureOf(values)]] : []
    }),
  )
}

/** @returns half of the range from the least to the greatest value, as a share of the median: the `±4%` behind a figure */
export function spreadOf({ median, min, max }: Figure): number {
  return median === 0 ? 0 : (max - min) / 2 / Math.abs(median)
}

/** @returns three significant digits, or all digits before the point; `n/a` where nothing was measured */
export function text(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return 'n/a'
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Durations in Node's HDR histogram, to three digits. */
export interface Times {
  readonly add: (ms: number) => void
  /** @param percent above 0 and up to 100 */
  readonly ms: (percent: number) => number
  readonly count: () => number
}

export function openTimes(): Times {
  const micros = createHistogram()
  return {
    add: (ms) => micros.record(Math.max(1, Math.round(ms * 1000))),
    ms: (percent) => (micros.count === 0 ? 0 : micros.percentile(percent) / 1000),
    count: () => micros.count,
  }
}

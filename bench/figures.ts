// Figures of several rounds: what was measured each time, so that a reader sees how much of a difference is noise.

/** One value for each round, in their order; never empty. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly values: readonly number[]
}

export function figureOf(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  const low = sorted[(sorted.length - 1) >> 1] ?? Number.NaN
  const high = sorted[sorted.length >> 1] ?? Number.NaN
  return {
    median: (low + high) / 2,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
    values,
  }
}

/** Undefined unless every round has one. */
export function figureOfAll(values: readonly (number | undefined)[]): Figure | undefined {
  const measured = values.filter((value) => value !== undefined)
  return measured.length === values.length && measured.length > 0 ? figureOf(measured) : undefined
}

/** Half of the way between the least and the greatest, as a share of the median: the `± 4 %` behind a figure. */
export function spreadOf({ median, min, max }: Figure): number {
  return median === 0 ? 0 : (max - min) / 2 / Math.abs(median)
}

/** By the nearest rank. in  sorted  ascending */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? 0
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** The shares of all requests at which a latency distribution is kept. */
export const DISTRIBUTION_SHARES = [
  0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9999, 1,
] as const

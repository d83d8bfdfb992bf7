// What the soak watches: the probe's lines from inside the service, /proc from outside, and the slope of both over time.
import { readdirSync, readFileSync } from 'node:fs'
import { rssBytes } from '../cpu.ts'
import { sum } from '../figures.ts'
import type { ProbeLine } from './probe.ts'

export interface Sample {
  /** Unix milliseconds. */
  readonly at: number
  readonly bytes: number
}

/** Resident memory and descriptors. */
export interface Outside extends Sample {
  readonly descriptors: number
}

/** @returns undefined where the system has no /proc */
export function outside(pid: number): Outside | undefined {
  const bytes = rssBytes(pid)
  return bytes === undefined
    ? undefined
    : { at: Date.now(), bytes, descriptors: readdirSync(`/proc/${pid}/fd`).length }
}

/** @returns every line that all threads have written by now */
export function probeLines(file: string): ProbeLine[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as ProbeLine)
}

/** @returns memory of all threads together: each line with the newest of the others, from when all of them have written */
export function heapSeries(lines: readonly ProbeLine[]): Sample[] {
  const threads = new Set(lines.map(({ thread }) => thread)).size
  const last = new Map<number, number>()
  return lines.flatMap(({ thread, at, bytes }) => {
    last.set(thread, bytes)
    return last.size === threads ? [{ at, bytes: sum([...last.values()]) }] : []
  })
}

export interface Slope {
  /** MB (10⁶ bytes) an hour. */
  readonly perHour: number
  /** Half the width of its 95 % interval. */
  readonly plusMinus: number
}

const STRETCHES = 10
/** Two-sided 95 %, 8 degrees of freedom. */
const STUDENT_T_8 = 2.306

/**
 * The least-squares line through samples. Neighbours resemble each other, which makes such an interval too narrow: it is taken from the
 * means of ten stretches of time, which hardly do.
 *
 * @returns undefined where there is less than one sample for each of them
 */
export function slopeOf(series: readonly Sample[]): Slope | undefined {
  const [first, last] = [series[0], series.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const width = (last.at - first.at) / STRETCHES
  const stretches = Array.from({ length: STRETCHES }, (_, i) =>
    series.filter(({ at }) => Math.min(STRETCHES - 1, Math.floor((at - first.at) / width)) === i),
  )
  if (stretches.some(({ length }) => length === 0)) return undefined
  const points = stretches.map((stretch) => ({
    hours: mean(stretch.map(({ at }) => at)) / 3_600_000,
    megabytes: mean(stretch.map(({ bytes }) => bytes)) / 1e6,
  }))
  const [x, y] = [mean(points.map(({ hours }) => hours)), mean(points.map(({ megabytes }) => megabytes))]
  const spread = sum(points.map(({ hours }) => (hours - x) ** 2))
  const perHour = sum(points.map(({ hours, megabytes }) => (hours - x) * (megabytes - y))) / spread
  const left = sum(points.map(({ hours, megabytes }) => (megabytes - y - perHour * (hours - x)) ** 2))
  return { perHour, plusMinus: STUDENT_T_8 * Math.sqrt(left / (STRETCHES - 2) / spread) }
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length
}

// The soak watches the probe's lines from inside the service, /proc from outside, and the slope of both over time.
import { readdirSync, readFileSync } from 'node:fs'
import { cpuBetween, cpuTimes, rssBytes } from '../cpu.ts'
import { sum } from '../figures.ts'
import { say } from '../scenario.ts'
import type { MeasuredService } from '../service.ts'
import type { RouteTally } from './client.ts'
import type { Drive } from './drive.ts'
import type { ProbeLine } from './probe.ts'

interface Sample {
  /** Unix milliseconds. */
  readonly at: number
  readonly bytes: number
}

/** Resident memory and descriptors. */
interface Outside extends Sample {
  readonly descriptors: number
}

/** @returns undefined where the system has no /proc */
export function outside(pid: number): Outside | undefined {
  const bytes = rssBytes(pid)
  return bytes === undefined
    ? undefined
    : { at: Date.now(), bytes, descriptors: readdirSync(`/proc/${pid}/fd`).length }
}

/** Open at rest, before the load and after it; undefined where the system has no /proc. */
export type Descriptors = Readonly<Record<'before' | 'after', number | undefined>>

const SAMPLE_EVERY_MS = 1_000
const SAMPLES_PER_LINE = 10

/**
 * Looks at the service from outside until the load is over.
 *
 * @param stack takes what has to be undone
 * @returns Unix milliseconds of the start and the end, replies, CPU per reply, samples
 */
export async function observe(
  load: () => Promise<void>,
  of: { drive: Drive; service: MeasuredService; tallies: ReadonlyMap<string, RouteTally> },
  stack: AsyncDisposableStack,
) {
  const { pids } = of.service
  const fromMs = Date.now()
  const fromCpu = cpuTimes(pids)
  const samples: Outside[] = []
  const sampling = setInterval(() => {
    const sample = outside(pids.service)
    if (sample !== undefined) samples.push(sample)
    if (samples.length % SAMPLES_PER_LINE === 1) say(progress(samples, of.drive))
  }, SAMPLE_EVERY_MS)
  stack.defer(() => clearInterval(sampling))
  await load()
  clearInterval(sampling)
  const toMs = Date.now()
  const calls = sum([...of.tallies.values()].map(({ times }) => times.count()))
  const cpu = cpuBetween(fromCpu, cpuTimes(pids), calls)
  return { fromMs, toMs, calls, cpu, samples, tallies: of.tallies }
}

export type Observed = Awaited<ReturnType<typeof observe>>

function progress(samples: readonly Outside[], { problemCount }: Drive): string {
  const { bytes, descriptors } = samples.at(-1) ?? { bytes: 0, descriptors: 0 }
  const memory = `RSS ${(bytes / 1e6).toFixed(0)} MB, ${descriptors} descriptors`
  return `${samples.length} samples: ${memory}, ${problemCount()} wrong`
}

/** @returns every line that all threads have written by now */
export function probeLines(file: string): ProbeLine[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as ProbeLine)
}

/** Memory is looked at from here on: caches have filled, code is compiled. */
const WARM_UP_SHARE = 0.25

/** @returns samples after the warm-up, and their slope */
export function memoryOf({ fromMs, toMs, samples }: Observed, lines: readonly ProbeLine[]) {
  const from = fromMs + (toMs - fromMs) * WARM_UP_SHARE
  const judged = (all: readonly Sample[]) => {
    const series = all.filter(({ at }) => at >= from && at <= toMs)
    return { series, slope: slopeOf(series) }
  }
  return { heap: judged(heapSeries(lines)), RSS: judged(samples) }
}

export type Memory = ReturnType<typeof memoryOf>

/** @returns memory of all threads together: each line with the newest of the others, from when all of them have written */
function heapSeries(lines: readonly ProbeLine[]): Sample[] {
  const threads = new Set(lines.map(({ thread }) => thread)).size
  const last = new Map<number, number>()
  return lines.flatMap(({ thread, at, bytes }) => {
    last.set(thread, bytes)
    return last.size === threads ? [{ at, bytes: sum([...last.values()]) }] : []
  })
}

interface Slope {
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

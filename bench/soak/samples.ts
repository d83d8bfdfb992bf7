// What the soak watches: the probe's lines from inside the service, /proc from outside, and the slope of both over time.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { sum } from '../figures.ts'
import type { ProbeLine } from './probe.ts'

export interface Outside {
  /** Unix milliseconds. */
  readonly at: number
  readonly rssBytes: number
  readonly descriptors: number
  /** Those of them that are sockets. */
  readonly sockets: number
}

/** Undefined where the system has no /proc. */
export function outside(pid: number): Outside | undefined {
  if (process.platform !== 'linux') return undefined
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  const targets = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return '' // closed meanwhile
    }
  })
  return {
    at: Date.now(),
    rssBytes: Number(kilobytes) * 1024,
    descriptors: targets.length,
    sockets: targets.filter((target) => target.startsWith('socket:')).length,
  }
}

/** Every line that all threads have written by now. */
export function probeLines(file: string): ProbeLine[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as ProbeLine)
}

/** The newest of each thread. */
export function newest(lines: readonly ProbeLine[]): ProbeLine[] {
  return [...new Map(lines.map((line) => [line.thread, line])).values()]
}

/**
 * Heap after collection and what lies outside of it, of all threads together: each line with the newest of the others, from when all
 * of them have written.
 */
export function heapSeries(lines: readonly ProbeLine[]): { at: number; bytes: number }[] {
  const threads = new Set(lines.map(({ thread }) => thread)).size
  const last = new Map<number, number>()
  return lines.flatMap(({ thread, at, heapBytes, externalBytes }) => {
    last.set(thread, heapBytes + externalBytes)
    const bytes = sum([...last.values()])
    return last.size === threads ? [{ at, bytes }] : []
  })
}

export interface ThreadSeries {
  readonly thread: number
  /** Seconds, heap, outside of it, and what the heap had taken from the system before the collection. */
  readonly points: readonly (readonly [number, number, number, number])[]
  /** What kept its event loop alive at the end, by kind. */
  readonly handles: ProbeLine['handles']
}

export function threadSeries(lines: readonly ProbeLine[], fromMs: number): ThreadSeries[] {
  return [...Map.groupBy(lines, ({ thread }) => thread)].map(([thread, of]) => ({
    thread,
    points: of.map(({ at, heapBytes, externalBytes, committedBytes }) => [
      Math.round((at - fromMs) / 1000),
      rounded(heapBytes),
      rounded(externalBytes),
      rounded(committedBytes),
    ]),
    handles: of.at(-1)?.handles ?? {},
  }))
}

/** In MB. */
function rounded(bytes: number): number {
  return Math.round(bytes / 1e4) / 100
}

export interface Slope {
  /** MB (10⁶ bytes) an hour. */
  readonly perHour: number
  /** Half the width of its 95 % interval. */
  readonly plusMinus: number
  readonly samples: number
}

/**
 * The least-squares line through samples. Neighbours resemble each other, which makes such an interval too narrow: it is taken from the
 * means of ten stretches of time, which hardly do. Undefined where there is less than one sample for each of them.
 */
export function slopeOf(
  series: readonly { readonly at: number; readonly bytes: number }[],
): Slope | undefined {
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
  return {
    perHour,
    plusMinus: STUDENT_T_8 * Math.sqrt(left / (STRETCHES - 2) / spread),
    samples: series.length,
  }
}

const STRETCHES = 10
/** Two-sided 95 %, 8 degrees of freedom. */
const STUDENT_T_8 = 2.306

function mean(values: readonly number[]): number {
  return sum(values) / values.length
}

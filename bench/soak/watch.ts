// The soak's view of a service: the probe's lines from inside, /proc from outside, the slope of both, and the tables of its report.
import { readdirSync, readFileSync } from 'node:fs'
import { cpuBetween, cpuTimes, rssBytes } from '../cpu.ts'
import { figuresOf, sum, type Round } from '../figures.ts'
import type { Measurement, ScenarioReport } from '../report.ts'
import { say } from '../scenario.ts'
import type { MeasuredService } from '../service.ts'
import type { Drive } from './drive.ts'
import type { ProbeLine } from './probe.ts'
import type { RouteTally } from './world.ts'

interface Sample {
  /** Unix milliseconds. */
  readonly at: number
  readonly bytes: number
}

/** @returns resident memory and descriptors; undefined where the system has no /proc */
export function outside(pid: number): (Sample & { readonly descriptors: number }) | undefined {
  const bytes = rssBytes(pid)
  if (bytes === undefined) return undefined
  return { at: Date.now(), bytes, descriptors: readdirSync(`/proc/${pid}/fd`).length }
}

const SAMPLE_EVERY_MS = 1_000
const SAMPLES_PER_LINE = 10

/**
 * Watches the service from outside until the load is over.
 *
 * @param stack collects the clean-up steps
 */
export async function observe(
  load: () => Promise<void>,
  of: { drive: Drive; service: MeasuredService; tallies: ReadonlyMap<string, RouteTally> },
  stack: AsyncDisposableStack,
) {
  const { pids } = of.service
  const fromMs = Date.now()
  const fromCpu = cpuTimes(pids)
  const samples: NonNullable<ReturnType<typeof outside>>[] = []
  const sampling = setInterval(() => {
    const sample = outside(pids.service)
    if (sample === undefined) return
    samples.push(sample)
    const memory = `RSS ${(sample.bytes / 1e6).toFixed(0)} MB, ${sample.descriptors} descriptors`
    if (samples.length % SAMPLES_PER_LINE === 1)
      say(`${samples.length} samples: ${memory}, ${of.drive.problemCount()} wrong`)
  }, SAMPLE_EVERY_MS)
  stack.defer(() => clearInterval(sampling))
  await load()
  clearInterval(sampling)
  const calls = sum([...of.tallies.values()].map(({ times }) => times.count()))
  const cpu = cpuBetween(fromCpu, cpuTimes(pids), calls)
  return { fromMs, toMs: Date.now(), calls, cpu, samples, tallies: of.tallies }
}

type Observed = Awaited<ReturnType<typeof observe>>

/** @returns every line that all threads have written by now */
export function probeLines(file: string): ProbeLine[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as ProbeLine)
}

/** Memory is judged after this share of the time: caches have filled, code is compiled. */
const WARM_UP_SHARE = 0.25

/** @returns samples after the warm-up, and their slope */
export function memoryOf({ fromMs, toMs, samples }: Observed, lines: readonly ProbeLine[]) {
  const from = fromMs + (toMs - fromMs) * WARM_UP_SHARE
  const judged = (all: readonly Sample[]) => {
    const series = all.filter(({ at }) => at >= from && at <= toMs)
    return { series, slope: slopeOf(series) }
  }
  // Memory of all threads together: each line with the newest lines of the other threads, once all of them have written.
  const threads = new Set(lines.map(({ thread }) => thread)).size
  const last = new Map<number, number>()
  const heap = lines.flatMap(({ thread, at, bytes }) => {
    last.set(thread, bytes)
    return last.size === threads ? [{ at, bytes: sum([...last.values()]) }] : []
  })
  return { heap: judged(heap), RSS: judged(samples) }
}

export type Memory = ReturnType<typeof memoryOf>

const STRETCHES = 10
/** Two-sided 95 %, 8 degrees of freedom. */
const STUDENT_T_8 = 2.306

/**
 * The least-squares line through samples. Neighbouring samples resemble each other, which would make its interval too narrow, so it is
 * taken from the means of ten stretches of time, which hardly do.
 *
 * @returns MB (10⁶ bytes) an hour, and half the width of its 95 % interval; undefined where a stretch has no sample
 */
export function slopeOf(series: readonly Sample[]): { perHour: number; plusMinus: number } | undefined {
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

const mean = (values: readonly number[]) => sum(values) / values.length

/** Descriptors at rest, before the load and after it; undefined after a short run, and where the system has no /proc. */
type Descriptors = Readonly<Record<'before' | 'after', number | undefined>>

/** @returns the scenario of the report, without the service */
export function soakTables(
  { fromMs, toMs, calls, cpu, samples, tallies }: Observed,
  { heap, RSS }: Memory,
  lines: readonly ProbeLine[],
  { before, after }: Descriptors,
): ScenarioReport {
  const most = Math.max(0, ...samples.map(({ descriptors }) => descriptors))
  const threads = Map.groupBy(
    lines.filter(({ at }) => at >= fromMs && at <= toMs),
    ({ thread }) => thread,
  )
  const delays = [...threads].map(([thread, of]) => {
    const worst = (part: 'p99' | 'max') => Math.max(...of.map(({ delayMs }) => delayMs[part]))
    const round = { 'delay p99 ms': worst('p99'), 'delay max ms': worst('max') }
    return row(thread === 0 ? 'front end' : `thread ${thread}`, round)
  })
  return {
    name: 'soak',
    description: 'every route at half of saturation',
    labels: '',
    measurements: [row('all calls', { 'calls/s': (calls * 1000) / (toMs - fromMs), ...cpu })],
    further: {
      'Memory, MB (10⁶ bytes)': [memoryRow('heap, after collection', heap), memoryRow('RSS', RSS)],
      Descriptors: [
        row('of the service', { 'at rest before': before, 'at rest after': after, 'at most': most }),
      ],
      'Delay of the event loops, the worst of each': delays,
      Routes: routeRows(tallies),
    },
    checked: { replies: calls, verifiedOffline: 0 },
  }
}

const row = (label: string, round: Round): Measurement => ({ label, figures: figuresOf([round]) })

function memoryRow(label: string, { series, slope }: Memory['heap']): Measurement {
  const [first, ...more] = series.map(({ bytes }) => bytes / 1e6)
  const of = { first, last: more.at(-1) ?? first, max: Math.max(first ?? 0, ...more) }
  return row(label, { 'MB/hour': slope?.perHour, '±': slope?.plusMinus, ...of })
}

/** The busiest route first, with a column for each status. */
function routeRows(tallies: Observed['tallies']): Measurement[] {
  const all = [...tallies.values()].flatMap(({ statuses }) => [...statuses.keys()])
  const columns = [...new Set(all)].toSorted((a, b) => a - b)
  return [...tallies]
    .toSorted(([, a], [, b]) => b.times.count() - a.times.count())
    .map(([label, { times, statuses }]) =>
      row(label, {
        calls: times.count(),
        'call p50 ms': times.ms(50),
        'call p99 ms': times.ms(99),
        'call max ms': times.ms(100),
        ...Object.fromEntries(columns.map((status) => [`${status}s`, statuses.get(status) ?? 0])),
      }),
    )
}

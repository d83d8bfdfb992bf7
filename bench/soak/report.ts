// What a soak has to say: as a table for people and as JSON.
import type { CpuTimes } from '../cpu.ts'
import type { Machine } from '../machine.ts'
import { aligned, constantsText } from '../tables.ts'
import type { RouteTally } from './client.ts'
import type { Outside, Slope, ThreadSeries } from './samples.ts'

export interface SoakReport {
  readonly scenario: 'soak'
  readonly startedAt: string
  readonly machine: Machine
  readonly service: { readonly listener: string; readonly threads: number }
  readonly constants: Readonly<Record<string, number | string>>
  readonly saturation: { readonly storiesPerSecond: number; readonly callsPerSecond: number } | undefined
  readonly soak: { readonly seconds: number; readonly calls: number; readonly callsPerSecond: number }
  /** Microseconds per call. Undefined where the system does not tell. */
  readonly cpu: CpuTimes | undefined
  readonly memory: {
    /** After the warm-up. Undefined where the run was too short to tell. */
    readonly heap: Slope | undefined
    readonly rss: Slope | undefined
    readonly heapMegabytes: Span
    readonly rssMegabytes: Span
  }
  /** For whoever looks for what grows: each thread's heap and what lies outside of it, MB after collection, by seconds since the start. */
  readonly threads: readonly ThreadSeries[]
  readonly descriptors: { readonly atRestBefore: number; readonly atRestAfter: number; readonly max: number }
  /** Of the threads' event loops, the worst of each. */
  readonly lagMs: readonly {
    readonly thread: number
    readonly p50: number
    readonly p99: number
    readonly max: number
  }[]
  readonly routes: readonly RouteFigures[]
  readonly fsck: { readonly exitCode: number | null; readonly output: string }
  readonly problems: readonly string[]
}

export interface Span {
  readonly first: number
  readonly last: number
  readonly max: number
}

interface RouteFigures {
  readonly route: string
  readonly calls: number
  readonly statuses: Readonly<Record<string, number>>
  readonly ms: { readonly p50: number; readonly p99: number; readonly max: number }
}

export function routeFigures(tallies: ReadonlyMap<string, RouteTally>): RouteFigures[] {
  return [...tallies]
    .map(([route, { statuses, micros }]) => ({
      route,
      calls: micros.count,
      statuses: Object.fromEntries(statuses),
      ms: {
        p50: micros.percentile(50) / 1000,
        p99: micros.percentile(99) / 1000,
        max: micros.max / 1000,
      },
    }))
    .toSorted((a, b) => b.calls - a.calls)
}

export function span(bytes: readonly number[]): Span {
  const megabytes = bytes.map((each) => each / 1e6)
  return { first: megabytes[0] ?? 0, last: megabytes.at(-1) ?? 0, max: Math.max(0, ...megabytes) }
}

/** For a line of progress. */
export function outsideText({ rssBytes, descriptors, sockets }: Outside): string {
  return `RSS ${(rssBytes / 1e6).toFixed(0)} MB, ${descriptors} descriptors, ${sockets} sockets`
}

/** Text for the terminal. */
export function printedSoak(report: SoakReport): string {
  const { machine, service, constants, saturation, soak, cpu, memory, descriptors, lagMs, routes, fsck } =
    report
  const rows = routes.map(({ route, calls, statuses, ms }) => [
    route,
    String(calls),
    ...[ms.p50, ms.p99, ms.max].map((each) => each.toFixed(1)),
    Object.entries(statuses)
      .map(([status, count]) => `${status}×${count}`)
      .join(' '),
  ])
  const about = {
    machine: `${machine.cpu}, ${machine.cores} cores, ${machine.system}, fsync of 8 KiB p50 ${machine.fsyncMs.p50.toFixed(2)} ms`,
    versions: `commit ${machine.commit}, Node ${machine.node}`,
    service: `listener ${service.listener}, worker threads ${service.threads}`,
    constants: constantsText(constants),
    saturation:
      saturation === undefined
        ? 'not looked for: the rate was given'
        : `${saturation.callsPerSecond.toFixed(0)} calls/s, ${saturation.storiesPerSecond.toFixed(0)} stories/s`,
    soak: `${soak.calls} calls in ${soak.seconds.toFixed(0)} s, ${soak.callsPerSecond.toFixed(0)}/s`,
    CPU:
      cpu === undefined
        ? 'not known'
        : `${cpu.total.toFixed(0)} µs per call: door ${cpu.door.toFixed(0)}, workers ${cpu.workers.toFixed(0)}, helpers ${cpu.helpers.toFixed(0)}, postgres ${cpu.postgres.toFixed(0)}`,
    heap: `${slopeText(memory.heap)}; after collection ${spanText(memory.heapMegabytes)}`,
    RSS: `${slopeText(memory.rss)}; ${spanText(memory.rssMegabytes)}`,
    descriptors: `${descriptors.atRestBefore} at rest before, ${descriptors.atRestAfter} after, ${descriptors.max} at most`,
    'loop lag': lagMs
      .map(({ thread, p50, p99, max }) => {
        const name = thread === 0 ? 'door' : `worker ${thread}`
        return `${name} p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} max ${max.toFixed(0)} ms`
      })
      .join(', '),
    fsck: fsck.exitCode === 0 ? 'clean' : `exit code ${fsck.exitCode}`,
  }
  return `countersign bench: soak, ${report.startedAt}

${Object.entries(about)
  .map(([name, text]) => `${name.padEnd(12)}${text}`)
  .join('\n')}

${aligned([['route', 'calls', 'p50 ms', 'p99 ms', 'max ms', 'statuses'], ...rows])}
`
}

function slopeText(slope: Slope | undefined): string {
  if (slope === undefined) return 'too short for a slope'
  return `${slope.perHour.toFixed(1)} ± ${slope.plusMinus.toFixed(1)} MB/hour (95 %, ${slope.samples} samples)`
}

function spanText({ first, last, max }: Span): string {
  return `${first.toFixed(0)} MB at first, ${last.toFixed(0)} at last, ${max.toFixed(0)} at most`
}

// One line of a scenario from its runs: throughput and cost from open throttle, latency from the fixed rate, never both from one.
import type { CpuTimes } from './cpu.ts'
import type { Run } from './drive.ts'
import { figureOf, figureOfAll, sum, type Figure } from './figures.ts'
import type { Latency } from './load.ts'
import type { Batches, Cpu, Measurement } from './report.ts'
import type { YardstickRound } from './yardsticks.ts'

/** Both runs of one connection count in one round. */
export interface Pair {
  readonly open: Run
  readonly paced: Run
}

interface MeasurementOptions {
  readonly connections: number
  /** Stored before. */
  readonly records: number | undefined
  /** One for each round. */
  readonly pairs: readonly Pair[]
  /** One for each round, or none. */
  readonly yardsticks: readonly YardstickRound[]
  /** Of the service beside it, in the same rounds, or none. */
  readonly other: readonly Pair[]
  readonly otherName: string
  /** Of the database when it was measured, by their names. */
  readonly sizes: Readonly<Record<string, number>>
}

export function measurementOf(options: MeasurementOptions): Measurement {
  const { connections, records, pairs, yardsticks, other, otherName, sizes } = options
  const open = pairs.map((pair) => pair.open)
  const paced = pairs.map((pair) => pair.paced)
  const [last] = pairs.slice(-1)
  const latencies = paced.map(latencyOf)
  const ratio = (of: (pair: Pair) => number | undefined) => ratioOf(pairs.map(of), other.map(of))
  return {
    label: records === undefined ? String(connections) : `${connections} · ${inThousands(records)} records`,
    connections,
    ...(records === undefined ? {} : { records }),
    perSecond: figureOf(open.map(rateOf)),
    latency: {
      ratePerSecond: figureOf(paced.map(rateOf)),
      p50: figureOf(latencies.map(({ p50 }) => p50)),
      p99: figureOf(latencies.map(({ p99 }) => p99)),
      max: figureOf(latencies.map(({ max }) => max)),
      distribution: latencies.at(-1)?.distribution,
    },
    cpu: cpuOf(open, yardsticks),
    generator: {
      micros: figureOf(open.map(({ load }) => load.cpuMicros)),
      coreShare: figureOf(open.map(({ load }) => load.coreShare)),
    },
    batches: batchesOf(open.flatMap(({ batchSizes }) => batchSizes)),
    more: given({
      'RSS MiB': figureOfAll(open.map(({ rssMiB }) => rssMiB)),
      'WAL B': figureOfAll(open.map(({ walBytes }) => walBytes)),
      ...Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, figureOf([size])])),
      [`rate ÷ ${otherName}`]: ratio((pair) => rateOf(pair.open)),
      [`CPU ÷ ${otherName}`]: ratio((pair) => microsOf(pair.open)),
      [`p50 ÷ ${otherName}`]: ratio((pair) => latencyOf(pair.paced).p50),
      [`p99 ÷ ${otherName}`]: ratio((pair) => latencyOf(pair.paced).p99),
    }),
    disturbance: worst([...open, ...paced].map(disturbanceOf)),
    overTime: last && { open: last.open.load.overTime, paced: last.paced.load.overTime },
  }
}

/** Round by round: 0.95 of its throughput, 1.1 of its CPU. */
function ratioOf(
  of: readonly (number | undefined)[],
  to: readonly (number | undefined)[],
): Figure | undefined {
  return figureOfAll(
    to.map((value, round) => {
      const mine = of[round]
      return value === undefined || mine === undefined ? undefined : mine / value
    }),
  )
}

/** Replies per second. */
export function rateOf({ replies, load }: Run): number {
  return replies / load.seconds
}

function latencyOf({ load }: Run): Latency {
  if (load.latencyMs === undefined) throw new Error('the generator measured no latency')
  return load.latencyMs
}

function microsOf({ cpu }: Run): number | undefined {
  return cpu && totalOf(cpu)
}

function cpuOf(runs: readonly Run[], yardsticks: readonly YardstickRound[]): Cpu | undefined {
  const times = runs.flatMap(({ cpu }) => (cpu === undefined ? [] : [cpu]))
  if (times.length < runs.length || times.length === 0) return undefined
  const part = (name: 'door' | 'workers' | 'helpers' | 'postgres') => figureOf(times.map((cpu) => cpu[name]))
  const ratios = times.map((cpu, round) => {
    const floor = yardsticks[round]?.floor
    return floor?.postgresMicros === undefined
      ? undefined
      : totalOf(cpu) / (floor.programMicros + floor.postgresMicros)
  })
  return {
    door: part('door'),
    workers: part('workers'),
    helpers: part('helpers'),
    postgres: part('postgres'),
    total: figureOf(times.map(totalOf)),
    timesFloor: figureOfAll(ratios),
  }
}

function totalOf({ door, workers, helpers, postgres }: CpuTimes): number {
  return door + workers + helpers + postgres
}

/** in  sizes  one for each request, of the batch it travelled in: a batch of n stands there n times */
function batchesOf(sizes: readonly number[]): Batches | undefined {
  if (sizes.length === 0) return undefined
  const sorted = sizes.toSorted((a, b) => a - b)
  const shares = Array.from({ length: 8 }, () => 0)
  for (const size of sizes) shares[Math.min(7, Math.ceil(Math.log2(size)))]! += 1 / sizes.length
  return {
    mean: sizes.length / sum(sizes.map((size) => 1 / size)),
    p50: sorted[sorted.length >> 1] ?? 0,
    max: sorted.at(-1) ?? 0,
    shares,
  }
}

type Disturbance = NonNullable<Measurement['disturbance']>

function disturbanceOf({ cpu, load, coreMicros }: Run): Disturbance | undefined {
  if (cpu === undefined) return undefined
  const ours = totalOf(cpu) + load.cpuMicros
  return {
    steal: (100 * cpu.steal) / coreMicros,
    others: Math.max(0, (100 * (cpu.busy - ours)) / coreMicros),
  }
}

function worst(all: readonly (Disturbance | undefined)[]): Disturbance | undefined {
  const known = all.filter((one) => one !== undefined)
  return known.length < all.length
    ? undefined
    : {
        steal: Math.max(...known.map(({ steal }) => steal)),
        others: Math.max(...known.map(({ others }) => others)),
      }
}

function given(figures: Readonly<Record<string, Figure | undefined>>): Record<string, Figure> {
  const known: Record<string, Figure> = {}
  for (const [name, figure] of Object.entries(figures)) if (figure !== undefined) known[name] = figure
  return known
}

function inThousands(count: number): string {
  return count.toLocaleString('en-US')
}

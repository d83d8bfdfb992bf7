// One line of a scenario from its runs: throughput and cost from open throttle, latency from the fixed rate, never both from one.
import { figureOf, figureOfAll, sum, type Figure } from './figures.ts'
import type { FloorRound } from './floor-round.ts'
import type { Latency } from './load.ts'
import type { Measurement } from './report.ts'
import type { Run } from './run.ts'

/** Both runs of one connection count in one round. */
export interface Pair {
  readonly open: Run
  readonly paced: Run
}

interface Measured {
  readonly connections: number
  /** Stored before. */
  readonly records: number | undefined
  /** One for each round. */
  readonly pairs: readonly Pair[]
  /** Of the service beside it, in the same rounds, or none. */
  readonly others: readonly Pair[]
  readonly otherName: string
  /** One for each round, or none. */
  readonly floors: readonly FloorRound[]
  /** Of the database when it was measured, by their names. */
  readonly sizes: Readonly<Record<string, number>>
}

const part = (
  of: readonly NonNullable<Run['cpu']>[],
  name: 'door' | 'workers' | 'helpers' | 'postgres' | 'total',
) => figureOf(of.map((cpu) => cpu[name]))

export function measurementOf(measured: Measured): Measurement {
  const { connections, records, pairs, others, otherName, floors, sizes } = measured
  const open = pairs.map((pair) => pair.open)
  const paced = pairs.map((pair) => pair.paced)
  const last = pairs.at(-1)
  const latencies = paced.map(latencyOf)
  const ratio = (of: (pair: Pair) => number | undefined) => ratioOf(pairs.map(of), others.map(of))
  const cpus = figureOfAll(open.map(({ cpu }) => cpu?.total)) && open.flatMap(({ cpu }) => cpu ?? [])
  const timesFloor = ratioOf(
    open.map(({ cpu }) => cpu?.total),
    floors.map(({ total }) => (Number.isNaN(total) ? undefined : total)),
  )
  const batches = batchesOf(open.flatMap(({ batchSizes }) => batchSizes))
  const disturbances = [...open, ...paced].flatMap((run) => disturbanceOf(run) ?? [])
  return {
    label:
      records === undefined
        ? String(connections)
        : `${connections} · ${records.toLocaleString('en-US')} records`,
    connections,
    ...(records === undefined ? {} : { records }),
    perSecond: figureOf(open.map(rateOf)),
    latency: {
      ratePerSecond: figureOf(paced.map(rateOf)),
      p50: figureOf(latencies.map(({ p50 }) => p50)),
      p99: figureOf(latencies.map(({ p99 }) => p99)),
      max: figureOf(latencies.map(({ max }) => max)),
      distribution: latencies.at(-1)?.distribution ?? [],
    },
    ...(cpus === undefined
      ? {}
      : {
          cpu: {
            door: part(cpus, 'door'),
            workers: part(cpus, 'workers'),
            helpers: part(cpus, 'helpers'),
            postgres: part(cpus, 'postgres'),
            total: part(cpus, 'total'),
            ...(timesFloor === undefined ? {} : { timesFloor }),
          },
        }),
    generator: {
      micros: figureOf(open.map(({ load }) => load.cpuMicros)),
      coreShare: figureOf(open.map(({ load }) => load.coreShare)),
    },
    ...(batches === undefined ? {} : { batches }),
    more: {
      ...figuresOf(open, ''),
      // Memory and log are taken from open throttle alone.
      ...Object.fromEntries(
        Object.entries(figuresOf(paced, ', paced')).filter(([name]) => !/^(RSS|WAL)/.test(name)),
      ),
      ...Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, figureOf([size])])),
      ...given({
        [`rate ÷ ${otherName}`]: ratio((pair) => rateOf(pair.open)),
        [`CPU ÷ ${otherName}`]: ratio((pair) => pair.open.cpu?.total),
        [`p50 ÷ ${otherName}`]: ratio((pair) => latencyOf(pair.paced).p50),
        [`p99 ÷ ${otherName}`]: ratio((pair) => latencyOf(pair.paced).p99),
      }),
    },
    ...(disturbances.length === 0
      ? {}
      : {
          disturbance: {
            steal: Math.max(...disturbances.map(({ steal }) => steal)),
            others: Math.max(...disturbances.map(({ others: percent }) => percent)),
          },
        }),
    ...(last && { overTime: { open: last.open.load.overTime, paced: last.paced.load.overTime } }),
  }
}

/** Round by round: 0.95 of its throughput, 1.1 of its CPU. */
function ratioOf(
  of: readonly (number | undefined)[],
  to: readonly (number | undefined)[],
): Figure | undefined {
  return figureOfAll(
    to.slice(0, of.length).map((value, round) => {
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

function figuresOf(runs: readonly Run[], suffix: string): Record<string, Figure> {
  const names = Object.keys(runs[0]?.more ?? {})
  return given(
    Object.fromEntries(names.map((name) => [name + suffix, figureOfAll(runs.map(({ more }) => more[name]))])),
  )
}

/** @param sizes one for each request, of its batch: a batch of n stands there n times */
function batchesOf(sizes: readonly number[]): Measurement['batches'] {
  if (sizes.length === 0) return undefined
  return { mean: sizes.length / sum(sizes.map((size) => 1 / size)), max: Math.max(...new Set(sizes)) }
}

function disturbanceOf({ cpu, load, coreMicros }: Run): Measurement['disturbance'] {
  if (cpu === undefined) return undefined
  return {
    steal: (100 * cpu.steal) / coreMicros,
    others: Math.max(0, (100 * (cpu.busy - cpu.total - load.cpuMicros)) / coreMicros),
  }
}

function given(figures: Readonly<Record<string, Figure | undefined>>): Record<string, Figure> {
  const known: Record<string, Figure> = {}
  for (const [name, figure] of Object.entries(figures)) if (figure !== undefined) known[name] = figure
  return known
}

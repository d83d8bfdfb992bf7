// What a run has to say, as it stands in the JSON file; the table, the page and the Markdown are made from it.
import type { Figure } from './figures.ts'
import type { OverTime } from './load.ts'
import type { Machine } from './machine.ts'

export const REPORT_VERSION = 2

export interface Report {
  readonly version: typeof REPORT_VERSION
  /** Of which service: the bench's own, or the address of a deployment. */
  readonly subject: string
  readonly startedAt: string
  readonly seconds: number
  /** What was typed. */
  readonly command: string
  /** Where the generator ran, and a service of the bench's own with it. */
  readonly machine: Machine
  /** Constants of every measurement. */
  readonly constants: Readonly<Record<string, number | string>>
  readonly scenarios: readonly ScenarioReport[]
}

export interface ScenarioReport {
  readonly name: string
  readonly description: string
  readonly service: ServiceAbout | undefined
  readonly measurements: readonly Measurement[]
  readonly yardsticks: Yardsticks | undefined
  readonly checked: Checked
}

export interface ServiceAbout {
  readonly listener: string
  readonly threads: number
  readonly postgres: string
}

export interface Checked {
  /** Replies, all with the status they must have. */
  readonly replies: number
  /** Tables in which PostgreSQL held as many new rows as the replies say. Undefined for a deployment, whose database is not the bench's. */
  readonly rows: readonly string[] | undefined
  readonly verifiedOffline: number
}

/** One line of a scenario: connections, a number of stored records, or a kind of start. */
export interface Measurement {
  readonly label: string
  readonly connections: number | undefined
  /** Stored before. */
  readonly records?: number
  /** Open throttle, all replies. */
  readonly perSecond: Figure | undefined
  /** At a fixed rate, from when a request was due. Milliseconds. */
  readonly latency:
    | {
        readonly ratePerSecond: Figure
        readonly p50: Figure
        readonly p99: Figure
        readonly max: Figure
        /** Of the last round, at each of `distributionShares`. */
        readonly distribution: readonly number[] | undefined
      }
    | undefined
  /** Microseconds per reply at open throttle. Undefined where the system or the deployment does not tell. */
  readonly cpu: Cpu | undefined
  /** Microseconds per reply, and of one core at open throttle. */
  readonly generator: { readonly micros: Figure; readonly coreShare: Figure } | undefined
  readonly batches: Batches | undefined
  /** Figures that only some have, by their name with its unit. */
  readonly more: Readonly<Record<string, Figure>>
  /** Of all cores, in the worst round: what the host took away, and what other programs used. Percent. */
  readonly disturbance: { readonly steal: number; readonly others: number } | undefined
  /** Of the last round: replies at open throttle, latency at the fixed rate. */
  readonly overTime: { readonly open: OverTime; readonly paced: OverTime } | undefined
}

export interface Cpu {
  readonly door: Figure
  readonly workers: Figure
  /** Threads of V8 and libuv in the service. */
  readonly helpers: Figure
  readonly postgres: Figure
  readonly total: Figure
  /** Of the same round's floor; undefined in scenarios that have none. */
  readonly timesFloor: Figure | undefined
}

/** Requests that shared a crossing to a worker thread, at open throttle. */
export interface Batches {
  readonly mean: number
  /** The batch that half of all requests travelled in, or a smaller one. */
  readonly p50: number
  readonly max: number
  /** Share of the requests that travelled in batches of 1, 2, 3–4, 5–8 … 65–128. */
  readonly shares: readonly number[]
}

/** In the same session, on the same machine and PostgreSQL. */
export interface Yardsticks {
  /** What no implementation can avoid (bench/floor.ts). */
  readonly floor: Yardstick
  /** A row of the same bytes and a commit for each execution (bench/single-rows.ts). */
  readonly singleRows: Yardstick
  /** bench/naive.ts, under the same load. */
  readonly naive: Yardstick
}

export interface Yardstick {
  readonly perSecond: Figure
  /** CPU microseconds of the program and of PostgreSQL, per execution. */
  readonly programMicros: Figure
  readonly postgresMicros: Figure | undefined
}

/** The connection count that brought the most, with the most stored records: where a scenario is saturated. */
export function saturation({ measurements }: ScenarioReport): Measurement | undefined {
  const fullest = measurements.filter(({ records }) => records === measurements.at(-1)?.records)
  const rates = fullest.map(({ perSecond }) => perSecond?.median ?? 0)
  return fullest[rates.indexOf(Math.max(...rates))]
}

/** `64 connections, 2,000 records` */
export function named({ connections, records, label }: Measurement): string {
  if (connections === undefined) return label
  const counted = `${connections} connection${connections === 1 ? '' : 's'}`
  return records === undefined ? counted : `${counted}, ${records.toLocaleString('en-US')} records`
}

export function figureText(value: number | undefined, decimals = 0): string {
  return value === undefined || Number.isNaN(value) ? 'n/a' : value.toFixed(decimals)
}

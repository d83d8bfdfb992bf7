// What a run reports, as it stands in the JSON file; the table, the page and the Markdown are made from it.
import type { Figure } from './figures.ts'
import type { OverTime } from './load.ts'
import type { Machine } from './machine.ts'

export const REPORT_VERSION = 3

export interface Report {
  readonly version: typeof REPORT_VERSION
  /** The service: the bench's own, or the address of a deployment. */
  readonly subject: string
  readonly startedAt: string
  readonly seconds: number
  /** The command line, without the key. */
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
  readonly service?: { readonly listener: string; readonly threads: number; readonly postgres: string }
  readonly measurements: readonly Measurement[]
  /** What no implementation of an execution can avoid (bench/floor.ts), in the same rounds. */
  readonly floor?: Floor
  readonly checked: {
    /** Replies, all with the status they must have. */
    readonly replies: number
    /** Tables that grew by as many rows as the replies say. Undefined for a deployment, whose database is not the bench's. */
    readonly rows?: readonly string[]
    readonly verifiedOffline: number
  }
}

/** One line of a scenario: a connection count with a number of stored records, or a kind of start. */
export interface Measurement {
  readonly label: string
  readonly connections?: number
  /** Stored before. */
  readonly records?: number
  /** Open throttle, all replies. */
  readonly perSecond?: Figure
  /** At a fixed rate, from when a request was due. Milliseconds. */
  readonly latency?: {
    readonly ratePerSecond: Figure
    readonly p50: Figure
    readonly p99: Figure
    readonly max: Figure
    /** Of the last round, at each of `DISTRIBUTION_SHARES`. */
    readonly distribution: readonly number[]
  }
  /** Microseconds per reply at open throttle. Undefined where the system or the deployment does not tell. */
  readonly cpu?: {
    readonly door: Figure
    readonly workers: Figure
    /** Threads of V8 and libuv in the service. */
    readonly helpers: Figure
    readonly postgres: Figure
    readonly total: Figure
    /** As a multiple of the same round's floor. */
    readonly timesFloor?: Figure
  }
  /** Microseconds per reply, and of one core at open throttle. */
  readonly generator?: { readonly micros: Figure; readonly coreShare: Figure }
  /** Requests that shared a batch, at open throttle. */
  readonly batches?: { readonly mean: number; readonly max: number }
  /** Figures that only some have, by their name with its unit. */
  readonly more: Readonly<Record<string, Figure>>
  /** Of all cores, in the worst round: taken away by the host, and used by other programs. Percent. */
  readonly disturbance?: { readonly steal: number; readonly others: number }
  /** Of the last round: replies at open throttle, latency at the fixed rate. */
  readonly overTime?: { readonly open: OverTime; readonly paced: OverTime }
}

/** CPU microseconds of the program and of PostgreSQL, per execution. */
export interface Floor {
  readonly perSecond: Figure
  readonly program: Figure
  readonly postgres: Figure
  readonly total: Figure
}

/** The measurement with the most stored records whose connection count brought the most. */
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

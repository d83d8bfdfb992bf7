// The report of a run, as it stands in the JSON file; the text for the terminal, the Markdown and the page are made from it.
import type { Figures } from './figures.ts'
import type { LoadResult, OverTime } from './load.ts'
import { describeMachine, type Machine } from './machine.ts'

export const REPORT_VERSION = 6

/** V8 compiles until a service has answered about so many requests: after 92,000 requests it took 28 % less CPU than after 10,000. */
export const WARM_AFTER = 60_000

export interface Report {
  readonly version: typeof REPORT_VERSION
  /** The service: the bench's own, or the address of a deployment. */
  readonly subject: string
  readonly startedAt: string
  readonly seconds: number
  /** The longest time, as it was said at the start of a quick run. */
  readonly saidSeconds?: number
  /** The command line, without the key. */
  readonly command: string
  /** The machine of the generator, and of a service of the bench's own. */
  readonly machine: Machine
  /** Constants of every measurement. */
  readonly constants: Readonly<Record<string, number | string>>
  readonly scenarios: readonly ScenarioReport[]
}

export interface ScenarioReport {
  readonly name: string
  readonly description: string
  /** Requests that each service had answered before the first run that counts, and whether any service had fewer than `WARM_AFTER`. */
  readonly history?: { readonly answered: Readonly<Record<string, number>>; readonly isCold: boolean }
  readonly service?: { readonly listener: string; readonly threads: number; readonly postgres: string }
  /** The head of the column that holds the labels of the measurements. */
  readonly labels: string
  readonly measurements: readonly Measurement[]
  /** Other things measured at the same time, by the title of their table. */
  readonly further?: Readonly<Record<string, readonly Measurement[]>>
  readonly checked: {
    /** Replies with the status they must have. */
    readonly replies: number
    /** For a deployment: other replies and missing replies, as far as they are tolerated, and its 429s. */
    readonly errors?: number
    readonly limited?: number
    /** The errors by kind of request and status: `execute 503`. */
    readonly errorsBy?: Readonly<Record<string, number>>
    /** The kinds of rows that have grown as the replies say. Undefined for a deployment, whose database is not the bench's. */
    readonly left?: readonly string[]
    readonly verifiedOffline: number
  }
}

/** One row of a table: a connection count with a number of stored records, a kind of start, a route. */
export interface Measurement {
  readonly label: string
  readonly figures: Figures
  readonly connections?: number
  /** Records stored before. */
  readonly records?: number
  /** The replies of the last round at open throttle, and its latency at the fixed rate. */
  readonly lastRound?: {
    readonly open?: OverTime
    readonly paced: OverTime
    readonly latency: LoadResult['latency']
  }
}

/** The title of the floor in a scenario's `further`. */
export const FLOOR = 'The floor in the same rounds: what cannot be avoided, in batches of 64; CPU µs'

/** Subject of a report on services that the bench has started. */
export const FRESH = 'a fresh service on this machine'

/** @returns a function that makes the report at the end of a run that starts now */
export function startReport() {
  const startedAt = new Date()
  const machine = describeMachine()
  return (of: Omit<Report, 'version' | 'startedAt' | 'seconds' | 'machine'>): Report => ({
    version: REPORT_VERSION,
    startedAt: startedAt.toISOString(),
    seconds: (Date.now() - startedAt.getTime()) / 1000,
    machine,
    ...of,
  })
}

/** @returns the head of a measurement's throughput: at open throttle, or at the rate that was all it was asked for */
export function rateHead({ figures }: Measurement): 'per s' | 'at rate' {
  return figures['per s'] === undefined ? 'at rate' : 'per s'
}

/** @returns the measurement with the most stored records, at the connection count with the highest throughput */
export function saturation({ measurements }: ScenarioReport): Measurement | undefined {
  const fullest = measurements.filter(({ records }) => records === measurements.at(-1)?.records)
  const rates = fullest.map((one) => one.figures[rateHead(one)]?.median ?? 0)
  return fullest[rates.indexOf(Math.max(...rates))]
}

/** Other programs may take this share of a core before a reader is warned. */
const OTHERS_CORE_SHARE_MAX = 0.2

/** @returns a warning where other programs took more in any run, with the worst place */
export function disturbed({ machine, scenarios }: Report): string | undefined {
  const rows = scenarios.flatMap(({ name, measurements, service }) =>
    measurements.map((one) => ({
      cores: ((one.figures['others %']?.max ?? 0) / 100) * machine.cores,
      where: `${name}, ${named(one)}`,
      isHere: service !== undefined,
    })),
  )
  const over = rows.filter(({ cores }) => cores > OTHERS_CORE_SHARE_MAX)
  const worst = over.toSorted((a, b) => b.cores - a.cores)[0]
  if (worst === undefined) return undefined
  const much = `Other programs took up to ${(worst.cores * 100).toFixed(0)} % of a core (${worst.where}); more than ${OTHERS_CORE_SHARE_MAX * 100} % in ${over.length} of ${rows.length} rows.`
  return worst.isHere
    ? `${much} Figures of such a run do not compare.`
    : `${much} If the deployment runs on this machine, it is among them, and the generator takes its cores.`
}

/** @returns `64 connections, 2,000 records` */
export function named({ connections, records, label }: Measurement): string {
  if (connections === undefined) return label
  const counted = `${connections} connection${connections === 1 ? '' : 's'}`
  return records === undefined ? counted : `${counted}, ${records.toLocaleString('en-US')} records`
}

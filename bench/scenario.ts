// The shape of a scenario: its requests, the expected answers, and the rows that each reply leaves.
// It imports nothing that measures a scenario, so that every part of the bench may import this file.
import type { Client } from 'pg'
import type { Generator } from './load.ts'
import type { Stage } from './pace.ts'
import type { RequestKind, Sender } from './request.ts'
import type { Report, ScenarioReport } from './report.ts'
import type { MeasuredService, ServiceOptions } from './service.ts'
import type { TransactionOptions } from './transaction.ts'

export interface Scenario {
  readonly name: string
  /** One sentence for the reader of a report. */
  readonly description: string
  /** Needs a service of the bench's own, for other settings or for its database. */
  readonly isLocal?: true
  /** Settings of that service. */
  readonly env?: Readonly<Record<string, string>>
  /** Connection counts, one after another, where the command line names none. Default: 1 and 64. */
  readonly connections?: readonly number[]
  /** Measured at each of `--records` stored records, with the same service over an empty database beside it. */
  readonly hasLevels?: true
  /** The floor is measured in every round, but not with a service beside. */
  readonly hasFloor?: true
  /** The scenario does not fit every transaction of a caller. */
  readonly isSandboxOnly?: true
  readonly setUp: (setting: Setting) => Requests | Promise<Requests>
  /**
   * Waits until the work that a run has left is done, as part of the run's CPU.
   *
   * @returns further figures of the run, by their names with units
   */
  readonly settle?: (database: Client, since: Date) => Promise<Record<string, number>>
}

/** A scenario whose figures are not those of a load: it measures them itself. */
export interface SelfMeasured {
  readonly name: string
  readonly description: string
  readonly isLocal: true
  readonly measure: (options: SuiteOptions, stack: AsyncDisposableStack) => Promise<Measured<ScenarioReport>>
}

export interface Setting {
  readonly subject: Subject
  /** Records that a scenario of reads stores beforehand. */
  readonly storedCount: number
  /** Collects the clean-up steps. */
  readonly stack: AsyncDisposableStack
}

export interface Requests {
  readonly kinds: readonly RequestKind[]
  readonly senders: readonly Sender[]
}

/** The service under measurement: a fresh one of the bench's own, or a deployment that somebody else runs. */
export interface Subject {
  readonly url: string
  /** Raw API key of the first sender. */
  readonly key: string
  /** An access token of a caller who may do the same. */
  readonly token?: string
  /** Callers that the load comes from; at least one. */
  readonly senders: readonly Sender[]
  /** Whether to wait for its rate limits, because it was not set up for the bench. */
  readonly slowsDown: boolean
  readonly transaction: TransactionOptions
  /** The version that a deployment states. */
  readonly version?: string
  /** Undefined for a deployment, whose processes and database are not known. */
  readonly own?: { readonly service: MeasuredService; readonly database: Client }
}

/** The options of the command line, or their defaults. */
export interface SuiteOptions extends TransactionOptions {
  /** Names of scenarios; empty stands for all. */
  readonly only: readonly string[]
  /** The command line, without the key. */
  readonly command: string
  /** One database server for all, and one service for all scenarios that need no other settings. */
  readonly quick?: true
  /** The length of each run. */
  readonly seconds: number
  readonly rounds: number
  /** Requests that each service has answered before it is measured, in `WARM_UP_SECONDS_MAX` at most. */
  readonly warmUp: number
  /** Connection counts in place of the scenario's own. */
  readonly connections?: readonly number[]
  /** Stored records of the scenarios that have levels. */
  readonly records: readonly number[]
  readonly storedCount: number
  /** Pieces of evidence of each kind that are verified offline for each scenario. */
  readonly sampleSize: number
  /** The rate of the latency runs, in place of a share of the throughput; with `url` there are no other runs then. */
  readonly rate?: readonly Stage[]
  /** `both`: one after the other on the same service, beside each other in the report. */
  readonly generator: Generator | 'both'
  /** Folder of another checkout, whose service is measured in turn with this one's. */
  readonly beside?: string
  /** Variables of the service beside. */
  readonly besideEnv?: Readonly<Record<string, string>>
  /** `token`: the callers send an access token and, in turn, a key. */
  readonly callers?: 'key' | 'token'
  /** Folder of the checkout whose service is measured, in place of this one's. */
  readonly service?: string
  /** A deployment to measure in place of a service of the bench's own, and the API keys for it. */
  readonly url?: string
  readonly key?: readonly string[]
  /** The percentage of errors that a deployment's replies may have. */
  readonly maxErrorPercent?: number
}

/** Starts a service. `isFresh`: never a service that another scenario has used; `byToken`: a service that accepts an access token too. */
export type Start = (
  options: ServiceOptions & { readonly isFresh: boolean; readonly byToken?: boolean },
  stack: AsyncDisposableStack,
) => Promise<Subject>

/** A program beside the suite, with options of its own. */
export interface Program<Options extends object> {
  readonly name: string
  readonly description: string
  /** A line for each option (bench/options.ts). */
  readonly help: string
  readonly parse: Readonly<Record<string, (text: string) => unknown>>
  readonly defaults: Options
  measure(
    options: Options,
    stack: AsyncDisposableStack,
  ): Promise<Measured<ScenarioReport> & Pick<Report, 'constants'>>
}

export interface Measured<Kind> {
  readonly report: Kind
  /** Whether the report helps to find the cause where there are problems. */
  readonly isWorthReading?: boolean
  /** Failed checks; with any of them the report is worth nothing. */
  readonly problems: string[]
}

/** Tells a person the current step: one line on standard error. */
export function say(what: string): void {
  sayProgress()
  process.stderr.write(`bench: ${what}\n`)
}

const PROGRESS_EVERY_SECONDS = 10
let isProgressShown = false

/**
 * Shows a person the progress of a run: on a terminal in one line that changes, elsewhere in a line every ten seconds.
 *
 * @param seconds since the run began
 * @param what the text; without it the line is taken away
 */
export function sayProgress(seconds = 0, what?: string): void {
  const { isTTY } = process.stderr
  if (isTTY && (isProgressShown || what !== undefined))
    process.stderr.write(`\r\x1b[K${what === undefined ? '' : `bench: ${what}`}`)
  else if (what !== undefined && Math.round(seconds) % PROGRESS_EVERY_SECONDS === 1)
    process.stderr.write(`bench: ${what}\n`)
  isProgressShown = what !== undefined
}

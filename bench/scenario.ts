// The shape of a scenario: what it sends, what must be answered, and which rows each reply leaves. All types and no imports of
// what measures it, so that every part of the bench may import this file.
import type { Client } from 'pg'
import type { RequestKind } from './request.ts'
import type { ScenarioReport } from './report.ts'
import type { MeasuredService, ServiceOptions } from './service.ts'
import type { TransactionOptions } from './transaction.ts'

export interface Scenario {
  readonly name: string
  /** One sentence for the reader of a report. */
  readonly description: string
  /** Needs a service of the bench's own: other settings of it, or its database. */
  readonly isLocal?: true
  /** Settings of that service. */
  readonly env?: Readonly<Record<string, string>>
  /** Connection counts, one after another, where the command line names none. */
  readonly connections: readonly number[]
  /** Measured at each of `--records` stored records, with the same service over an empty database beside it. */
  readonly hasLevels?: true
  /** The floor is measured in every round. */
  readonly hasFloor?: true
  /** Where it does not fit every transaction of a caller. */
  readonly isPossible?: (transaction: TransactionOptions) => boolean
  readonly setUp: (setting: Setting) => Promise<Requests>
  /**
   * Waits for what a run has left to be done, as part of the run's CPU.
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
  readonly measure: (options: MeasureOptions, stack: AsyncDisposableStack) => Promise<Measured>
}

export interface Setting {
  readonly subject: Subject
  /** Records that a scenario of reads stores beforehand. */
  readonly storedCount: number
  /** Takes what has to be undone. */
  readonly stack: AsyncDisposableStack
}

export interface Requests {
  readonly kinds: readonly RequestKind[]
  /** Ids that `{{stored}}` stands for. */
  readonly stored: readonly string[]
}

/** What is under measurement: a fresh service of the bench's own, or a deployment that somebody else runs. */
export interface Subject {
  readonly url: string
  /** Raw API key. */
  readonly key: string
  readonly transaction: TransactionOptions
  /** What a deployment says of its build. */
  readonly version?: string | undefined
  /** Undefined for a deployment: nothing is known of its processes and its database. */
  readonly own: { readonly service: MeasuredService; readonly database: Client } | undefined
}

export interface MeasureOptions {
  /** Of each run. */
  readonly seconds: number
  readonly rounds: number
  /** In place of the scenario's own. */
  readonly connections: readonly number[] | undefined
  /** Stored records of the scenarios that have levels. */
  readonly levels: readonly number[]
  readonly storedCount: number
  /** Requests per second of the latency runs, in place of a share of the throughput. */
  readonly rate: number | undefined
  /** Folder of another checkout, whose service is measured in turn with this one's. */
  readonly beside: string | undefined
  readonly transaction: TransactionOptions
  /** Undefined: a fresh service of the bench's own. */
  readonly deployment: Subject | undefined
  /** Starts a service; `isFresh` never returns one that another scenario has used. */
  readonly start: (
    options: ServiceOptions & { readonly isFresh?: boolean },
    stack: AsyncDisposableStack,
  ) => Promise<Subject>
  /** Tells a person what is done now. */
  readonly say: (what: string) => void
}

export interface Measured {
  readonly report: ScenarioReport
  /** Anything that is not as it must be; with any of them the report is worth nothing. */
  readonly problems: string[]
}

// The objects that handlers use, made once, at start; each area has an interface of what it takes.
import type pg from 'pg'
import type { AuthorityWatch } from './jobs/authority-watch.ts'
import type { Callers } from './callers.ts'
import type { Tokens } from '../core/callers/tokens.ts'
import type { Config } from '../core/config/config.ts'
import type { Reads } from './http/gates/reads.ts'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import type { PublishedLogKeys } from '../core/signing/log-keys.ts'
import type { PublishedKeys } from '../core/signing/published.ts'
import type { IssueReceipt } from './evidence/cose-receipts.ts'
import type { ApprovalRequestWatch } from './watch/approval-requests.ts'
import type { EventWatch } from './watch/events.ts'
import type { LogProofs } from './evidence/log-proofs.ts'
import type { CheckpointRow } from '../store/tables/log-checkpoints.ts'
import type { OpenedWitness } from './start/witness.ts'
import type { ConsoleGate } from './console/gate.ts'
import type { Sql } from '../store/postgres/sql.ts'
import type { EvidenceFaults } from '../core/threads/evidence-fault.ts'
import type { openUsable } from './usable.ts'

/** The OpenAPI document in both notations. Each is rendered once. */
export interface OpenApiTexts {
  readonly json: string
  readonly yaml: string
}

/** Reads of stored evidence. */
export interface Reading {
  readonly config: Config
  /** For the handlers' reads; for a GET, the share of its client (`http/gates/reads.ts`). The worker threads have their own connections. */
  readonly pool: Reads
  /** For the bulk export: the replica, which may lag a little behind, or `pool` where there is none. */
  readonly exportPool: pg.Pool
}

/** The evidence log, and the logs of others. */
export interface Logs extends Reading {
  /** The newest checkpoint that readers may see, of a log or of the newest one; undefined where there is none. */
  readonly servedCheckpoint: (sql: Sql, log?: number) => Promise<CheckpointRow | undefined>
  /** Undefined where this service is no witness of other logs. */
  readonly witness: OpenedWitness | undefined
  /** Only the routes that LOG=off does not mount use these three. */
  readonly logKeys: PublishedLogKeys
  readonly logProofs: LogProofs
  readonly issueReceipt: IssueReceipt
}

/** Callers, and the humans who govern. */
export interface People {
  /** Cookies and sessions of the console. */
  readonly console: ConsoleGate
  /** The callers whose keys are in effect. */
  readonly callers: Callers
  /** The callers by token; undefined: no issuer is configured. */
  readonly tokens: Tokens | undefined
  /** The authority that humans have put in effect. */
  readonly authority: AuthorityWatch
}

/** The parts by which replies wait for changes. */
export interface Waits {
  /** Wakes the requests that wait for events. */
  readonly eventWatch: EventWatch
  /** Wakes the requests that wait for an approval request to change. */
  readonly approvalRequestWatch: ApprovalRequestWatch
  /** True from the first stop signal on. */
  readonly stopping: () => boolean
}

/** The condition of this instance. */
export interface Condition extends Pick<Reading, 'config'>, Pick<Waits, 'stopping'> {
  /** Whether executions can be stored, checked over a connection of its own: GET /ready must not wait behind other reads. */
  readonly whyUnusable: ReturnType<typeof openUsable>
  /** The fault for which nothing is executed any more, if there is one. */
  readonly evidenceFaults: EvidenceFaults
  /** @returns a clause that names the signing key that is revoked; undefined while all are in effect */
  readonly revokedSigner: () => string | undefined
  /** Problems that an operator should look at, shown by GET /ready. */
  readonly warnings: () => readonly string[]
  /** @returns a sentence that says why this instance cannot keep up now; undefined where it can */
  readonly overload: () => string | undefined
}

/** All parts: a handler takes those that its signature names. */
export interface Service extends Logs, People, Waits, Condition {
  readonly dispatcher: Dispatcher
  readonly keys: PublishedKeys
  readonly openapi: OpenApiTexts
}

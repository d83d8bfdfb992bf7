// What a route is, what its handler is given and what it hands back.
import type pg from 'pg'
import type { AuthorityWatch } from '../jobs/authority.ts'
import type { Caller, Config } from '../../core/config.ts'
import type { Answer } from '../answer.ts'
import type { Cost } from '../http/compute.ts'
import type { Dispatcher } from '../threads/dispatch.ts'
import type { Failure } from '../../core/errors.ts'
import type { PublishedKeys } from '../../core/signing/published.ts'
import type { StoreFault } from '../../core/store-fault.ts'

/** The OpenAPI document in both notations, each rendered once. */
export interface OpenApiTexts {
  readonly json: string
  readonly yaml: string
}

export type { Answer } from '../answer.ts'

/** What handlers work with, made once at start. */
export interface Service {
  readonly config: Config
  /** For reads; the worker threads have their own connections. */
  readonly pool: pg.Pool
  /** For the bulk export: of the replica where there is one, whose rows may be a little older; else the same as `pool`. */
  readonly exportPool: pg.Pool
  /** For GET /ready alone, which must not wait behind them. */
  readonly readyPool: pg.Pool
  readonly keys: PublishedKeys
  readonly dispatcher: Dispatcher
  /** What is in effect: policies, approvers, external connectors. */
  readonly authority: AuthorityWatch
  /** Why the database refuses evidence, if it does. */
  readonly storeFault: StoreFault
  /** The OpenAPI document, rendered once. */
  readonly openapi: OpenApiTexts
  /** Differences that an operator should look at, shown by GET /ready. */
  readonly warnings: readonly string[]
  /** True from the first signal to stop. */
  readonly stopping: () => boolean
  /** Why this instance cannot keep up at this moment, a sentence; undefined: it can. */
  readonly overload: () => string | undefined
}

export type Params = Readonly<Record<string, string>>

export interface Incoming {
  /** Path parameters, percent-decoded; and what `fromHead` found. */
  readonly params: Params
  readonly query: URLSearchParams
  /** Undefined on open routes and where authentication is disabled. */
  readonly caller: Caller | undefined
  /** Position of the caller in the configured list, -1 without one. */
  readonly callerIndex: number
  /** By whom queues and budgets are divided: the callerId, or the address of a client without a key. */
  readonly client: string
  /** Empty unless the route takes a body. */
  readonly body: Uint8Array
}

export type Handler = (request: Incoming, service: Service) => Answer | Failure | Promise<Answer | Failure>

export interface Route {
  readonly method: 'GET' | 'POST'
  /** With `{name}` for a parameter, as interface §4 writes it. */
  readonly path: string
  /** Needs no credential (interface §5.2). */
  readonly open?: true
  readonly limit?: 'execute' | 'health' | 'public'
  /** Which budget of thread time it is charged to; without one it costs little or is limited otherwise. */
  readonly cost?: Cost
  /** For humans only: others get the 403 of interface §4.6 before a body is read. */
  readonly human?: true
  /** Takes a body, which then counts against the queues while it is on its way. */
  readonly takesBody?: true
  /** In place of MAX_BODY_BYTES. */
  readonly bodyBytesMax?: number
  /** Where the configuration says which of its paths are there; the others are no paths of the service. */
  readonly mounted?: (params: Params, config: Config) => boolean
  /** What the handler needs of the headers, as params; or a refusal before the body is read. Names are lower case. */
  readonly fromHead?: (params: Params, header: (name: string) => string | undefined) => Params | Failure
  /** The body of a failure where it is not the envelope of interface §7; a 401 always is. */
  readonly failureBody?: (failure: Failure) => string
  /** In place of the JSON of a reply for a client that prefers HTML; the status stays that of the contract. */
  readonly page?: () => Answer
  readonly handle: Handler
}

/** Every failure of POST /policies/validate (interface §4.4). */
export function validityBody({ message }: Failure): string {
  return JSON.stringify({ valid: false, errors: [message] })
}

export function json(value: unknown, more: Partial<Answer> = {}): Answer {
  return { status: 200, body: JSON.stringify(value), ...more }
}

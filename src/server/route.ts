// A route: how the front end treats it, its OpenAPI operation and its handler.
import type { Caller } from '../formats/people/caller.ts'
import type { VerifiedToken } from '../core/callers/caller-keys.ts'
import type { Config } from '../core/config/config.ts'
import type { Answer } from './answer.ts'
import type { Cost } from '../core/operations/index.ts'
import type { LimitName } from './http/gates/index.ts'
import type { KeptDocument } from './kept-document.ts'
import type { Head } from './http/listen/listener.ts'
import type { Failure } from '../core/errors/errors.ts'
import type { Gate } from '../core/errors/gates.ts'
import type { OpenApiOperation } from './openapi/operation.ts'
import type { PathParams } from '../core/threads/thread-messages.ts'
import type { Session } from './console/sessions.ts'
import type { Service } from './service.ts'

export interface RouteRequest {
  /** Path parameters, percent-decoded; on a route with `fromHead` its result. */
  readonly params: PathParams
  readonly query: URLSearchParams
  readonly header: Head['header']
  /** Undefined on open routes and where authentication is disabled. */
  readonly caller: Caller | undefined
  /** The key, as in `CallerKey`; -1 where there is no caller. */
  readonly callerIndex: number
  /** Set where the caller authenticated by a token. */
  readonly token?: VerifiedToken | undefined
  /** The name by which queues and budgets are shared out: the callerId, or the address of a client without a key. */
  readonly client: string
  /** Empty unless the route takes a body. */
  readonly body: Uint8Array
  /** The console session that made the request; undefined: it came with a key, or without one. */
  readonly session?: Session | undefined
}

export type Handler = (request: RouteRequest, service: Service) => Promise<Answer | Failure>

interface RouteRow extends OpenApiOperation {
  readonly method: 'GET' | 'POST'
  /** With `{name}` for a parameter, as interface §4 writes it. */
  readonly path: string
  /** Another path of the same resources, with further parameters. It is not in the OpenAPI document. */
  readonly alsoAt?: string
  /** Its last parameter takes the rest of the path, slashes included. */
  readonly tail?: true
  /** `true`: needs no credential (interface §5.2). `'configured'`: the configuration decides, and the handler refuses. */
  readonly open?: true | 'configured'
  /** For humans only: other callers get the 403 of interface §4.6 before a body is read. */
  readonly human?: true
  /** Shows everybody's evidence: for humans and auditors (`readsEverything`). Other callers get the same 403. */
  readonly readers?: true
  /** Stores something, so callers whose key only reads get 403 before a body is read. */
  readonly appends?: true
  /** Whether a console session may post: the request changes nothing, carries a human's signature, or only takes a request back. */
  readonly session?: true
  /** In place of MAX_BODY_BYTES. */
  readonly bodyBytesMax?: number
  /** Whether this configuration serves the path. Where it does not, the path is answered 404 like an unknown one. */
  readonly mounted?: (params: PathParams, config: Config) => boolean
  /** Replaces the params by the data that a thread needs from path and headers, or refuses before the body is read. */
  readonly fromHead?: (
    params: PathParams,
    head: Pick<Head, 'header' | 'headers'>,
    config: Config,
  ) => PathParams | Failure
  /** The body of a failure, in place of the envelope of interface §7. A 401 always has the envelope. */
  readonly failureBody?: (failure: Failure) => string
  /** Sent in place of the JSON to a client that prefers HTML, under the same status. */
  readonly page?: (service: Service) => KeptDocument
  readonly handle: Handler
}

/** The bounds of one client's use of a route. Every route has one: the compiler asks for `limit` or `cost`. */
type Bounds =
  | {
      /** The rate limit that counts its requests. */
      readonly limit: LimitName
      /** The budget that its thread time and its replies are charged to. */
      readonly cost?: Cost
    }
  | { readonly limit?: never; readonly cost: Cost }

/** One row of the route table. */
export type Route = RouteRow & Bounds

/** The start of a row for a page or document that anyone may read. */
export const openGet = { method: 'GET', open: true, limit: 'public', cost: 'compute' } as const

/** The start of a row that reads. */
export const get = { method: 'GET', cost: 'compute' } as const

/** The start of a row that humans read to decide: its budget is separate, so a human who has read much else can still decide. */
export const governingGet = { method: 'GET', cost: 'administration' } as const

/** The start of a row that takes a body: its `body` says which. */
export const post = { method: 'POST' } as const

/** The start of a row by which a human changes something. */
export const humanPost = { ...post, human: true, cost: 'administration' } as const

type More = Omit<Partial<Answer>, 'status' | 'gate'>
/** A 503 names its gate. */
type Status = { readonly status?: 200 | 201 } | { readonly status: 503; readonly gate: Gate }

export function json(value: unknown, more: More & Status = {}): Answer {
  return { status: 200, body: JSON.stringify(value), ...more }
}

/** JSON text. A member without a value is left out, never null (interface §2.7). */
export function textWithoutNulls(value: object): string {
  return JSON.stringify(value, (_name, member: unknown) => (member === null ? undefined : member))
}

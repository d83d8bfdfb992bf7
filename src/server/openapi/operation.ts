// The description of a route in the OpenAPI document. The rest follows from its row, and is derived in responses.ts.
import type { TSchema } from 'typebox'
import type { FailureRow } from './failure-rows.ts'

export interface OpenApiOperation {
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** Path parameters. `example` names something that exists once the request examples were posted. */
  readonly params?: Readonly<Record<string, Parameter & { readonly example: string }>>
  readonly query?: Readonly<
    Record<string, Parameter & { readonly required?: true; readonly example?: number | string }>
  >
  readonly body?: {
    readonly schema: TSchema
    readonly example: unknown
    /** The route takes any bytes, so no body is malformed. */
    readonly anyBytes?: true
  }
  /** The key is the status. */
  readonly answers: Readonly<Record<number, AnswerShape>>
  /** Rows of src/core/errors/errors.ts that the handler or its worker answers. Those of the HTTP front end are derived. */
  readonly failures: readonly FailureRow[]
  /** Adds the failures of a read: 500 `internal` and 503 `databaseUnavailable`. */
  readonly readsDatabase?: true
}

interface Parameter {
  readonly schema: TSchema
  readonly description: string
}

export interface AnswerShape {
  readonly description: string
  readonly schema: TSchema
  readonly example: unknown
  /** JSON where left out. */
  readonly contentType?:
    | 'text/html'
    | 'text/css'
    | 'text/javascript'
    | 'text/plain'
    | 'text/x.tlog.size'
    | 'application/yaml'
    | 'application/octet-stream'
  /** Other content types of the same resource. */
  readonly otherContentTypes?: readonly string[]
  /** Other content types are answered where the query asks for them. */
  readonly alternatives?: Readonly<Record<string, { readonly schema: TSchema; readonly example: unknown }>>
  /** With a strong ETag and Cache-Control: If-None-Match is answered 304. */
  readonly cached?: true
  /** The same for every client, and compressed for those that accept it (kept-document.ts). Implies `cached`. */
  readonly kept?: true
  /** Names of src/server/openapi/headers.ts that the answer always has. */
  readonly headers?: readonly string[]
  /** Names of src/server/openapi/headers.ts that the answer may have. */
  readonly optionalHeaders?: readonly string[]
}

export const tags = {
  System: 'The service itself: its state, its keys, its documents.',
  Execution: 'Submit business transactions and read them back.',
  Catalogue:
    'What people find executions by: lists, sums and a search. Copies of what the evidence says, and no evidence.',
  Evidence: 'Execution Trust Records with their verifications, receipts and replays.',
  Policies: 'The named, versioned policies that decide about executions.',
  Governance:
    'Changes of policies, approvers, external connectors and webhook rules: one human proposes, another approves.',
  Approvals: 'Signed approvals of single actions, and the keys of those who give them.',
  'External Connectors': 'HTTP endpoints that carry out actions, registered by two humans.',
  'Execution Intents': 'Executions released to a connector, and their outcomes.',
  Events: 'The ordered feed of events, for callers that follow it.',
  Sandbox: 'Trial decisions, without effect.',
  Refusals: 'Signed records of transactions that were not executed.',
  Log: 'The evidence log: a public append-only tree over all signed artifacts, its proofs, and this service as a witness of other logs.',
  Webhooks: 'Deliveries from payment and other providers, and the rules that interpret them.',
  Audit: 'Signed audit events of refusals and changes.',
  Pages: 'Pages for people.',
} as const
type Tag = keyof typeof tags

// What the route table does not say of a route: its words, shapes and answers. What follows from the table is derived in responses.ts.
import type { TSchema } from 'typebox'
import type { RouteName } from '../routes/index.ts'
import type { FailureRow } from './failure-rows.ts'

export interface Operation {
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** Of the path. `example` is one that is found after the request examples were posted. */
  readonly params?: Readonly<Record<string, Parameter & { readonly example: string }>>
  readonly query?: Readonly<Record<string, Parameter>>
  readonly body?: {
    readonly schema: TSchema
    readonly example: unknown
    /** Whatever comes is taken: nothing is malformed. */
    readonly anyBytes?: true
  }
  readonly answers: Readonly<Record<number, AnswerShape>>
  /** Rows of src/core/errors.ts that the handler or its worker answers; those of the door are derived. */
  readonly failures: readonly FailureRow[]
  /** What may be thrown then: 500 `internal` and 503 `databaseUnavailable`. */
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
  readonly contentType?: 'text/html' | 'text/css' | 'text/javascript' | 'application/yaml'
  /** Other notations of the same resource. */
  readonly otherContentTypes?: readonly string[]
  /** With a strong ETag and Cache-Control: If-None-Match is answered 304. */
  readonly cached?: true
  /** Names of src/server/openapi/headers.ts; always there unless `optionalHeaders`. */
  readonly headers?: readonly string[]
  readonly optionalHeaders?: readonly string[]
}

/** One area's rows; together they have one for each route. */
export type Operations<Name extends RouteName> = Readonly<Record<Name, Operation>>

export const tags = {
  System: 'The service itself: its state, its keys, its documents.',
  Execution: 'Submitting business transactions, and reading them back.',
  Evidence: 'Verifications, receipts, replays and the Execution Trust Records they stand on.',
  Policies: 'The named, versioned policies that decide.',
  Governance: 'Changes of policies, approvers and external connectors: one human proposes, another approves.',
  Approvals: 'Signed approvals of single actions, and the keys of those who give them.',
  'External Connectors': 'HTTP endpoints that carry out actions, registered by two humans.',
  'Execution Intents': 'What was released to a connector, and how it ended.',
  Sandbox: 'What would be decided, without deciding it.',
  Refusals: 'Signed records of what was not executed.',
  Webhooks: 'What providers send by themselves.',
  Audit: 'The signed account of what was refused and changed.',
  Pages: 'Pages for people.',
} as const
export type Tag = keyof typeof tags

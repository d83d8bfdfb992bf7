// One request as its head describes it, made once.
import type { Context } from '@opentelemetry/api'
import type { KeptDocument } from '../kept-document.ts'
import type { Route } from '../route.ts'

export interface Exchange {
  readonly requestId: string
  readonly method: string
  /** Without the query, which may hold data that belongs in no log. */
  readonly path: string
  readonly ifNoneMatch: string | undefined
  readonly startedMs: number
  /** Whether the client asked for Server-Timing. */
  readonly wantsTiming: boolean
  /** Undefined if no SDK records spans. */
  readonly traceParent: Context | undefined
  readonly route?: Route | undefined
  /** The page is sent in place of JSON, where the route has one and the client prefers it. */
  readonly page?: KeptDocument | undefined
  readonly callerId?: string | undefined
  /** The name by which queues, shares and budgets are divided. */
  readonly client: string
  readonly address: string
  /** Set for a request without a caller: its address. */
  readonly clientAddress?: string | undefined
}

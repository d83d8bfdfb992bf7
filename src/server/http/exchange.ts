// One request and what is known of it by the time it is answered.
import type { Context } from '@opentelemetry/api'
import type { Route } from '../routes/route.ts'

export interface Exchange {
  readonly requestId: string
  readonly method: string
  /** Without the query, which may hold what belongs in no log. */
  readonly path: string
  readonly ifNoneMatch: string | undefined
  readonly startedMs: number
  route: Route | undefined
  /** Whether the client prefers a page to JSON, where the route has one. */
  prefersHtml: boolean
  callerId: string | undefined
  /** Set for a request without a caller. */
  clientAddress: string | undefined
  /** The RateLimit fields, on limited routes. */
  limitHeaders: Readonly<Record<string, string>>
  /** The limit or budget that refused it. */
  refusedBy: string | undefined
  /** Whether the client asked for Server-Timing. */
  readonly wantsTiming: boolean
  /** Undefined where nobody records spans. */
  readonly traceParent: Context | undefined
}

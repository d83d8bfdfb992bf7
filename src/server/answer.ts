// The answer of a handler, made by the handler itself or by a worker thread. The socket gets a `Reply` (http/listen) made from it.
import type { Marks } from '../core/errors/errors.ts'
import type { RequestTimes } from './metrics/times.ts'

export interface Answer extends Marks {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text, unless `headers` says otherwise. */
  readonly body: string | Uint8Array
  /** Sent in place of the body, each text as soon as it is made. If a text cannot be made, the reply is cut. */
  readonly texts?: AsyncIterable<string>
  /** Cache-Control; with it the reply carries a strong ETag and If-None-Match is honoured. */
  readonly cache?: string
  /** `etagOf` the body of a kept document (kept-document.ts). Without it the ETag is computed for each reply. */
  readonly etag?: string
  /** Members for the request's log line. */
  readonly log?: Readonly<Record<string, unknown>>
  /** How long the request waited, and how long each stage of its batch took. */
  readonly times?: RequestTimes
  /** Called once when the reply has left this process, or its client has gone. */
  readonly sent?: () => void
}

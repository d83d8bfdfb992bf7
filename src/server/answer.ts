// The answer of a handler, whether it worked itself or a thread did. The socket gets a `Reply` (http/listen) of it.
import type { Marks } from '../core/errors/errors.ts'
import type { RequestTimes } from './metrics/times.ts'

export interface Answer extends Marks {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text, unless `headers` says otherwise. */
  readonly body: string | Uint8Array
  /** In place of the body: texts that are sent while they are made. Where one cannot be made, the reply is cut. */
  readonly texts?: AsyncIterable<string>
  /** Cache-Control; with it the reply carries a strong ETag and If-None-Match is honoured. */
  readonly cache?: string
  /** `etagOf` the body of a document that is kept (kept-document.ts); else it is made for each reply. */
  readonly etag?: string
  /** For the request's log line. */
  readonly log?: Readonly<Record<string, unknown>>
  /** How long it waited, and how long each stage of its batch took. */
  readonly times?: RequestTimes
  /** Called once when the reply has left this process, or its client has gone. */
  readonly sent?: () => void
}

// Requests that end their connection before the front end sees them: the reasons, and the replies that state them.

/**
 * Status and sentence of the reply, by reason, which is the label of the metric; undefined where no reply can be sent.
 * `unread`: uWebSockets.js read no request on the connection and does not say why. HTTP/1.0, which it answers 505, is the common cause.
 */
const refusals = {
  'transfer-encoding': [411, 'Transfer-Encoding is not accepted: send the body with a Content-Length.'],
  'content-length': [400, 'Content-Length must be one whole number, and stand without a Transfer-Encoding.'],
  host: [400, 'The request must have exactly one Host header.'],
  target: [400, 'The request target must be a path: absolute URLs, * and CONNECT are not served.'],
  method: [400, 'The method must be written in capital letters.'],
  size: [431, 'The request line and the headers are limited to 100 headers and 16 KB.'],
  'http-version': [505, 'Only HTTP/1.1 and HTTP/1.0 are served.'],
  syntax: [
    400,
    'The request cannot be read as HTTP/1.1 (RFC 9112): its request line or a header is malformed, or it ends too early.',
  ],
  slow: [408, 'The request did not arrive within its time.'],
  // Written now, a reply would pass for the reply to a request that is still running.
  pipelined: undefined,
  unread: undefined,
} as const satisfies Record<string, readonly [status: number, error: string] | undefined>

export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type DropReason = keyof typeof refusals
export const dropReasons = Object.keys(refusals) as DropReason[]

/**
 * Sent with `Connection: close`, which tells a proxy not to reuse the connection: the bytes that follow may be a body to one parser and a
 * second request to another.
 */
export function refusalOf(reason: DropReason): Refusal | undefined {
  const refusal = refusals[reason]
  if (refusal === undefined) return undefined
  const [status, error] = refusal
  return {
    status,
    headers: {
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    },
    body: JSON.stringify({ error }),
  }
}

// One HTTP exchange with an outside server, at most once and never repeated, and its outcome (decisions §8, the table of outcomes).
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { errorText } from '../../formats/text/error-text.ts'
import { request } from './node-http.ts'
import type { Lookup, Reach } from './address.ts'
import { connect } from './connect.ts'
import { KeptConnection } from './kept.ts'

export const ANSWER_BYTES_MAX = 64 * 1024
const HEAD_BYTES_MAX = 16 * 1024
/** If the lookup and the connection take longer, the endpoint counts as not reached. */
const CONNECT_MAX_MS = 5000

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly url: string
  /** Names in lower case. Host, lengths and the accepted encoding are added. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly reach: Reach
  /** Covers the call from the lookup to the answer's last byte. */
  readonly timeoutMs: number
  /** Ends the call earlier. */
  readonly signal?: AbortSignal
}

export type HttpOutcome =
  /** Certainly without effect: no connection was established. `reason` names no address and no secret. */
  | { readonly kind: 'not-sent'; readonly reason: string }
  /** The connection was established and no whole answer came: the effect may or may not have happened. */
  | { readonly kind: 'lost'; readonly cause: string }
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: IncomingHttpHeaders
      /** As received: nothing is decompressed and no redirect is followed. */
      readonly body: Uint8Array
    }

/**
 * Sends one request, over a fresh connection by default. A server may close a kept connection while the request is on its way:
 * such a request had no effect, yet would have to count as in doubt.
 * @param how.lookup resolves host names in place of the system
 * @param how.ca PEM of the certificate authorities to trust in place of the system's
 * @param how.kept the connection of earlier calls to the same origin, for calls that may be repeated; the host name is resolved and
 *   its addresses are checked for each call
 */
export async function call(
  { timeoutMs, reach, ...exchange }: HttpCall,
  { kept, ...how }: { lookup?: Lookup; ca?: string; kept?: KeptConnection } = {},
): Promise<HttpOutcome> {
  const url = new URL(exchange.url)
  const within = (ms: number) =>
    AbortSignal.any([AbortSignal.timeout(ms), ...(exchange.signal ? [exchange.signal] : [])])
  const wholeCall = within(timeoutMs)
  // At most half the time, so that a slow connection can be distinguished from a slow answer.
  const connection = await connect(url, {
    reach,
    signal: within(Math.min(CONNECT_MAX_MS, Math.ceil(timeoutMs / 2))),
    kept: kept?.idle,
    ...how,
  })
  if ('reason' in connection)
    return { kind: 'not-sent', reason: `the endpoint was not reached: ${connection.reason}` }
  const { socket } = connection
  if (kept?.idle() !== socket) kept?.use(socket)
  let isKept = false
  try {
    const answered = await exchangeOver(kept ?? socket, url, exchange, wholeCall)
    isKept = kept !== undefined
    return answered
  } catch (error) {
    const cause = wholeCall.aborted ? `no whole answer within ${timeoutMs} ms` : errorText(error)
    return { kind: 'lost', cause }
  } finally {
    if (!isKept) socket.destroy()
  }
}

async function exchangeOver(
  over: Socket | KeptConnection,
  url: URL,
  { method, headers, body }: Pick<HttpCall, 'method' | 'headers' | 'body'>,
  signal: AbortSignal,
): Promise<HttpOutcome> {
  const sent = request({
    ...(over instanceof KeptConnection ? { agent: over } : { createConnection: () => over }),
    method,
    path: url.pathname + url.search,
    headers: {
      ...headers,
      host: url.host,
      'user-agent': 'countersign',
      // A compressed answer is not read in any case: the size of its decompressed text has no bound.
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    },
    maxHeaderSize: HEAD_BYTES_MAX,
    signal,
  })
  // Never removed: the answer may be complete while the server still sends data.
  sent.on('error', () => undefined)
  // Without a listener Node drops the socket silently, and the call would wait for the answer until its timeout.
  sent.on('upgrade', () => sent.emit('error', new Error('the answer changes the protocol')))
  sent.end(body)
  const [answer] = (await once(sent, 'response', { signal })) as [IncomingMessage]
  return {
    kind: 'answered',
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: await readWhole(answer),
  }
}

/** Throws when the answer is cut off, or is longer than `ANSWER_BYTES_MAX`. */
async function readWhole(answer: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

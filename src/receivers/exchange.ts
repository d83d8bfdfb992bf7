// One HTTP exchange of a receiver with the system behind it, over a new connection, so that it is certain whether a request can have been seen.
import { request as overHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as overHttps } from 'node:https'

/** No connection was made: the system cannot have seen anything. */
export class NeverConnected extends Error {}

interface Sent {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Undefined for a request without a body. */
  readonly body?: string | undefined
  /** The time limit for the whole exchange. */
  readonly timeoutMs: number
}

interface Answered {
  readonly status: number
  readonly body: Buffer
}

const ANSWER_BYTES_MAX = 1024 * 1024

/**
 * Sends one request. A redirect is an answer, and is not followed.
 * @throws NeverConnected; any other error leaves open whether the system has seen the request
 */
export function exchange({ method, url, headers, body, timeoutMs }: Sent): Promise<Answered> {
  return new Promise((resolve, reject) => {
    let connected = false
    const signal = AbortSignal.timeout(timeoutMs)
    const send = url.protocol === 'https:' ? overHttps : overHttp
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const request: ClientRequest = send(url, {
      method,
      headers: { ...headers, ...length },
      agent: false,
      signal,
    })
    request.once('socket', (socket) =>
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => (connected = true)),
    )
    const fail = (error: Error) =>
      reject(connected ? error : new NeverConnected(`${url.host} cannot be reached: ${error.message}`))
    request.once('error', fail)
    request.once('response', (response) => void read(response).then(resolve, fail))
    request.end(body)
  })
}

async function read(response: IncomingMessage): Promise<Answered> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error('The answer is longer than 1 MiB.')
    chunks.push(chunk)
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) }
}

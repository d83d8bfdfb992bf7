// Single requests, outside the load.
import { once } from 'node:events'
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { secondsOf, IDLE_MS_MAX } from './connection.ts'

/** The target of requests. */
export interface Target {
  readonly url: string
  /** Raw API key. */
  readonly key?: string
  /** Whether to wait as long as a 429 says, and ask again. */
  readonly slowsDown?: boolean
  /** An agent with connections of its own. */
  readonly agent?: http.Agent
}

export interface Call {
  /** Values for the places in the route's path. */
  readonly params?: Readonly<Record<string, string>>
  /** The query with its question mark. */
  readonly query?: string
  /** Raw API key in place of the target's; null for none. */
  readonly key?: string | null
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Expected statuses. Default: 200. */
  readonly expect?: number | readonly number[] | 'any'
}

interface Called {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** @throws SyntaxError where the text is no JSON */
  readonly json: () => Record<string, unknown>
}

const ANSWER_MS_MAX = 30_000
/** The limit for all waits of one call together, for rate limits. */
const LIMITED_SECONDS_MAX = 60

const kept = { keepAlive: true, timeout: IDLE_MS_MAX }
const agents = { http: new http.Agent(kept), https: new https.Agent(kept) }

/** @returns the request that the call makes; its body is yet to be sent */
export function openRequest(
  target: Target,
  route: string,
  { params = {}, query = '', body, ...given }: Call,
): { readonly sent: ClientRequest; readonly content: string | undefined } {
  const [method = '', path = ''] = route.split(' ')
  const key = given.key === undefined ? target.key : given.key
  const content = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_place, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const url = new URL(target.url + filled + query)
  const isSecure = url.protocol === 'https:'
  const sent = (isSecure ? https : http).request(url, {
    agent: target.agent ?? (isSecure ? agents.https : agents.http),
    method,
    timeout: ANSWER_MS_MAX,
    headers: {
      ...(key === undefined || key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(content === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(content) }),
      ...given.headers,
    },
  })
  // `once` and the reader of the answer report the error.
  sent.on('error', () => undefined)
  sent.on('timeout', () => sent.destroy(new Error(`${route} was not answered in ${ANSWER_MS_MAX} ms`)))
  return { sent, content }
}

/**
 * @param route `GET /trust-records/{id}`
 * @throws Error that quotes the answer where its status is not expected, or Error where there is no answer
 */
export async function call(target: Target, route: string, given: Call = {}): Promise<Called> {
  for (let waited = 0; ;) {
    const { sent, content } = openRequest(target, route, given)
    sent.end(content)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const { statusCode: status = 0, headers } = response
    const text = await readText(response)
    const seconds = secondsOf(headers['retry-after']) || 1
    if (target.slowsDown === true && status === 429 && waited + seconds <= LIMITED_SECONDS_MAX) {
      waited += seconds
      await sleep(seconds * 1000)
      continue
    }
    const json = () => JSON.parse(text) as Record<string, unknown>
    return checkStatus(route, { status, headers, text, json }, given.expect)
  }
}

/** @throws Error that quotes the answer where its status is not expected */
export function checkStatus(route: string, called: Called, expect: Call['expect'] = 200): Called {
  const { status, text } = called
  if (expect === 'any' || [expect].flat().includes(status)) return called
  throw new Error(`${route} answered ${status}, not ${String(expect)}: ${text.slice(0, 500)}`)
}

/** Makes a call to a service that is known already. */
export type CallRoute = (route: string, given?: Call) => Promise<Called>

// Single requests, outside the load.
import { setTimeout as sleep } from 'node:timers/promises'
import { request, type Dispatcher } from 'undici'
import { secondsOf } from './connection.ts'

/** Where requests go. */
export interface Target {
  readonly url: string
  /** Raw API key. */
  readonly key?: string
  /** Waits as long as a 429 says, and asks again. */
  readonly slowsDown?: boolean
  /** A pool of connections of its own. */
  readonly dispatcher?: Dispatcher
}

export interface Call {
  /** For the places of the route's path. */
  readonly params?: Readonly<Record<string, string>>
  /** With its question mark. */
  readonly query?: string
  /** Raw API key in place of the target's; null for none. */
  readonly key?: string | null
  /** Sent as JSON, a text as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses that are right; 200 alone where it is left out. */
  readonly expect?: number | readonly number[] | 'any'
}

interface Called {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** @throws SyntaxError where it is no JSON */
  readonly json: () => Record<string, unknown>
}

const ANSWER_MS_MAX = 30_000
/** For rate limits, all waits of one call together. */
const LIMITED_SECONDS_MAX = 60

/** @returns the request that the call makes, for undici */
export function requestOf(target: Target, route: string, { params = {}, query = '', body, ...given }: Call) {
  const [method = '', path = ''] = route.split(' ')
  const key = given.key === undefined ? target.key : given.key
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_place, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  return {
    url: target.url + filled + query,
    text,
    options: {
      method,
      headersTimeout: ANSWER_MS_MAX,
      bodyTimeout: ANSWER_MS_MAX,
      ...(target.dispatcher === undefined ? {} : { dispatcher: target.dispatcher }),
      headers: {
        ...(key === undefined || key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...given.headers,
      },
    },
  }
}

/**
 * @param route `GET /trust-records/{id}`
 * @throws Error that quotes the answer where its status is not expected, and where there is none
 */
export async function call(target: Target, route: string, given: Call = {}): Promise<Called> {
  const { url, text: body, options } = requestOf(target, route, given)
  for (let waited = 0; ;) {
    const response = await request(url, { ...options, ...(body === undefined ? {} : { body }) })
    const { statusCode: status, headers } = response
    const text = await response.body.text()
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

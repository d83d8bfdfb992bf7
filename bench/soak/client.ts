// How the soak calls the service: by the name of the route, with the statuses that are right; every reply is counted, and every other
// status kept to be told.
import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import type { RouteName } from '../../src/server/routes/index.ts'

export interface Call {
  /** For the places of the route's path. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  /** Raw API key. */
  readonly key?: string
  /** Sent as JSON, a text as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses that are right; 200 alone where it is left out. */
  readonly expect?: number | readonly number[]
}

export interface Called {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** fails where it is none */
  readonly json: () => Record<string, unknown>
}

export interface RouteTally {
  readonly statuses: Map<number, number>
  readonly micros: RecordableHistogram
}

export interface Client {
  readonly call: (route: RouteName | Elsewhere, call?: Call) => Promise<Called>
  /** Sends the head and half of the body, and goes away. */
  readonly abandon: (route: RouteName, call: Call & { readonly body: string }) => Promise<void>
  readonly tallies: ReadonlyMap<string, RouteTally>
  /** What came that was not right, as far as there is room for it. */
  readonly unexpected: readonly string[]
  readonly counts: () => { calls: number; unexpected: number }
  /** Forgets what has been counted, but not what was unexpected. */
  readonly restart: () => void
  readonly close: () => void
}

/** What is no route of the service: a path that is not there, a method that a path does not have. */
export type Elsewhere = 'GET /no-such-path' | 'POST /health'

const ANSWER_MS_MAX = 30_000
const UNEXPECTED_KEPT = 50
/** A story goes on only with a reply that was right. */
export class Unexpected extends Error {}

export function openClient(url: string, { connectionsMax }: { connectionsMax: number }): Client {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax, scheduling: 'fifo' })
  const tallies = new Map<string, RouteTally>()
  const unexpected: string[] = []
  let unexpectedCount = 0

  function tell(problem: string): Unexpected {
    unexpectedCount++
    if (unexpected.length < UNEXPECTED_KEPT) unexpected.push(problem)
    return new Unexpected(problem)
  }

  function count(route: string, status: number, sinceMs: number): void {
    const tally = tallies.get(route) ?? { statuses: new Map<number, number>(), micros: createHistogram() }
    tallies.set(route, tally)
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
    tally.micros.record(Math.max(1, Math.round((performance.now() - sinceMs) * 1000)))
  }

  function start(route: string, { params = {}, query = '', key, body, headers = {} }: Call) {
    const [method = '', template = ''] = route.split(' ')
    const path = template.replaceAll(/\{(\w+)\}/g, (_place, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    )
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const sent = request({
      agent,
      host: hostname,
      port,
      method,
      path: path + query,
      timeout: ANSWER_MS_MAX,
      headers: {
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(text === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
        ...headers,
      },
    })
    return { sent, text }
  }

  return {
    tallies,
    unexpected,
    counts: () => ({
      calls: [...tallies.values()].reduce((sum, { micros }) => sum + micros.count, 0),
      unexpected: unexpectedCount,
    }),
    restart: () => tallies.clear(),
    close: () => agent.destroy(),
    call(route, call = {}) {
      const sinceMs = performance.now()
      const { sent, text } = start(route, call)
      return new Promise((resolve, reject) => {
        sent.on('response', (response) => {
          const chunks: Buffer[] = []
          response.on('error', () => undefined)
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () => {
            const status = response.statusCode ?? 0
            count(route, status, sinceMs)
            const replied = Buffer.concat(chunks).toString()
            const { expect = 200 } = call
            if (typeof expect === 'number' ? status === expect : expect.includes(status))
              resolve({
                status,
                headers: response.headers,
                text: replied,
                json: () => JSON.parse(replied) as Record<string, unknown>,
              })
            else reject(tell(`${route} answered ${status}, not ${String(expect)}: ${replied.slice(0, 200)}`))
          })
        })
        sent.on('timeout', () => sent.destroy(new Error('no reply in time')))
        sent.on('error', (error) => {
          count(route, 0, sinceMs)
          reject(tell(`${route}: ${error.message}`))
        })
        sent.end(text)
      })
    },
    abandon(route, call) {
      const { sent, text = '' } = start(route, call)
      return new Promise((resolve) => {
        sent.on('error', () => undefined)
        sent.on('close', () => resolve())
        // Answered all the same, as by a limit: the rest is nobody's.
        sent.on('response', (response) => response.on('error', () => undefined).resume())
        sent.write(text.slice(0, text.length >> 1), () => sent.destroy())
      })
    },
  }
}

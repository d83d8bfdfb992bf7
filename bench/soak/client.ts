// How the soak calls the service: every reply is counted by its route.
import { setImmediate as turn } from 'node:timers/promises'
import { request } from 'undici'
import { call, checkStatus, requestOf, type CallRoute, type Target } from '../calls.ts'
import { openTimes, type Times } from '../figures.ts'

export interface RouteTally {
  /** Replies by their status; 0 where none came. */
  readonly statuses: Map<number, number>
  readonly times: Times
}

export interface SoakClient {
  readonly call: CallRoute
  /** Sends the head and half of the body, and goes away. */
  readonly abandon: (route: string, body: string) => Promise<void>
  readonly tallies: Map<string, RouteTally>
}

export function openClient(target: Target): SoakClient {
  const tallies = new Map<string, RouteTally>()
  return {
    tallies,
    async call(route, given = {}) {
      const tally = tallies.get(route) ?? { statuses: new Map<number, number>(), times: openTimes() }
      tallies.set(route, tally)
      const sinceMs = performance.now()
      let status = 0
      try {
        const called = await call(target, route, { ...given, expect: 'any' })
        status = called.status
        return checkStatus(route, called, given.expect)
      } finally {
        tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
        tally.times.add(performance.now() - sinceMs)
      }
    },
    async abandon(route, body) {
      const { url, options } = requestOf(target, route, { body })
      const leaving = new AbortController()
      const half = async function* () {
        yield Buffer.from(body.slice(0, body.length >> 1))
        await turn()
        leaving.abort()
      }
      const headers = { ...options.headers, 'Content-Length': String(Buffer.byteLength(body)) }
      // It may be answered all the same, as by a limit: the rest is nobody's.
      await request(url, { ...options, headers, body: half() as never, signal: leaving.signal }).then(
        (response) => response.body.dump(),
        () => undefined,
      )
    },
  }
}

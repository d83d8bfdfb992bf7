// How the soak calls the service: every reply is counted by its route.
import { call, checkStatus, openRequest, type CallRoute, type Target } from '../calls.ts'
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
      const { sent } = openRequest(target, route, { body })
      // It may be answered all the same, as by a limit: nobody reads that.
      sent.on('response', (response) => response.resume())
      sent.write(body.slice(0, body.length >> 1), () => sent.destroy())
      await new Promise((resolve) => sent.on('close', resolve))
    },
  }
}

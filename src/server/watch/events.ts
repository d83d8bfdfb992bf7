// Wakes the requests that wait for events. One look at the log serves all of them, whoever they are: a request that waits holds no connection and
// no thread, only its place in a map.
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import { openPerClient } from '../http/gates/concurrency.ts'
import { bounds } from '../http/gates/index.ts'
import { bitOf, codesMask, eventTypes } from '../../formats/schemas/event-types.ts'
import type { EventScope } from '../../store/tables/log-events.ts'
import { ownerTag, readEventsSince, type FeedPlace } from '../../store/tables/log-events.ts'
import type { Sql } from '../../store/postgres/sql.ts'

/** While somebody waits. The sequencer appends five times a second. */
const LOOK_EVERY_MS = 100

/** Thousands are woken by one event: in the queue of the pool the last of them would wait for longer than it allows. */
const READS_AT_ONCE = 2

export interface EventWatch {
  /** Reads a page when it is its turn: a few at a time, the clients in turn. */
  readonly read: <T>(client: string, page: () => Promise<T>) => Promise<T>
  /**
   * Resolves when there may be an event of the scope behind a place, when the time is over, and when the service stops.
   * @param request.client as in `RouteRequest`
   * @returns whether there may be one
   */
  readonly wait: (
    place: FeedPlace,
    request: { readonly scope: EventScope; readonly client: string; readonly ms: number },
  ) => Promise<boolean>
}

interface Waiting {
  readonly codes: number
  readonly wake: (found: boolean) => void
}

/** The key of those who follow everybody's events. */
const ALL = ''

/** @param stopping true from the first stop signal on: nobody waits then */
export function watchEvents(sql: Sql, { stopping }: { readonly stopping: () => boolean }): EventWatch {
  const byOwner = new Map<string, Set<Waiting>>()
  const ofClient = new Map<string, number>()
  const waiting = new Set<Waiting>()
  /** Everything before it has been looked at. Meaningless while nobody waits. */
  let seen: FeedPlace = { log: 0, index: 0 }
  let looking = false

  async function lookOn(): Promise<void> {
    looking = true
    while (waiting.size > 0) {
      await delay(LOOK_EVERY_MS)
      if (stopping()) wakeAll(false)
      else await look()
    }
    looking = false
  }

  async function look(): Promise<void> {
    try {
      const { place, found } = await readEventsSince(sql, seen)
      const isOtherLog = place.log !== seen.log
      seen = place
      if (isOtherLog) return wakeAll(true)
      const codes = new Map<string, number>()
      for (const { owner, code } of found)
        for (const key of [ALL, owner]) codes.set(key, (codes.get(key) ?? 0) | bitOf(code))
      for (const [key, mask] of codes)
        for (const one of byOwner.get(key) ?? []) if ((one.codes & mask) !== 0) one.wake(true)
    } catch {
      // The next reader learns what is wrong with the database, and says it.
      wakeAll(true)
    }
  }

  function wakeAll(found: boolean): void {
    for (const one of waiting) one.wake(found)
  }

  const perClient = openPerClient(READS_AT_ONCE)
  const atOnce = pLimit(READS_AT_ONCE)

  return {
    // A client has no more than its two pages in the common queue, so whoever comes after waits for those alone.
    read: (client, page) => perClient(client, () => atOnce(page)),
    wait(place, { scope, client, ms }) {
      const own = ofClient.get(client) ?? 0
      if (stopping() || waiting.size >= bounds.eventWaits || own >= bounds.eventWaits / bounds.clientShare)
        return Promise.resolve(false)
      if (waiting.size === 0 && !looking) seen = place
      // The look is ahead: what it saw before this request waited, it tells nobody again.
      if (seen.log > place.log || (seen.log === place.log && seen.index > place.index))
        return delay(LOOK_EVERY_MS, true)
      const { callerId } = scope
      const key = callerId === null ? ALL : ownerTag(callerId)
      const some = byOwner.get(key) ?? new Set()
      byOwner.set(key, some)
      ofClient.set(client, own + 1)
      return new Promise((resolve) => {
        const one: Waiting = {
          codes: codesMask(scope.types ?? eventTypes),
          wake(found) {
            clearTimeout(timer)
            if (!waiting.delete(one)) return
            some.delete(one)
            if (some.size === 0 && byOwner.get(key) === some) byOwner.delete(key)
            const rest = ofClient.get(client)! - 1
            if (rest === 0) ofClient.delete(client)
            else ofClient.set(client, rest)
            resolve(found)
          },
        }
        const timer = setTimeout(() => one.wake(false), ms)
        waiting.add(one)
        some.add(one)
        if (!looking) void lookOn()
      })
    },
  }
}

// Wakes the requests that wait for events.
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import { openPerClient } from '../../core/concurrency/per-client.ts'
import { bounds } from '../http/gates/index.ts'
import { bitOf, codesMask, eventTypes } from '../../formats/schemas/event-types.ts'
import { ownerTag, readEventsSince, type EventScope, type FeedPlace } from '../../store/tables/log-events.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { openWaits } from './waits.ts'

/** The sequencer appends five times a second. */
const LOOK_EVERY_MS = 100

/** One event may wake thousands of requests: in the queue of the pool the last of them would wait for longer than it allows. */
const READS_AT_ONCE = 2

export interface EventWatch {
  /** Reads a page in turn: a few pages at a time, the clients in turn. */
  readonly read: <T>(client: string, page: () => Promise<T>) => Promise<T>
  /**
   * Resolves when there may be an event of the scope behind a place, when the time is over, and when the service stops.
   * @param request.client as in `RouteRequest`
   * @returns whether there may be such an event
   */
  readonly wait: (
    place: FeedPlace,
    request: { readonly scope: EventScope; readonly client: string; readonly ms: number },
  ) => Promise<boolean>
}

/** The key of requests that follow the events of all callers. */
const ALL = ''

interface Wanted {
  readonly owner: string
  readonly codes: number
}

/** @param stopping true from the first stop signal on: then no request waits */
export function watchEvents(sql: Sql, { stopping }: { readonly stopping: () => boolean }): EventWatch {
  /** All entries before this place have been read. Meaningless while no request waits. */
  let seen: FeedPlace = { log: 0, index: 0 }
  const waits = openWaits<Wanted>({
    everyMs: LOOK_EVERY_MS,
    most: bounds.eventWaits,
    stopping,
    async look(waiting) {
      const { place, found } = await readEventsSince(sql, seen)
      const isOtherLog = place.log !== seen.log
      seen = place
      const codes = new Map<string, number>()
      for (const { owner, code } of found)
        for (const key of [ALL, owner]) codes.set(key, (codes.get(key) ?? 0) | bitOf(code))
      for (const { what, wake } of waiting)
        if (isOtherLog || ((codes.get(what.owner) ?? 0) & what.codes) !== 0) wake(true)
    },
  })
  const perClient = openPerClient(READS_AT_ONCE)
  const atOnce = pLimit(READS_AT_ONCE)

  return {
    // A client has no more than its two pages in the common queue, so the next client waits only for those.
    read: (client, page) => perClient(client, () => atOnce(page)),
    wait(place, { scope: { callerId, types = eventTypes }, client, ms }) {
      if (!waits.admits(client)) return Promise.resolve(false)
      if (waits.isIdle()) seen = place
      // The look is past this place: it does not report again the events that it read before this request waited.
      if (seen.log > place.log || (seen.log === place.log && seen.index > place.index))
        return delay(LOOK_EVERY_MS, true)
      const owner = callerId === null ? ALL : ownerTag(callerId)
      return waits.wait({ owner, codes: codesMask(types) }, { client, ms })
    },
  }
}

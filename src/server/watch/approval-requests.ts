// Wakes the requests that wait for an approval request to change. One statement looks at all of them: a request that waits holds no
// connection and no thread. The feed of events cannot serve them: it needs the evidence log, and has no event for a first approval of two.
import { setTimeout as delay } from 'node:timers/promises'
import type { Persons } from '../../formats/people/persons.ts'
import { readRequestStates, type RequestState } from '../../store/tables/approval-requests.ts'
import { bounds } from '../http/gates/index.ts'
import type { Sql } from '../../store/postgres/sql.ts'

/** While somebody waits. */
const LOOK_EVERY_MS = 250

export interface ApprovalRequestWatch {
  /**
   * Resolves when the request differs from what its caller has seen, when the time is over, and when the service stops.
   * @param request.client as in `RouteRequest`
   */
  readonly wait: (
    seen: RequestState,
    request: { readonly client: string; readonly ms: number },
  ) => Promise<void>
}

interface Waiting {
  readonly seen: RequestState
  readonly client: string
  readonly wake: () => void
}

/**
 * @param options.persons who is whom now
 * @param options.stopping true from the first stop signal on: nobody waits then
 */
export function watchApprovalRequests(
  sql: Sql,
  { persons, stopping }: { readonly persons: () => Persons; readonly stopping: () => boolean },
): ApprovalRequestWatch {
  const waiting = new Set<Waiting>()
  let looking = false

  async function lookOn(): Promise<void> {
    looking = true
    while (waiting.size > 0) {
      await delay(LOOK_EVERY_MS)
      await look()
    }
    looking = false
  }

  async function look(): Promise<void> {
    try {
      const ids = stopping() ? [] : [...new Set(Array.from(waiting, ({ seen }) => seen.requestId))]
      const found = new Map(
        (await readRequestStates(sql, ids, persons())).map((state) => [state.requestId, state]),
      )
      for (const one of waiting) if (differs(one.seen, found.get(one.seen.requestId))) one.wake()
    } catch {
      // The next reader learns what is wrong with the database, and says it.
      for (const one of waiting) one.wake()
    }
  }

  return {
    wait(seen, { client, ms }) {
      const own = Array.from(waiting).filter((one) => one.client === client).length
      if (
        stopping() ||
        ms <= 0 ||
        waiting.size >= bounds.approvalRequestWaits ||
        own >= bounds.approvalRequestWaits / bounds.clientShare
      )
        return Promise.resolve()
      return new Promise((resolve) => {
        const one: Waiting = {
          seen,
          client,
          wake() {
            clearTimeout(timer)
            waiting.delete(one)
            resolve()
          },
        }
        const timer = setTimeout(one.wake, ms)
        waiting.add(one)
        if (!looking) void lookOn()
      })
    },
  }
}

function differs(seen: RequestState, now: RequestState | undefined): boolean {
  return now?.status !== seen.status || now.approved !== seen.approved
}

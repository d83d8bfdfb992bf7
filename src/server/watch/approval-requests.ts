// Wakes the requests that wait for an approval request to change. The feed of events cannot serve them: it needs the evidence log, and has
// no event for a first approval of two.
import type { Persons } from '../../formats/people/persons.ts'
import { readRequestStates, type RequestState } from '../../store/tables/approval-requests.ts'
import { bounds } from '../http/gates/index.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { openWaits } from './waits.ts'

const LOOK_EVERY_MS = 250

export interface ApprovalRequestWatch {
  /**
   * Resolves when the request differs from what its caller has seen, when the time is over, and when the service stops.
   * @param request.client as in `RouteRequest`
   */
  readonly wait: (
    seen: RequestState,
    request: { readonly client: string; readonly ms: number },
  ) => Promise<unknown>
}

/**
 * @param options.persons the current persons
 * @param options.stopping true from the first stop signal on: then no request waits
 */
export function watchApprovalRequests(
  sql: Sql,
  { persons, stopping }: { readonly persons: () => Persons; readonly stopping: () => boolean },
): ApprovalRequestWatch {
  return openWaits<RequestState>({
    everyMs: LOOK_EVERY_MS,
    most: bounds.approvalRequestWaits,
    stopping,
    async look(waiting) {
      const ids = [...new Set(Array.from(waiting, ({ what }) => what.requestId))]
      const states = await readRequestStates(sql, ids, persons())
      const found = new Map(states.map((state) => [state.requestId, state]))
      for (const { what, wake } of waiting) if (differs(what, found.get(what.requestId))) wake(true)
    },
  })
}

function differs(seen: RequestState, now: RequestState | undefined): boolean {
  return now?.status !== seen.status || now.approved !== seen.approved || now.noted !== seen.noted
}

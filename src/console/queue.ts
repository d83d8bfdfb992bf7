// The requests that wait for the logged-in approver, in the order in which they end. A decision leads to the next one, and what was decided
// keeps its place, so that "3 of 22" counts on.
import type { ApprovalRequest } from '../formats/schemas/approval-request.ts'
import type { Me } from './api.ts'
import { useLoaded, type Loaded } from './hooks.ts'

/** As many as a reply may hold. */
const PAGE = 'pageSize=100'

/** Fifty open inboxes must cost next to nothing; a message notifies approvers at once (docs/handbook/approving.md "Be told"). */
const EVERY_MS = 10_000

export const waitingPath = ({ approverId }: Pick<Me, 'approverId'>): string =>
  approverId === null ? 'status=PENDING' : 'status=PENDING&waitingFor=me'

/** Loads what waits for this human; what ends first is on top. */
export function useWaiting(me: Me, everyMs = EVERY_MS): Loaded<readonly ApprovalRequest[]> {
  const loaded = useLoaded<{ requests: ApprovalRequest[] }>(
    `/approval-requests?${waitingPath(me)}&${PAGE}`,
    everyMs,
  )
  return { ...loaded, data: loaded.data && byEnd(loaded.data.requests) }
}

function byEnd(requests: readonly ApprovalRequest[]): readonly ApprovalRequest[] {
  return requests.toSorted((a, b) => Date.parse(a.expiresAt) - Date.parse(b.expiresAt))
}

/** The ids that the queue has had since the inbox was last open. */
let walked: readonly string[] = []

/** The inbox begins a new walk. */
export function beginQueue(): void {
  walked = []
}

/** @returns the ids of before in their places, then the new ones */
export function merged(before: readonly string[], waiting: readonly string[]): readonly string[] {
  return [...new Set([...before, ...waiting])]
}

export interface Place {
  /** From 1. */
  readonly at: number
  readonly of: number
  /** The next one that waits, those that were skipped at last; undefined: nothing else waits. */
  readonly next: string | undefined
  /** The one before, whether or not it waits. */
  readonly previous: string | undefined
}

/** @returns the place of a request in the queue; undefined where it has none */
export function placeIn(ids: readonly string[], id: string, waiting: ReadonlySet<string>): Place | undefined {
  const index = ids.indexOf(id)
  if (index === -1) return undefined
  const others = [...ids.slice(index + 1), ...ids.slice(0, index)]
  return {
    at: index + 1,
    of: ids.length,
    next: others.find((one) => waiting.has(one)),
    previous: ids[index - 1],
  }
}

/** The place of a request among those that wait for this human. */
export function useQueue(me: Me, id: string): Place | undefined {
  const { data } = useWaiting(me)
  if (data === undefined || me.approverId === null) return undefined
  const waiting = data.map(({ request }) => request.requestId)
  walked = merged(walked, waiting)
  return placeIn(walked, id, new Set(waiting))
}

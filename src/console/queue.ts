// The requests that wait for the logged-in approver, in the order in which they expire. A decision leads to the next request, and a decided
// request keeps its place, so that "3 of 22" continues to count.
import type { ApprovalRequest } from '../formats/schemas/approval-request.ts'
import { get, store, type Me } from './api.ts'
import { useLater, useLoaded, useStore, type Loaded } from './hooks.ts'

/** The largest page that a reply may hold. */
const PAGE = 'pageSize=100'

/** Fifty open inboxes must cost next to nothing; a message notifies approvers at once (docs/handbook/approving.md "Be told"). */
const EVERY_MS = 10_000

/** The query for the requests that wait for this human; the first to expire is on top. */
export const waitingPath = ({ approverId }: Pick<Me, 'approverId'>): string =>
  `status=PENDING${approverId === null ? '' : '&waitingFor=me'}&order=ending_soon`

interface Requests {
  readonly requests: readonly ApprovalRequest[]
}

const pathOf = (me: Me) => `/approval-requests?${waitingPath(me)}&${PAGE}`

/** The number of decisions that this human has made here: each changes the requests that wait for them. */
const decisions = store(0)

/** Called after a decision: reloads every count and list of waiting requests at once. */
export function waitingChanged(): void {
  decisions.set(decisions.get() + 1)
}

/** Loads the requests that wait for this human. */
function useWaiting(me: Me): Loaded<readonly ApprovalRequest[]> {
  const loaded = useLoaded<Requests>(pathOf(me), EVERY_MS, useStore(decisions))
  return { ...loaded, data: loaded.data?.requests }
}

const COMPARED_EVERY_MS = 60_000

/** As `useWaiting`; soon afterwards it adds the data that each request is compared with. */
export function useWaitingCompared(me: Me): Loaded<readonly ApprovalRequest[]> {
  const waiting = useWaiting(me)
  const { data, problem } = useLoaded<Requests>(
    waiting.data === undefined ? undefined : `${pathOf(me)}&compared=true`,
    COMPARED_EVERY_MS,
    useStore(decisions) + numberOf(waiting.data ?? []),
  )
  const compared = new Map(data?.requests.map((one) => [one.request.requestId, one.compared]))
  return {
    ...waiting,
    problem: waiting.problem ?? problem,
    data: waiting.data?.map((one) => {
      const found = compared.get(one.request.requestId)
      return found === undefined ? one : { ...one, compared: found }
    }),
  }
}

/** A number that changes with the set of requests, so that new requests are compared at once. */
const numberOf = (waiting: readonly ApprovalRequest[]) =>
  waiting.reduce((sum, { request }) => sum + Number.parseInt(request.requestId.slice(0, 8), 16), 0)

const COUNT_EVERY_MS = 60_000

/** The number of requests that wait for this human, as text; '' for none, and while the page itself loads. Every page shows it, so it loads last. */
export function useWaitingCount(me: Me): string {
  const { data, next } = useLoaded<Requests>(
    // A human who signs nothing has no requests there.
    useLater(me.approverId === null ? undefined : pathOf(me)),
    COUNT_EVERY_MS,
    useStore(decisions),
  )
  const count = data?.requests.length ?? 0
  return count === 0 ? '' : `${count}${next === undefined ? '' : '+'}`
}

/** The ids that the queue has had since the inbox was last open. */
let walked: readonly string[] = []

/** The inbox starts a new walk through the queue. */
export function beginQueue(): void {
  walked = []
}

/** @returns the earlier ids in their places, then the new ids */
export function merged(before: readonly string[], waiting: readonly string[]): readonly string[] {
  return [...new Set([...before, ...waiting])]
}

export interface Place {
  /** Counted from 1. */
  readonly at: number
  readonly of: number
  /** The next waiting request, skipped requests last; undefined: no other request waits. */
  readonly next: string | undefined
  /** The previous request, whether or not it still waits. */
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

/** Undefined: not known yet. Null: no other request waits for this human. */
export type Next = string | null | undefined

interface InQueue {
  /** Undefined: the request has no place, or the queue is not known yet. */
  readonly place: Place | undefined
  readonly next: Next
}

/** The place of a request among those that wait for this human. */
export function useQueue(me: Me, id: string): InQueue {
  const { data } = useWaiting(me)
  if (me.approverId === null) return { place: undefined, next: null }
  if (data === undefined) return { place: undefined, next: undefined }
  const { ids, waiting } = walkTo(data)
  const place = placeIn(ids, id, waiting)
  return { place, next: place === undefined ? nextOf(ids, id, waiting) : (place.next ?? null) }
}

function walkTo(data: readonly ApprovalRequest[]) {
  const waiting = data.map(({ request }) => request.requestId)
  walked = merged(walked, waiting)
  return { ids: walked, waiting: new Set(waiting) }
}

/** @returns the waiting request after a given request, which need not be in the queue */
function nextOf(ids: readonly string[], id: string, waiting: ReadonlySet<string>): string | null {
  return placeIn(merged(ids, [id]), id, waiting)?.next ?? null
}

/**
 * Finds the waiting request after a request that was just decided. It asks the service, because a human may sign before the page has the queue,
 * and the page's queue may be ten seconds old.
 * @throws as `get`
 */
export async function lookUpNext(me: Me, id: string): Promise<string | null> {
  if (me.approverId === null) return null
  const { data } = await get<Requests>(pathOf(me))
  const { ids, waiting } = walkTo(data.requests)
  return nextOf(ids, id, waiting)
}

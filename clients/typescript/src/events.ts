// Follows the feed of events by its cursor; the service holds each reply until an event comes.
import type { Client } from 'openapi-fetch'
import { AnswerError } from './errors.ts'
import type { Call } from './retry.ts'
import type { components, paths } from './schema.ts'

type Schemas = components['schemas']
type Query = NonNullable<paths['/events']['get']['parameters']['query']>
type Page = paths['/events']['get']['responses'][200]['content']['application/json']

/** An event: its type, ids, hashes and time (handbook, "Following events"). */
export type CountersignEvent = Extract<Page['events'][number], { eventId: string }>

export interface EventPage {
  /** Oldest first. */
  readonly events: readonly CountersignEvent[]
  /** The cursor after these events: `after` of the next page. Keep it to continue after a restart. */
  readonly next: string
}

export interface Following {
  /** The `next` of a page, or `now`. Default: from the first event. */
  readonly after?: string
  /** The types to follow. Default: all. */
  readonly types?: readonly CountersignEvent['type'][]
}

const WAIT_SECONDS = 20
/** Where there is no feed (LOG=off), an intent is read this often. */
const READ_EVERY_MS = 1_000

export function eventMethods(
  http: Client<paths>,
  {
    read,
    timeoutMs,
    executionIntent,
    sleep,
  }: {
    readonly read: <T>(call: Call<T>) => Promise<T>
    /** The time limit of one attempt. */
    readonly timeoutMs: number
    readonly executionIntent: (id: string) => Promise<Schemas['ExecutionIntent']>
    readonly sleep: (ms: number) => Promise<void>
  },
) {
  const longest = Math.min(WAIT_SECONDS, Math.floor(timeoutMs / 2_000))

  /** GET /events: one page. `waitSeconds`: how long an empty page waits for an event. */
  async function eventPage({
    types,
    waitSeconds = 0,
    ...query
  }: Following & { readonly limit?: number; readonly waitSeconds?: number } = {}): Promise<EventPage> {
    const asked: Query = { ...query, ...(types === undefined ? {} : { types: types.join(',') }) }
    const headers = { Prefer: `wait=${waitSeconds}` }
    const page = await read(() => http.GET('/events', { params: { query: asked }, headers }))
    return page as EventPage
  }

  /** GET /events, without end: each event once and in order, as it comes. To continue after a restart, read pages and keep their `next`. */
  async function* events(following: Following = {}): AsyncGenerator<CountersignEvent, never, undefined> {
    let { after } = following
    for (;;) {
      const from = after === undefined ? {} : { after }
      const page: EventPage = await eventPage({ ...following, ...from, waitSeconds: longest })
      yield* page.events
      after = page.next
    }
  }

  /** The next page of events that end an execution; undefined where the service has no feed. */
  async function nextEnds(after: string | undefined): Promise<EventPage | undefined> {
    if (after === undefined) return undefined
    const types = ['execution.completed', 'execution.failed', 'execution.closed'] as const
    return eventPage({ after, types, waitSeconds: longest })
  }

  async function newestCursor(): Promise<string | undefined> {
    try {
      return (await eventPage({ after: 'now' })).next
    } catch (error) {
      if (error instanceof AnswerError && error.status === 409) return undefined
      throw error
    }
  }

  /**
   * Waits until an execution in doubt is closed: by its evidence, or by a human, a payment provider or its connector that reported its end.
   * @param id the businessTransactionId
   * @returns the intent, FINALIZED, ERRORED or RESOLVED
   * @throws AnswerError 404 where the transaction has no intent; the reason of the client's `signal`, which ends the wait
   */
  async function waitForClosed(id: string): Promise<Schemas['ExecutionIntent']> {
    // Taken before the intent is read, so that an event that closes it after that is behind the cursor.
    let after = await newestCursor()
    for (;;) {
      const intent = await executionIntent(id)
      if (intent.state !== 'RELEASED' && intent.state !== 'PREPARED') return intent
      for (let isAbout = false; !isAbout;) {
        const page = await nextEnds(after)
        if (page === undefined) await sleep(READ_EVERY_MS)
        after = page?.next
        const found = page?.events ?? []
        isAbout =
          found.length === 0 ||
          found.some(({ businessTransactionId }) => businessTransactionId === id.toLowerCase())
      }
    }
  }

  return { eventPage, events, waitForClosed }
}

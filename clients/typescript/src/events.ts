// The feed of events: followed by its cursor, each page waited for by the service.
import type { Client } from 'openapi-fetch'
import { AnswerError } from './errors.ts'
import type { Call } from './retry.ts'
import type { components, paths } from './schema.ts'

type Schemas = components['schemas']
type Query = NonNullable<paths['/events']['get']['parameters']['query']>
type Page = paths['/events']['get']['responses'][200]['content']['application/json']

/** The event says what happened: ids, hashes and when (handbook, "Following events"). */
export type CountersignEvent = Extract<Page['events'][number], { eventId: string }>

export interface EventPage {
  /** Oldest first. */
  readonly events: readonly CountersignEvent[]
  /** The cursor after these events: `after` of the next page. Keep it to go on after a restart. */
  readonly next: string
}

export interface Following {
  /** The `next` of a page, or `now`. Left out: from the first event. */
  readonly after?: string
  /** Left out: all. */
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

  /** GET /events: one page. `waitSeconds`: how long an empty one waits for an event. */
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

  /** GET /events, for good: each event once and in order, as it comes. To go on after a restart, read pages and keep their `next`. */
  async function* events(following: Following = {}): AsyncGenerator<CountersignEvent, never, undefined> {
    let { after } = following
    for (;;) {
      const from = after === undefined ? {} : { after }
      const page: EventPage = await eventPage({ ...following, ...from, waitSeconds: longest })
      yield* page.events
      after = page.next
    }
  }

  /** The next page of ends; undefined where the service has no feed. */
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
   * Waits until an execution in doubt is closed, by whomever: its evidence came, a human, a payment provider or its connector said how
   * it ended.
   * @param id the businessTransactionId
   * @returns the intent, FINALIZED, ERRORED or RESOLVED
   * @throws AnswerError 404 where the transaction has no intent; the reason of the client's `signal`, which ends the wait
   */
  async function waitForClosed(id: string): Promise<Schemas['ExecutionIntent']> {
    // Before the intent is read: what closes it after that is behind the cursor.
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

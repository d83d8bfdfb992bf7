// Reads the feed: events in the order of the log, each with stored details of its artifact. GET /events and the push use it.
import { Failure, failures } from '../errors/errors.ts'
import {
  decodeEvents,
  ownerTag,
  readFeedRows,
  readNewestPlace,
  type FeedPlace,
  type FeedRows,
  type EventScope,
  type StoredEvent,
} from '../../store/tables/log-events.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { cursorMark, cursorText, readCursor } from './cursor.ts'
import { readArtifactDetails } from '../../store/tables/event-artifacts.ts'
import { eventIdOf, type FeedEvent } from './event.ts'
import {
  bitOf,
  codesMask,
  eventTypeOf,
  eventTypes,
  type EventType,
} from '../../formats/schemas/event-types.ts'

export interface FeedPage {
  /** Oldest first. */
  readonly events: readonly FeedEvent[]
  /** The cursor after these events. */
  readonly next: string
  /** The place that `next` names. */
  readonly place: FeedPlace
  /** Whether no events follow now. */
  readonly atEnd: boolean
  /** `<LOG_ORIGIN>/log/<number>` of the log that was read. */
  readonly origin: string
}

/** Takes the place of a cursor: only events that are logged from now on. */
export const FROM_NOW = 'now'

/** Maximum number of reads that find no event for this reader; then the page ends with a cursor to continue. */
const READS_MAX = 20

/** A logged event can be read, except on a Citus node that crashed during the commit. After this time it counts as damaged. */
export const VISIBLE_MS_MAX = 60_000

/**
 * A page of the feed.
 * @param options.after the `next` of another page; undefined: from the first event, `now`: from the newest
 * @param options.limit how many events at most
 * @returns 400 when the cursor does not belong to this service
 */
export async function readEvents(
  sql: Sql,
  {
    after,
    limit,
    scope,
  }: { readonly after?: string | undefined; readonly limit: number; readonly scope: EventScope },
): Promise<FeedPage | Failure> {
  if (after === FROM_NOW) return newest(sql)
  const cursor = after === undefined ? { log: 1, index: 0, mark: undefined } : readCursor(after)
  if (cursor === undefined)
    return failures.invalidQuery('after must be the `next` of another page, or `now`.')
  const owner = scope.callerId === null ? undefined : ownerTag(scope.callerId)
  const codes = codesMask(scope.types ?? eventTypes)
  let place: FeedPlace = cursor
  for (let reads = 1; ; reads++) {
    const found = await readFeedRows(sql, place, { owner, codes })
    if (found === undefined) return failures.invalidQuery(OTHER_LOG)
    const { log, index, size, nextLog, origin } = found
    const mark = cursorMark(found.salt)
    if (cursor.mark !== undefined && cursor.mark !== mark) return failures.invalidQuery(OTHER_LOG)
    if (index > size && nextLog === undefined) return failures.invalidQuery(GONE_BACK)
    const wanted = wantedOf(found, { owner, codes }).slice(0, limit)
    const events = await withDetails(sql, wanted, log)
    const isFull = wanted.length === limit
    const isCut = isFull || events.length < wanted.length
    place = isCut ? { log, index: (events.at(-1)?.entry.index ?? index - 1) + 1 } : endOf(found)
    // After events that cannot be read yet, no further event is available now.
    const atEnd = isCut ? !isFull : !found.more && nextLog === undefined
    if (isCut || atEnd || events.length > 0 || reads === READS_MAX)
      return { events, next: cursorText({ ...place, mark }), place, atEnd, origin }
  }
}

const OTHER_LOG = 'after is the cursor of another log.'
const GONE_BACK =
  'after is a place that the log has not reached: the database is not the one that gave it, or has gone back.'

/** The place after all rows that were read. */
export function endOf({ log, index, size, nextLog, more, lastIndex }: FeedRows): FeedPlace {
  if (more) return { log, index: lastIndex + 1 }
  return nextLog === undefined ? { log, index: Math.max(index, size) } : { log: nextLog, index: 0 }
}

async function newest(sql: Sql): Promise<FeedPage | Failure> {
  const found = await readNewestPlace(sql)
  if (found === undefined) return failures.invalidQuery(OTHER_LOG)
  const { salt, origin, ...place } = found
  const next = cursorText({ ...place, mark: cursorMark(salt) })
  return { events: [], next, place, atEnd: true, origin }
}

/** The cursor after the newest event; null when there is no log yet. */
export async function newestCursor(sql: Sql): Promise<string | null> {
  const page = await newest(sql)
  return page instanceof Failure ? null : page.next
}

export type Wanted = StoredEvent & { readonly type: EventType; readonly appendedAt: Date }

/** The events of a page of rows that match the reader's owner and types. */
export function wantedOf(
  { index: from, rows }: FeedRows,
  { owner, codes }: { readonly owner: string | undefined; readonly codes: number },
): Wanted[] {
  return rows.flatMap(({ appendedAt, events }) =>
    decodeEvents(events).flatMap((event) => {
      const { index, code } = event
      const type = eventTypeOf(code)
      if (type === undefined || index < from || (bitOf(code) & codes) === 0) return []
      return owner === undefined || owner === event.owner ? [{ ...event, type, appendedAt }] : []
    }),
  )
}

/** The events with details, up to the first event whose artifact cannot be read yet. */
async function withDetails(sql: Sql, wanted: readonly Wanted[], log: number): Promise<FeedEvent[]> {
  const details = wanted.length === 0 ? [] : await readArtifactDetails(sql, wanted)
  const events: FeedEvent[] = []
  for (const [i, event] of wanted.entries()) {
    const { type, index, appendedAt } = event
    const found = details[i]
    if (found === undefined && Date.now() - appendedAt.getTime() < VISIBLE_MS_MAX) break
    const known = found ?? { occurredAt: appendedAt.toISOString() }
    events.push({ eventId: eventIdOf(event), type, ...known, entry: { log, index } })
  }
  return events
}

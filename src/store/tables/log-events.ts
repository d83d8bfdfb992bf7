// log_events and log_event_owners: which entries of the log are events, of which artifacts and callers
// (migrations/0016_event-feed.sql).
import type { EventType } from '../../formats/schemas/event-types.ts'
import { uuidOf } from '../../formats/bytes.ts'
import { sha256Hex } from '../sha256.ts'
import { overRows } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'
import type { Statement } from '../postgres/statement-batch.ts'

/** The caller and the types whose events are read. */
export interface EventScope {
  /** null: the events of all callers, and those of no caller. */
  readonly callerId: string | null
  /** Left out: all. */
  readonly types?: readonly EventType[]
}

/** An event as it is stored. */
export interface StoredEvent {
  /** The index of its entry in the log. */
  readonly index: number
  /** See src/formats/schemas/event-types.ts. */
  readonly code: number
  /** The tag of its caller; NO_OWNER: it has none. */
  readonly owner: string
  /** The id of the artifact, a UUID. */
  readonly id: string
}

const INDEX_BYTES = 6
const CODE_BYTES = 1
const OWNER_BYTES = 8
const ID_BYTES = 16
const OWNER_AT = INDEX_BYTES + CODE_BYTES
const EVENT_BYTES = INDEX_BYTES + CODE_BYTES + OWNER_BYTES + ID_BYTES

const HEX_DIGITS = 2

export const NO_OWNER = '0'.repeat(HEX_DIGITS * OWNER_BYTES)

/** A tag stands for a caller, 16 hex digits: two callers with equal tags, once in 2^64, would follow each other's events. */
export function ownerTag(callerId: string): string {
  return sha256Hex(callerId).slice(0, HEX_DIGITS * OWNER_BYTES)
}

/** @returns hex, which is the text of a `bytea`: a buffer for each event would cost as much as its hash */
export function encodeEvent({ index, code, owner, id }: StoredEvent): string {
  return hexNumber(index, INDEX_BYTES) + hexNumber(code, CODE_BYTES) + owner + id.replaceAll('-', '')
}

const hexNumber = (value: number, bytes: number) => value.toString(16).padStart(HEX_DIGITS * bytes, '0')

export function decodeEvents(bytes: Buffer): StoredEvent[] {
  return Array.from({ length: Math.floor(bytes.length / EVENT_BYTES) }, (_, i) => {
    const at = i * EVENT_BYTES
    return {
      index: bytes.readUIntBE(at, INDEX_BYTES),
      code: bytes.readUInt8(at + INDEX_BYTES),
      owner: bytes.toString('hex', at + OWNER_AT, at + OWNER_AT + OWNER_BYTES),
      id: uuidOf(bytes.toString('hex', at + EVENT_BYTES - ID_BYTES, at + EVENT_BYTES)),
    }
  })
}

export interface LogEventRow {
  readonly log: number
  readonly lastIndex: number
  /** Milliseconds since 1970. */
  readonly appendedAtMs: number
  /** A bit for each code. */
  readonly codes: number
  /** As `encodeEvent` makes them, joined. */
  readonly events: string
  /** The tags of the callers that have events in it, each once. */
  readonly owners: readonly string[]
}

const insert = overRows<LogEventRow>({
  name: 'log_events_insert',
  text: 'INSERT INTO log_events ($columns) VALUES $rows',
  columns: {
    log: ['integer', ({ log }) => log],
    last_index: ['bigint', ({ lastIndex }) => lastIndex],
    appended_at: ['timestamptz', ({ appendedAtMs }) => new Date(appendedAtMs).toISOString()],
    codes: ['integer', ({ codes }) => codes],
    events: ['bytea', ({ events }) => `\\x${events}`],
  },
})

const insertOwners = overRows<{ log: number; owner: string; lastIndex: number }>({
  name: 'log_event_owners_insert',
  text: 'INSERT INTO log_event_owners ($columns) VALUES $rows',
  columns: {
    log: ['integer', ({ log }) => log],
    owner: ['bytea', ({ owner }) => `\\x${owner}`],
    last_index: ['bigint', ({ lastIndex }) => lastIndex],
  },
})

export function insertEventRows(rows: readonly LogEventRow[]): Statement[] {
  const owners = rows.flatMap(({ log, lastIndex, owners: tags }) =>
    tags.map((owner) => ({ log, owner, lastIndex })),
  )
  return [...insert(rows), ...insertOwners(owners)]
}

/** A place in the feed: in a log, before the entry of an index. */
export interface FeedPlace {
  readonly log: number
  readonly index: number
}

export interface FeedRows extends FeedPlace {
  /** The salt of the database's first log. */
  readonly salt: Buffer
  /** `<LOG_ORIGIN>/log/<log>` */
  readonly origin: string
  /** The size of the log at the same moment: all events below it are in the rows, unless there are `more`. */
  readonly size: number
  /** The number of the log that follows this one; undefined: it is the newest. */
  readonly nextLog: number | undefined
  readonly rows: readonly { readonly appendedAt: Date; readonly events: Buffer }[]
  readonly more: boolean
  /** The index of the last event in the rows; -1 without one. */
  readonly lastIndex: number
}

/** A quiet log or caller has one event in a row, a busy one up to 256. */
const ROWS_MAX = 100
const BYTES_MAX = 128 * 1024

const ROWS_OF_ALL = `
  SELECT e.last_index, e.appended_at, e.events FROM log_events AS e
  WHERE e.log = s.log AND e.last_index >= s.start AND e.codes & $3::integer <> 0
  ORDER BY e.last_index LIMIT ${ROWS_MAX}`

const ROWS_OF_OWNER = `
  SELECT e.last_index, e.appended_at, e.events FROM log_event_owners AS o
  CROSS JOIN LATERAL (
    SELECT last_index, appended_at, events FROM log_events
    WHERE log = o.log AND last_index = o.last_index AND codes & $3::integer <> 0 OFFSET 0
  ) AS e
  WHERE o.log = s.log AND o.owner = $4::bytea AND o.last_index >= s.start
  ORDER BY o.last_index LIMIT ${ROWS_MAX}`

/**
 * The rows of a log with events from a place on, in order. Read by one statement, and so as of one moment.
 * @param place if its log is missing, because the database went back, the next log is read
 * @param which.owner the tag of the caller whose events are wanted; undefined: everybody's
 * @param which.codes a bit for each code that is wanted
 * @returns undefined where there is no such log
 */
export async function readFeedRows(
  sql: Sql,
  { log, index }: FeedPlace,
  { owner, codes }: { readonly owner: string | undefined; readonly codes: number },
): Promise<FeedRows | undefined> {
  const { rows } = await sql.query<{
    log: number
    start: string
    size: string
    origin: string
    salt: Buffer
    next: number | null
    last: string | null
    at: Date | null
    events: Buffer | null
  }>({
    name: owner === undefined ? 'log_events_read' : 'log_events_read_owned',
    text: `
      SELECT s.log, s.start, s.size, s.origin, (SELECT salt FROM log_state ORDER BY log LIMIT 1) AS salt,
        (SELECT min(log) FROM log_state WHERE log > s.log) AS next, found.last_index AS last, found.appended_at AS at,
        CASE WHEN found.before < ${BYTES_MAX} THEN found.events END AS events
      FROM (
        SELECT log, size, origin, CASE WHEN log = $1::integer THEN $2::bigint ELSE 0 END AS start FROM log_state
        WHERE log >= $1::integer ORDER BY log LIMIT 1
      ) AS s
      LEFT JOIN LATERAL (
        SELECT *, sum(octet_length(events)) OVER (ORDER BY last_index) - octet_length(events) AS before
        FROM (${owner === undefined ? ROWS_OF_ALL : ROWS_OF_OWNER}) AS chosen
      ) AS found ON true
      ORDER BY found.last_index`,
    values: [log, index, codes, ...(owner === undefined ? [] : [`\\x${owner}`])],
  })
  const [first] = rows
  if (first === undefined) return undefined
  const read = rows.flatMap(({ at, events, last }) =>
    at === null || events === null ? [] : [{ appendedAt: at, events, last: Number(last) }],
  )
  return {
    log: first.log,
    index: Number(first.start),
    salt: first.salt,
    origin: first.origin,
    size: Number(first.size),
    nextLog: first.next ?? undefined,
    rows: read,
    more: rows.length === ROWS_MAX || (first.at !== null && read.length < rows.length),
    lastIndex: read.at(-1)?.last ?? -1,
  }
}

/** The end of the newest log; undefined where there is none. */
export async function readNewestPlace(
  sql: Sql,
): Promise<(FeedPlace & Pick<FeedRows, 'salt' | 'origin'>) | undefined> {
  const { rows } = await sql.query<{ log: number; size: string; salt: Buffer; origin: string }>({
    name: 'log_events_newest',
    text: `
      SELECT log, size, origin, (SELECT salt FROM log_state ORDER BY log LIMIT 1) AS salt
      FROM log_state ORDER BY log DESC LIMIT 1`,
  })
  return rows.map(({ size, ...row }) => ({ ...row, index: Number(size) }))[0]
}

/** The most rows of events that one call reads; the next call reads on. */
const LOOKED_ROWS_MAX = 64

/**
 * Reads the events that were appended since a place, for clients that wait for events.
 * @returns the events, and the place after them; if another log was opened since, its beginning and no events
 */
export async function readEventsSince(
  sql: Sql,
  { log, index }: FeedPlace,
): Promise<{ readonly place: FeedPlace; readonly found: readonly StoredEvent[] }> {
  const { rows } = await sql.query<{ log: number; size: string; last: string | null; events: Buffer | null }>(
    {
      name: 'log_events_since',
      text: `
      SELECT s.log, s.size, e.last_index AS last, e.events
      FROM (SELECT log, size FROM log_state ORDER BY log DESC LIMIT 1) AS s
      LEFT JOIN LATERAL (
        SELECT last_index, events FROM log_events
        WHERE log = s.log AND s.log = $1::integer AND last_index >= $2::bigint
        ORDER BY last_index LIMIT ${LOOKED_ROWS_MAX}
      ) AS e ON true`,
      values: [log, index],
    },
  )
  const [first] = rows
  if (first === undefined) return { place: { log, index }, found: [] }
  if (first.log !== log) return { place: { log: first.log, index: 0 }, found: [] }
  const last = rows.length === LOOKED_ROWS_MAX ? Number(rows.at(-1)!.last) + 1 : Number(first.size)
  const found = rows.flatMap(({ events }) => (events === null ? [] : decodeEvents(events)))
  return { place: { log, index: Math.max(last, index) }, found: found.filter((one) => one.index >= index) }
}

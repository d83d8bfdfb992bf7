// Reads the query parameters of lists: `page`, `pageSize`, `cursor`, `since`, `until` (decisions §5, §12) and choices. Makes the `Link`
// to the next page.
import { readableOwner, type Caller } from '../../formats/people/caller.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { isTimestamp, storedInstant } from '../../formats/schemas/primitives.ts'
import type { PageRange } from '../../store/tables/page.ts'
import { cursorText, readCursor, type Position } from '../../store/tables/position.ts'

const PAGE_MAX = 1_000_000
const PAGE_SIZE_MAX = 100
const PAGE_SIZE_DEFAULT = 25

/** @returns the rows to read, or a 400 for the first of `page` and `pageSize` that is not a whole number in its range */
export function readPage(query: URLSearchParams): { limit: number; offset: number } | Failure {
  const page = wholeNumber(query.get('page') ?? '1', PAGE_MAX)
  if (page === undefined) return failures.invalidPage()
  const pageSize = wholeNumber(query.get('pageSize') ?? String(PAGE_SIZE_DEFAULT), PAGE_SIZE_MAX)
  if (pageSize === undefined) return failures.invalidPageSize()
  return { limit: pageSize, offset: (page - 1) * pageSize }
}

/** Like `readPage`, but also takes a `cursor`, which continues behind the last item of an earlier page. Refuses `page` and `cursor` together. */
export function readRange(query: URLSearchParams): PageRange | Failure {
  return readBehind(query, (cursor) => readCursor(cursor)?.position)
}

/**
 * Like `readRange`, for a list whose cursor is not a `Position`.
 *
 * @param read returns undefined for a cursor that the list did not make
 */
export function readBehind<After>(
  query: URLSearchParams,
  read: (cursor: string) => After | undefined,
): { limit: number; offset: number; after: After | null } | Failure {
  const page = readPage(query)
  if (page instanceof Failure) return page
  const cursor = query.get('cursor')
  if (cursor === null) return { ...page, after: null }
  const after = read(cursor)
  if (after === undefined) return invalidCursor()
  if (query.has('page')) return failures.invalidQuery('page and cursor cannot be given together.')
  return { ...page, after }
}

/**
 * The headers of a page.
 *
 * @param next where the list continues; null: this is the last page
 */
export function pageHeaders(
  path: string,
  query: URLSearchParams,
  next: Position | null,
): { readonly headers?: { readonly Link: string } } {
  return next === null ? {} : { headers: { Link: nextLink(path, query, cursorText(next)) } }
}

/** @returns a `Link` to the same query, continued at the cursor */
export function nextLink(path: string, query: URLSearchParams, cursor: string): string {
  const next = new URLSearchParams(query)
  next.delete('page')
  next.set('cursor', cursor)
  return `<${path}?${next}>; rel="next"`
}

export function invalidCursor(): Failure {
  return failures.invalidQuery('cursor must be one that a Link header gave.')
}

function wholeNumber(text: string, max: number): number | undefined {
  const value = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0
  return value >= 1 && value <= max ? value : undefined
}

/** @returns both times, null where not given; or a 400 for the first that is not a timestamp, and for a `since` after `until` */
export function readTimes(
  query: URLSearchParams,
): { readonly since: string | null; readonly until: string | null } | Failure {
  const since = readTime(query, 'since')
  if (since instanceof Failure) return since
  const until = readTime(query, 'until')
  if (until instanceof Failure) return until
  if (since !== null && until !== null && since > until)
    return failures.invalidQuery('since must not be after until.')
  return { since, until }
}

/** Like `readTimes`, for a range that has two ends: by default it ends now and begins `defaultMs` before its end. */
export function readPeriod(
  query: URLSearchParams,
  defaultMs: number,
): { readonly sinceMs: number; readonly untilMs: number } | Failure {
  const times = readTimes(query)
  if (times instanceof Failure) return times
  const untilMs = times.until === null ? Date.now() : Date.parse(times.until)
  const sinceMs = times.since === null ? untilMs - defaultMs : Date.parse(times.since)
  return sinceMs > untilMs
    ? failures.invalidQuery('since must not be after until, which is now by default.')
    : { sinceMs, untilMs }
}

/** @returns ISO 8601 in UTC with milliseconds, as in records; null where it is not given */
function readTime(query: URLSearchParams, name: 'since' | 'until'): string | null | Failure {
  const text = query.get(name)
  // The `+` of a time's offset arrives as a space where the client did not percent-encode it.
  const time = text?.replace(' ', '+') ?? null
  if (time === null) return null
  if (isTimestamp(time)) return storedInstant(time)
  return failures.invalidQuery(`${name} must be an RFC 3339 timestamp.`)
}

/**
 * Finds whose rows are listed: all that the caller may read, or of those only the rows of the query's `callerId`.
 *
 * @returns null: every caller's; undefined: no rows
 */
export function readOwner(query: URLSearchParams, caller: Caller | undefined): string | null | undefined {
  const owner = readableOwner(caller)
  const wanted = query.get('callerId')
  if (wanted === null || wanted === owner) return owner
  return owner === null ? wanted : undefined
}

/** @returns null where it is not given; or a 400 for a value that is not one of the choices */
export function readChoice<Choice extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly Choice[],
): Choice | null | Failure {
  const text = query.get(name)
  if (text === null) return null
  const choice = choices.find((known) => known === text)
  return choice ?? failures.invalidQuery(`${name} must be one of ${choices.join(', ')}.`)
}

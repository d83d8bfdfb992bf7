// Reads the query parameters of lists: `page`, `pageSize`, `cursor`, `since`, `until` (decisions §5, §12) and choices. Makes the `Link`
// to the next page.
import { readableOwner, type Caller } from '../../formats/people/caller.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { isTimestamp, storedInstant } from '../../formats/schemas/primitives.ts'
import { PAGE_BYTES_MAX, type PageRange } from '../../store/tables/page.ts'
import { cursorText, readCursor, type Position } from '../../store/tables/position.ts'
import type { Answer } from '../answer.ts'

const PAGE_MAX = 1_000_000
const PAGE_SIZE_MAX = 100
const PAGE_SIZE_DEFAULT = 25

/** @returns the rows to read, or the 400 of the first of `page` and `pageSize` that is not a whole number in its range */
export function readPage(query: URLSearchParams): { limit: number; offset: number } | Failure {
  const page = wholeNumber(query.get('page') ?? '1', PAGE_MAX)
  if (page === undefined) return failures.invalidPage()
  const pageSize = wholeNumber(query.get('pageSize') ?? String(PAGE_SIZE_DEFAULT), PAGE_SIZE_MAX)
  if (pageSize === undefined) return failures.invalidPageSize()
  return { limit: pageSize, offset: (page - 1) * pageSize }
}

/** Like `readPage`, but also takes a `cursor`, which continues behind the last item of an earlier page. Refuses both together. */
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

/** An entry of a list that has no page numbers. */
interface Entry {
  /** Unique; the list is in the order of the keys. */
  readonly key: string
  /** JSON. */
  readonly text: string
}

interface List {
  readonly path: string
  /** The member of the body that holds the list. */
  readonly member: string
  readonly entries: readonly Entry[]
  /** Further members of the body, which come first. */
  readonly beside?: Readonly<Record<string, unknown>>
}

/** Answers a list from the cursor on, whole up to 4 MiB, with a `Link` where it goes on; or the 400 of an unknown cursor. */
export function answerList(
  query: URLSearchParams,
  { path, member, entries, beside = {} }: List,
): Answer | Failure {
  const after = readKey(query.get('cursor'))
  if (after instanceof Failure) return after
  const rest = entries.toSorted(byKey).filter(({ key }) => after === null || key > after)
  let bytes = 0
  const end = rest.findIndex(({ text }, i) => (bytes += Buffer.byteLength(text)) > PAGE_BYTES_MAX && i > 0)
  const shown = end === -1 ? rest : rest.slice(0, end)
  const last = shown.at(-1)
  const before = Object.entries(beside).map(([name, value]) => `"${name}":${JSON.stringify(value)},`)
  return {
    status: 200,
    ...(last === undefined || shown.length === rest.length
      ? {}
      : { headers: { Link: nextLink(path, query, Buffer.from(`key ${last.key}`).toString('base64url')) } }),
    body: `{${before.join('')}"${member}":[${shown.map(({ text }) => text).join(',')}]}`,
  }
}

function byKey(one: Entry, other: Entry): number {
  return one.key < other.key ? -1 : 1
}

function readKey(cursor: string | null): string | null | Failure {
  if (cursor === null) return null
  const [, key] = /^key (.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  return key ?? invalidCursor()
}

function invalidCursor(): Failure {
  return failures.invalidQuery('cursor must be one that a Link header gave.')
}

function wholeNumber(text: string, max: number): number | undefined {
  const value = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0
  return value >= 1 && value <= max ? value : undefined
}

/** @returns each as null where it is not given; or the 400 of the first that is not a timestamp, and of times that nothing can be between */
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

/** @returns ISO 8601 in UTC with milliseconds, as records have it; null where it is not given */
function readTime(query: URLSearchParams, name: 'since' | 'until'): string | null | Failure {
  const text = query.get(name)
  // The `+` of a time's offset arrives as a space where the client did not percent-encode it.
  const time = text?.replace(' ', '+') ?? null
  if (time === null) return null
  if (isTimestamp(time)) return storedInstant(time)
  return failures.invalidQuery(`${name} must be an RFC 3339 timestamp.`)
}

/**
 * Tells whose rows are listed: those that the caller may read, and of them the `callerId` of the query's.
 *
 * @returns null: everybody's; undefined: nothing is
 */
export function readOwner(query: URLSearchParams, caller: Caller | undefined): string | null | undefined {
  const owner = readableOwner(caller)
  const wanted = query.get('callerId')
  if (wanted === null || wanted === owner) return owner
  return owner === null ? wanted : undefined
}

/** @returns null where it is not given; or the 400 of a value that is not one of the choices */
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

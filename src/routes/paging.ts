// What a query asks for: `page`, `pageSize`, `since`, `until` (decisions §5), and one of several names.
import { failures, type Failure } from '../errors.ts'
import { isTimestamp, storedInstant } from '../schemas/primitives.ts'

const PAGE_MAX = 1_000_000
const PAGE_SIZE_MAX = 100
const PAGE_SIZE_DEFAULT = 25

/** out  the rows to read, or the 400 of the first of the two that is no whole number in its range */
export function readPage(query: URLSearchParams): { limit: number; offset: number } | Failure {
  const page = wholeNumber(query.get('page') ?? '1', PAGE_MAX)
  if (page === undefined) return failures.invalidPage()
  const pageSize = wholeNumber(query.get('pageSize') ?? String(PAGE_SIZE_DEFAULT), PAGE_SIZE_MAX)
  if (pageSize === undefined) return failures.invalidPageSize()
  return { limit: pageSize, offset: (page - 1) * pageSize }
}

function wholeNumber(text: string, max: number): number | undefined {
  const value = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0
  return value >= 1 && value <= max ? value : undefined
}

/** in  a query's `since` or `until` · out  ISO 8601 in UTC, milliseconds, as records have them; null where it is not given */
export function readTime(query: URLSearchParams, name: 'since' | 'until'): string | null | Failure {
  const text = query.get(name)
  // A `+` that was not percent-encoded arrives as a space: the offset of a time is where that happens.
  const time = text?.replace(' ', '+') ?? null
  if (time === null) return null
  if (isTimestamp(time)) return storedInstant(time)
  return failures.invalidQuery(`${name} must be an RFC 3339 timestamp.`)
}

/** out  null where it is not given */
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

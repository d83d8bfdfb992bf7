// `page`, `pageSize`, `since` and `until` (decisions §5).
import { failures, type Failure } from '../errors.ts'
import { isTimestamp } from '../schemas/primitives.ts'

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

/** What PostgreSQL and the format of its texts have in common; RFC 3339 goes beyond both by its offsets and its year 0. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00.000Z')
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** in  a query's `since` or `until` · out  ISO 8601 in UTC, milliseconds, as records have them; null where it is not given */
export function readTime(query: URLSearchParams, name: 'since' | 'until'): string | null | Failure {
  const text = query.get(name)
  // A `+` that was not percent-encoded arrives as a space: the offset of a time is where that happens.
  const time = text?.replace(' ', '+') ?? null
  if (time === null) return null
  if (isTimestamp(time)) return instantOf(time)
  return failures.invalidQuery(`${name} must be an RFC 3339 timestamp.`)
}

/** Not as it came: PostgreSQL refuses offsets over 15:59 and long fractions, and Date.parse knows no leap seconds. */
export function instantOf(time: string): string {
  const leapSecondMs = time.slice(17, 19) === '60' ? 1_000 : 0
  const known = leapSecondMs === 0 ? time : `${time.slice(0, 17)}59${time.slice(19)}`
  const ms = Date.parse(known.toUpperCase()) + leapSecondMs
  return new Date(Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS)).toISOString()
}

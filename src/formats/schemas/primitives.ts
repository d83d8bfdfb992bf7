// The formats of interface §2. A schema's description completes the sentence "<path> must be …".
import { Type } from 'typebox'

/** An object of exactly these members: a sender would think that an unread member counts. */
export const closed = <T extends Type.TProperties>(properties: T): Type.TObject<T> =>
  Type.Object(properties, { additionalProperties: false })

/** UUID version 1 to 5 in any letter case (RFC 9562); TypeBox's own `uuid` format accepts version 7. */
const UUID_PATTERN =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$'
const uuid = new RegExp(UUID_PATTERN)

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && uuid.test(value)
}

export const Uuid = Type.String({ pattern: UUID_PATTERN, description: 'a UUID, version 1 to 5' })

export const Text = Type.String({ description: 'a string' })

export const NonEmptyText = Type.String({ pattern: '\\S', description: 'a non-empty string' })

const TIMESTAMP_PATTERN =
  '^\\d{4}-\\d{2}-\\d{2}[Tt]([01]\\d|2[0-3]):[0-5]\\d:([0-5]\\d|60)(\\.\\d+)?([Zz]|[+-]([01]\\d|2[0-3]):[0-5]\\d)$'
const timestamp = new RegExp(TIMESTAMP_PATTERN)

/** RFC 3339 date-time whose day exists: Date.parse would read 30 February as 2 March. */
export function isTimestamp(value: string): boolean {
  if (!timestamp.test(value)) return false
  const [year = 0, month = 0, day = 0] = value.slice(0, 10).split('-').map(Number)
  if (month < 1 || month > 12 || day < 1 || (day > 28 && day > daysIn(year, month))) return false
  return value.slice(17, 19) !== '60' || endsUtcDay(value)
}

/** A leap second is the last of a UTC day (RFC 3339 §5.7), whatever time its offset makes of it. */
function endsUtcDay(value: string): boolean {
  const before = new Date(`${value.slice(0, 17)}59${value.slice(19)}`.toUpperCase())
  return before.getUTCHours() === 23 && before.getUTCMinutes() === 59
}

function daysIn(year: number, month: number): number {
  // Day 0 of the next month; setUTCFullYear because Date.UTC reads the years 0 to 99 as 1900 to 1999.
  const last = new Date(0)
  last.setUTCFullYear(year, month, 0)
  return last.getUTCDate()
}

/** The range that PostgreSQL and the format of its texts share; RFC 3339 exceeds both by its offsets and its year 0. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00.000Z')
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * A time of a request in the form that the tables use: ISO 8601 in UTC with milliseconds. PostgreSQL refuses offsets over 15:59 and long
 * fractions, and Date.parse refuses leap seconds: a leap second counts as the second after it.
 * @param time a timestamp as `isTimestamp` accepts it
 */
export function storedInstant(time: string): string {
  const leapSecondMs = time.slice(17, 19) === '60' ? 1_000 : 0
  const known = leapSecondMs === 0 ? time : `${time.slice(0, 17)}59${time.slice(19)}`
  const ms = Date.parse(known.toUpperCase()) + leapSecondMs
  return new Date(Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS)).toISOString()
}

export const Timestamp = Type.Refine(
  Type.String({ pattern: TIMESTAMP_PATTERN, description: 'an RFC 3339 timestamp' }),
  isTimestamp,
)

/** A time that the service writes (decisions §4): UTC, milliseconds and `Z`. */
export const Instant = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'a UTC time with milliseconds',
})

/** SHA-256 of canonical bytes (decisions §4). */
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: '64 lowercase hex characters' })

export const Base64 = Type.String({
  pattern: '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  description: 'base64 with padding',
})

/** An address to which the service sends requests of its own (src/core/outbound/address.ts). */
export const EndpointUrl = Type.String({
  pattern: '\\S',
  description:
    'https, to a host whose addresses are all public, without a query; http to a loopback literal outside production',
})

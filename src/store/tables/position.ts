// One place in the order of a list by a time, mostly newest first, and the cursor that names it to callers (decisions §5, §9).
import { isTimestamp, isUuid } from '../../formats/schemas/primitives.ts'

export interface Position {
  /** The time that orders the list. ISO 8601, milliseconds; microseconds where the database's clock gave the time. */
  readonly createdAt: string
  readonly id: string
}

/** With a time it names a position: everything older is below it, and nothing of that very time. */
export const LEAST_UUID = '00000000-0000-0000-0000-000000000000'

/**
 * Writes a cursor, which is opaque to callers.
 * @param times those that the cursor carries before its position, ISO 8601 with milliseconds
 */
export function cursorText({ createdAt, id }: Position, times: readonly string[] = []): string {
  return Buffer.from([...times, createdAt, id].join(' ')).toString('base64url')
}

/** @returns undefined where `cursor` is not a text that `cursorText` writes with as many times */
export function readCursor(
  cursor: string,
  timesCount = 0,
): { readonly position: Position; readonly times: readonly string[] } | undefined {
  const words = Buffer.from(cursor, 'base64url').toString().split(' ')
  const [times, [createdAt = '', id = '']] = [words.slice(0, -2), words.slice(-2)]
  const known = times.length === timesCount && [...times, createdAt].every(isKnownTime) && isUuid(id)
  return known ? { position: { createdAt, id }, times } : undefined
}

/** Whether PostgreSQL accepts the time too: it knows neither 30 February nor the year 0. */
function isKnownTime(text: string): boolean {
  return /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d{3})?Z$/.test(text) && isTimestamp(text)
}

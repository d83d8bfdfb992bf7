// Evidence as lines of JSON, as GET /trust-records and GET /refusals export it: one piece per line, and a last line with their
// number. Browser-safe; clients/python has the same.
import { isMembers, type Members } from '../json/members.ts'
import type { Json } from '../json/canonical.ts'

/** If an export was cut after its first line, only the file name shows that more lines were expected. */
const LINES_FILE = /\.(?:ndjson|jsonl)$/i

/**
 * Whether a text is read line by line: its first line alone is an object or a list, and another line follows, or the first line ends an
 * export, or the name is that of a file of lines.
 * @param first first line that is not blank
 */
export function isLines(name: string, first: string, hasMore: boolean): boolean {
  const mayBe = hasMore || LINES_FILE.test(name) || exportEnd(first) !== undefined
  if (!mayBe || !/^\s*[[{]/.test(first)) return false
  try {
    JSON.parse(first)
    return true
  } catch {
    return false
  }
}

/** Counts the lines of a text, and detects whether it ends like an export. */
export interface LineCount {
  /** Whether the line is evidence: a blank line and the end of an export are not. */
  readonly take: (line: string) => boolean
  /** Whether every export in the text ends with a correct count of its lines; false when no export ended. */
  readonly isWhole: () => boolean
}

export function countLines(): LineCount {
  let sinceEnd = 0
  let ended = false
  let fits = true
  return {
    take(line) {
      if (line.trim() === '') return false
      const count = exportEnd(line)
      if (count === undefined) {
        sinceEnd++
        return true
      }
      fits &&= count === sinceEnd
      ended = true
      sinceEnd = 0
      return false
    },
    isWhole: () => ended && fits && sinceEnd === 0,
  }
}

/** The members that state the content of an export and its period. */
const RANGE = ['kind', 'callerId', 'since', 'until']

/** The count in the end of an export; undefined when it contains other members than the service writes. */
function countOf({ count, ...range }: Members): number | undefined {
  const isRange = Object.entries(range).every(
    ([name, value]) => RANGE.includes(name) && (value === null || typeof value === 'string'),
  )
  return isRange && typeof count === 'number' ? count : undefined
}

/** The number of lines that the end of an export states; undefined for any other line. */
function exportEnd(line: string): number | undefined {
  if (!line.startsWith('{"exportEnd"')) return undefined
  try {
    const { exportEnd: end = null, ...others } = JSON.parse(line) as { readonly [name: string]: Json }
    return Object.keys(others).length === 0 && isMembers(end) ? countOf(end) : undefined
  } catch {
    return undefined
  }
}

// Exports as lines of JSON: `Accept: application/x-ndjson` on a list of records or refusals answers the whole range in one reply, which
// streams. The pages of the list stand underneath: as much is in memory as one of them.
import { Type } from 'typebox'
import { Failure, failures } from '../../core/errors/errors.ts'
import type { Page, PageRange } from '../../store/tables/page.ts'
import { readTimes } from './paging.ts'
import { acceptsType } from './preferences.ts'
import type { RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'

export const NDJSON = 'application/x-ndjson'
/** Without the charset some clients guess one, and text that is not ASCII no longer verifies. */
export const NDJSON_UTF8 = `${NDJSON}; charset=utf-8`
/** A page is read and rendered on the main thread: this many records of the usual size take it five milliseconds. */
const PAGE_ROWS = 100

export function wantsLines(request: RouteRequest): boolean {
  return acceptsType(request, NDJSON)
}

type Exported = 'trust-record' | 'refusal-record'

/** The OpenAPI document describes an export as lines so. */
export const linesShape = (kind: Exported) => ({
  [NDJSON]: {
    schema: Type.String({
      description: `One ${kind} a line. The last line, {"exportEnd": {kind, callerId, count, since, until}}, says that the export is whole; callerId is null where it has everybody's.`,
    }),
    example: `{…}\n${endLine({ kind, callerId: null, count: 1, since: null, until: null })}`,
  },
})

interface End extends TimeRange {
  readonly kind: Exported
  readonly callerId: string | null
  readonly count: number
}

function endLine({ kind, callerId, count, since, until }: End): string {
  return `${JSON.stringify({ exportEnd: { kind, callerId, count, since, until } })}\n`
}

export interface TimeRange {
  readonly since: string | null
  readonly until: string | null
}

interface ExportedList<Row> {
  readonly kind: Exported
  /** The caller whose evidence is asked for; null: everybody's. */
  readonly callerId: string | null
  readonly list: (range: PageRange, times: TimeRange) => Promise<Page<Row>>
  readonly textOf: (row: Row) => string
}

/** @returns what streams, newest first; or the 400 of the query. Throws what reading the first page throws: nothing is sent then */
export async function exportLines<Row>(
  query: URLSearchParams,
  exported: ExportedList<Row>,
): Promise<Answer | Failure> {
  const given = ['page', 'pageSize', 'cursor'].find((name) => query.has(name))
  if (given !== undefined)
    return failures.invalidQuery(`${given} is not for ${NDJSON}, which answers the whole range.`)
  const times = readTimes(query)
  if (times instanceof Failure) return times
  const first = await exported.list({ limit: PAGE_ROWS, offset: 0, after: null }, times)
  return {
    status: 200,
    headers: { 'Content-Type': NDJSON_UTF8 },
    body: '',
    texts: linesOf(first, times, exported),
  }
}

async function* linesOf<Row>(
  first: Page<Row>,
  times: TimeRange,
  { kind, callerId, list, textOf }: ExportedList<Row>,
): AsyncGenerator<string, void> {
  let count = 0
  for (let page = first; ;) {
    count += page.rows.length
    // JCS writes no line break.
    if (page.rows.length > 0) yield page.rows.map((row) => `${textOf(row)}\n`).join('')
    if (page.next === null) break
    page = await list({ limit: PAGE_ROWS, offset: 0, after: page.next }, times)
  }
  yield endLine({ kind, callerId, count, ...times })
}

// Exports as lines of JSON: `Accept: application/x-ndjson` on a list of records or refusals answers the whole range in one reply, which
// streams. The pages of the list stand underneath: as much is in memory as one of them.
import { Type } from 'typebox'
import { failures, type Failure } from '../../core/errors/errors.ts'
import type { Page, PageRange } from '../../store/tables/page.ts'
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

export type Exported = 'trust-record' | 'refusal-record'

/** The OpenAPI document describes an export as lines so. */
export const linesShape = (kind: Exported) => ({
  [NDJSON]: {
    schema: Type.String({
      description: `One ${kind} a line. The last line, {"exportEnd": {kind, callerId, count, since, until}}, says that the export is whole; callerId is null where it has everybody's.`,
    }),
    example: `{…}\n${endLine({ kind, callerId: null, count: 1, since: null, until: null })}`,
  },
})

interface End {
  readonly kind: Exported
  /** The caller whose evidence is asked for; null: everybody's. */
  readonly callerId: string | null
  readonly count: number
  readonly since: string | null
  readonly until: string | null
}

function endLine({ kind, callerId, count, since, until }: End): string {
  return `${JSON.stringify({ exportEnd: { kind, callerId, count, since, until } })}\n`
}

interface ExportedList<Row> {
  readonly end: Omit<End, 'count'>
  readonly readPage: (range: PageRange) => Promise<Page<Row>>
  readonly textOf: (row: Row) => string
}

/** @returns the first page of an export, or the 400 of a query that asks for a page of its own */
export function readLinesRange(query: URLSearchParams): PageRange | Failure {
  const given = ['page', 'pageSize', 'cursor'].find((name) => query.has(name))
  return given === undefined
    ? { limit: PAGE_ROWS, offset: 0, after: null }
    : failures.invalidQuery(`${given} is not for ${NDJSON}, which answers the whole range.`)
}

/** @returns what streams, newest first, from the first page on */
export function answerLines<Row>(first: Page<Row>, exported: ExportedList<Row>): Answer {
  return { status: 200, headers: { 'Content-Type': NDJSON_UTF8 }, body: '', texts: linesOf(first, exported) }
}

async function* linesOf<Row>(
  first: Page<Row>,
  { end, readPage, textOf }: ExportedList<Row>,
): AsyncGenerator<string, void> {
  let count = 0
  for (let page = first; ;) {
    count += page.rows.length
    // JCS writes no line break.
    if (page.rows.length > 0) yield page.rows.map((row) => `${textOf(row)}\n`).join('')
    if (page.next === null) break
    page = await readPage({ limit: PAGE_ROWS, offset: 0, after: page.next })
  }
  yield endLine({ ...end, count })
}

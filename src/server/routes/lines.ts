// Exports as lines of JSON or as CSV: `Accept: application/x-ndjson` or `text/csv` on a list answers the whole range in one reply, which
// streams. It is read through the pages of the list, so only one page is in memory at a time.
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

export type Exported = 'trust-record' | 'refusal-record' | 'execution'

/** The OpenAPI description of an export as lines. */
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
  /** The caller whose evidence is exported; null: every caller's. */
  readonly callerId: string | null
  readonly count: number
  readonly since: string | null
  readonly until: string | null
}

function endLine({ kind, callerId, count, since, until }: End): string {
  return `${JSON.stringify({ exportEnd: { kind, callerId, count, since, until } })}\n`
}

/** How the rows of an export are written. */
export interface Format<Row> {
  readonly contentType: string
  /** Before the first row. */
  readonly head: string
  /** With its line break. */
  readonly textOf: (row: Row) => string
  /** Behind the last row. */
  readonly foot: (count: number) => string
}

/** @param textOf JSON */
export function linesFormat<Row>(textOf: (row: Row) => string, end: Omit<End, 'count'>): Format<Row> {
  return {
    contentType: NDJSON_UTF8,
    head: '',
    // JCS writes no line break.
    textOf: (row) => `${textOf(row)}\n`,
    foot: (count) => endLine({ ...end, count }),
  }
}

/** @returns the first page of an export, or the 400 of a query that asks for a certain page */
export function readExportRange(query: URLSearchParams, contentType: string): PageRange | Failure {
  const given = ['page', 'pageSize', 'cursor'].find((name) => query.has(name))
  return given === undefined
    ? { limit: PAGE_ROWS, offset: 0, after: null }
    : failures.invalidQuery(`${given} is not for ${contentType}, which answers the whole range.`)
}

/** @returns the reply that streams the rows, newest first, from the first page on */
export function answerExport<Row>(
  first: Page<Row>,
  readPage: (range: PageRange) => Promise<Page<Row>>,
  format: Format<Row>,
): Answer {
  const headers = { 'Content-Type': format.contentType }
  return { status: 200, headers, body: '', texts: textsOf(first, readPage, format) }
}

async function* textsOf<Row>(
  first: Page<Row>,
  readPage: (range: PageRange) => Promise<Page<Row>>,
  { head, textOf, foot }: Format<Row>,
): AsyncGenerator<string, void> {
  let count = 0
  if (head !== '') yield head
  for (let page = first; ;) {
    count += page.rows.length
    if (page.rows.length > 0) yield page.rows.map(textOf).join('')
    if (page.next === null) break
    page = await readPage({ limit: PAGE_ROWS, offset: 0, after: page.next })
  }
  const last = foot(count)
  if (last !== '') yield last
}

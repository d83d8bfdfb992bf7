// Lists, declared. A row names its filters, how it reads entries and how it shows one; the page, the filters, the export as lines and the
// `Link` are the same for all lists (decisions §5, §12).
import { IsEnum, type TEnum, type TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { Failure, failures } from '../../core/errors/errors.ts'
import { readableOwner } from '../../formats/people/caller.ts'
import { PAGE_BYTES_MAX, type Page, type PageRange } from '../../store/tables/page.ts'
import { cursor, linkedPaging, listFailures } from '../openapi/parameters.ts'
import { waitMsOf } from './preferences.ts'
import { textWithoutNulls, type Route, type RouteRequest } from '../route.ts'
import type { Service } from '../service.ts'
import { CSV, csvFormat, csvShape, wantsCsv, type Csv } from './csv.ts'
import {
  answerExport,
  linesFormat,
  linesShape,
  readExportRange,
  NDJSON,
  wantsLines,
  type Exported,
} from './lines.ts'
import {
  invalidCursor,
  nextLink,
  pageHeaders,
  readChoice,
  readOwner,
  readRange,
  readTimes,
} from './paging.ts'

interface Listed extends Pick<
  Route,
  'path' | 'operationId' | 'tag' | 'summary' | 'params' | 'readers' | 'mounted'
> {
  readonly method: 'GET'
  readonly cost: NonNullable<Route['cost']>
  readonly description: string
  readonly schema: TSchema
  /** The member of the reply that holds the list; left out: the reply is an array. */
  readonly member?: string
}

type Filters = Readonly<
  Record<
    string,
    {
      readonly schema: TSchema
      readonly description: string
      /** Completes "<name> must be" for a text that does not fit the schema; left out: any text is accepted. */
      readonly mustBe?: string
    }
  >
>

/** The filters of a query; null where they are not given. */
type Asked<Taken> = {
  readonly [Name in keyof Taken]:
    (Taken[Name] extends { schema: TEnum<infer Choices> } ? Choices[number] : string) | null
}

/** The owner of the listed entries; null: all callers. */
type Owned = { readonly callerId: string | null }

type Beside = Readonly<Record<string, unknown>>

interface PagedList<Taken, Row> extends Listed {
  readonly example: readonly object[]
  /** Filters beside those of the paging; they are read in this order, the times first. */
  readonly filters?: Taken
  /** Only for callers who read all entries. `readers` does not fit: it refuses every caller where authentication is disabled. */
  readonly everybodys?: true
  /** Members of the reply that come before the list, read before it; `exampleBeside` has them for the example. */
  readonly beside?: (service: Service) => Promise<Beside>
  readonly exampleBeside?: Beside
  /** The list is exported as lines too. */
  readonly lines?: Exported
  /** The list is exported as comma-separated values too. */
  readonly csv?: Csv<Row>
  /** The path of further pages, where it differs from the route's. */
  readonly pagePath?: (params: RouteRequest['params']) => string
  readonly failures?: Route['failures']
  /** With `Prefer: wait` an empty page waits: this is called before each reading. */
  readonly waitFor?: (request: RouteRequest, service: Service) => Promise<Waiting>
  /** Refuses a request whose query is valid. */
  readonly refuse?: (
    asked: Asked<Taken>,
    request: RouteRequest,
    service: Service,
  ) => Failure | undefined | Promise<Failure | undefined>
  readonly read: (
    range: PageRange,
    asked: Asked<Taken> & Owned,
    service: Service,
    request: RouteRequest,
  ) => Promise<Page<Row>>
  /** @returns JSON */
  readonly textOf: (row: Row) => string
}

/** How long an empty page of a list waits at most, where `Prefer: wait` names a longer time. */
export const WAIT_SECONDS_MAX = 30

interface Waiting {
  /** Waits for new entries since the reading, this many milliseconds at most. @returns whether there may be one */
  readonly wait: (ms: number) => Promise<boolean>
  /** Reads again when it is the request's turn: one event may wake thousands. */
  readonly again: <T>(read: () => Promise<T>) => Promise<T>
}

/** Reads a page, and reads it again while it is empty, new entries are possible and the time is not over. */
async function readInTime<Read extends { readonly page: Page<unknown> }>(
  begin: (() => Promise<Waiting>) | undefined,
  waitMs: number,
  read: () => Promise<Read>,
): Promise<Read> {
  const untilMs = performance.now() + waitMs
  let waiting: Waiting | undefined
  for (;;) {
    const next: Waiting | undefined = waitMs > 0 ? await begin?.() : undefined
    const found = await (waiting === undefined ? read() : waiting.again(read))
    const ms = untilMs - performance.now()
    const isOver = next === undefined || found.page.rows.length > 0 || ms <= 0
    if (isOver || !(await next.wait(ms))) return found
    waiting = next
  }
}

const NOTHING: Page<never> = { rows: [], next: null }

/** @returns the route of a list that is read in pages, newest first */
export function list<const Taken extends Filters, Row>({
  schema,
  member,
  example,
  filters,
  everybodys,
  beside,
  exampleBeside = {},
  lines,
  csv,
  pagePath,
  failures: further = [],
  waitFor,
  refuse,
  read,
  textOf,
  ...row
}: PagedList<Taken, Row>): Route {
  return {
    ...row,
    query: { ...linkedPaging, ...filters },
    answers: {
      200: {
        description:
          filters?.['order'] === undefined
            ? 'One page, newest first.'
            : 'One page, in the order that `order` names.',
        schema,
        example: member === undefined ? example : { ...exampleBeside, [member]: example },
        ...(lines === undefined
          ? {}
          : { alternatives: { ...linesShape(lines), ...(csv === undefined ? {} : csvShape(csv)) } }),
        optionalHeaders: ['Link'],
      },
    },
    failures: [...(everybodys ? (['nonHumanCaller'] as const) : []), ...further, ...listFailures],
    readsDatabase: true,
    async handle(request, service) {
      const { query, caller, params } = request
      if (everybodys && readableOwner(caller) !== null) return failures.nonHumanCaller()
      const isCsv = csv !== undefined && wantsCsv(request)
      const isExport = isCsv || (lines !== undefined && wantsLines(request))
      const range = isExport ? readExportRange(query, isCsv ? CSV : NDJSON) : readRange(query)
      if (range instanceof Failure) return range
      const given = readFilters<Filters>(query, filters ?? {})
      if (given instanceof Failure) return given
      const asked = given as Asked<Taken>
      const refused = await refuse?.(asked, request, service)
      if (refused !== undefined) return refused
      const owner = filters?.['callerId'] === undefined ? readableOwner(caller) : readOwner(query, caller)
      const readPage = async (of: PageRange) =>
        owner === undefined ? NOTHING : read(of, { ...asked, callerId: owner }, service, request)
      const { before, page } = await readInTime(
        waitFor === undefined || isExport ? undefined : () => waitFor(request, service),
        waitMsOf(request, WAIT_SECONDS_MAX),
        async () => ({ before: (await beside?.(service)) ?? {}, page: await readPage(range) }),
      )
      if (isCsv) return answerExport(page, readPage, csvFormat(csv))
      if (isExport) {
        const { since = null, until = null } = asked as Partial<Record<'since' | 'until', string | null>>
        const callerId = owner === undefined ? query.get('callerId') : owner
        return answerExport(page, readPage, linesFormat(textOf, { kind: lines!, callerId, since, until }))
      }
      return {
        status: 200,
        ...pageHeaders(pagePath?.(params) ?? row.path, query, page.next),
        body: bodyOf(page.rows.map(textOf), member, before),
      }
    },
  }
}

/** @returns the filters of the query but `callerId`, or the 400 of the first wrong filter */
export function readFilters<const Taken extends Filters>(
  query: URLSearchParams,
  filters: Taken,
): Omit<Asked<Taken>, 'callerId'> | Failure {
  const given: Record<string, string | null> = {}
  if ('since' in filters) {
    const times = readTimes(query)
    if (times instanceof Failure) return times
    Object.assign(given, times)
  }
  for (const [name, { schema, mustBe }] of Object.entries(filters)) {
    if (name in given || name === 'callerId') continue
    const value = IsEnum(schema) ? readChoice(query, name, schema.enum.map(String)) : query.get(name)
    if (value instanceof Failure) return value
    if (value !== null && mustBe !== undefined && !Check(schema, value))
      return failures.invalidQuery(`${name} must be ${mustBe}.`)
    given[name] = value
  }
  return given as Asked<Taken>
}

function bodyOf(texts: readonly string[], member: string | undefined, beside: Beside): string {
  const items = `[${texts.join(',')}]`
  const before = Object.entries(beside).map(([name, value]) => `"${name}":${JSON.stringify(value)},`)
  return member === undefined ? items : `{${before.join('')}"${member}":${items}}`
}

interface WholeList<Row extends object> extends Listed {
  readonly member: string
  /** The entries of the example, and the members that come before them. */
  readonly example: Readonly<Record<string, unknown>>
  /** Completes "By …". */
  readonly order: string
  readonly read: (service: Service) => Promise<readonly Row[]>
  /** @returns a text that no other entry has; the list is in the order of these texts */
  readonly keyOf: (row: Row) => string
  /** Members of the reply that come before the list. */
  readonly beside?: (service: Service) => Readonly<Record<string, unknown>>
}

/** @returns the route of a list without page numbers: whole up to 4 MiB, with a `Link` where it goes on */
export function wholeList<Row extends object>({
  schema,
  member,
  example,
  order,
  description,
  read,
  keyOf,
  beside,
  ...row
}: WholeList<Row>): Route {
  return {
    ...row,
    description: `${description} Whole, up to 4 MiB; then \`Link\` leads on.`,
    query: cursor,
    answers: { 200: { description: `By ${order}.`, schema, example, optionalHeaders: ['Link'] } },
    failures: ['overloaded'],
    readsDatabase: true,
    async handle({ query }, service) {
      const after = readKey(query.get('cursor'))
      if (after instanceof Failure) return after
      const rest = (await read(service))
        .map((entry) => ({ key: keyOf(entry), text: textWithoutNulls(entry) }))
        .filter(({ key }) => after === null || key > after)
        .toSorted((one, other) => (one.key < other.key ? -1 : 1))
      let bytes = 0
      const end = rest.findIndex(
        ({ text }, i) => (bytes += Buffer.byteLength(text)) > PAGE_BYTES_MAX && i > 0,
      )
      const shown = end === -1 ? rest : rest.slice(0, end)
      const last = shown.at(-1)
      return {
        status: 200,
        ...(last === undefined || shown.length === rest.length
          ? {}
          : { headers: { Link: nextLink(row.path, query, keyCursor(last.key)) } }),
        body: bodyOf(
          shown.map(({ text }) => text),
          member,
          beside?.(service) ?? {},
        ),
      }
    },
  }
}

function keyCursor(key: string): string {
  return Buffer.from(`key ${key}`).toString('base64url')
}

function readKey(text: string | null): string | null | Failure {
  if (text === null) return null
  const [, key] = /^key (.+)$/s.exec(Buffer.from(text, 'base64url').toString()) ?? []
  return key ?? invalidCursor()
}

// Pages of a list, newest first unless it says otherwise, that end where their texts would pass 4 MiB (decisions §12 "paging by bytes").
import type { QueryResultRow } from 'pg'
import { LEAST_UUID, type Position } from './position.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

/** Bytes of the texts on one page. A larger single item gets its own page. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024

export interface PageRange {
  /** Items, `pageSize` at most. */
  readonly limit: number
  readonly offset: number
  /** Continue behind this item; null: from the newest. */
  readonly after: Position | null
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** The last item's position where the list continues behind it; null on the last page. */
  readonly next: Position | null
}

/** A list that is read in the order of a time and an id, both descending; an index has both, or the time of few rows. */
interface PagedList {
  /** Names a prepared statement; without it the statement is planned with its values. */
  readonly name?: string
  readonly table: string
  /** Column of type timestamptz. */
  readonly time: string
  /** Column of type uuid, unique. */
  readonly id: string
  /** The earliest time comes first. */
  readonly ascending?: true
  /** Bytes of an item, an SQL expression over `item` that reads no text. */
  readonly bytes: string
  /** Columns of an item, over `item` and over the tables that `join` adds. */
  readonly columns: string
  /** Which rows are listed, over `item`; its parameters begin at `$5`. */
  readonly where?: string
  /** Added to the FROM behind `item`. */
  readonly join?: string
  /** Added behind `join` for `where` and `columns` alone, because measuring a row does not need it. */
  readonly derived?: string
}

/**
 * Reads one page. Its rows are found and measured by their index first, and only the texts that fit are read: `octet_length` of a
 * stored text does not read the text.
 *
 * @param values from `$5` on
 * @param until an upper end of a list that is newest first, excluded; null: none
 */
export async function readPageOf<Row extends QueryResultRow>(
  sql: Sql,
  list: PagedList,
  range: PageRange,
  {
    until = null,
    values = [],
  }: { readonly until?: string | null; readonly values?: readonly unknown[] } = {},
): Promise<Page<Row>> {
  const { rows } = await sql.query<Row & { pageTime: string; pageId: string; pageFound: number }>({
    ...(list.name === undefined ? {} : { name: list.name }),
    text: statementOf(list),
    // One more than a page holds: it shows whether there is a next page, so that the last page names none.
    values: [range.limit + 1, range.offset, ...beginOf(list, range.after, until), ...values],
  })
  const shown = rows.slice(0, range.limit)
  const last = shown.at(-1)
  const isLast = last === undefined || last.pageFound === shown.length
  return {
    rows: shown.map(({ pageTime: _time, pageId: _id, pageFound: _found, ...row }) => row as unknown as Row),
    next: isLast ? null : { createdAt: last.pageTime.replace(/000Z$/, 'Z'), id: last.pageId },
  }
}

export interface OwnedRange {
  /** The owner of the rows; null: all callers. */
  readonly callerId: string | null
  /** ISO 8601, included; `until` is excluded. Null: no bound. */
  readonly since: string | null
  readonly until: string | null
}

/**
 * As `readPageOf`, for a table that has at most one row for a transaction, with its caller. Two statements, not one with `$6 IS NULL OR`:
 * each has its own index, and a generic plan can use it.
 */
export function readOwnedPage<Row extends QueryResultRow>(
  sql: Sql,
  list: Pick<PagedList, 'table' | 'bytes' | 'columns'>,
  range: PageRange,
  { callerId, since, until }: OwnedRange,
): Promise<Page<Row>> {
  const own = callerId !== null
  return readPageOf(
    sql,
    {
      ...list,
      name: `${list.table}_list_${own ? 'own' : 'all'}`,
      time: 'created_at',
      id: 'business_transaction_id',
      where: `item.created_at >= $5::timestamptz ${own ? 'AND item.caller_id = $6::text' : ''}`,
    },
    range,
    { until, values: [since ?? '-infinity', ...(own ? [callerId] : [])] },
  )
}

/**
 * The row comparison bounds the index scan, also without a cursor. Keys come before sizes, so that the rows that an OFFSET skips are not
 * measured. On Citus a correlated subquery must refer to `item`, never to a page.
 */
function statementOf({
  table,
  time,
  id,
  bytes,
  columns,
  ascending,
  where,
  join = '',
  derived = '',
}: PagedList): string {
  const [behind, direction] = ascending ? ['>', 'ASC'] : ['<', 'DESC']
  const orderOf = (row: string) => `${row}${time} ${direction}, ${row}${id} ${direction}`
  return `
    WITH summed AS (
      SELECT *, sum(bytes) OVER (ORDER BY ${orderOf('')}) AS bytes_so_far, count(*) OVER () AS found
      FROM (
        SELECT page.${time}, page.${id}, ${bytes} AS bytes
        FROM (
          SELECT item.${time}, item.${id} FROM ${table} AS item ${join} ${derived}
          WHERE (item.${time}, item.${id}) ${behind} ($3::timestamptz, $4::uuid) ${where === undefined ? '' : `AND ${where}`}
          ORDER BY ${orderOf('item.')} LIMIT $1::integer OFFSET $2::integer
        ) AS page JOIN ${table} AS item ON item.${id} = page.${id} ${join}
        OFFSET 0
      ) AS measured
    )
    SELECT summed.found::integer AS "pageFound", summed.${id} AS "pageId",
      ${isoTime(`summed.${time}`, 'US')} AS "pageTime", ${columns}
    FROM summed JOIN ${table} AS item ON item.${id} = summed.${id} ${join} ${derived}
    WHERE summed.bytes_so_far <= ${PAGE_BYTES_MAX} OR summed.bytes_so_far = summed.bytes
    ORDER BY ${orderOf('summed.')}`
}

/** @returns a time and an id, behind which the page begins */
function beginOf({ ascending }: PagedList, after: Position | null, until: string | null): [string, string] {
  if (!ascending) return upperEnd(after, until)
  return after === null ? ['-infinity', LEAST_UUID] : [after.createdAt, after.id]
}

/** A page begins behind `after` or at `until`, whichever is older. @returns a time and an id, above which nothing is on it */
export function upperEnd(after: Position | null, until: string | null): [string, string] {
  if (after !== null && (until === null || after.createdAt < until)) return [after.createdAt, after.id]
  return [until ?? 'infinity', LEAST_UUID]
}

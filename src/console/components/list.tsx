// A table of one page of a list, with a link to the next page. `j` and `k` move through its rows, Enter opens a row.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Loaded } from '../hooks.ts'
import { withQuery } from '../router.ts'
import { Empty, NotLoaded, Problem } from './basic.tsx'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** A second line in grey. */
  readonly below?: (row: Row) => ComponentChildren
  /** Right-aligned, digits below digits. */
  readonly number?: true
  /** Left out on a phone. */
  readonly minor?: true
}

/** How the rows of a kind are shown, wherever they are listed. */
export interface Rows<Row> {
  readonly keyOf: (row: Row) => string
  /** Where a row leads; undefined: nowhere. */
  readonly hrefOf?: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  /** On a phone, which shows no headings, each cell names its column. */
  readonly labelled?: boolean
}

/** The rows that are drawn first: more than a screen shows. */
const FIRST_ROWS = 25

/** Draws the rows below the screen after the rows on it: drawing a hundred rows takes a third of the time in which a page opens. */
function useFirst<Row>(rows: readonly Row[]): readonly Row[] {
  const [isWhole, setWhole] = useState(false)
  useEffect(() => setWhole(true), [])
  return isWhole ? rows : rows.slice(0, FIRST_ROWS)
}

export function Table<Row>({
  caption,
  rows,
  keyOf,
  hrefOf,
  columns,
  labelled = false,
}: Rows<Row> & { readonly caption: string; readonly rows: readonly Row[] }) {
  const drawn = useFirst(rows)
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, ...kind }) => (
              <th key={title} scope="col" class={classOf(kind)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {drawn.map((row) => {
            const href = hrefOf?.(row)
            return (
              <tr key={keyOf(row)} class={href === undefined ? '' : 'link'}>
                {columns.map(({ title, cell, below, ...kind }, i) => (
                  <td key={title} class={classOf(kind)} data-title={labelled ? title : undefined}>
                    {i === 0 && href !== undefined ? (
                      <a href={href} data-row>
                        {cell(row)}
                      </a>
                    ) : (
                      cell(row)
                    )}
                    {below !== undefined && <div class="quiet">{below(row)}</div>}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function classOf({ minor, number }: Pick<Column<never>, 'minor' | 'number'>): string {
  return [minor ? 'minor' : '', number ? 'number' : ''].join(' ').trim()
}

/** Shows the state of a list: the problem, a list that is still loading, an empty list, or its rows. */
export function Listed<Reply, Row>({
  loaded,
  rowsOf,
  empty,
  restAt,
  ...table
}: Rows<Row> & {
  readonly caption: string
  readonly loaded: Loaded<Reply>
  readonly rowsOf: (reply: Reply) => readonly Row[]
  /** A text with the next step, where the list is empty. */
  readonly empty: ComponentChildren
  /** The page with the whole list; undefined: the present page. */
  readonly restAt?: string
}) {
  const { data, problem, next } = loaded
  if (data === undefined) return <NotLoaded problem={problem} />
  const rows = rowsOf(data)
  const cursor = next === undefined ? undefined : new URLSearchParams(next.split('?')[1]).get('cursor')
  return (
    <>
      <Problem text={problem} />
      {rows.length === 0 ? <Empty>{empty}</Empty> : <Table rows={rows} {...table} />}
      <div class="pager">
        {restAt === undefined && new URLSearchParams(location.search).has('cursor') && (
          <a href={withQuery({ cursor: undefined })}>First page</a>
        )}
        {cursor !== null && cursor !== undefined && (
          <a href={restAt ?? withQuery({ cursor })}>
            {restAt === undefined ? 'Next page' : 'There are more: see all'}
          </a>
        )}
      </div>
    </>
  )
}

/** The path of a list with the filters of the URL. */
export function listPath(path: string, query: URLSearchParams, names: readonly string[]): string {
  const given = names.flatMap((name) => {
    const value = query.get(name)
    return value === null || value === '' ? [] : [[name, value] as [string, string]]
  })
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

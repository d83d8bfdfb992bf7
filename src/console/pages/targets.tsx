// The page of targets: the targets of completed executions over a range, with the sum that each received in each currency.
import { useMemo } from 'preact/hooks'
import { lineOf, type Cell } from '../../formats/text/csv.ts'
import { Panel, Said } from '../components/basic.tsx'
import { Reach, useCatalogue, useHasCatalogue, WithoutCatalogue } from '../components/catalogue.tsx'
import { Filters, timeFilters, type Filter } from '../components/filters.tsx'
import { Listed, listPath } from '../components/list.tsx'
import { targetPath } from '../components/names.tsx'
import type { PageProps } from '../page.ts'
import { withQuery } from '../router.ts'
import { executionsPath, sinceOf, totalsOf, type Counted, type Statistics } from '../statistics.ts'
import { shownMoney } from '../text.ts'

const filters: readonly Filter[] = [
  ...timeFilters,
  { name: 'capability', label: 'Action' },
  { name: 'policy', label: 'Policy' },
  { name: 'callerId', label: 'Caller' },
  { name: 'currency', label: 'Currency' },
]

/** The most groups that a reply may have; all other targets share a row. */
const ALWAYS = { by: 'target', status: 'completed', limits: 'false', groups: '100' } as const
const MONTHS = 3

/** The first rows, by the value of `order` in the URL. A reader who answers for the money looks at the largest sums first. */
const ORDERS = { amount: 'largest sums', count: 'most executions' } as const
type Order = keyof typeof ORDERS
const orderOf = (query: URLSearchParams): Order => (query.get('order') === 'count' ? 'count' : 'amount')

/** The targets as the service has chosen them, the first of the order first; all others are last. */
function rowsOf(statistics: Statistics): Counted[] {
  const { orderedBy } = statistics
  const byCount = totalsOf(statistics)
  if (orderedBy === undefined) return byCount
  const sumOf = ({ sums }: Counted) =>
    sums
      .filter(({ currency }) => currency?.toLowerCase() === orderedBy.currency?.toLowerCase())
      .reduce<number | undefined>((sum, { amount }) => (sum ?? 0) + amount, undefined) ?? -Infinity
  // Targets with the same sum keep the order of their counts.
  return byCount.toSorted(
    (a, b) => Number(a.others ?? 0) - Number(b.others ?? 0) || Math.sign(sumOf(b) - sumOf(a) || 0),
  )
}

/** The last calendar months, in UTC as in `GET /statistics`; the newest month is not over. */
function monthsUntil(nowMs: number) {
  const now = new Date(nowMs)
  const begin = (back: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString()
  return Array.from({ length: MONTHS }, (_, back) => {
    const since = begin(back)
    const title = new Date(since).toLocaleDateString('en-GB', {
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    })
    return { title, since, until: begin(back - 1) }
  })
}

const sumsText = ({ sums }: Counted) =>
  sums.map(({ currency, amount }) => shownMoney(Number(amount.toFixed(2)), currency)).join(', ')

/** A line for each target and currency; a target without an amount has one line. */
function linesOf(statistics: Statistics): string[] {
  return rowsOf(statistics).flatMap(({ key, others, count, sums }) => {
    const target = others === true ? 'all others' : key
    const cells: (readonly Cell[])[] =
      sums.length === 0
        ? [[target, count, '', '']]
        : sums.map(({ currency, amount }) => [target, count, amount, currency ?? ''])
    return cells.map(lineOf)
  })
}

export function Targets({ query }: PageProps) {
  const hasCatalogue = useHasCatalogue()
  const begin = useMemo(() => sinceOf('30d', Date.now()), [])
  const months = useMemo(() => monthsUntil(Date.now()), [])
  const names = filters.map(({ name }) => name)
  const asked = new URLSearchParams(query)
  if (!asked.has('since')) asked.set('since', begin)
  const order = orderOf(query)
  const always = { ...ALWAYS, order }
  for (const [name, value] of Object.entries(always)) asked.set(name, value)
  const loaded = useCatalogue<Statistics>(
    listPath('/statistics', asked, [...names, ...Object.keys(always)]),
    30_000,
  )
  if (!hasCatalogue)
    return (
      <>
        <h1>Targets</h1>
        <WithoutCatalogue what="how much went to whom" />
      </>
    )
  const mainCurrency = loaded.data?.orderedBy?.currency
  const given = Object.fromEntries(names.map((name) => [name, asked.get(name) ?? undefined]))
  return (
    <>
      <header class="heading">
        <h1>Targets</h1>
        <nav class="ranges" aria-label="Order">
          {Object.entries(ORDERS).map(([name, title]) => (
            <a
              key={name}
              href={withQuery({ order: name === 'amount' ? undefined : name })}
              aria-current={name === order ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </header>
      <p>
        What was completed, and its amounts: nothing that was refused or failed, or is in doubt.{' '}
        {mainCurrency !== undefined && (
          <>
            Ordered by the sums in <Said text={mainCurrency} />.{' '}
          </>
        )}
        {query.has('since') ? null : 'The last 30 days. '}
        {months.map(({ title, since, until }) => (
          <span key={since}>
            <a
              href={withQuery({ since, until })}
              aria-current={query.get('since') === since && query.get('until') === until}
            >
              {title}
            </a>{' '}
          </span>
        ))}
      </p>
      <Filters
        filters={filters}
        exports={[
          {
            label: 'CSV',
            path: '/statistics',
            type: 'text/csv',
            always: { ...always, since: asked.get('since')! },
            head: lineOf(['target', 'executions', 'amount', 'currency']),
            linesOf,
            isWhole: true,
          },
        ]}
      />
      {loaded.data !== undefined && <Reach until={loaded.data.completeUntil} />}
      <Panel title="How much to whom">
        <Listed
          loaded={loaded}
          rowsOf={rowsOf}
          empty="Nothing was completed in this range, with these filters."
          caption={`Targets, ${ORDERS[order]} first`}
          keyOf={({ key, others }) => JSON.stringify([key, others])}
          columns={[
            {
              title: 'Target',
              cell: ({ key, others }) =>
                key === null || others === true ? (
                  'all others'
                ) : (
                  <a class="name" href={targetPath(key)} data-row>
                    <Said text={key} />
                  </a>
                ),
            },
            { title: 'Amounts', number: true, cell: sumsText },
            {
              title: 'Executions',
              number: true,
              cell: ({ key, count }) =>
                key === null ? (
                  count.toLocaleString('en-US')
                ) : (
                  <a href={executionsPath({ ...given, status: 'completed', target: key })}>
                    {count.toLocaleString('en-US')}
                  </a>
                ),
            },
          ]}
        />
      </Panel>
    </>
  )
}

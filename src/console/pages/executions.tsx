// Executions, newest first, as the catalogue has them: action, outcome and amount.
import type { CataloguePage, CatalogueStatus } from '../../formats/schemas/catalogue.ts'
import type { Static } from 'typebox'
import { Badge, LACKED_APPROVAL, Said, Time } from '../components/basic.tsx'
import { Reach, useCatalogue, useHasCatalogue, WithoutCatalogue } from '../components/catalogue.tsx'
import { entryFilters, Filters, type Filter } from '../components/filters.tsx'
import { Listed, listPath, type Rows } from '../components/list.tsx'
import { CallerLink, TargetLink } from '../components/names.tsx'
import { get } from '../api.ts'
import { pause, useFollowed } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { shownMoney, shownSummary } from '../text.ts'

export type ExecutionsPage = Static<typeof CataloguePage>
type Entry = ExecutionsPage['executions'][number]

/** The names of the catalogue's statuses on other pages. */
const STATUSES: Readonly<Record<CatalogueStatus, string>> = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  refused: 'REFUSED',
  in_doubt: 'IN_DOUBT',
}

export const executionRows: Rows<Entry> = {
  keyOf: ({ businessTransactionId }) => businessTransactionId,
  hrefOf: ({ businessTransactionId, status }) =>
    `/console/${status === 'refused' ? 'refusals' : 'executions'}/${businessTransactionId}`,
  columns: [
    {
      title: 'Action',
      cell: ({ summary, amount, capability, target }) => (
        <Said text={summary === undefined ? `${capability} → ${target}` : shownSummary(summary, amount)} />
      ),
    },
    {
      title: 'Amount',
      number: true,
      cell: ({ amount, currency }) => (amount === undefined ? '' : shownMoney(amount, currency)),
    },
    {
      title: 'Status',
      cell: ({ status, approvable, contradicted }) => (
        <>
          <Badge status={approvable === true ? LACKED_APPROVAL : STATUSES[status]} />{' '}
          {contradicted === true && <Badge status="contradicted" />}
        </>
      ),
    },
    { title: 'Target', minor: true, cell: ({ target }) => <TargetLink name={target} /> },
    { title: 'Caller', cell: ({ callerId }) => <CallerLink id={callerId} /> },
    {
      title: 'Policy',
      minor: true,
      cell: ({ policyName, policyVersion }) => <Said text={`${policyName} ${policyVersion}`} />,
    },
    { title: 'When', cell: ({ decidedAt }) => <Time at={decidedAt} /> },
  ],
}

const filters: readonly Filter[] = [
  { name: 'status', label: 'Status', values: Object.keys(STATUSES) },
  ...entryFilters,
]

/** A busy service has new executions all the time: the list is reloaded no more often than this. */
const AGAIN_MS = 1_000
const WAIT_SECONDS = 25

/** The path for executions that are newer than a first page; undefined: no newer execution can enter the shown list. */
function newerPath(
  query: URLSearchParams,
  names: readonly string[],
  shown: ExecutionsPage | undefined,
): string | undefined {
  if (shown === undefined || query.has('cursor') || query.has('until')) return undefined
  const newer = new URLSearchParams(query)
  const [newest] = shown.executions
  // Times are shown to the millisecond.
  if (newest !== undefined) newer.set('since', new Date(Date.parse(newest.decidedAt) + 1).toISOString())
  newer.set('pageSize', '1')
  return listPath('/executions', newer, [...names, 'pageSize'])
}

/** Waits at the service for a newer execution, then reloads the list. */
function useNewer(path: string | undefined, reload: () => void): void {
  useFollowed(
    () => async (signal) => {
      if (path === undefined) return undefined
      const { data } = await get<ExecutionsPage>(path, { signal, wait: WAIT_SECONDS })
      if (data.executions.length === 0) return AGAIN_MS
      await pause(AGAIN_MS, signal)
      if (!signal.aborted) reload()
      return undefined
    },
    path ?? '',
  )
}

export function Executions({ query }: PageProps) {
  const names = filters.map(({ name }) => name)
  const loaded = useCatalogue<ExecutionsPage>(listPath('/executions', query, [...names, 'cursor']), 10_000)
  const hasCatalogue = useHasCatalogue()
  useNewer(hasCatalogue ? newerPath(query, names, loaded.data) : undefined, loaded.reload)
  return (
    <>
      <h1>Executions</h1>
      {hasCatalogue && (
        <Filters
          filters={filters}
          exports={[
            { label: 'CSV', path: '/executions', type: 'text/csv' },
            { label: 'NDJSON', path: '/executions', type: 'application/x-ndjson' },
          ]}
        />
      )}
      {!hasCatalogue && <WithoutCatalogue what="a list of them" />}
      {loaded.data !== undefined && <Reach until={loaded.data.completeUntil} />}
      {hasCatalogue && (
        <Listed
          loaded={loaded}
          rowsOf={({ executions }) => executions}
          empty={
            names.some((name) => query.has(name))
              ? 'No execution fits all of these filters.'
              : 'Nothing was executed or refused yet. The first start prints a curl line to paste.'
          }
          caption="Executions, newest first"
          {...executionRows}
        />
      )}
    </>
  )
}

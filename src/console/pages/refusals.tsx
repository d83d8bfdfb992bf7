// The page of refusals, with the reason of each.
import type { RefusalRecord } from '../../formats/schemas/refusal-record.ts'
import {
  Badge,
  Command,
  Detail,
  Hash,
  LACKED_APPROVAL,
  Members,
  NotLoaded,
  Panel,
  Said,
  Time,
} from '../components/basic.tsx'
import { useHasCatalogue } from '../components/catalogue.tsx'
import { entryFilters, Filters, timeFilters, type Filter } from '../components/filters.tsx'
import { Listed, listPath, Table } from '../components/list.tsx'
import { CallerLink, TargetLink } from '../components/names.tsx'
import { PolicyLink } from '../components/policy.tsx'
import { useLoaded, useTitle } from '../hooks.ts'
import { jsonText, oneLine } from '../text.ts'
import type { PageProps } from '../page.ts'

const filtersWithoutCatalogue: readonly Filter[] = [{ name: 'callerId', label: 'Caller' }, ...timeFilters]

export function Refusals({ query }: PageProps) {
  const hasCatalogue = useHasCatalogue()
  const filters = hasCatalogue ? entryFilters : filtersWithoutCatalogue
  const names = filters.map(({ name }) => name)
  const loaded = useLoaded<{ refusals: RefusalRecord[] }>(
    listPath('/refusals', query, [...names, 'cursor']),
    10_000,
  )
  return (
    <>
      <h1>Refusals</h1>
      <Filters
        filters={filters}
        exports={[
          ...(hasCatalogue
            ? [
                {
                  label: 'CSV',
                  path: '/executions',
                  type: 'text/csv',
                  always: { status: 'refused' },
                } as const,
              ]
            : []),
          { label: 'NDJSON', path: '/refusals', type: 'application/x-ndjson' },
        ]}
      />
      <Listed
        loaded={loaded}
        rowsOf={({ refusals }) => refusals}
        empty={
          names.some((name) => query.has(name))
            ? 'No refusal fits all of these filters.'
            : 'Nothing was refused. A policy that rejects, or a signal that does not hold, leaves a signed refusal here.'
        }
        caption="Refusals, newest first"
        keyOf={({ businessTransactionId }) => businessTransactionId}
        hrefOf={({ businessTransactionId }) => `/console/refusals/${businessTransactionId}`}
        columns={[
          {
            title: 'Action',
            cell: ({ evaluatedIntent }) => (
              <Said text={`${evaluatedIntent.action} → ${evaluatedIntent.target}`} />
            ),
          },
          { title: 'Caller', cell: ({ submittedBy }) => <CallerLink id={submittedBy} /> },
          {
            title: 'Status',
            cell: ({ approvable }) => <Badge status={approvable === true ? LACKED_APPROVAL : 'REFUSED'} />,
          },
          { title: 'Reason', cell: ({ decision }) => <Said text={decision.reason} /> },
          {
            title: 'Policy',
            minor: true,
            cell: ({ decision }) => <Said text={`${decision.policy.name} ${decision.policy.version}`} />,
          },
          { title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
    </>
  )
}

export function Refusal({ params }: PageProps) {
  const id = params['id'] ?? ''
  const { data, problem } = useLoaded<RefusalRecord>(`/refusal/${encodeURIComponent(id)}`)
  useTitle(data === undefined ? 'Refusal' : oneLine(`Refused: ${data.evaluatedIntent.action}`))
  if (data === undefined) return <NotLoaded title="Refusal" problem={problem} />
  const { decision, evaluatedIntent, mismatches, approvable } = data
  return (
    <Detail
      heading={
        <>
          Refused: <Said text={evaluatedIntent.action} />
        </>
      }
      when={<Time at={data.createdAt} />}
      left={
        <>
          <Panel title="Why">
            <p class="sentence">
              <Said text={decision.reason} />
            </p>
            <p>
              Rule <code>{decision.matchedRuleId ?? 'none'}</code> of <PolicyLink to={decision.policy} />
            </p>
            {mismatches.length > 0 && (
              <Table
                caption="Declared signals that differ from the verified values"
                labelled
                rows={mismatches}
                keyOf={({ signal }) => signal}
                columns={[
                  { title: 'Signal', cell: ({ signal }) => <Said text={signal} /> },
                  { title: 'Declared', cell: ({ declared }) => <code>{jsonText(declared)}</code> },
                  { title: 'Verified', cell: ({ verified }) => <code>{jsonText(verified)}</code> },
                  { title: 'By', cell: ({ source }) => <Said text={source} /> },
                ]}
              />
            )}
          </Panel>
          {approvable && (
            <Panel title="Ask for the approval">
              <p>
                It was refused for want of approvals. The caller may ask for them, then execute the same under
                a new id:
              </p>
              <Command
                text={`curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\\n  -d '{"fromRefusal": "${id}"}' ${location.origin}/approval-requests`}
              />
            </Panel>
          )}
        </>
      }
      right={
        <>
          <Panel title="What was asked for">
            <p>
              <CallerLink id={data.submittedBy} /> wanted <Said text={evaluatedIntent.action} /> on{' '}
              <TargetLink name={evaluatedIntent.target} />.
            </p>
            <Members of={evaluatedIntent.parameters} />
          </Panel>
          <Panel title="Signals" members={decision.signals} />
          <Panel title="Evidence">
            <p>
              Refusal hash <Hash value={data.refusalRecordHash} />
            </p>
          </Panel>
        </>
      }
    />
  )
}

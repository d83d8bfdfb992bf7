// Executions, newest first.
import type { BusinessTransaction } from '../../formats/schemas/business-transaction.ts'
import { Said, Time } from '../components/basic.tsx'
import { Listed, listPath, TextFilter } from '../components/list.tsx'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

export function Executions({ query }: PageProps) {
  const wanted = (query.get('contains') ?? '').toLowerCase()
  const path = listPath('/transactions', query, ['callerId', 'cursor'])
  const loaded = useLoaded<BusinessTransaction[]>(wanted === '' ? path : largest(path), 10_000)
  return (
    <>
      <h1>Executions</h1>
      <div class="filters">
        <TextFilter label="Caller" name="callerId" />
        <TextFilter label="On this page" name="contains" placeholder="action, target, policy" />
      </div>
      <Listed
        loaded={loaded}
        rowsOf={(rows) => rows.filter((row) => textOf(row).includes(wanted))}
        empty={
          wanted === ''
            ? query.has('callerId')
              ? 'This caller has submitted nothing.'
              : 'Nothing was executed yet. The first start prints a curl line to paste.'
            : 'Nothing on this page fits the filter. Older ones are on the next pages.'
        }
        caption="Executions, newest first"
        keyOf={({ businessTransactionId }) => businessTransactionId}
        hrefOf={({ businessTransactionId }) => `/console/executions/${businessTransactionId}`}
        columns={[
          {
            title: 'Action',
            cell: ({ intent }) => <Said text={`${intent.action} → ${intent.target}`} />,
          },
          { title: 'Caller', cell: ({ metadata }) => <Said text={metadata.submittedBy} /> },
          {
            title: 'Policy',
            minor: true,
            cell: ({ policy }) => <Said text={`${policy.name} ${policy.version}`} />,
          },
          { title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
      />
    </>
  )
}

/** A filter that the page applies itself looks through as much as one reply may hold. */
function largest(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}pageSize=100`
}

function textOf({ intent, metadata, policy, businessTransactionId }: BusinessTransaction): string {
  return [
    intent.action,
    intent.target,
    metadata.submittedBy,
    metadata.correlationId,
    policy.name,
    businessTransactionId,
  ]
    .join(' ')
    .toLowerCase()
}

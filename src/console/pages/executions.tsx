// Executions, newest first, as the catalogue has them: what was done, how it ended, and for how much.
import type { CataloguePage, CatalogueStatus } from '../../formats/schemas/catalogue.ts'
import type { Static } from 'typebox'
import { Badge, Said, Time } from '../components/basic.tsx'
import { Choice, Listed, listPath, TextFilter, type Rows } from '../components/list.tsx'
import { useLoaded, useNow } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { shownMoney } from '../text.ts'

type Page = Static<typeof CataloguePage>
type Entry = Page['executions'][number]

const TEXTS = {
  capability: 'Action',
  target: 'Target',
  policy: 'Policy',
  callerId: 'Caller',
  q: 'Contains',
} as const

/** What they are called elsewhere. */
const STATUSES: Readonly<Record<CatalogueStatus, string>> = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  refused: 'REJECTED',
  in_doubt: 'IN_DOUBT',
}

const rows: Rows<Entry> = {
  keyOf: ({ businessTransactionId }) => businessTransactionId,
  hrefOf: ({ businessTransactionId, status }) =>
    `/console/${status === 'refused' ? 'refusals' : 'executions'}/${businessTransactionId}`,
  columns: [
    {
      title: 'Action',
      cell: ({ summary, capability, target }) => <Said text={summary ?? `${capability} → ${target}`} />,
    },
    {
      title: 'Amount',
      number: true,
      cell: ({ amount, currency }) => (amount === undefined ? '' : shownMoney(amount, currency)),
    },
    { title: 'Status', cell: ({ status }) => <Badge status={STATUSES[status]} /> },
    { title: 'Caller', cell: ({ callerId }) => <Said text={callerId} /> },
    {
      title: 'Policy',
      minor: true,
      cell: ({ policyName, policyVersion }) => <Said text={`${policyName} ${policyVersion}`} />,
    },
    { title: 'When', cell: ({ decidedAt }) => <Time at={decidedAt} /> },
  ],
}

export function Executions({ query }: PageProps) {
  const filters = ['status', ...Object.keys(TEXTS)]
  const loaded = useLoaded<Page>(listPath('/executions', query, [...filters, 'cursor']), 10_000)
  return (
    <>
      <h1>Executions</h1>
      <div class="filters">
        <Choice label="Status" name="status" values={Object.keys(STATUSES)} />
        {Object.entries(TEXTS).map(([name, label]) => (
          <TextFilter key={name} label={label} name={name} />
        ))}
      </div>
      {loaded.data !== undefined && <Reach until={loaded.data.completeUntil} />}
      <Listed
        loaded={loaded}
        rowsOf={({ executions }) => executions}
        empty={
          filters.some((name) => query.has(name))
            ? 'No execution fits all of these filters.'
            : 'Nothing was executed or refused yet. The first start prints a curl line to paste.'
        }
        caption="Executions, newest first"
        {...rows}
      />
    </>
  )
}

/** The list lags behind the evidence while much is executed. */
const LAG_SHOWN_MS = 15_000

function Reach({ until }: { readonly until: string | null }) {
  const now = useNow(10_000)
  if (until !== null && now - Date.parse(until) < LAG_SHOWN_MS) return null
  return (
    <p class="quiet">
      {until === null ? (
        'The catalogue is being built: executions appear here as it goes on.'
      ) : (
        <>
          Complete until <Time at={until} />.
        </>
      )}
    </p>
  )
}

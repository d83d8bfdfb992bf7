// The panel of executions by the same caller that are like what it asks for now.
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { ExecutionTrustRecord } from '../../formats/schemas/trust-record.ts'
import { counted } from '../../formats/text/text.ts'
import { useLoaded } from '../hooks.ts'
import { jsonText } from '../text.ts'
import { Badge, Panel, Problem, Said, Time } from './basic.tsx'

/** How many of the caller's executions are looked through. */
const PAST = 50
const SHOWN = 5

/** Shows what the same caller has executed of the same capability. Refusals are left out: anybody can make a target look well known by trying. */
export function Similar({ to }: { readonly to: ApprovalRequest['request'] }) {
  const { requestedBy, capability, target } = to
  const query = new URLSearchParams({ callerId: requestedBy, pageSize: String(PAST) }).toString()
  const { data, problem } = useLoaded<ExecutionTrustRecord[]>(`/trust-records?${query}`)
  const similar = (data ?? []).filter(({ transaction }) => transaction.intent.action === capability)
  const same = similar.filter(({ transaction }) => transaction.intent.target === target)
  // 5,000 is much in euros and little in yen.
  const { currency } = to.parameters
  const comparable = similar.filter(
    ({ transaction }) => transaction.intent.parameters['currency'] === currency,
  )
  return (
    <Panel title="Executed before, by this caller">
      <Problem text={problem} />
      {data !== undefined && (
        <p>
          {similar.length} of its newest {counted(data.length, 'execution')} did <Said text={capability} />,{' '}
          {same.length === 0 ? <strong>none on this target</strong> : `${same.length} on this target`}.
        </p>
      )}
      {typeof currency === 'string' && similar.length > comparable.length && (
        <p>
          {comparable.length === 0 ? <strong>None</strong> : comparable.length} of them in{' '}
          <Said text={currency} />.
        </p>
      )}
      <Ranges of={to.parameters} among={comparable} />
      <ul class="plain">
        {[...new Set([...same, ...similar])].slice(0, SHOWN).map((past) => (
          <li key={past.businessTransactionId}>
            <a href={`/console/executions/${past.businessTransactionId}`}>
              <Said text={past.transaction.intent.target} />
            </a>{' '}
            <Badge status={past.executions[0]?.status ?? 'unknown'} /> <Time at={past.createdAt} />{' '}
            <code>{jsonText(past.transaction.intent.parameters).slice(0, 120)}</code>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Where the request's numbers stand among those of before. */
function Ranges({ of, among }: { readonly of: object; readonly among: readonly ExecutionTrustRecord[] }) {
  const ranges = Object.entries(of).flatMap(([name, value]: [string, unknown]) => {
    const before = among
      .map(({ transaction }) => transaction.intent.parameters[name])
      .filter((past) => typeof past === 'number')
    return typeof value === 'number' && before.length > 0
      ? [{ name, value, least: Math.min(...before), greatest: Math.max(...before) }]
      : []
  })
  return ranges.map(({ name, value, least, greatest }) => (
    <p key={name}>
      <Said text={name} />: <code>{value}</code>, before <code>{least}</code>
      {greatest > least && (
        <>
          {' '}
          to <code>{greatest}</code>
        </>
      )}
      {value > greatest && (
        <>
          . <strong>Higher than any of these.</strong>
        </>
      )}
    </p>
  ))
}

// What is unusual about a request, and the amounts that the same caller had before.
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { ExecutionTrustRecord } from '../../formats/schemas/trust-record.ts'
import { counted } from '../../formats/text/text.ts'
import { useLoaded } from '../hooks.ts'
import { jsonText, shownValue } from '../text.ts'
import { numbersOf, odditiesOf, type Done } from '../unusual.ts'
import { Panel, Problem, Said, Time } from './basic.tsx'

/** How many of the caller's executions, and of all requests, are looked through. */
const PAST = 100
const SHOWN = 5

/** Refused and failed executions are left out: anybody can make a target look well known by trying. */
export function Unusual({ asked }: { readonly asked: ApprovalRequest }) {
  const { requestedBy, capability } = asked.request
  const query = new URLSearchParams({ callerId: requestedBy, pageSize: String(PAST) }).toString()
  const records = useLoaded<ExecutionTrustRecord[]>(`/trust-records?${query}`)
  const requests = useLoaded<{ requests: ApprovalRequest[] }>(`/approval-requests?pageSize=${PAST}`)
  const similar = (records.data ?? []).filter(
    ({ transaction, executions }) =>
      transaction.intent.action === capability && executions[0]?.status === 'COMPLETED',
  )
  const done = similar.map(({ transaction }) => transaction.intent)
  const isLoaded = records.data !== undefined && requests.data !== undefined
  const oddities = isLoaded ? odditiesOf(asked, done, requests.data.requests) : []
  return (
    <Panel title="What is unusual">
      <Problem text={records.problem ?? requests.problem} />
      {oddities.length > 0 && (
        <ul class="plain cautions">
          {oddities.map(({ text, said }) => (
            <li key={text}>
              {text} {said !== undefined && <Said text={said} />}
            </li>
          ))}
        </ul>
      )}
      {records.data !== undefined && (
        <p class="quiet">
          {isLoaded && oddities.length === 0 && 'Nothing that stands out. '}
          {similar.length} of its newest {counted(records.data.length, 'execution')} did{' '}
          <Said text={capability} />.
        </p>
      )}
      <Strip of={asked.request.parameters} among={done} />
      {similar.length > 0 && (
        <details>
          <summary>The newest of them</summary>
          <ul class="plain">
            {similar.slice(0, SHOWN).map((past) => (
              <li key={past.businessTransactionId}>
                <a href={`/console/executions/${past.businessTransactionId}`}>
                  <Said text={past.transaction.intent.target} />
                </a>{' '}
                <Time at={past.createdAt} />{' '}
                <code>{jsonText(past.transaction.intent.parameters).slice(0, 120)}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}

/** Past amounts in the same currency as dots on a line, and the new one as a diamond. */
function Strip({
  of: { amount, currency },
  among,
}: {
  readonly of: Done['parameters']
  readonly among: readonly Done[]
}) {
  const past = numbersOf(
    among.filter(({ parameters }) => parameters['currency'] === currency),
    'amount',
  )
  if (typeof amount !== 'number' || past.length === 0) return null
  const least = Math.min(0, amount, ...past)
  const range = Math.max(amount, ...past) - least || 1
  const x = (value: number) => 2 + (96 * (value - least)) / range
  const [lowest, highest] = [Math.min(...past), Math.max(...past)]
  return (
    <figure class="strip">
      <svg viewBox="0 0 100 6" role="img" aria-label="Amounts before, and this one">
        <line x1="0" x2="100" y1="3" y2="3" />
        {past.map((value, i) => (
          <circle key={i} cx={x(value)} cy="3" r="0.9" />
        ))}
        <path d={`M${x(amount)} 1l1.6 2l-1.6 2l-1.6-2z`} />
      </svg>
      <figcaption>
        {counted(past.length, 'amount')} before: {shownValue(lowest)}
        {highest > lowest && ` to ${shownValue(highest)}`}; this one: {shownValue(amount)}
      </figcaption>
    </figure>
  )
}

// Unusual facts about a request: the amounts of all callers on its target, and earlier executions of the same caller.
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { ExecutionTrustRecord } from '../../formats/schemas/trust-record.ts'
import type { CataloguePage } from '../../formats/schemas/catalogue.ts'
import type { Static } from 'typebox'
import { counted } from '../../formats/text/text.ts'
import { useLoaded } from '../hooks.ts'
import { jsonText, shownMoney, shownValue } from '../text.ts'
import {
  amountsOnTarget,
  asOf,
  decidedAt,
  FIRST_BY_CALLER,
  higherThanBefore,
  numbersOf,
  odditiesOf,
  type Done,
  type Oddity,
  type PastAmount,
} from '../unusual.ts'
import { Panel, Problem, Said, Time } from './basic.tsx'
import { useCatalogue } from './catalogue.tsx'
import { TargetLink } from './names.tsx'
import type { ShownPolicy } from './policy.tsx'
import { amountOf, namedAmountOf, type Money } from '../../core/policy/shown.ts'

/** The number of newest executions and requests that are examined. */
const PAST = 100
const SHOWN = 5

const newest = (of: Readonly<Record<string, string>>) =>
  new URLSearchParams({ ...of, pageSize: String(PAST) }).toString()

/** Refused and failed executions are left out: anybody can make a target look well known by trying. */
export function Unusual({
  asked,
  policy: { document, problem },
}: {
  readonly asked: ApprovalRequest
  /** The policy of the request. */
  readonly policy: ShownPolicy
}) {
  const { requestedBy, capability, target } = asked.request
  // A request that is over shows the state at its decision, without its own execution and later events.
  const at = decidedAt(asked)
  const until = at === undefined ? {} : { until: at }
  const records = useLoaded<ExecutionTrustRecord[]>(
    `/trust-records?${newest({ callerId: requestedBy, ...until })}`,
  )
  const requests = useLoaded<{ requests: ApprovalRequest[] }>(
    `/approval-requests?${newest({ capability, target, ...until })}`,
  )
  const executions = useCatalogue<Static<typeof CataloguePage>>(
    `/executions?${newest({ capability, target, ...until })}`,
  )
  const others = useMemo(() => asOf(requests.data?.requests ?? [], at), [requests.data, at])
  const similar = (records.data ?? []).filter(
    ({ transaction, executions: [execution] }) =>
      transaction.intent.action === capability && execution?.status === 'COMPLETED',
  )
  const done = similar.map(({ transaction }) => transaction.intent)
  // The policy says which amounts count: before it is loaded, other amounts would be compared; if it cannot be loaded, the usual amounts are.
  const isPolicyAwaited = document === undefined && problem === undefined
  const money = amountOf(document, asked.request)
  const named = namedAmountOf(document, asked.request)
  const onTarget = useMemo(
    () =>
      executions.data === undefined || requests.data === undefined || named === undefined
        ? undefined
        : amountsOnTarget(asked, executions.data.executions, others, ({ request }) =>
            amountOf(document, request),
          ),
    [executions.data, requests.data, others, document, asked],
  )
  const oddities: readonly Oddity[] = [
    ...odditiesOf(asked, named),
    ...(records.data === undefined || isPolicyAwaited ? [] : ofRecords(asked, done, named)),
  ]
  const isLoaded = records.data !== undefined && document !== undefined
  return (
    <Panel title="What is unusual">
      <Problem text={records.problem ?? requests.problem ?? executions.problem} />
      {oddities.length > 0 && (
        <ul class="plain cautions">
          {oddities.map(({ text, said, href }) => (
            <li key={text}>
              {href === undefined ? text : <a href={href}>{text}</a>}{' '}
              {said !== undefined && <Said text={said} />}
            </li>
          ))}
        </ul>
      )}
      {records.data !== undefined && (oddities.length === 0 || similar.length > 0 || at !== undefined) && (
        <p class="quiet">
          {isLoaded && oddities.length === 0 && 'Nothing that stands out. '}
          {similar.length > 0 && (
            <>
              {similar.length} of its newest {counted(records.data.length, 'execution')} did{' '}
              <Said text={capability} />.
            </>
          )}
          {at !== undefined && (
            <>
              {' '}
              As it was when this request was decided, <Time at={at} />.
            </>
          )}
        </p>
      )}
      {money !== undefined &&
        (executions.isAwaited || requests.isAwaited || isPolicyAwaited ? null : onTarget === undefined ? (
          <OfCaller money={money} done={done} />
        ) : (
          <Strip of={money} among={onTarget}>
            On <TargetLink name={target} /> by anybody: {spansOf(onTarget, money.currency)}. This one:{' '}
            {shownMoney(money.amount, money.currency)}.
          </Strip>
        ))}
      {similar.length > 0 && (
        <details>
          <summary>The newest of them</summary>
          <ul class="plain">
            {similar.slice(0, SHOWN).map((one) => (
              <li key={one.businessTransactionId}>
                <a href={`/console/executions/${one.businessTransactionId}`}>
                  <Said text={one.transaction.intent.target} />
                </a>{' '}
                <Time at={one.createdAt} />{' '}
                <code>{jsonText(one.transaction.intent.parameters).slice(0, 120)}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}

/** Oddities that only the caller's records show: numbers other than the amount, and first times where no catalogue shows them. */
function ofRecords(
  { request, compared }: ApprovalRequest,
  done: readonly Done[],
  named: Money | undefined,
): readonly Oddity[] {
  const { parameters, target } = request
  const { currency } = parameters
  const comparable = done.filter((one) => one.parameters['currency'] === currency)
  const others = Object.entries(parameters).filter(([, value]) => value !== named?.amount)
  return [
    ...(compared?.onTarget === undefined && !done.some((one) => one.target === target)
      ? [{ text: FIRST_BY_CALLER }]
      : []),
    ...(named === undefined && typeof currency === 'string' && done.length > 0 && comparable.length === 0
      ? [{ text: 'First time in this currency:', said: currency }]
      : []),
    ...higherThanBefore(Object.fromEntries(others), comparable),
  ]
}

const WORDS = {
  done: 'carried out',
  doubt: 'in doubt',
  open: 'not carried out yet',
  declined: 'declined',
} as const

/** The amounts of the same caller, where the policy names no amount to the catalogue. */
function OfCaller({ money, done }: { readonly money: Money; readonly done: readonly Done[] }) {
  const past = numbersOf(
    done.filter(({ parameters }) => (parameters['currency'] ?? null) === money.currency),
    'amount',
  )
  if (past.length === 0) return null
  const [lowest, highest] = [Math.min(...past), Math.max(...past)]
  return (
    <Strip of={money} among={past.map((amount, i) => ({ id: String(i), amount, how: 'done' }))}>
      {counted(past.length, 'amount')} before: {shownValue(lowest)}
      {highest > lowest && ` to ${shownValue(highest)}`}; this one: {shownValue(money.amount)}
    </Strip>
  )
}

function spansOf(among: readonly PastAmount[], currency: string | null): string {
  const spans = (['done', 'open', 'declined'] as const).flatMap((how) => {
    const some = among.filter((one) => one.how === how).map(({ amount }) => amount)
    if (some.length === 0) return []
    const [lowest, highest] = [Math.min(...some), Math.max(...some)]
    const span =
      lowest === highest
        ? shownMoney(lowest, currency)
        : `${shownMoney(lowest, undefined)} to ${shownMoney(highest, currency)}`
    return [`${some.length} ${WORDS[how]} (${span})`]
  })
  return spans.length === 0 ? 'nothing before' : spans.join(', ')
}

/** Past amounts: dots were carried out, red rings are in doubt, rings are open, crosses were declined; the diamond is the present request. */
function Strip({
  of: { amount },
  among,
  children,
}: {
  readonly of: Money
  readonly among: readonly PastAmount[]
  readonly children: ComponentChildren
}) {
  const amounts = [amount, ...among.map((one) => one.amount)]
  const least = Math.min(0, ...amounts)
  const range = Math.max(...amounts) - least || 1
  const x = (value: number) => 2 + (96 * (value - least)) / range
  return (
    <figure class="strip">
      <svg viewBox="0 0 100 6" role="img" aria-label="Amounts before, and this one">
        <line x1="0" x2="100" y1="3" y2="3" />
        {among.map(({ id, amount: value, how }) =>
          how === 'declined' ? (
            <path key={id} class={how} d={`M${x(value) - 0.8} 2.2l1.6 1.6m0 -1.6l-1.6 1.6`} />
          ) : (
            <circle key={id} class={how} cx={x(value)} cy="3" r="0.9" />
          ),
        )}
        <path class="this" d={`M${x(amount)} 1l1.6 2l-1.6 2l-1.6-2z`} />
      </svg>
      <figcaption>{children}</figcaption>
    </figure>
  )
}

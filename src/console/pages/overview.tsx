// The first page: executions and refusals, spending, the duration of approvals, and problems.
import { useMemo } from 'preact/hooks'
import type { EventEndpoint } from '../../formats/schemas/event-endpoint.ts'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import type { Change } from '../../formats/schemas/governance.ts'
import { counted } from '../../formats/text/text.ts'
import { Badge, Empty, NotLoaded, Panel, Problem, Said, Time } from '../components/basic.tsx'
import { Bars } from '../components/bars.tsx'
import { Reach, useCatalogue, useHasCatalogue, WithoutCatalogue } from '../components/catalogue.tsx'
import { Contradictions } from '../components/contradicted.tsx'
import { Lacked } from '../components/lacked.tsx'
import { LogState } from '../components/log-state.tsx'
import { CallerLink, TargetLink } from '../components/names.tsx'
import { Now } from '../components/now.tsx'
import { Plot, type Mark } from '../components/plot.tsx'
import { useLater, useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { navigate, withQuery } from '../router.ts'
import {
  bucketTimes,
  countsOf,
  ENDED,
  executionsPath,
  OUTCOMES,
  ranges,
  sinceOf,
  statisticsPath,
  totalsOf,
  type Limit,
  type RangeName,
  type Statistics,
} from '../statistics.ts'
import { shownMoney } from '../text.ts'

const EVERY_MS = 15_000
/** For data that change seldom. */
const REST_EVERY_MS = 60_000

const DEFAULT: RangeName = '24h'

export function Overview({ query }: PageProps) {
  const wanted = query.get('range')
  const range = wanted !== null && Object.hasOwn(ranges, wanted) ? (wanted as RangeName) : DEFAULT
  const isNow = wanted === 'now'
  const hasCatalogue = useHasCatalogue()
  return (
    <>
      <header class="heading">
        <h1>Overview</h1>
        <nav class="ranges" aria-label="Range">
          <a href={withQuery({ range: 'now' })} aria-current={isNow ? 'true' : undefined}>
            now
          </a>
          {Object.entries(ranges).map(([name, { title }]) => (
            <a
              key={name}
              href={withQuery({ range: name })}
              aria-current={!isNow && name === range ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </header>
      {isNow ? <Now /> : hasCatalogue ? <Period key={range} range={range} /> : <Without />}
      <div class="columns">
        <div>
          <Approvals range={range} />
          <InDoubt />
        </div>
        <div>
          <Endpoints />
          <LogState />
        </div>
      </div>
    </>
  )
}

function Without() {
  return (
    <Panel title="Executions by outcome">
      <WithoutCatalogue what="how many there were" />
      <p>
        <a href={withQuery({ range: 'now' })}>What this instance does now</a> is counted all the same.
      </p>
    </Panel>
  )
}

/** The figures of a range: its start is fixed when the page opens, and its end is always now. */
function Period({ range }: { readonly range: RangeName }) {
  const { bucket, bucketMs } = ranges[range]
  const since = useMemo(() => sinceOf(range, Date.now()), [range])
  const byStatus = useCatalogue<Statistics>(
    statisticsPath({ since, bucket, by: 'status', ...ENDED }),
    EVERY_MS,
  )
  const changes = useLoaded<{ changes: Change[] }>(
    useLater('/policies/pending-changes?status=APPROVED&pageSize=100'),
    REST_EVERY_MS,
  )
  const { data, problem } = byStatus
  const times = useMemo(
    () => (data === undefined ? [] : bucketTimes(since, Date.parse(data.until), bucketMs)),
    [data],
  )
  const drawn = useMemo(
    () =>
      OUTCOMES.map(({ key, name, colour }) => ({
        name,
        colour,
        values: data === undefined ? [] : countsOf(data, times, key),
      })),
    [data, times],
  )
  const marks = useMemo(() => marksOf(changes.data?.changes ?? [], Date.parse(since)), [changes.data, since])
  const totals = new Map(data === undefined ? [] : totalsOf(data).map((group) => [group.key, group]))
  const toBucket = (fromMs: number) =>
    navigate(
      executionsPath({
        ...ENDED,
        since: new Date(fromMs).toISOString(),
        until: new Date(fromMs + bucketMs).toISOString(),
      }),
    )
  return (
    <>
      {data !== undefined && <Reach until={data.completeUntil} />}
      <dl class="figures">
        {OUTCOMES.map(({ key, name, filters }) => (
          <div key={key}>
            <dt>{name}</dt>
            <dd>
              <a href={executionsPath({ ...filters, since })}>
                {data === undefined ? '–' : (totals.get(key)?.count ?? 0).toLocaleString('en-US')}
              </a>
            </dd>
          </div>
        ))}
        <Lacked of={{ since }} everyMs={EVERY_MS} />
        <Waiting />
      </dl>
      <Panel title="Executions by outcome">
        <Problem text={problem} />
        <Plot
          label={`Executions by outcome, by ${bucket}`}
          as="bars"
          {...{ times, bucketMs, drawn, marks }}
          onBucket={toBucket}
        />
      </Panel>
      <Contradictions since={since} everyMs={REST_EVERY_MS} />
      <div class="columns">
        <div>
          <Refusals since={since} />
        </div>
        <div>
          <Spend since={since} />
          <Limits />
        </div>
      </div>
    </>
  )
}

function marksOf(changes: readonly Change[], sinceMs: number): Mark[] {
  return changes.flatMap(({ changeId, target, resolvedAt = '' }) => {
    const at = Date.parse(resolvedAt)
    if (!(at >= sinceMs)) return []
    return [{ at, label: `Policy ${target.replace('/', ' ')}`, href: `/console/changes/policy/${changeId}` }]
  })
}

/** A request is open for a day at most, so the last two days have all waiting requests. */
const WAITING_SINCE_MS = 2 * 86_400_000

function Waiting() {
  const since = useMemo(() => new Date(Date.now() - WAITING_SINCE_MS).toISOString(), [])
  const { data } = useLoaded<ApprovalStatistics>(`/statistics/approvals?since=${since}`, EVERY_MS)
  return (
    <div>
      <dt>requests wait</dt>
      <dd>
        <a href="/console/requests?status=PENDING">
          {data === undefined ? '–' : (data.requests['pending'] ?? 0).toLocaleString('en-US')}
        </a>
      </dd>
    </div>
  )
}

function Refusals({ since }: { readonly since: string }) {
  const { data, problem } = useCatalogue<Statistics>(
    useLater(statisticsPath({ since, by: 'rule', status: 'refused', ...ENDED })),
    EVERY_MS,
  )
  const rules = data === undefined ? [] : totalsOf(data)
  return (
    <Panel title="Refusals by rule">
      {data === undefined ? (
        <NotLoaded problem={problem} />
      ) : rules.length === 0 ? (
        <Empty>Nothing was refused.</Empty>
      ) : (
        <Bars
          caption="Refusals by rule"
          names={['Rule', 'Refusals']}
          tone="open"
          bars={rules.map(({ key, others, count }) => ({
            key: `${key} ${others}`,
            name:
              key === null ? (
                others ? (
                  'all other rules'
                ) : (
                  'no rule: a signal did not hold, or none fitted'
                )
              ) : (
                <a href={executionsPath({ status: 'refused', ...ENDED, rule: key, since })}>
                  <Said text={key} />
                </a>
              ),
            value: count,
            text: count.toLocaleString('en-US'),
          }))}
        />
      )}
    </Panel>
  )
}

function Spend({ since }: { readonly since: string }) {
  const { data, problem } = useCatalogue<Statistics>(
    useLater(statisticsPath({ since, by: 'policy', status: 'completed' })),
    EVERY_MS,
  )
  const sums =
    data === undefined
      ? []
      : totalsOf(data).flatMap(({ key, sums: byCurrency }) =>
          byCurrency.map(({ currency, amount }) => ({ policy: key, currency, amount })),
        )
  return (
    <Panel title="Spent, by policy and currency: completed alone">
      {data === undefined ? (
        <NotLoaded problem={problem} />
      ) : sums.length === 0 ? (
        <Empty>
          No execution with an amount. A policy names it in its <code>display</code>.
        </Empty>
      ) : (
        <table class="bars">
          <caption class="hidden">Sums of the amounts of completed executions</caption>
          <thead class="hidden">
            <tr>
              <th scope="col">Policy</th>
              <th scope="col">Sum</th>
            </tr>
          </thead>
          <tbody>
            {sums.map(({ policy, currency, amount }) => (
              <tr key={`${policy} ${currency}`}>
                <th scope="row">
                  {policy === null ? (
                    'all others'
                  ) : (
                    <a href={executionsPath({ status: 'completed', policy, currency, since })}>
                      <Said text={policy} />
                    </a>
                  )}
                </th>
                <td class="number">{shownMoney(cents(amount), currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

/** The number of rows that a panel shows, such as the fullest entries of each limit. */
const SHOWN = 3

/** The used part of a limit is counted over the limit's own window, so a request for the shortest range is enough. */
function Limits() {
  const since = useMemo(() => sinceOf('1h', Date.now()), [])
  const { data, problem } = useCatalogue<Statistics>(
    useLater(statisticsPath({ since, by: 'status', limits: 'true' })),
    EVERY_MS,
  )
  const limits = data?.limits
  const bars = (limits ?? []).flatMap((limit) =>
    limit.limit === undefined
      ? []
      : limit.used.slice(0, SHOWN).map((used) => barOf(limit, limit.limit!, used)),
  )
  return (
    <Panel title="Limits, and what is used of them now">
      {limits === undefined ? (
        <NotLoaded problem={problem} />
      ) : bars.length === 0 ? (
        <Empty>No policy in effect limits a sum of amounts, or nothing of it is used.</Empty>
      ) : (
        <>
          <Bars caption="Limits on sums" names={['Limit', 'Used']} bars={bars} />
          <p class="quiet">
            A limit counts executions in doubt, too, which may have happened, over its own window. What is
            spent above counts those that were completed in the range that is shown.
          </p>
        </>
      )}
    </Panel>
  )
}

function barOf(
  { policy, policyVersion, signal, window }: Limit,
  limit: number,
  { callerId, target, currency, amount }: Limit['used'][number],
) {
  return {
    key: [policy, signal, callerId, target, currency].join(' '),
    name: (
      <>
        {callerId !== undefined && <CallerLink id={callerId} />}{' '}
        {target !== undefined && <TargetLink name={target} />}
        {callerId === undefined && target === undefined && 'everybody'}
      </>
    ),
    below: (
      <>
        <a
          class="name"
          href={`/console/policies/${encodeURIComponent(policy)}/${encodeURIComponent(policyVersion)}`}
        >
          <Said text={policy} />
        </a>
        , <Said text={signal} /> in {window}
      </>
    ),
    value: amount,
    of: limit,
    text: `${shownMoney(cents(amount), undefined)} of ${shownMoney(cents(limit), currency)}`,
  }
}

/** Sums of binary numbers have more digits than people read. */
const cents = (amount: number) => Number(amount.toFixed(2))

interface ApprovalStatistics {
  readonly requests: Readonly<Record<string, number>>
  readonly decisions: {
    readonly approved: number
    readonly declined: number
    readonly p50Seconds?: number
    readonly p90Seconds?: number
  }
  readonly approvers: readonly ({ readonly approverId: string } & ApprovalStatistics['decisions'])[]
}

const requestsPath = (filters: Readonly<Record<string, string>>) =>
  `/console/requests?${new URLSearchParams(filters).toString()}`

function Approvals({ range }: { readonly range: RangeName }) {
  const since = useMemo(() => sinceOf(range, Date.now()), [range])
  const { data, problem } = useLoaded<ApprovalStatistics>(
    useLater(`/statistics/approvals?since=${since}`),
    REST_EVERY_MS,
  )
  if (data === undefined)
    return (
      <Panel title="Approvals">
        <NotLoaded problem={problem} />
      </Panel>
    )
  const { opened = 0, used = 0, ...states } = data.requests
  const unused = { ...states, approved: (states['approved'] ?? 0) - used, used }
  const { p50Seconds, p90Seconds } = data.decisions
  return (
    <Panel title={`Approvals in ${ranges[range].title}`}>
      <p>
        <a href={requestsPath({ since })}>{counted(opened, 'request')} opened</a>
        {Object.entries(unused)
          .filter(([, count]) => count > 0)
          .map(([state, count]) => (
            <span key={state}>
              ,{' '}
              <a href={requestsPath({ status: state.toUpperCase(), since })}>
                {count} {state}
              </a>
            </span>
          ))}
        .
      </p>
      {p50Seconds !== undefined && p90Seconds !== undefined && (
        <p>
          Half of the decisions took at most <strong>{duration(p50Seconds)}</strong>, nine of ten{' '}
          <strong>{duration(p90Seconds)}</strong>.
        </p>
      )}
      {data.approvers.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Decisions by approver">
          <table class="numbers">
            <caption class="hidden">Decisions by approver</caption>
            <thead>
              <tr>
                <th scope="col">Approver</th>
                <th scope="col" class="number">
                  approved
                </th>
                <th scope="col" class="number">
                  declined
                </th>
                <th scope="col" class="number">
                  half within
                </th>
              </tr>
            </thead>
            <tbody>
              {data.approvers.map((one) => (
                <tr key={one.approverId}>
                  <th scope="row">
                    <Said text={one.approverId} />
                  </th>
                  <td class="number">{one.approved}</td>
                  <td class="number">{one.declined}</td>
                  <td class="number">{one.p50Seconds === undefined ? '' : duration(one.p50Seconds)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  )
}

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`
  return `${(seconds / 3_600).toFixed(1)} h`
}

function InDoubt() {
  const { data, problem, next } = useLoaded<{ intents: ExecutionIntent[] }>(
    useLater('/execution-intents/unfinalized?pageSize=100'),
    EVERY_MS,
  )
  const inDoubt = data?.intents.filter((intent) => intent.inDoubt) ?? []
  return (
    <Panel title="In doubt now">
      {data === undefined ? (
        <NotLoaded problem={problem} />
      ) : inDoubt.length === 0 ? (
        <Empty>No execution is in doubt.</Empty>
      ) : (
        <>
          <p>
            <a href="/console/in-doubt">
              {counted(inDoubt.length, 'execution')}
              {next === undefined ? '' : ' or more'} in doubt
            </a>
            : nobody knows yet whether it happened.
          </p>
          <ul class="plain">
            {inDoubt.slice(0, SHOWN).map(({ businessTransactionId, action, target, releasedAt }) => (
              <li key={businessTransactionId}>
                <a href={`/console/executions/${businessTransactionId}`}>
                  <Said text={`${action} → ${target}`} />
                </a>{' '}
                <Time at={releasedAt} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  )
}

function Endpoints() {
  const { data, problem } = useLoaded<{ eventEndpoints: EventEndpoint[] }>(
    useLater('/event-endpoints'),
    REST_EVERY_MS,
  )
  const endpoints = data?.eventEndpoints ?? []
  return (
    <Panel title="Event endpoints">
      {data === undefined ? (
        <NotLoaded problem={problem} />
      ) : endpoints.length === 0 ? (
        <Empty>Events are pushed nowhere.</Empty>
      ) : (
        <ul class="plain">
          {endpoints.map(({ endpointId, url, state, lastFailure }) => (
            <li key={endpointId}>
              <a href={`/console/endpoints/${endpointId}`}>
                <Said text={url} />
              </a>{' '}
              <Badge status={state} />
              {state !== 'delivering' && lastFailure !== undefined && (
                <div class="quiet">
                  <Said text={lastFailure} />
                </div>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

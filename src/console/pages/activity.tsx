// The pages of one caller and of one target: its executions with their amounts, its refusals, and its approval requests.
import { useMemo } from 'preact/hooks'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { CallerKey } from '../../formats/schemas/caller-key.ts'
import { Badge, Empty, Hash, NotLoaded, Panel, Problem, Said, Time } from '../components/basic.tsx'
import { Bars } from '../components/bars.tsx'
import { Reach, useCatalogue, useHasCatalogue, WithoutCatalogue } from '../components/catalogue.tsx'
import { Lacked } from '../components/lacked.tsx'
import { Listed } from '../components/list.tsx'
import { CallerLink } from '../components/names.tsx'
import { Plot } from '../components/plot.tsx'
import { requestRows } from '../components/requests.tsx'
import { useLater, useLoaded, useTitle } from '../hooks.ts'
import type { PageProps } from '../page.ts'
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
  type Counted,
  type Statistics,
} from '../statistics.ts'
import { oneLine, shownMoney } from '../text.ts'
import { executionRows, type ExecutionsPage } from './executions.tsx'

const EVERY_MS = 30_000
/** The number of newest rows that a page shows; the list has the rest. */
const NEWEST = 10

/** The filter of a page: by caller, or by target. */
type Of = { readonly callerId: string } | { readonly target: string }

export function Caller({ params }: PageProps) {
  const { id: callerId = '' } = params
  useTitle(oneLine(`Caller ${callerId}`))
  return (
    <>
      <h1>
        Caller <Said text={callerId} />
      </h1>
      <Activity of={{ callerId }} />
      <Keys of={callerId} />
    </>
  )
}

export function Target({ params }: PageProps) {
  const { name: target = '' } = params
  useTitle(oneLine(`Target ${target}`))
  return (
    <>
      <h1>
        Target <Said text={target} />
      </h1>
      <Activity of={{ target }} />
    </>
  )
}

function Activity({ of }: { readonly of: Of }) {
  return (
    <>
      {useHasCatalogue() ? (
        <Executions of={of} />
      ) : (
        <Panel title="Executions">
          <WithoutCatalogue what={'target' in of ? 'what was done to a target' : 'what a caller did'} />
        </Panel>
      )}
      <Requests of={of} />
    </>
  )
}

const RANGE = ranges['30d']

/** The executions of a caller, or on a target. */
function Executions({ of }: { readonly of: Of }) {
  const since = useMemo(() => sinceOf('30d', Date.now()), [])
  const asked = (by: string, more = {}) => statisticsPath({ since, by, ...of, ...ENDED, ...more })
  const completed = (by: string) => asked(by, { status: 'completed' })
  const link = (filters: Readonly<Record<string, string>>) =>
    executionsPath({ ...of, ...ENDED, ...filters, since })
  return (
    <>
      <p class="quiet">
        The last 30 days. Actions, callers and policies count what was completed, and its amounts alone: what
        was refused or failed, or is in doubt, is in the figures by outcome.
      </p>
      <Outcomes {...{ of, since, link }} path={asked('status', { bucket: RANGE.bucket })} />
      <div class="columns">
        <div>
          <Groups
            title="Actions, completed"
            path={completed('capability')}
            name={(key) => (
              <a href={link({ status: 'completed', capability: key })}>
                <Said text={key} />
              </a>
            )}
          />
          {'target' in of ? (
            <Groups
              title="Callers, completed"
              path={completed('callerId')}
              name={(key) => <CallerLink id={key} />}
            />
          ) : null}
        </div>
        <div>
          <Groups
            title="Policies, completed"
            path={completed('policy')}
            name={(key) => (
              <a href={link({ status: 'completed', policy: key })}>
                <Said text={key} />
              </a>
            )}
          />
          <Groups
            title="Refusals by rule"
            path={asked('rule', { status: 'refused' })}
            name={(key) => (
              <a href={link({ status: 'refused', rule: key })}>
                <Said text={key} />
              </a>
            )}
            tone="open"
          />
        </div>
      </div>
      <Newest of={of} />
    </>
  )
}

/** The main content of the page. */
function Outcomes({
  of,
  since,
  link,
  path,
}: {
  readonly of: Of
  readonly since: string
  readonly link: (filters: Readonly<Record<string, string>>) => string
  readonly path: string
}) {
  const { data, problem } = useCatalogue<Statistics>(path, EVERY_MS)
  const times = useMemo(
    () => (data === undefined ? [] : bucketTimes(since, Date.parse(data.until), RANGE.bucketMs)),
    [data],
  )
  const drawn = useMemo(
    () =>
      OUTCOMES.map(({ key, ...shown }) => ({
        ...shown,
        values: data === undefined ? [] : countsOf(data, times, key),
      })),
    [data, times],
  )
  const totals = data === undefined ? [] : totalsOf(data)
  const done = totals.find(({ key }) => key === 'completed')
  return (
    <>
      {data !== undefined && <Reach until={data.completeUntil} />}
      <dl class="figures">
        {OUTCOMES.map(({ key, name, filters }) => (
          <div key={key}>
            <dt>{name}</dt>
            <dd>
              <a href={link(filters)}>
                {data === undefined
                  ? '–'
                  : (totals.find((group) => group.key === key)?.count ?? 0).toLocaleString('en-US')}
              </a>
            </dd>
          </div>
        ))}
        <Lacked of={{ ...of, since }} everyMs={EVERY_MS} />
        {done?.sums.map(({ currency, amount }) => (
          <div key={currency}>
            <dt>completed, in all</dt>
            <dd>{shownMoney(Number(amount.toFixed(2)), currency)}</dd>
          </div>
        ))}
      </dl>
      <Panel title="Executions by outcome">
        <Problem text={problem} />
        <Plot
          label="Executions by outcome, by day"
          as="bars"
          bucketMs={RANGE.bucketMs}
          {...{ times, drawn }}
        />
      </Panel>
    </>
  )
}

function Groups({
  title,
  path,
  name,
  tone = 'accent',
}: {
  readonly title: string
  readonly path: string
  readonly name: (key: string) => preact.ComponentChildren
  readonly tone?: 'accent' | 'open'
}) {
  const { data, problem } = useCatalogue<Statistics>(useLater(path), EVERY_MS)
  const groups = data === undefined ? [] : totalsOf(data)
  return (
    <Panel title={title}>
      {data === undefined ? (
        <NotLoaded problem={problem} />
      ) : groups.length === 0 ? (
        <Empty>None.</Empty>
      ) : (
        <Bars
          caption={title}
          names={[title, 'Executions']}
          tone={tone}
          bars={groups.map((group) => ({
            key: `${group.key} ${group.others}`,
            name: group.key === null ? (group.others ? 'all others' : 'none') : name(group.key),
            ...moneyOf(group),
            value: group.count,
            text: group.count.toLocaleString('en-US'),
          }))}
        />
      )}
    </Panel>
  )
}

function moneyOf({ sums }: Counted): { below?: string } {
  if (sums.length === 0) return {}
  return {
    below: sums.map(({ currency, amount }) => shownMoney(Number(amount.toFixed(2)), currency)).join(', '),
  }
}

function Newest({ of }: { readonly of: Of }) {
  const query = new URLSearchParams({ ...of, pageSize: String(NEWEST) }).toString()
  const loaded = useCatalogue<ExecutionsPage>(useLater(`/executions?${query}`), EVERY_MS)
  return (
    <Panel title="Newest executions">
      <Listed
        loaded={loaded}
        rowsOf={({ executions }) => executions}
        empty="Nothing was executed or refused."
        restAt={executionsPath({ ...of })}
        caption="Newest executions"
        {...executionRows}
      />
    </Panel>
  )
}

function Requests({ of }: { readonly of: Of }) {
  const query = new URLSearchParams({ ...of, pageSize: String(NEWEST) }).toString()
  const loaded = useLoaded<{ requests: ApprovalRequest[] }>(useLater(`/approval-requests?${query}`), EVERY_MS)
  return (
    <Panel title="Approval requests">
      <Listed
        loaded={loaded}
        rowsOf={({ requests }) => requests}
        empty="No approval was asked for."
        restAt={`/console/requests?${new URLSearchParams(of).toString()}`}
        caption="Approval requests"
        {...requestRows}
      />
    </Panel>
  )
}

function Keys({ of: callerId }: { readonly of: string }) {
  const loaded = useLoaded<{ callerKeys: CallerKey[] }>(useLater('/caller-keys'), EVERY_MS)
  return (
    <Panel title="Keys">
      <Listed
        loaded={loaded}
        rowsOf={({ callerKeys }) => callerKeys.filter((key) => key.callerId === callerId)}
        empty="No key of this caller is known; it may have had one."
        caption="Keys of this caller"
        keyOf={({ keyId }) => keyId}
        columns={[
          { title: 'Key', cell: ({ keyId }) => <Hash value={keyId} whole /> },
          { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
          {
            title: 'May do',
            cell: ({ allowedCapabilities = [] }) => <Said text={allowedCapabilities.join(', ')} />,
          },
          {
            title: 'Ends',
            cell: ({ expiresAt }) => (expiresAt === undefined ? 'no date' : <Time at={expiresAt} />),
          },
        ]}
      />
    </Panel>
  )
}

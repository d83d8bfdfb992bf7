// The pages of policies: the versions in effect with their actions, and one version with its rules.
import type { PolicyDetail, PolicySummary } from '../../formats/schemas/policy-version.ts'
import { Badge, Detail, Empty, Hash, Members, NotLoaded, Panel, Said, Time } from '../components/basic.tsx'
import { Filters, type Filter } from '../components/filters.tsx'
import { Listed } from '../components/list.tsx'
import { CallerLink } from '../components/names.tsx'
import { policyPath, PROPOSE_PATH, proposePathFrom } from '../components/policy.tsx'
import { Rules, useDecided } from '../components/policy-rules.tsx'
import { Versions } from '../components/policy-versions.tsx'
import { TryPolicy } from '../components/try-policy.tsx'
import { useLoaded, useTitle } from '../hooks.ts'
import { oneLine } from '../text.ts'
import type { PageProps } from '../page.ts'

const filters: readonly Filter[] = [{ name: 'shown', label: 'Shown', values: ['all'], without: 'in effect' }]

export function Policies({ query, me }: PageProps) {
  const shown = query.get('shown') === 'all' ? '/policies' : '/policies/in-effect'
  const loaded = useLoaded<{ policies: PolicySummary[] }>(`${shown}?pageSize=100`)
  return (
    <>
      <header class="heading">
        <h1>Policies</h1>
        {me.credentialHolderType === 'USER' && (
          <a class="button" href={PROPOSE_PATH}>
            Propose a version…
          </a>
        )}
      </header>
      <Filters filters={filters} />
      <Listed
        loaded={loaded}
        rowsOf={({ policies }) => policies}
        empty="No policy is in effect. Every execution is rejected until two humans have approved one."
        caption="Policies"
        keyOf={({ name, version }) => `${name} ${version}`}
        hrefOf={(row) => `/console${policyPath(row)}`}
        columns={[
          { title: 'Policy', cell: ({ name, version }) => <Said text={`${name} ${version}`} /> },
          { title: 'For', cell: ({ capabilities }) => <Said text={capabilities.join(', ')} /> },
          {
            title: 'What it is for',
            minor: true,
            cell: ({ description }) => <Said text={description} />,
          },
          { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
          {
            title: 'Approved by',
            minor: true,
            cell: ({ approvedBy = '' }) => <Said text={approvedBy} />,
          },
          {
            title: 'In the place of',
            minor: true,
            cell: ({ replaces = [] }) => <Said text={replaces.join(', ')} />,
          },
        ]}
      />
    </>
  )
}

export function Policy({ params, query, me }: PageProps) {
  const { name = '', version = '' } = params
  const { data, problem } = useLoaded<PolicyDetail>(policyPath({ name, version }))
  const decided = useDecided({ name, version })
  useTitle(oneLine(`${name} ${version}`))
  if (data === undefined) return <NotLoaded title={<Said text={`${name} ${version}`} />} problem={problem} />
  const { document, approvedBy, approvedAt, approvedByChange } = data
  const { retiredBy, retiredAt, retiredByChange, replacedBy } = data
  return (
    <Detail
      heading={<Said text={`${name} ${version}`} />}
      status={data.status}
      lead={
        <>
          <p>
            <Said text={data.description} />
          </p>
          {me.credentialHolderType === 'USER' && (
            <p>
              <a class="button" href={proposePathFrom({ name, version })}>
                Propose a version…
              </a>
            </p>
          )}
        </>
      }
      left={
        <>
          <Rules of={{ name, version }} rules={document.rules} {...{ decided, approvedAt }} />
          <TryPolicy of={data} me={me} />
        </>
      }
      right={
        <>
          <Versions of={data} query={query} />
          <Panel title="Signals" members={document.signals} />
          <Panel title="Verified, and not taken on the caller's word">
            {document.verify === undefined ? (
              <Empty>Nothing: every signal is as the caller declares it.</Empty>
            ) : (
              <Members of={document.verify} />
            )}
          </Panel>
          {document.ask !== undefined && (
            <Panel title="When approvers are asked again" members={document.ask} />
          )}
          <Panel title="Bound to the action">
            {document.bindings === undefined ? <Empty>Nothing.</Empty> : <Members of={document.bindings} />}
          </Panel>
          <Panel title="Where it comes from">
            <p>
              Content <Hash value={data.contentHash} />
            </p>
            {approvedBy !== undefined && (
              <p>
                Approved by <CallerLink id={approvedBy} />{' '}
                {approvedAt !== undefined && <Time at={approvedAt} />}
                {approvedByChange !== undefined && (
                  <>
                    , in <a href={`/console/changes/policy/${approvedByChange}`}>this change</a>
                  </>
                )}
              </p>
            )}
            {retiredBy !== undefined && (
              <p>
                Retired by <CallerLink id={retiredBy} /> {retiredAt !== undefined && <Time at={retiredAt} />},
                in <a href={`/console/changes/policy/${retiredByChange}`}>this change</a>
                {replacedBy !== undefined && (
                  <>
                    ;{' '}
                    <a href={`/console${policyPath({ name, version: replacedBy })}`}>
                      version {oneLine(replacedBy)}
                    </a>{' '}
                    took its place
                  </>
                )}
                . It rejects every execution.
              </p>
            )}
          </Panel>
        </>
      }
    />
  )
}

// The versions of a policy over time, and the differences between any two of them.
import { diffPolicies } from '../../core/policy/diff.ts'
import type { PolicyDetail, PolicySummary } from '../../formats/schemas/policy-version.ts'
import { useFound, useLoaded } from '../hooks.ts'
import { navigate, withQuery } from '../router.ts'
import { Badge, NotLoaded, Panel, Problem, Said, Time } from './basic.tsx'
import { allVersions, policyPath } from './policy.tsx'
import { DocumentDiff } from './text-diff.tsx'

/** @param query `from` and `to` of the page's address: the versions that are compared */
export function Versions({ of, query }: { readonly of: PolicyDetail; readonly query: URLSearchParams }) {
  const { found, problem } = useFound(allVersions, '')
  const versions = (found ?? []).filter(({ name }) => name === of.name)
  const others = versions.filter(({ version }) => version !== of.version)
  // The highest version is first in the list.
  const before = versions[versions.findIndex(({ version }) => version === of.version) + 1]?.version
  const to = query.get('to') ?? of.version
  const from = query.get('from') ?? before ?? others[0]?.version
  return (
    <Panel title="Versions">
      {found === undefined ? (
        <NotLoaded problem={problem} />
      ) : (
        <>
          <ol class="timeline">
            {versions.map((one) => (
              <li key={one.version}>
                <a
                  href={`/console${policyPath(one)}`}
                  aria-current={one.version === of.version ? 'page' : undefined}
                >
                  <Said text={one.version} />
                </a>{' '}
                <Badge status={one.status} /> <Resolved of={one} />
              </li>
            ))}
          </ol>
          {others.length > 0 && from !== undefined && (
            <>
              <div class="filters">
                <Pick label="From" name="from" value={from} of={versions} />
                <Pick label="To" name="to" value={to} of={versions} />
              </div>
              <Between name={of.name} from={from} to={to} />
            </>
          )}
        </>
      )}
    </Panel>
  )
}

function Resolved({
  of: { approvedBy, approvedAt, approvedByChange, retiredBy, retiredAt, retiredByChange },
}: {
  readonly of: PolicySummary
}) {
  const by = retiredBy ?? approvedBy
  const at = retiredAt ?? approvedAt
  if (by === undefined) return <span class="quiet">nobody has approved it</span>
  const changeId = retiredByChange ?? approvedByChange
  const text = (
    <>
      {retiredBy === undefined ? 'approved' : 'retired'} by <Said text={by} />
    </>
  )
  return (
    <span class="quiet">
      {changeId === undefined ? text : <a href={`/console/changes/policy/${changeId}`}>{text}</a>}{' '}
      {at !== undefined && <Time at={at} />}
    </span>
  )
}

function Pick({
  label,
  name,
  value,
  of,
}: {
  readonly label: string
  readonly name: 'from' | 'to'
  readonly value: string
  readonly of: readonly PolicySummary[]
}) {
  return (
    <label class="filter">
      {label}
      <select
        value={value}
        onChange={({ currentTarget }) =>
          navigate(withQuery({ [name]: currentTarget.value }), { replace: true })
        }
      >
        {of.map(({ version }) => (
          <option key={version} value={version}>
            {version}
          </option>
        ))}
      </select>
    </label>
  )
}

function Between({ name, from, to }: { readonly name: string; readonly from: string; readonly to: string }) {
  const before = useLoaded<PolicyDetail>(policyPath({ name, version: from }))
  const after = useLoaded<PolicyDetail>(policyPath({ name, version: to }))
  const problem = before.problem ?? after.problem
  if (before.data === undefined || after.data === undefined) return <NotLoaded problem={problem} />
  return (
    <>
      <Problem text={problem} />
      <DocumentDiff of={diffPolicies(before.data.document, after.data.document)} />
    </>
  )
}

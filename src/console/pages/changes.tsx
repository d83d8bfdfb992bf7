// The pages of changes by which humans govern the service: one human proposes, another resolves with their own step-up key.
import { useState } from 'preact/hooks'
import { post, type Me } from '../api.ts'
import {
  Command,
  Detail,
  Empty,
  Hash,
  Members,
  NotLoaded,
  Panel,
  Problem,
  Said,
  Time,
} from '../components/basic.tsx'
import { changePaths, changeRows, policyIn } from '../components/changes.tsx'
import { Ending } from '../components/ending.tsx'
import { Impact, impactHashOf, SeenImpact } from '../components/impact.tsx'
import { Filters, timeFilters, type Filter } from '../components/filters.tsx'
import { Listed, listPath } from '../components/list.tsx'
import { CallerLink } from '../components/names.tsx'
import { DocumentDiff } from '../components/text-diff.tsx'
import { impactReport as reportOf } from '../../formats/impact-report.ts'
import { changeTitle, consequencesOf, endingVersions } from '../../formats/change-text.ts'
import { canonicalize } from '../../formats/json/canonical.ts'
import type { Change as ChangeRow } from '../../formats/schemas/governance.ts'
import type { ImpactReport } from '../../formats/schemas/impact-report.ts'
import { shownOf } from '../../formats/artifacts/governance-change.ts'
import type { Members as JsonMembers } from '../../formats/json/members.ts'
import { fieldOf } from '../forms.ts'
import { sha256Hex } from '../hashing.ts'
import { useLoaded, useTitle } from '../hooks.ts'
import { algorithmOfPem, stepUpBy } from '../passkey.ts'
import { useSigning } from '../signing.ts'
import { oneLine } from '../text.ts'
import type { PageProps } from '../page.ts'

const STATUSES = ['PENDING_APPROVAL', 'APPROVED', 'REJECTED']

const filters: readonly Filter[] = [
  { name: 'kind', label: 'Kind', values: Object.keys(changePaths) },
  { name: 'status', label: 'Status', values: STATUSES },
  { name: 'target', label: 'Target' },
  { name: 'callerId', label: 'Proposed by' },
  ...timeFilters,
  { name: 'q', label: 'Contains' },
]

export function Changes({ query }: PageProps) {
  const names = filters.map(({ name }) => name)
  const loaded = useLoaded<{ changes: ChangeRow[] }>(
    listPath('/changes', query, [...names, 'cursor']),
    10_000,
  )
  return (
    <>
      <h1>Changes</h1>
      <Filters filters={filters} />
      <Listed
        loaded={loaded}
        rowsOf={({ changes }) => changes}
        empty={
          names.some((name) => query.has(name))
            ? 'No change fits all of these filters.'
            : "Nothing was proposed yet. The handbook's chapter Governing proposes the first change."
        }
        caption="Changes"
        {...changeRows}
      />
    </>
  )
}

/** The hash of a change; undefined where a member that the hash covers is missing. */
function hashOf(change: ChangeRow): string | undefined {
  const shown = shownOf(change as unknown as JsonMembers)
  const isWhole = Object.values(shown).every((member) => (member as unknown) !== undefined)
  return isWhole ? sha256Hex(canonicalize(shown)) : undefined
}

export function Change({ params, me }: PageProps) {
  const { kind = '', id = '' } = params
  const path = changePaths[kind]
  const { data, problem, reload } = useLoaded<ChangeRow>(path && `${path}/${encodeURIComponent(id)}`, 5_000)
  const [made, setReport] = useState<ImpactReport>()
  // Another change may have replaced the change that the report is about.
  const report = made?.changeHash === data?.changeHash ? made : undefined
  useTitle(data === undefined ? 'Change' : oneLine(changeTitle(data)))
  if (data === undefined)
    return <NotLoaded title="Change" problem={path === undefined ? 'There is no such change.' : problem} />
  const against = data.diff?.['against']
  // A step-up signs the hash, so it must be the hash of the shown change.
  const hash = hashOf(data)
  if (hash !== data.changeHash)
    return (
      <>
        <h1>Do not sign this</h1>
        <Problem text="The service names another hash than this page computes from what it was sent. Somebody changes what you see. Tell the operator, and keep this page." />
        <Members of={{ named: data.changeHash, computed: hash ?? 'none: a member is missing' }} />
      </>
    )
  return (
    <Detail
      heading={<Said text={changeTitle(data)} />}
      status={data.status}
      problem={problem}
      left={
        <>
          <Panel title="Why">
            <p>
              <CallerLink id={data.proposedBy} /> proposed this <Time at={data.proposedAt} />:
            </p>
            <blockquote>
              <Said text={data.reason} />
            </blockquote>
            {data.resolvedBy !== undefined && (
              <p>
                {data.status === 'APPROVED' ? 'Approved' : 'Rejected'} by <CallerLink id={data.resolvedBy} />{' '}
                {data.resolvedAt !== undefined && <Time at={data.resolvedAt} />}
                {data.rejectionReason !== undefined && (
                  <>
                    : <Said text={data.rejectionReason} />
                  </>
                )}
              </p>
            )}
          </Panel>
          <Panel title="Warnings">
            {data.warnings.length === 0 ? <Empty>None.</Empty> : null}
            <ul>
              {data.warnings.map((warning) => (
                <li key={warning}>
                  <Said text={warning} />
                </li>
              ))}
            </ul>
          </Panel>
          <Follows change={data} />
          {kind === 'policy' && data.status === 'PENDING_APPROVAL' && (
            <Impact
              key={id}
              of={policyIn(data)}
              onFound={(found) => setReport(found && reportOf(data, found, new Date().toISOString()))}
            />
          )}
          {data.status === 'PENDING_APPROVAL' && me.credentialHolderType === 'USER' && (
            <Resolve change={data} me={me} report={report} onResolved={reload} />
          )}
          <SeenImpact change={data} />
        </>
      }
      right={
        <>
          {data.diff !== undefined && (
            <Panel
              title={typeof against === 'string' ? `What differs from ${oneLine(against)}` : 'What differs'}
            >
              <DocumentDiff of={data.diff} />
            </Panel>
          )}
          <Panel title="What is signed">
            <details open={data.diff === undefined}>
              <summary>Proposed, whole</summary>
              <Members of={data.proposed} />
            </details>
            <p>
              Hash that a step-up signs: <Hash value={data.changeHash} />
            </p>
          </Panel>
        </>
      }
    />
  )
}

/** The effects of an approval. */
function Follows({ change }: { readonly change: ChangeRow }) {
  const sentences = consequencesOf(change)
  if (sentences.length === 0) return null
  return (
    <Panel title="What follows">
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>
            <Said text={sentence} />
          </li>
        ))}
      </ul>
      {change.status === 'PENDING_APPROVAL' &&
        endingVersions(change).map((version) => (
          <Ending key={version} policyId={policyIn(change).policyId} version={version} />
        ))}
    </Panel>
  )
}

interface ToResolve {
  readonly change: ChangeRow
  /** The report of its impact, where the page has made one. */
  readonly report: ImpactReport | undefined
  readonly onResolved: () => void
}

function Resolve({ change, me, report, onResolved }: ToResolve & { readonly me: Me }) {
  const { changeId, kind, proposedBy } = change
  const path = changePaths[kind] ?? ''
  if (proposedBy === me.callerId)
    return (
      <Panel title="Resolve">
        <p>You proposed this change, so another human must approve or reject it.</p>
      </Panel>
    )
  const { stepUpPasskey } = me
  if (stepUpPasskey !== null)
    return (
      <Panel title="Resolve">
        <ResolveBy
          key={changeId}
          own={stepUpPasskey}
          change={change}
          report={report}
          onResolved={onResolved}
          path={`${path}/${changeId}`}
        />
      </Panel>
    )
  return (
    <Panel title="Resolve">
      <p>
        There is no button to sign with, because you have no step-up passkey:{' '}
        <a href="/console/passkey">make one</a>, or sign with your key on your own machine. The command shows
        the change again
        {kind === 'policy' && ' and what it would have changed in the past'}, and asks before it signs:
      </p>
      <Command
        text={`bin/countersign changes approve ${changeId} --url ${location.origin} --key <your step-up key>.pem`}
      />
      <p class="quiet">
        It reads your API key from <code>COUNTERSIGN_API_KEY</code>; a profile, given with{' '}
        <code>--profile</code>, can hold address and keys. <code>changes reject {'<id>'} --reason '…'</code>{' '}
        rejects the change.
      </p>
    </Panel>
  )
}

/** Signs the change that the page shows, with the passkey of the logged-in human. */
function ResolveBy({
  own,
  change,
  report,
  onResolved,
  path,
}: ToResolve & {
  readonly own: NonNullable<Me['stepUpPasskey']>
  readonly path: string
}) {
  const [isCovered, setCovered] = useState(true)
  const impactReport = isCovered ? report : undefined
  const { waits, done, problem, run } = useSigning()
  const resolve = (action: 'approve' | 'reject', reason: { rejectionReason?: string } = {}) =>
    run(async () => {
      const by = { ...own, algorithm: algorithmOfPem(own.publicKeyPem) }
      const impactHash = impactReport === undefined ? undefined : impactHashOf(impactReport)
      const stepUpAuthorization = await stepUpBy(by, change, { action, impactHash })
      await post(`${path}/${action}`, { stepUpAuthorization, impactReport, ...reason })
      onResolved()
    })
  const reject = (event: SubmitEvent) => {
    event.preventDefault()
    void resolve('reject', { rejectionReason: fieldOf(event.currentTarget, 'reason') })
  }
  return (
    <>
      <p>Your signature is for exactly this change, and counts for two minutes.</p>
      {report !== undefined && (
        <>
          <label class="check">
            <input
              type="checkbox"
              checked={isCovered}
              onChange={({ currentTarget }) => setCovered(currentTarget.checked)}
            />
            My signature also covers the report above of what it would have changed.
          </label>
          <p class="quiet">
            Hash of the report: <Hash value={impactHashOf(report)} />
          </p>
        </>
      )}
      <div class="actions">
        <button type="button" class="primary" disabled={waits} onClick={() => void resolve('approve')}>
          Approve with your passkey…
        </button>
      </div>
      <form onSubmit={reject}>
        <label>
          Why not, for whoever proposed it
          <textarea name="reason" required maxLength={1000} rows={2} />
        </label>
        <div class="actions">
          <button type="submit" disabled={waits}>
            Reject with your passkey…
          </button>
        </div>
      </form>
      <Problem text={problem} />
      {done && <p role="status">Signed. The change shows it in a moment.</p>}
    </>
  )
}

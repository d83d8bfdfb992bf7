// What governs the service, as humans change it: one proposes, another resolves with their own step-up key.
import { useState } from 'preact/hooks'
import { isAborted, post, problemText, type Me } from '../api.ts'
import { Badge, Command, Empty, Hash, Members, Panel, Problem, Said, Time } from '../components/basic.tsx'
import { changePaths, ChangeTable, type ChangeRow } from '../components/changes.tsx'
import { Choice, Listed, listPath } from '../components/list.tsx'
import { canonicalize } from '../../core/json/canonical.ts'
import { shownOf } from '../../core/verifier/governance-change.ts'
import type { Members as JsonMembers } from '../../core/verifier/evidence.ts'
import { fieldOf } from '../forms.ts'
import { sha256Hex } from '../hashing.ts'
import { useLoaded, useTitle } from '../hooks.ts'
import { algorithmOfPem, stepUpBy } from '../passkey.ts'
import { useSigning } from '../signing.ts'
import { counted, oneLine } from '../text.ts'
import type { PageProps } from '../page.ts'

const STATUSES = ['PENDING_APPROVAL', 'APPROVED', 'REJECTED']

export function Changes({ query }: PageProps) {
  const kind = query.get('kind') ?? 'policy'
  const loaded = useLoaded<{ changes: ChangeRow[] }>(
    listPath(changePaths[kind] ?? changePaths['policy']!, query, ['status', 'cursor']),
    10_000,
  )
  return (
    <>
      <h1>Changes</h1>
      <div class="filters">
        <Choice label="Kind" name="kind" values={Object.keys(changePaths)} />
        <Choice label="Status" name="status" values={STATUSES} />
      </div>
      <Listed
        loaded={loaded}
        rowsOf={({ changes }) => changes}
        empty={`No such change of ${kind.replace('-', ' ')}. The handbook's chapter Governing proposes one.`}
      >
        {(rows) => <ChangeTable caption="Changes" changes={rows} />}
      </Listed>
    </>
  )
}

/** Undefined where a member is missing that it covers. */
function hashOf(change: ChangeRow): string | undefined {
  const shown = shownOf(change as unknown as JsonMembers)
  const isWhole = Object.values(shown).every((member) => (member as unknown) !== undefined)
  return isWhole ? sha256Hex(canonicalize(shown)) : undefined
}

export function Change({ params, me }: PageProps) {
  const { kind = '', id = '' } = params
  const path = changePaths[kind]
  const { data, problem } = useLoaded<ChangeRow>(path && `${path}/${encodeURIComponent(id)}`, 5_000)
  useTitle(data === undefined ? 'Change' : oneLine(data.target))
  if (data === undefined)
    return (
      <>
        <h1>Change</h1>
        {problem === undefined ? <p class="quiet">Loading…</p> : <Problem text={problem} />}
      </>
    )
  // A step-up signs the hash: it must be that of what is shown.
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
    <>
      <header class="heading">
        <h1>
          {kind.replace('-', ' ')} <Said text={data.target} />
        </h1>
        <Badge status={data.status} />
      </header>
      <Problem text={problem} />
      <div class="columns">
        <div>
          <Panel title="Why">
            <p>
              <Said text={data.proposedBy} /> proposed this <Time at={data.proposedAt} />:
            </p>
            <blockquote>
              <Said text={data.reason} />
            </blockquote>
            {data.resolvedBy !== undefined && (
              <p>
                {data.status === 'APPROVED' ? 'Approved' : 'Rejected'} by <Said text={data.resolvedBy} />{' '}
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
          {kind === 'policy' && data.status === 'PENDING_APPROVAL' && <Impact policy={data.proposed} />}
          {data.status === 'PENDING_APPROVAL' && <Resolve change={data} me={me} />}
        </div>
        <div>
          {data.diff !== undefined && (
            <Panel title="What differs">
              <Members of={data.diff} />
            </Panel>
          )}
          <Panel title="Proposed, whole">
            <Members of={data.proposed as object} />
            <p>
              Hash that a step-up signs: <Hash value={data.changeHash} />
            </p>
          </Panel>
        </div>
      </div>
    </>
  )
}

function Resolve({ change, me }: { readonly change: ChangeRow; readonly me: Me }) {
  const { changeId, kind, proposedBy } = change
  const path = changePaths[kind] ?? ''
  if (proposedBy === me.callerId)
    return (
      <Panel title="Resolve">
        <p>You proposed this change, so another human must approve or reject it.</p>
      </Panel>
    )
  const { stepUpPasskey } = me
  const url = `${location.origin}${path}/${changeId}`
  if (stepUpPasskey !== null)
    return (
      <Panel title="Resolve">
        <ResolveBy key={changeId} own={stepUpPasskey} change={change} path={`${path}/${changeId}`} />
      </Panel>
    )
  return (
    <Panel title="Resolve">
      <p>Sign on your own machine. The command shows the change again before it signs:</p>
      <Command
        text={[
          `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" ${url} > mine/change.json`,
          `bin/countersign approver sign-step-up --action approve --key <your step-up key>.pem --change mine/change.json > mine/resolution.json`,
          `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d @mine/resolution.json ${url}/approve`,
        ].join('\n')}
      />
      <p class="quiet">
        To reject it, sign with <code>--action reject</code> and post to <code>…/reject</code>.
      </p>
    </Panel>
  )
}

/** Signs what the page shows, with the passkey of the human who looks. */
function ResolveBy({
  own,
  change,
  path,
}: {
  readonly own: NonNullable<Me['stepUpPasskey']>
  readonly change: ChangeRow
  readonly path: string
}) {
  const { waits, done, problem, run } = useSigning()
  const resolve = (action: 'approve' | 'reject', reason: { rejectionReason?: string } = {}) =>
    run(async () => {
      const by = { ...own, algorithm: algorithmOfPem(own.publicKeyPem) }
      const stepUpAuthorization = await stepUpBy(by, change, action)
      await post(`${path}/${action}`, { stepUpAuthorization, ...reason })
    })
  const reject = (event: SubmitEvent) => {
    event.preventDefault()
    void resolve('reject', { rejectionReason: fieldOf(event.currentTarget, 'reason') })
  }
  return (
    <>
      <p>Your signature is for exactly this change, and counts for two minutes.</p>
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

interface Flip {
  readonly businessTransactionId: string
  readonly from?: unknown
  readonly to?: unknown
}

interface Simulated {
  readonly flips: readonly (Flip & Record<string, unknown>)[]
  readonly unchanged: number
  readonly skipped: number
  readonly complete: boolean
  readonly next?: string
}

/** What the proposed policy would have decided of what was executed and refused in the past. */
function Impact({ policy }: { readonly policy: unknown }) {
  const [state, setState] = useState({
    flips: [] as Simulated['flips'],
    unchanged: 0,
    skipped: 0,
    running: false,
    done: false,
  })
  const [problem, setProblem] = useState<string>()
  const run = async () => {
    setProblem(undefined)
    let all = { flips: [] as Simulated['flips'], unchanged: 0, skipped: 0, running: true, done: false }
    setState(all)
    try {
      let cursor: string | undefined
      do {
        const chunk: Simulated = await post<Simulated>('/sandbox/policies/simulate', {
          policy,
          ...(cursor === undefined ? {} : { cursor }),
        })
        all = {
          flips: [...all.flips, ...chunk.flips],
          unchanged: all.unchanged + chunk.unchanged,
          skipped: all.skipped + chunk.skipped,
          running: !chunk.complete,
          done: chunk.complete,
        }
        setState(all)
        cursor = chunk.complete ? undefined : chunk.next
      } while (cursor !== undefined)
    } catch (error) {
      if (!isAborted(error)) setProblem(problemText(error))
      setState({ ...all, running: false })
    }
  }
  const { flips, unchanged, skipped, running, done } = state
  return (
    <Panel title="What it would have changed">
      <p>
        Run the proposed policy on the decisions of the past. Nothing is executed.{' '}
        <button type="button" onClick={() => void run()} disabled={running}>
          {running ? 'Running…' : done ? 'Run again' : 'Run'}
        </button>
      </p>
      <Problem text={problem} />
      {(running || done) && (
        <p role="status">
          {counted(flips.length, 'decision')} would be another, {unchanged} the same, {skipped} left out.
        </p>
      )}
      <ul class="plain">
        {flips.slice(0, 100).map((flip) => (
          <li key={flip.businessTransactionId}>
            <a href={`/console/executions/${flip.businessTransactionId}`}>
              <code>{flip.businessTransactionId}</code>
            </a>
            <Members of={flip} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

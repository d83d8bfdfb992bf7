// The differences that a proposed policy makes, the effects of its approval, and the signature of the human who proposes it.
import { useEffect, useMemo } from 'preact/hooks'
import { diffPolicies } from '../../core/policy/diff.ts'
import { consequencesOf } from '../../formats/change-text.ts'
import type { Change } from '../../formats/schemas/governance.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import type { PolicyDetail, PolicySummary } from '../../formats/schemas/policy-version.ts'
import { proposalText, type Proposed } from '../../formats/step-up-payload.ts'
import { post, type Me } from '../api.ts'
import { sha256Hex } from '../hashing.ts'
import { useLoaded } from '../hooks.ts'
import { algorithmOfPem, proposalBy } from '../passkey.ts'
import { saveFile } from '../save.ts'
import { useSigning } from '../signing.ts'
import { oneLine } from '../text.ts'
import { Command, Empty, Hash, Members, NotLoaded, Panel, Problem, Said } from './basic.tsx'
import { Ending } from './ending.tsx'
import { Impact } from './impact.tsx'
import type { Draft, Version } from './policy-text.tsx'
import { policyPath } from './policy.tsx'
import { DocumentDiff } from './text-diff.tsx'

interface Proposing {
  readonly me: Me
  readonly document: PolicyDocument
  readonly draft: Draft
  readonly set: (changes: Partial<Draft>) => void
  readonly versions: readonly PolicySummary[]
  /** Whether the document still lacks text that was typed since the last check. */
  readonly isChecking: boolean
  /** Whether the service would take the proposal now. */
  readonly isProposable: boolean
  /** The number of cases that do not hold. */
  readonly failures: number
  readonly onProposed: (changeId: string) => void
  readonly onRefused: () => void
}

/** The proposed version, the effects of its approval, and the button or the command that proposes it. */
export function Proposal({
  me,
  document,
  draft,
  set,
  versions,
  isChecking,
  isProposable,
  failures,
  onProposed,
  onRefused,
}: Proposing) {
  const { policyId, policyVersion } = document
  const others = versions.filter(
    ({ name, version, status }) => name === policyId && status === 'APPROVED' && version !== policyVersion,
  )
  // A version that was chosen while the text was another policy does not end.
  const retires = draft.retires.filter((version) => others.some((one) => one.version === version))
  useEffect(() => {
    if (retires.length !== draft.retires.length) set({ retires })
  }, [retires.length, draft.retires.length])
  const against = retires[0] ?? others[0]?.version
  const said: Proposed = {
    kind: 'policy',
    target: `${policyId}/${policyVersion}`,
    proposed: { ...document, ...(retires.length === 0 ? {} : { retires }) },
    reason: draft.reason.trim(),
  }
  // A simulation belongs to one content: other content needs a new simulation.
  const content = useMemo(() => sha256Hex(proposalText({ ...said, reason: '' })), [document, retires.join()])
  const change = {
    kind: 'policy',
    target: said.target,
    proposed: said.proposed as Change['proposed'],
  } as const
  return (
    <>
      <Panel title={against === undefined ? 'A new policy' : `What differs from ${oneLine(against)}`}>
        {against === undefined ? (
          <Empty>
            No version of <Said text={policyId} /> is in effect.
          </Empty>
        ) : (
          <Differs from={{ name: policyId, version: against }} document={document} />
        )}
      </Panel>
      {others.length > 0 && (
        <Panel title="Versions that end with it">
          <p class="quiet">A stricter version has no effect while callers may still name an earlier one.</p>
          <fieldset>
            <legend class="hidden">Versions that end</legend>
            {others.map(({ version }) => (
              <label key={version} class="check">
                <input
                  type="checkbox"
                  checked={retires.includes(version)}
                  onChange={({ currentTarget }) =>
                    set({
                      retires: currentTarget.checked
                        ? [...retires, version]
                        : retires.filter((one) => one !== version),
                    })
                  }
                />
                <span>
                  Retire <Said text={version} />
                </span>
              </label>
            ))}
          </fieldset>
        </Panel>
      )}
      <Panel title="What follows from its approval">
        <ul>
          {consequencesOf(change).map((sentence) => (
            <li key={sentence}>
              <Said text={sentence} />
            </li>
          ))}
        </ul>
        {retires.map((version) => (
          <Ending key={version} policyId={policyId} version={version} />
        ))}
      </Panel>
      <Impact key={content} of={said.proposed as Parameters<typeof Impact>[0]['of']} />
      <Panel title="Propose it">
        <label>
          Why, for whoever approves it
          <textarea
            required
            maxLength={1000}
            rows={3}
            value={draft.reason}
            onInput={({ currentTarget }) => set({ reason: currentTarget.value })}
          />
        </label>
        <Sign
          me={me}
          said={said}
          blocked={blockedBy({ isChecking, isProposable, failures, said })}
          draft={draft}
          onProposed={onProposed}
          onRefused={onRefused}
        />
      </Panel>
    </>
  )
}

/** @returns why it cannot be proposed yet; undefined where it can */
function blockedBy({
  isChecking,
  isProposable,
  failures,
  said,
}: Pick<Proposing, 'isChecking' | 'isProposable' | 'failures'> & { readonly said: Proposed }):
  string | undefined {
  if (isChecking) return 'The text is being checked.'
  if (failures > 0) return 'The cases do not hold: mend the policy or the cases, or take them out.'
  if (!isProposable) return 'The check above says why it cannot be proposed yet.'
  return said.reason === '' ? 'Give a reason first: whoever approves it reads it.' : undefined
}

function Differs({ from, document }: { readonly from: Version; readonly document: PolicyDocument }) {
  const { data, problem } = useLoaded<PolicyDetail>(policyPath(from))
  if (data === undefined) return <NotLoaded problem={problem} />
  return <DocumentDiff of={diffPolicies(data.document, document)} />
}

function Sign({
  me: { stepUpPasskey },
  said,
  blocked,
  draft,
  onProposed,
  onRefused,
}: {
  readonly me: Me
  readonly said: Proposed
  readonly blocked: string | undefined
  readonly draft: Draft
  readonly onProposed: (changeId: string) => void
  readonly onRefused: () => void
}) {
  const { waits, done, problem, run } = useSigning()
  const { proposed, reason, target } = said
  const [policyId = '', policyVersion = ''] = target.split('/')
  const { retires, ...proposedContent } = proposed as PolicyDocument & { retires?: readonly string[] }
  const propose = (own: NonNullable<Me['stepUpPasskey']>) =>
    run(async () => {
      const by = { ...own, algorithm: algorithmOfPem(own.publicKeyPem) }
      const stepUpAuthorization = await proposalBy(by, said)
      try {
        const path = `${policyPath({ name: policyId, version: policyVersion })}/pending-changes`
        const body = { reason, proposedContent, retires, stepUpAuthorization }
        const { changeId } = await post<Change>(path, body)
        onProposed(changeId)
      } catch (error) {
        onRefused()
        throw error
      }
    })
  return (
    <>
      <p>
        You propose to put version <Said text={policyVersion} /> of <Said text={policyId} /> in effect
        {retires !== undefined && (
          <>
            {' '}
            and to retire <Said text={retires.join(', ')} />
          </>
        )}
        . It has no effect until another human approves it.
      </p>
      <details>
        <summary>What your signature covers</summary>
        <Members of={said} />
        <p>
          Hash that you sign: <Hash value={sha256Hex(proposalText(said))} />
        </p>
      </details>
      {stepUpPasskey === null ? (
        <ByCommand draft={draft} retires={retires ?? []} reason={reason} />
      ) : (
        <>
          <p class="quiet">Your signature is for exactly this proposal, and counts for two minutes.</p>
          <div class="actions">
            <button
              type="button"
              class="primary"
              disabled={waits || blocked !== undefined}
              aria-describedby={blocked === undefined ? undefined : 'blocked'}
              onClick={() => void propose(stepUpPasskey)}
            >
              Propose with your passkey…
            </button>
          </div>
        </>
      )}
      {blocked !== undefined && (
        <p class="quiet" id="blocked">
          {blocked}
        </p>
      )}
      <Problem text={problem} />
      {done && <p role="status">Proposed.</p>}
    </>
  )
}

/** A human without a passkey proposes with the API key, on their own machine: a session alone proposes nothing. */
function ByCommand({
  draft,
  retires,
  reason,
}: {
  readonly draft: Draft
  readonly retires: readonly string[]
  readonly reason: string
}) {
  const ending = retires.map((version) => ` --retires ${version}`).join('')
  return (
    <>
      <p>
        You have no step-up passkey: <a href="/console/passkey">make one</a>, or propose with your API key on
        your own machine.
      </p>
      <div class="actions">
        <button
          type="button"
          onClick={() => saveFile(new Blob([draft.text], { type: 'application/yaml' }), 'policy.yaml')}
        >
          Save policy.yaml
        </button>
      </div>
      {reason === '' ? (
        <p class="quiet">The command for it stands here once there is a reason.</p>
      ) : (
        <>
          <Command
            text={`bin/countersign policy propose policy.yaml${ending} --reason ${quoted(reason)} --url ${location.origin}`}
          />
          <p class="quiet">
            It reads your API key from <code>COUNTERSIGN_API_KEY</code>; a profile, given with{' '}
            <code>--profile</code>, can hold address and key.
          </p>
        </>
      )}
    </>
  )
}

/** Quotes a text so that a shell takes it as one word, whatever it holds. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

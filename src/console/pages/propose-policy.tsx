// Proposes a policy version: its text, what the service's own check says of it, what it changes and what follows, and the signature of the
// human who proposes it. What somebody types stays in this tab until it is sent (src/console/draft.ts).
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { diffPolicies } from '../../core/policy/diff.ts'
import { consequencesOf } from '../../formats/change-text.ts'
import type { Change } from '../../formats/schemas/governance.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import type { PolicyDetail, PolicySummary } from '../../formats/schemas/policy-version.ts'
import type { PolicyCheck } from '../../formats/schemas/sandbox.ts'
import { proposalText, type Proposed } from '../../formats/step-up-payload.ts'
import { counted } from '../../formats/text/text.ts'
import { ApiProblem, getText, post, problemText, type Me } from '../api.ts'
import { Command, Empty, Hash, Members, NotLoaded, Panel, Problem, Said } from '../components/basic.tsx'
import { Ending } from '../components/ending.tsx'
import { Impact } from '../components/impact.tsx'
import { policyPath } from '../components/policy.tsx'
import { DocumentDiff } from '../components/text-diff.tsx'
import { keepDraft, keptDraft } from '../draft.ts'
import { sha256Hex } from '../hashing.ts'
import { useLoaded } from '../hooks.ts'
import { algorithmOfPem, proposalBy } from '../passkey.ts'
import type { PageProps } from '../page.ts'
import { navigate } from '../router.ts'
import { saveFile } from '../save.ts'
import { useSigning } from '../signing.ts'
import { oneLine } from '../text.ts'

const DRAFT = 'policy'
/** As many as the check takes. */
const CHARACTERS_MAX = 65_536
/** A larger file is not read. */
const FILE_BYTES_MAX = 262_144
/** After the last key: a request for each letter would use up the human's budget. */
const PAUSE_MS = 400

interface Draft {
  readonly text: string
  /** The text of a cases.yaml; '' for none. */
  readonly cases: string
  readonly retires: readonly string[]
  readonly reason: string
}

const NOTHING: Draft = { text: '', cases: '', retires: [], reason: '' }

export function ProposePolicy({ query, me }: PageProps) {
  if (me.credentialHolderType !== 'USER')
    return (
      <>
        <h1>Propose a policy version</h1>
        <Empty>
          Only a human proposes a policy, and you are logged in with the key of another kind of caller. You
          can look at the <a href="/console/policies">policies</a> and at what others{' '}
          <a href="/console/changes?kind=policy">propose</a>.
        </Empty>
      </>
    )
  const [name, version] = [query.get('name'), query.get('version')]
  return <Form me={me} from={name === null || version === null ? undefined : { name, version }} />
}

interface Version {
  readonly name: string
  readonly version: string
}

function Form({ me, from }: { readonly me: Me; readonly from: Version | undefined }) {
  const [draft, setDraft] = useState<Draft>(() => ({ ...NOTHING, ...keptDraft(me.callerId, DRAFT) }))
  const { data: listed, problem: unlisted } = useLoaded<{ policies: PolicySummary[] }>(
    '/policies?pageSize=100',
  )
  const [problem, setProblem] = useState<string>()
  const field = useRef<HTMLTextAreaElement>(null)
  const versions = listed?.policies ?? []
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  useEffect(() => {
    keepDraft(me.callerId, DRAFT, JSON.stringify(draft) === JSON.stringify(NOTHING) ? undefined : draft)
  }, [draft])

  /** @param replaces whether it takes the place of what is there by the time that it has come */
  const beginWith = async (of: Version, replaces: boolean) => {
    setProblem(undefined)
    try {
      const text = await getText(`${policyPath(of)}/policy.yaml`)
      const taken = versions.filter((one) => one.name === of.name).map((one) => one.version)
      const begun = { text: withVersion(text, nextVersion(of.version, taken)), retires: [of.version] }
      setDraft((before) => (replaces || before.text === '' ? { ...before, ...begun } : before))
    } catch (error) {
      setProblem(problemText(error))
    }
  }
  // Only into an empty field: what was typed before a reload counts for more than the link that led here.
  const isEmpty = draft.text === ''
  useEffect(() => {
    if (from !== undefined && isEmpty && listed !== undefined) void beginWith(from, false)
  }, [from?.name, from?.version, listed === undefined])

  const open = async (file: File | undefined, member: 'text' | 'cases') => {
    if (file === undefined) return
    const read = await textOf(file)
    setProblem(read.problem)
    if (read.text !== undefined) set({ [member]: read.text })
  }
  const { checked, checking, problem: unchecked, again } = useCheck(draft)
  const document = checked?.mistakes.length === 0 ? checked.document : undefined
  const goTo = (line: number) => selectLine(field.current, line)
  return (
    <>
      <h1>Propose a policy version</h1>
      <p class="quiet">
        A version never changes once another human has approved it. What you type stays in this tab until you
        propose or discard it.
      </p>
      <Problem text={problem ?? unlisted} />
      <div class="columns">
        <div>
          <Panel title="Its text">
            <div class="filters">
              <BeginWith
                versions={versions}
                from={from}
                isEmpty={isEmpty}
                onBegin={(of) => void beginWith(of, true)}
              />
              <FileButton label="Open a file…" onFile={(file) => void open(file, 'text')} />
              {!isEmpty && (
                <button type="button" onClick={() => setDraft(NOTHING)}>
                  Discard
                </button>
              )}
            </div>
            <label>
              Policy, as YAML
              <textarea
                ref={field}
                class="source"
                rows={24}
                spellcheck={false}
                autocapitalize="off"
                wrap="off"
                aria-describedby="check"
                value={draft.text}
                onInput={({ currentTarget }) => set({ text: currentTarget.value })}
              />
            </label>
            <details open={draft.cases !== ''}>
              <summary>Cases that it has to pass</summary>
              <p class="quiet">
                A <code>cases.yaml</code>, as <code>countersign policy test</code> runs it. It is not part of
                what you propose.
              </p>
              <FileButton label="Open cases…" onFile={(file) => void open(file, 'cases')} />
              <label>
                Cases, as YAML
                <textarea
                  class="source"
                  rows={8}
                  spellcheck={false}
                  wrap="off"
                  value={draft.cases}
                  onInput={({ currentTarget }) => set({ cases: currentTarget.value })}
                />
              </label>
            </details>
          </Panel>
        </div>
        <div>
          <section class="panel" id="check" aria-label="Check" aria-busy={checking}>
            <header>
              <h2>What the check says</h2>
            </header>
            <div role="status">
              {isEmpty ? (
                <Empty>Nothing yet: begin with a version, open a file or paste a text.</Empty>
              ) : (
                <>
                  <Problem text={unchecked} />
                  {checked === undefined ? (
                    unchecked === undefined && <p class="quiet">Checking…</p>
                  ) : (
                    <Checked of={checked} goTo={goTo} />
                  )}
                </>
              )}
            </div>
          </section>
          {document !== undefined && (
            <Proposal
              key={`${document.policyId} ${document.policyVersion}`}
              me={me}
              document={document}
              draft={draft}
              set={set}
              versions={versions}
              isChecking={checking}
              isProposable={checked?.wouldAnswer?.status === 201}
              failures={checked?.cases?.failures.length ?? 0}
              onRefused={again}
            />
          )}
        </div>
      </div>
    </>
  )
}

function BeginWith({
  versions,
  from,
  isEmpty,
  onBegin,
}: {
  readonly versions: readonly PolicySummary[]
  readonly from: Version | undefined
  readonly isEmpty: boolean
  readonly onBegin: (of: Version) => void
}) {
  const offered = versions.filter(({ status }) => status === 'APPROVED')
  const [chosen, setChosen] = useState(from === undefined ? '' : `${from.name} ${from.version}`)
  const of = offered.find(({ name, version }) => `${name} ${version}` === chosen) ?? offered[0]
  if (of === undefined) return null
  return (
    <>
      <label class="filter">
        Begin with
        <select
          value={`${of.name} ${of.version}`}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        >
          {offered.map(({ name, version }) => (
            <option key={`${name} ${version}`} value={`${name} ${version}`}>
              {name} {version}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => onBegin(of)}>
        {isEmpty ? 'Begin' : 'Replace the text'}
      </button>
    </>
  )
}

/** A button that opens the browser's choice of files; the field itself cannot be styled. */
function FileButton({
  label,
  onFile,
}: {
  readonly label: string
  readonly onFile: (file: File | undefined) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" onClick={() => field.current?.click()}>
        {label}
      </button>
      <input
        ref={field}
        type="file"
        hidden
        aria-label={label}
        accept=".yaml,.yml,.json,application/yaml,text/plain"
        onChange={({ currentTarget }) => {
          onFile(currentTarget.files?.[0])
          // The same file may be opened again, once it was mended.
          currentTarget.value = ''
        }}
      />
    </>
  )
}

async function textOf(file: File): Promise<{ readonly text?: string; readonly problem?: string }> {
  if (file.size > FILE_BYTES_MAX)
    return {
      problem: `${oneLine(file.name)} has ${file.size} bytes, and a file may have at most ${FILE_BYTES_MAX}.`,
    }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()) }
  } catch {
    return { problem: `${oneLine(file.name)} cannot be read as UTF-8 text.` }
  }
}

interface Check {
  /** Of the present text; the last one while another is on its way. */
  readonly checked: PolicyCheck | undefined
  readonly checking: boolean
  readonly problem: string | undefined
  readonly again: () => void
}

/** What the service says of a draft, once nothing has been typed for a moment. */
function useCheck({ text, cases, retires }: Draft): Check {
  const [{ of, checked, problem }, setState] = useState<{
    of?: string
    checked?: PolicyCheck
    problem?: string
  }>({})
  const [round, setRound] = useState(0)
  const asked = JSON.stringify([text, cases, retires, round])
  useEffect(() => {
    if (text === '') return setState({})
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = async () => {
      const long = Object.entries({ text, cases }).find(([, { length }]) => length > CHARACTERS_MAX)
      if (long !== undefined)
        return setState({
          of: asked,
          problem: `The ${long[0]} ${long[0] === 'text' ? 'has' : 'have'} ${long[1].length} characters, and may have at most ${CHARACTERS_MAX}.`,
        })
      try {
        const body = {
          policy: text,
          ...(cases.trim() === '' ? {} : { cases }),
          ...(retires.length === 0 ? {} : { retires }),
        }
        const answer = await post<PolicyCheck>('/sandbox/policies/check', body)
        if (!isOver) setState({ of: asked, checked: answer })
      } catch (error) {
        if (isOver) return
        setState({ of: asked, problem: problemText(error) })
        const afterSeconds = error instanceof ApiProblem ? error.retryAfterSeconds : undefined
        if (afterSeconds !== undefined) timer = setTimeout(() => void check(), afterSeconds * 1_000)
      }
    }
    timer = setTimeout(() => void check(), PAUSE_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [asked])
  return { checked, checking: of !== asked, problem, again: () => setRound(round + 1) }
}

function Checked({
  of: { mistakes, warnings, contentHash, cases, wouldAnswer, openChange },
  goTo,
}: {
  readonly of: PolicyCheck
  readonly goTo: (line: number) => void
}) {
  return (
    <>
      {mistakes.length > 0 && (
        <>
          <p>
            <strong>{counted(mistakes.length, 'mistake')}</strong>, and nothing to propose:
          </p>
          <ul class="plain mistakes">
            {mistakes.map(({ line, column, rule, part, message }, i) => (
              <li key={i}>
                {line !== undefined && (
                  <button type="button" onClick={() => goTo(line)}>
                    line {line}
                    {column !== undefined && `, column ${column}`}
                  </button>
                )}{' '}
                {rule !== undefined && (
                  <>
                    rule <Said text={[rule, part].filter(Boolean).join(', ')} />:{' '}
                  </>
                )}
                <Said text={message} />
              </li>
            ))}
          </ul>
        </>
      )}
      {contentHash !== undefined && (
        <p>
          No mistake. Content <Hash value={contentHash} />
        </p>
      )}
      <Problem text={wouldAnswer?.error} />
      {openChange !== undefined && (
        <p>
          <a href={`/console/changes/policy/${openChange}`}>The change of this version that is open</a>
        </p>
      )}
      {cases !== undefined && (
        <>
          <p>
            {cases.failures.length === 0
              ? `${counted(cases.count, 'case')} hold.`
              : `The cases do not hold, so there is nothing to propose:`}
            {cases.undecided.length > 0 && ` No case is decided by ${cases.undecided.join(', ')}.`}
          </p>
          {cases.failures.length > 0 && (
            <ul class="plain">
              {cases.failures.map((line) => (
                <li key={line}>
                  <Said text={line} />
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      {warnings.length > 0 && (
        <>
          <p>{counted(warnings.length, 'warning')}, which whoever approves it reads too:</p>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>
                <Said text={warning} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

interface Proposing {
  readonly me: Me
  readonly document: PolicyDocument
  readonly draft: Draft
  readonly set: (changes: Partial<Draft>) => void
  readonly versions: readonly PolicySummary[]
  /** What was typed since is not in the document yet. */
  readonly isChecking: boolean
  /** Whether the service would take it now. */
  readonly isProposable: boolean
  /** How many cases do not hold. */
  readonly failures: number
  readonly onRefused: () => void
}

/** What would be proposed, what follows from it, and what proposes it. */
function Proposal({
  me,
  document,
  draft,
  set,
  versions,
  isChecking,
  isProposable,
  failures,
  onRefused,
}: Proposing) {
  const { policyId, policyVersion } = document
  const others = versions.filter(
    ({ name, version, status }) => name === policyId && status === 'APPROVED' && version !== policyVersion,
  )
  // A version of another policy, which the text was before, does not end.
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
  // A simulation is of one content: another one begins anew.
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
  me: { callerId, stepUpPasskey },
  said,
  blocked,
  draft,
  onRefused,
}: {
  readonly me: Me
  readonly said: Proposed
  readonly blocked: string | undefined
  readonly draft: Draft
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
        keepDraft(callerId, DRAFT, undefined)
        navigate(`/console/changes/policy/${changeId}`)
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
        There is no button to sign with, because you have no step-up passkey:{' '}
        <a href="/console/passkey">make one</a>, or propose with your API key on your own machine.
      </p>
      <div class="actions">
        <button
          type="button"
          onClick={() => saveFile(new Blob([draft.text], { type: 'application/yaml' }), 'policy.yaml')}
        >
          Save policy.yaml
        </button>
      </div>
      <Command
        text={`bin/countersign policy propose policy.yaml${ending} --reason ${quoted(reason || '…')} --url ${location.origin}`}
      />
      <p class="quiet">
        It reads your API key from <code>COUNTERSIGN_API_KEY</code>; a profile, given with{' '}
        <code>--profile</code>, can hold address and key.
      </p>
    </>
  )
}

/** As a shell takes it for one word, whatever it holds. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Selects a line of a text, counted from 1, and brings it into view. */
function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return
  const lines = field.value.split('\n')
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  field.focus()
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  const lineHeight = field.scrollHeight / Math.max(lines.length, 1)
  field.scrollTop = Math.max(0, (line - 4) * lineHeight)
}

/** @param version such as 1.0.0 @returns the next minor one that is not taken */
export function nextVersion(version: string, taken: readonly string[]): string {
  const [major = 1, minor = 0] = version.split('.').map(Number)
  for (let next = minor + 1; ; next++) if (!taken.includes(`${major}.${next}.0`)) return `${major}.${next}.0`
}

function withVersion(text: string, version: string): string {
  return text.replace(/^policyVersion:.*$/m, `policyVersion: ${version}`)
}

// Proposes a policy version: its text, the result of the service's own check, its differences and effects, and the signature of the human
// who proposes it. Typed text stays in this tab until it is sent (src/console/draft.ts).
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Change } from '../../formats/schemas/governance.ts'
import { getText, problemText, type Me } from '../api.ts'
import { Empty, NotLoaded, Panel, Problem } from '../components/basic.tsx'
import { Checked, useCheck } from '../components/policy-check.tsx'
import { Proposal } from '../components/policy-proposal.tsx'
import {
  BeginWith,
  FileButton,
  NOTHING,
  selectLine,
  textOf,
  withNextVersion,
  type Draft,
  type Version,
} from '../components/policy-text.tsx'
import { allVersions, policyPath } from '../components/policy.tsx'
import { keepDraft, keptDraft } from '../draft.ts'
import { useFound, useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { navigate } from '../router.ts'

/** The name under which the draft is kept. */
const DRAFT = 'policy'

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

function Form({ me, from }: { readonly me: Me; readonly from: Version | undefined }) {
  const [draft, setDraft] = useState<Draft>(() => ({ ...NOTHING, ...keptDraft(me.callerId, DRAFT) }))
  const { found: listed, problem: unlisted } = useFound(allVersions, '')
  // A version that an open change proposes is taken, too.
  const { data: proposed, problem: unproposed } = useLoaded<{ changes: Change[] }>(
    '/changes?kind=policy&status=PENDING_APPROVAL&pageSize=100',
  )
  const [problem, setProblem] = useState<string>()
  const field = useRef<HTMLTextAreaElement>(null)
  const versions = listed ?? []
  const takenOf = (name: string) => [
    ...versions.filter((one) => one.name === name).map(({ version }) => version),
    ...(proposed?.changes ?? [])
      .map(({ target }) => target.split('/'))
      .flatMap(([of, version = '']) => (of === name ? [version] : [])),
  ]
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  useEffect(() => {
    keepDraft(me.callerId, DRAFT, JSON.stringify(draft) === JSON.stringify(NOTHING) ? undefined : draft)
  }, [draft])

  /** @param replaces whether the loaded text replaces the text that the field has by then */
  const beginWith = async (of: Version, replaces: boolean) => {
    setProblem(undefined)
    try {
      const text = await getText(`${policyPath(of)}/policy.yaml`)
      const begun = { text: withNextVersion(text, of.version, takenOf(of.name)), retires: [of.version] }
      setDraft((before) => (replaces || before.text === '' ? { ...before, ...begun } : before))
    } catch (error) {
      setProblem(problemText(error))
    }
  }
  // Only into an empty field: text that was typed before a reload counts for more than the link that led here.
  const isEmpty = draft.text === ''
  const isListed = listed !== undefined && proposed !== undefined
  useEffect(() => {
    if (from !== undefined && isEmpty && isListed) void beginWith(from, false)
  }, [from?.name, from?.version, isListed])

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
      {me.stepUpPasskey === null && (
        <p class="caution">
          You have no step-up passkey, so this page cannot propose what you write:{' '}
          <a href="/console/passkey">make one first</a>, or write and check it here, then save the file and
          run the command that stands at the end with your API key, on your own machine.
        </p>
      )}
      <Problem text={problem ?? unlisted ?? unproposed} />
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
                    <Checked
                      of={checked}
                      goTo={goTo}
                      takeNext={() => {
                        const { policyId = '', policyVersion = '' } = checked.document ?? {}
                        set({ text: withNextVersion(draft.text, policyVersion, takenOf(policyId)) })
                      }}
                    />
                  )}
                </>
              )}
            </div>
          </section>
          {document !== undefined && listed === undefined && (
            <Panel title="What differs">
              <NotLoaded problem={unlisted} />
            </Panel>
          )}
          {/* Without the list of versions, `Proposal` would drop the versions that were chosen to end. */}
          {document !== undefined && listed !== undefined && (
            <Proposal
              key={`${document.policyId} ${document.policyVersion}`}
              me={me}
              document={document}
              draft={draft}
              set={set}
              versions={listed}
              isChecking={checking}
              isProposable={checked?.wouldAnswer?.status === 201}
              failures={checked?.cases?.failures.length ?? 0}
              onProposed={(changeId) => {
                keepDraft(me.callerId, DRAFT, undefined)
                navigate(`/console/changes/policy/${changeId}`)
              }}
              onRefused={again}
            />
          )}
        </div>
      </div>
    </>
  )
}

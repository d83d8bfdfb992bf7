// Why a request needs humans: what the policy's rules say of it, and how far each signal can be trusted. The policy's text is the one
// that a signature covers: its hash is computed here and compared with the request's.
import { useEffect, useState } from 'preact/hooks'
import { canonicalize } from '../../formats/json/canonical.ts'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { displayOf, valueText } from '../../core/policy/display.ts'
import type { PolicyDocument, SignalVerifier } from '../../formats/schemas/policy.ts'
import { counted } from '../../formats/text/text.ts'
import { isAborted, post, problemText } from '../api.ts'
import { sha256Hex } from '../hashing.ts'
import { useLoaded } from '../hooks.ts'
import { jsonText, oneLine } from '../text.ts'
import { Badge, Hash, NotLoaded, Panel, Problem, Said } from './basic.tsx'
import { Table } from './list.tsx'
import { PolicyLink, policyPath } from './policy.tsx'

type Content = ApprovalRequest['request']

/** The policy of a request as the service shows it. */
interface ShownPolicy {
  /** Undefined until it is loaded, and where its hash is not the one that a signature covers. */
  readonly document: PolicyDocument | undefined
  readonly problem: string | undefined
}

export function usePolicyOf({ policy }: Content): ShownPolicy {
  const { data, problem } = useLoaded<{ document: PolicyDocument }>(policyPath(policy))
  if (data === undefined || sha256Hex(canonicalize(data.document)) === policy.contentHash)
    return { document: data?.document, problem }
  return {
    document: undefined,
    problem:
      'The service shows another content of this policy than the request names. Do not sign before you know why.',
  }
}

/** Shows the action in the policy's words, with the request's values. */
export function InWords({ of: { document }, asked }: { readonly of: ShownPolicy; readonly asked: Content }) {
  const pieces = document && displayOf(document, asked)
  if (pieces === undefined) return null
  return (
    <p class="sentence">
      {pieces.map((piece, i) =>
        'words' in piece ? (
          oneLine(piece.words)
        ) : (
          <strong key={i}>
            <Said text={valueText(piece.value)} />
          </strong>
        ),
      )}
    </p>
  )
}

export function Judgement({ of: request, by: policy }: { readonly of: Content; readonly by: ShownPolicy }) {
  const { contentHash } = request.policy
  const { document, problem } = policy
  return (
    <>
      <Panel title="What the policy says">
        <p>
          Policy <PolicyLink to={request.policy} />, content <Hash value={contentHash} />
        </p>
        <Problem text={problem} />
        {document !== undefined && <Rules of={document} judging={request} />}
      </Panel>
      {document !== undefined && (
        <Panel title="Signals">
          <Signals of={document} asked={request} />
        </Panel>
      )}
    </>
  )
}

interface Decision {
  readonly outcome: string
  readonly matchedRuleId: string | null
  readonly reason: string
  readonly rules: readonly { readonly id: string; readonly matched: boolean | null }[]
}

/** The rule that decides, as the sandbox finds it now; its words are the document's. */
function Rules({ of: document, judging }: { readonly of: PolicyDocument; readonly judging: Content }) {
  const { decision, problem } = useDecision(judging)
  if (decision === undefined) return <NotLoaded problem={problem} />
  const matched = document.rules.find(({ id }) => id === decision.matchedRuleId)
  const readsMore = document.rules.some(({ when }) => /\b(metadata|authority)\b/.test(when))
  return (
    <>
      {matched === undefined ? (
        <p>
          No rule approves it: <Said text={decision.reason} />
        </p>
      ) : (
        <p>
          Rule <strong>{oneLine(matched.id)}</strong>{' '}
          <Badge status={matched.outcome === 'approve' ? 'APPROVED' : 'REJECTED'} /> decides, if the signals
          below hold: <Said text={matched.reason} />
        </p>
      )}
      <details>
        <summary>Every rule, in order: the first that fits decides</summary>
        <ol class="rules">
          {document.rules.map(({ id, when, outcome, reason }) => (
            <li key={id}>
              {fits(decision, id)} <strong>{oneLine(id)}</strong>{' '}
              <Badge status={outcome === 'approve' ? 'APPROVED' : 'REJECTED'} />
              <pre tabIndex={0}>{oneLine(when)}</pre>
              <Said text={reason} />
            </li>
          ))}
        </ol>
      </details>
      {readsMore && (
        <p class="quiet">
          A rule reads members of the execution that no request has (<code>metadata</code>,{' '}
          <code>authority</code>). It may decide otherwise then.
        </p>
      )}
    </>
  )
}

function fits({ rules }: Decision, id: string): string {
  const matched = rules.find((rule) => rule.id === id)?.matched
  return matched === true ? 'Fits:' : matched === false ? 'Does not fit:' : 'Cannot be evaluated:'
}

/** Asks POST /sandbox/evaluate for the decision on an execution of this request, at this moment. */
function useDecision(request: Content) {
  const [state, setState] = useState<{ decision?: Decision | null; problem?: string }>({})
  useEffect(() => {
    let isLeft = false
    post<{ decision: Decision | null }>('/sandbox/evaluate', transactionOf(request)).then(
      ({ decision }) => isLeft || setState({ decision }),
      (error: unknown) => isLeft || isAborted(error) || setState({ problem: problemText(error) }),
    )
    return () => void (isLeft = true)
  }, [request.requestId])
  const { decision, problem } = state
  return decision === null
    ? { problem: 'The policy cannot judge it: the version is not there any more.' }
    : { ...(decision === undefined ? {} : { decision }), ...(problem === undefined ? {} : { problem }) }
}

function transactionOf(request: Content): object {
  const [id, authorityId, authorizationId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
  const { createdAt, principalId, capability, target, parameters, signals } = request
  const { name, version } = request.policy
  return {
    businessTransactionId: id,
    metadata: { businessTransactionId: id },
    authority: { authorityId, authorityType: 'SERVICE', principalId, issuedAt: createdAt },
    authorization: { authorizationId, authorityId, issuedAt: createdAt },
    intent: { intentId: id, authorizationId, action: capability, target, parameters, createdAt },
    policy: { name, version },
    signals,
  }
}

/** Each signal with its value and with whose word it is. */
function Signals({ of: document, asked }: { readonly of: PolicyDocument; readonly asked: Content }) {
  const undeclared = Object.keys(asked.signals).filter((name) => !Object.hasOwn(document.signals, name))
  return (
    <Table
      caption="Signals of the request"
      rows={[...Object.keys(document.signals), ...undeclared]}
      keyOf={(name) => name}
      columns={[
        {
          title: 'Signal',
          // Names of the policy's own are short words, and are not broken.
          cell: (name) => (Object.hasOwn(document.signals, name) ? name : <Said text={name} />),
        },
        { title: 'Whose word', cell: (name) => known(document, name) },
        {
          title: 'Declared',
          cell: (name) =>
            Object.hasOwn(asked.signals, name) ? (
              <code>{jsonText(asked.signals[name])}</code>
            ) : (
              'left to the service'
            ),
        },
      ]}
    />
  )
}

function known({ signals, bindings, verify }: PolicyDocument, name: string) {
  if (!Object.hasOwn(signals, name)) return 'not read by the policy'
  const verifier = verify?.[name]
  if (verifier !== undefined) return oneLine(`verified by ${verified(verifier)}, when it is executed`)
  const bound = bindings?.[name]
  if (bound !== undefined)
    return (
      <>
        must equal <code>{oneLine(bound)}</code>
      </>
    )
  return 'on the caller’s word alone'
}

function verified(verifier: SignalVerifier): string {
  if (verifier.by === 'approval') return `${counted(verifier.quorum, 'approval')} of a human, such as yours`
  if (verifier.by === 'crm-deal') return `the CRM: property ${verifier.property} of the deal`
  const { window, sum, per = ['caller'], where } = verifier
  const what = sum === undefined ? 'the number' : `the total of ${sum}`
  const only = where === undefined ? '' : `, where ${where}`
  return `${what} of the executions of the last ${window} with the same ${per.join(' and ')}${only}`
}

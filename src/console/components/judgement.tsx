// The policy's judgement of a request: the decision that its requester would get once the approvals are there, and how far each signal can be
// trusted. A signature covers the shown text of the policy: its hash is computed here and compared with the request's.
import { limitIn } from '../../core/policy/limit.ts'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { PolicyDocument, SignalVerifier } from '../../formats/schemas/policy.ts'
import { counted } from '../../formats/text/text.ts'
import type { Me } from '../api.ts'
import { useLoaded } from '../hooks.ts'
import { jsonText, oneLine, shownValue } from '../text.ts'
import { groupsText } from '../unusual.ts'
import { Hash, NotLoaded, Panel, Problem, RuleBadge, Said } from './basic.tsx'
import { maySign } from './decide.tsx'
import { Table } from './list.tsx'
import { PolicyLink, type ShownPolicy } from './policy.tsx'

type Content = ApprovalRequest['request']

/** The decision as GET /approval-requests/{id}/judgement answers it. */
export interface Decision {
  readonly outcome: 'APPROVED' | 'REJECTED' | 'DENIED' | 'UNDECIDED'
  readonly matchedRuleId: string | null
  readonly reason: string
  readonly rules: readonly { readonly id: string; readonly matched: boolean | null }[]
  readonly presentState: Readonly<
    Record<string, { readonly value: boolean | number | null; readonly by: string }>
  >
}

interface Judged {
  /** Null: the instance does not have the policy version. */
  readonly decision: Decision | null | undefined
  readonly problem: string | undefined
}

/** The used part of the policy's limits changes as the requester executes more. */
const EVERY_MS = 30_000

/** @param isOpen a request that is over gets no further decision */
export function useJudgement({ requestId }: Content, isOpen: boolean): Judged {
  const path = isOpen ? `/approval-requests/${encodeURIComponent(requestId)}/judgement` : undefined
  const { data, problem } = useLoaded<{ decision: Decision | null }>(path, EVERY_MS)
  return { decision: data?.decision, problem }
}

interface Of {
  readonly asked: ApprovalRequest
  readonly policy: ShownPolicy
  readonly judged: Judged
}

/** The effect that a signature would have, in a sentence, and the numbers that the effect depends on. */
export function Judgement({
  asked,
  me,
  policy,
  judged,
  isOpen,
}: Of & { readonly me: Me; readonly isOpen: boolean }) {
  const { request } = asked
  const { document } = policy
  const { decision } = judged
  return (
    <Panel title="What the policy says">
      <Problem text={policy.problem ?? (decision === undefined ? undefined : judged.problem)} />
      {isOpen && document !== undefined && decision !== undefined && (
        <Verdict {...{ asked, me, document, decision }} />
      )}
      {isOpen && decision === undefined ? (
        <NotLoaded problem={judged.problem} />
      ) : (
        document === undefined && policy.problem === undefined && <NotLoaded problem={undefined} />
      )}
      {document !== undefined && decision && <Present of={document} values={decision.presentState} />}
      <p class="quiet">
        Policy <PolicyLink to={request.policy} />, content <Hash value={request.policy.contentHash} />
      </p>
    </Panel>
  )
}

function Verdict({
  asked,
  me,
  document,
  decision,
}: {
  readonly asked: ApprovalRequest
  readonly me: Me
  readonly document: PolicyDocument
  readonly decision: Decision | null
}) {
  if (decision === null) return <p>This instance does not have the policy version, so it cannot judge it.</p>
  const { outcome, matchedRuleId, reason } = decision
  const why = <Said text={reason} />
  const rule = <strong>{oneLine(matchedRuleId ?? '')}</strong>
  const readsMore = document.rules.some(({ when }) => /\b(metadata|authority)\b/.test(when))
  if (outcome === 'UNDECIDED')
    return <p>Not decided yet: only the execution reads what the next rule asks for. {why}</p>
  if (outcome !== 'APPROVED')
    return (
      <p class="caution">
        {matchedRuleId === null || outcome === 'DENIED' ? (
          'It would be refused, whoever signs: '
        ) : (
          <>Rule {rule} would refuse it, whoever signs: </>
        )}
        {why}
      </p>
    )
  return (
    <>
      <p>
        Rule {rule} approves it{onceSigned(asked, me)}: {why}
      </p>
      {readsMore && (
        <p class="quiet">
          A rule reads members of the execution that no request has (<code>metadata</code>,{' '}
          <code>authority</code>). It may decide otherwise then.
        </p>
      )}
    </>
  )
}

function onceSigned(asked: ApprovalRequest, me: Me): string {
  const { missing } = asked
  if (missing === 0) return ' now'
  if (!maySign(asked, me))
    return ` once ${counted(missing, 'approver')} of those who can sign ${missing === 1 ? 'has' : 'have'} signed${groupsText(asked)}`
  return missing === 1
    ? ' once you sign'
    : ` once you and ${counted(missing - 1, 'other human')} sign${groupsText(asked)}`
}

/** The values of the policy's limits now, as the requester's execution will find them. */
function Present({
  of: document,
  values,
}: {
  readonly of: PolicyDocument
  readonly values: Decision['presentState']
}) {
  const limits = Object.entries(values).filter(([, { by }]) => by === 'history')
  if (limits.length === 0) return null
  return (
    <ul class="plain">
      {limits.map(([name, { value }]) => {
        const verifier = document.verify?.[name]
        const limit = limitIn(document, name)
        return (
          <li key={name}>
            <code>{oneLine(name)}</code> so far <strong>{shownValue(value)}</strong>
            {limit !== undefined && ` of ${shownValue(limit)}`}
            {verifier !== undefined && <span class="quiet">: {oneLine(verified(verifier))}</span>}
          </li>
        )
      })}
    </ul>
  )
}

/** Every rule with whether it fits, and every signal with its value and its source. */
export function Reasons({ asked, policy: { document }, judged: { decision } }: Of) {
  if (document === undefined) return null
  return (
    <>
      <Panel title="Signals">
        <Signals of={document} asked={asked.request} present={decision?.presentState ?? {}} />
      </Panel>
      <Panel title="Rules">
        <details>
          <summary>Every rule, in order: the first that fits decides</summary>
          <ol class="rules">
            {document.rules.map(({ id, when, outcome, reason }) => (
              <li key={id}>
                {decision && fits(decision, id)} <strong>{oneLine(id)}</strong>{' '}
                <RuleBadge outcome={outcome} />
                <pre tabIndex={0}>{oneLine(when)}</pre>
                <Said text={reason} />
              </li>
            ))}
          </ol>
        </details>
      </Panel>
    </>
  )
}

function fits({ rules }: Decision, id: string): string {
  const matched = rules.find((rule) => rule.id === id)?.matched
  return matched === true ? 'Fits:' : matched === false ? 'Does not fit:' : 'Cannot be evaluated:'
}

/** Each signal with its value and its source. */
function Signals({
  of: document,
  asked,
  present,
}: {
  readonly of: PolicyDocument
  readonly asked: Content
  readonly present: Decision['presentState']
}) {
  const undeclared = Object.keys(asked.signals).filter((name) => !Object.hasOwn(document.signals, name))
  return (
    <Table
      caption="Signals of the request"
      rows={[...Object.keys(document.signals), ...undeclared]}
      keyOf={(name) => name}
      columns={[
        {
          title: 'Signal',
          // The policy's own names are short words, and are not broken.
          cell: (name) => (Object.hasOwn(document.signals, name) ? name : <Said text={name} />),
        },
        { title: 'Whose word', cell: (name) => known(document, name) },
        {
          title: 'Declared',
          cell: (name) =>
            Object.hasOwn(asked.signals, name) ? (
              <code>{jsonText(asked.signals[name])}</code>
            ) : present[name]?.by === 'history' ? (
              <>
                left to the service: <code>{jsonText(present[name].value)}</code> now
              </>
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
  if (verifier.by === 'approval') {
    const { quorum, from } = verifier
    return `${counted(quorum, 'approval')} of ${from === undefined ? 'a human, such as yours' : `members of ${from.join(' or ')}`}`
  }
  if (verifier.by === 'crm-deal') return `the CRM: property ${verifier.property} of the deal`
  const { window, sum, per = ['caller'], where } = verifier
  const what = sum === undefined ? 'the number' : `the total of ${sum}`
  const only = where === undefined ? '' : `, where ${where}`
  return `${what} of the executions of the last ${window} with the same ${per.join(' and ')}${only}`
}

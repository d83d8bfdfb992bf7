// An execution that has no record: refused, in doubt, closed without one, or none at all.
import { actionText } from '../../formats/action-text.ts'
import type { SignedApproval } from '../../formats/schemas/approval.ts'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { BusinessTransaction } from '../../formats/schemas/business-transaction.ts'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import { Because } from '../components/asked.tsx'
import { Detail, Hash, Members, NotLoaded, Panel, Problem, Said, Time } from '../components/basic.tsx'
import { get, orNone, type Me } from '../api.ts'
import { CloseIt } from '../components/close-doubt.tsx'
import { Confirmations } from '../components/confirmations.tsx'
import { Step } from '../components/timeline.tsx'
import { CallerLink, TargetLink } from '../components/names.tsx'
import { usePolicyOf } from '../components/policy.tsx'
import { Line } from '../components/what.tsx'
import { sha256Hex } from '../hashing.ts'
import { useFound, useLoaded, useTitle } from '../hooks.ts'
import { lineOf } from '../../core/policy/shown.ts'
import { jsonText } from '../text.ts'

const EVERY_MS = 5_000

/** A transaction that was not released to a connector: refused, or unknown. */
export function NotReleased({ id }: { readonly id: string }) {
  const { found, problem } = useFound(async (signal) => {
    const refusal = await orNone(get(`/refusal/${encodeURIComponent(id)}`, { signal }))
    return { isRefused: refusal !== undefined }
  }, id)
  if (found === undefined) return <NotLoaded title="Execution" problem={problem} />
  if (found.isRefused)
    return (
      <>
        <h1>Refused</h1>
        <p>
          This transaction was refused. <a href={`/console/refusals/${id}`}>See the refusal</a>.
        </p>
      </>
    )
  return (
    <>
      <h1>Execution</h1>
      <Problem text="There is no execution with this id, or it is not yours to see." />
    </>
  )
}

/** @param found the intent as it was when the page was opened */
export function Released({ found, me }: { readonly found: ExecutionIntent; readonly me: Me }) {
  const path = `/execution-intents/${found.businessTransactionId}`
  const { data: intent = found, problem, reload } = useLoaded<ExecutionIntent>(path, EVERY_MS)
  const { businessTransactionId: id, action, target, inDoubt } = intent
  const { data: submitted, problem: unread } = useLoaded<BusinessTransaction>(`/transactions/${id}`)
  const { policyName, policyVersion, policyContentHash } = intent.authorization.payload
  const { document } = usePolicyOf({
    name: policyName,
    version: policyVersion,
    contentHash: policyContentHash,
  })
  // Words for another action than the released action would be worse than no words.
  const isReleased =
    submitted !== undefined &&
    sha256Hex(actionText(id, submitted.intent)) === intent.authorization.payload.businessTransactionHash
  const done = isReleased && {
    capability: action,
    target,
    parameters: submitted.intent.parameters,
    signals: submitted.signals,
  }
  useTitle(done === false ? `${action} → ${target}` : lineOf(document, done))
  return (
    <Detail
      heading={
        done === false ? <Said text={`${action} → ${target}`} /> : <Line of={done} document={document} />
      }
      status={inDoubt ? 'IN_DOUBT' : (closedStatus(intent) ?? intent.state)}
      problem={problem ?? unread}
      left={
        <>
          <Panel title="What is known">
            <p class="sentence">
              <CallerLink id={intent.callerId} /> had <Said text={action} /> on <TargetLink name={target} />{' '}
              released <Time at={intent.releasedAt} />. <Standing of={intent} />
            </p>
            <ol class="timeline">
              <Step name="Released" at={intent.releasedAt}>
                to the connector, once
              </Step>
              {intent.transitions.map(({ transition }) => (
                <Step key={transition.transitionId} name={outcomeOf(transition)} at={transition.at}>
                  by <Said text={transition.by} />
                  {transition.agreedWith !== undefined && (
                    <>
                      , as <Said text={transition.agreedWith} /> had said
                    </>
                  )}
                  {transition.stepUpAuthorization !== undefined && ', who signed it'}
                  {transition.note !== undefined && (
                    <>
                      : <Said text={transition.note} />
                    </>
                  )}
                </Step>
              ))}
            </ol>
          </Panel>
          <ApprovedBy execution={id} />
          <Confirmations
            of={id}
            transaction={submitted}
            {...(inDoubt ? { everyMs: EVERY_MS, awaited: true } : {})}
          />
          {inDoubt && (
            <>
              <LookUp intent={intent} parameters={submitted?.intent.parameters} />
              <CloseIt intent={intent} submitted={submitted} problem={unread} me={me} onClosed={reload} />
            </>
          )}
        </>
      }
      right={
        <>
          {submitted !== undefined && (
            <Panel title="What was sent">
              <Members
                of={{ action, target, parameters: submitted.intent.parameters, policy: submitted.policy }}
              />
            </Panel>
          )}
          <Panel title="The signed release" members={intent.authorization.payload} />
        </>
      }
    />
  )
}

/** The approvals that the execution used up, and the request that they are for: no record names them yet. */
function ApprovedBy({ execution }: { readonly execution: string }) {
  const { data } = useLoaded<{ approvals: { approvalId: string; approval: SignedApproval }[] }>(
    `/approvals?consumedBy=${execution}`,
  )
  const asked = useLoaded<{ requests: ApprovalRequest[] }>(`/approval-requests?usedBy=${execution}`)
  if (data === undefined || data.approvals.length === 0) return null
  return (
    <Panel title="Approved by">
      <ul class="plain">
        {data.approvals.map(({ approvalId, approval: { payload } }) => (
          <li key={approvalId}>
            <Said text={payload.approverId} /> with key <Said text={payload.keyId} />,{' '}
            <Time at={payload.issuedAt} />
            <Because reason={payload.reason} />
          </li>
        ))}
      </ul>
      {asked.data?.requests.map(({ request }) => (
        <p key={request.requestId}>
          <a href={`/console/requests/${request.requestId}`}>The request that they approved</a>
        </p>
      ))}
    </Panel>
  )
}

/** The status of a closed execution, by its resolution; undefined where there is no resolution. */
const closedStatus = ({ resolution }: ExecutionIntent) =>
  resolution === undefined ? undefined : `CLOSED_AS_${resolution}`

function Standing({ of: { inDoubt, deadline, closedAt } }: { readonly of: ExecutionIntent }) {
  if (inDoubt)
    return (
      <>
        The answer was due <Time at={deadline} />, and nobody knows whether it happened.
      </>
    )
  return closedAt === undefined ? (
    <>
      The answer is due <Time at={deadline} />.
    </>
  ) : (
    <>
      It was closed <Time at={closedAt} />.
    </>
  )
}

function outcomeOf({ from, to, resolution }: ExecutionIntent['transitions'][number]['transition']): string {
  return resolution === undefined
    ? `${from} → ${to}`
    : `Closed as ${resolution.replace('_', ' ').toLowerCase()}`
}

/** Where to look, and for which ids: the ids that the connector was given, with the time of the release. */
function LookUp({
  intent,
  parameters,
}: {
  readonly intent: ExecutionIntent
  readonly parameters: object | undefined
}) {
  const { businessTransactionId: id, action, target } = intent
  const { data } = useLoaded<{
    externalConnectors: { capability: string; endpointUrl: string; readBack: boolean }[]
  }>('/external-connectors')
  const connector = data?.externalConnectors.find(({ capability }) => capability === action)
  return (
    <Panel title="What to look up">
      <p>
        {connector === undefined ? (
          <>
            At the system that carries out <Said text={action} />,
          </>
        ) : (
          <>
            At the system behind <Said text={connector.endpointUrl} />,
          </>
        )}{' '}
        whether <Said text={target} /> was acted on. It was released <Time at={intent.releasedAt} />, and
        given these, so one of them should be there:
      </p>
      <ul class="plain">
        <li>
          businessTransactionId <Hash value={id} whole />
        </li>
        <li>
          authorizationId <Hash value={intent.authorization.payload.authorizationId} whole />
        </li>
        {identifying(parameters).map(([name, value]) => (
          <li key={name}>
            <Said text={name} /> <code>{jsonText(value)}</code>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {connector?.readBack === true
          ? 'The connector can be asked, and the service goes on asking: a definite answer closes the execution.'
          : 'Absence means something only once the system lists everything up to that time.'}
      </p>
    </Panel>
  )
}

/** Short values, which a search in the other system accepts. */
function identifying(parameters: object | undefined): [string, unknown][] {
  return Object.entries(parameters ?? {})
    .filter(([name, value]) => ['string', 'number'].includes(typeof value) && `${name}${value}`.length <= 80)
    .slice(0, 8)
}

// One execution with its evidence, which this page verifies itself.
import type { ComponentChildren } from 'preact'
import { authenticationText } from '../../formats/artifacts/caller-authentication.ts'
import type { SignedApproval } from '../../formats/schemas/approval.ts'
import type { BusinessTransaction } from '../../formats/schemas/business-transaction.ts'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import type { ExecutionTrustRecord } from '../../formats/schemas/trust-record.ts'
import { get, getText, orNone } from '../api.ts'
import { Because } from '../components/asked.tsx'
import { Command, Detail, Copy, Hash, Members, Panel, Problem, Said, Time } from '../components/basic.tsx'
import { Confirmations } from '../components/confirmations.tsx'
import { PolicyLink, usePolicyOf } from '../components/policy.tsx'
import { lineOf } from '../../core/policy/shown.ts'
import { Line } from '../components/what.tsx'
import { Step } from '../components/timeline.tsx'
import { Verification } from '../components/verification.tsx'
import { useFound, useTitle } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { oneLine } from '../text.ts'
import { NotReleased, Released } from './without-record.tsx'
import { CallerLink, TargetLink } from '../components/names.tsx'

type Found =
  | { readonly text: string; readonly record: ExecutionTrustRecord }
  | { readonly intent: ExecutionIntent | undefined }

/** Reads the intent first, because the intent says whether there is a record to read. */
async function find(id: string): Promise<Found> {
  const intent = await orNone(get<ExecutionIntent>(`/execution-intents/${encodeURIComponent(id)}`))
  const { inDoubt = false, state } = intent?.data ?? {}
  if (intent === undefined || inDoubt || state === 'RESOLVED') return { intent: intent?.data }
  const text = await orNone(getText(`/trust-records/${encodeURIComponent(id)}`))
  if (text === undefined) return { intent: intent.data }
  return { text, record: JSON.parse(text) as ExecutionTrustRecord }
}

export function Execution({ params, me }: PageProps) {
  const id = params['id'] ?? ''
  const { found, problem } = useFound(() => find(id), id)
  if (found === undefined) return problem === undefined ? <h1>Execution</h1> : <Problem text={problem} />
  if ('record' in found) return <Shown id={id} {...found} />
  return found.intent === undefined ? <NotReleased id={id} /> : <Released found={found.intent} me={me} />
}

interface Kept {
  readonly id: string
  /** The record's bytes, as they were loaded. */
  readonly text: string
  readonly record: ExecutionTrustRecord
}

function Shown({ id, text, record }: Kept) {
  const { transaction } = record
  const [execution] = record.executions
  const {
    policy,
    signals,
    intent: { action: capability, target, parameters },
  } = transaction
  const done = { capability, target, parameters, signals }
  const { document } = usePolicyOf({ ...policy, contentHash: execution?.decision.policyContentHash ?? '' })
  useTitle(lineOf(document, done))
  const verified = Object.values(execution?.decision.verifiedSignals ?? {})
  const approvals = verified.flatMap((signal) => (signal.approvals ?? []) as SignedApproval[])
  const asked = verified.flatMap(({ request }) => (request === undefined ? [] : [request.requestId]))
  return (
    <Detail
      heading={<Line of={done} document={document} />}
      status={execution?.status ?? 'unknown'}
      when={<Time at={record.createdAt} />}
      left={
        <>
          <Done by={transaction} />
          <Course of={record} approvals={approvals} asked={asked} />
          <Confirmations of={id} transaction={transaction} />
          <Verification
            text={text}
            approvals={approvals.map(({ payload }) => `${payload.approverId}:${payload.keyId}`)}
          />
        </>
      }
      right={
        <>
          <Panel title="Signals">
            <Members of={execution?.decision.signals ?? {}} />
            {Object.entries(execution?.decision.verifiedSignals ?? {}).map(([name, signal]) => (
              <VerifiedBy key={name} name={name} of={signal} />
            ))}
          </Panel>
          {execution !== undefined && (
            <Panel title="What the connector reported">
              <Members of={execution.evidence.result as object} />
              <Members of={execution.evidence.connector} />
            </Panel>
          )}
          <Take {...{ id, text, record }} />
        </>
      }
    />
  )
}

type Verified = ExecutionTrustRecord['executions'][number]['decision']['verifiedSignals'][string]

/** The approvers of a verified signal: each with the group by which they counted, and the member whom they stood in for. */
function VerifiedBy({ name, of: { by, approvals = [], groups = [] } }: { name: string; of: Verified }) {
  return (
    <p>
      <code>{oneLine(name)}</code> verified by {by}
      {(approvals as unknown as SignedApproval[]).map(({ payload: { approverId } }, i) => (
        <span key={approverId}>
          {i === 0 ? ': ' : ', '}
          <Said text={approverId} />
          {groups[i] !== undefined && (
            <>
              {' '}
              for group{' '}
              <a href={`/console/changes/approver-group/${groups[i].changeId}`}>
                <Said text={groups[i].group} />
              </a>
            </>
          )}
          {groups[i]?.standsInFor !== undefined && (
            <>
              {' '}
              in the place of{' '}
              <a href={`/console/changes/stand-in/${groups[i].standInChangeId}`}>
                <Said text={groups[i].standsInFor} />
              </a>
            </>
          )}
        </span>
      ))}
      .
    </p>
  )
}

function Done({ by: transaction }: { readonly by: BusinessTransaction }) {
  return (
    <Panel title="What was done">
      <p class="sentence">
        <CallerLink id={transaction.metadata.submittedBy} /> did <Said text={transaction.intent.action} /> on{' '}
        <TargetLink name={transaction.intent.target} />
        {transaction.authority.principalId === transaction.metadata.submittedBy ? null : (
          <>
            , in the name of <Said text={transaction.authority.principalId} />
          </>
        )}
        .
      </p>
      <Members of={transaction.intent.parameters} />
    </Panel>
  )
}

/** The steps of an execution, each with its time. */
function Course({
  of: record,
  approvals,
  asked,
}: {
  readonly of: ExecutionTrustRecord
  readonly approvals: readonly SignedApproval[]
  /** The ids of the approval requests that it used. */
  readonly asked: readonly string[]
}) {
  return (
    <Panel title="How it went">
      {[...new Set(asked)].map((requestId) => (
        <p key={requestId}>
          <a href={`/console/requests/${requestId}`}>The approval request</a> that it used
        </p>
      ))}
      <ol class="timeline">
        {stepsOf(record, approvals).map(({ name, at, what }, i) => (
          <Step key={i} name={name} at={at}>
            {what}
          </Step>
        ))}
      </ol>
    </Panel>
  )
}

interface CourseStep {
  readonly name: string
  /** ISO 8601. */
  readonly at: string
  readonly what: ComponentChildren
}

/** Steps in the order of their times: a human may have approved before the submission. Steps of the same time are in the order of the pipeline. */
function stepsOf(record: ExecutionTrustRecord, approvals: readonly SignedApproval[]): CourseStep[] {
  const { transaction } = record
  const [execution] = record.executions
  const steps: CourseStep[] = [
    ...approvals.map(({ payload }) => ({
      name: 'Approved',
      at: payload.issuedAt,
      what: (
        <>
          by <Said text={payload.approverId} /> with key <Said text={payload.keyId} />
          <Because reason={payload.reason} />
        </>
      ),
    })),
    {
      name: 'Submitted',
      at: transaction.createdAt,
      what: (
        <>
          by <CallerLink id={transaction.metadata.submittedBy} />
          <ByToken of={record.authorization} />
        </>
      ),
    },
    ...(execution === undefined
      ? []
      : [
          {
            name: 'Decided',
            at: execution.decision.evaluatedAt,
            what: (
              <>
                {execution.decision.outcome.toLowerCase()} by rule{' '}
                <code>{execution.decision.matchedRuleId ?? 'none'}</code> of{' '}
                <PolicyLink to={transaction.policy} />: <Said text={execution.decision.reason} />
              </>
            ),
          },
          {
            name: 'Authorized',
            at: record.authorization.payload.authorizedAt,
            what: 'once, for this transaction',
          },
          { name: 'Sent', at: execution.startedAt, what: 'to the connector' },
          {
            name: 'Reported',
            at: execution.evidence.executedAt,
            what: execution.evidence.success ? 'as done' : 'as failed',
          },
        ]),
    ...record.verifications.map(({ status, verifiedAt, message }) => ({
      name: 'Verified by the service',
      at: verifiedAt,
      what: (
        <>
          {status.toLowerCase()}: <Said text={message} />
        </>
      ),
    })),
    ...record.receipts.map((receipt) => ({
      name: 'Receipt',
      at: receipt.issuedAt,
      what: <Hash value={receipt.receiptHash} />,
    })),
  ]
  return steps.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

/** How a caller with a token proved its identity. */
function ByToken({ of: authorization }: { readonly of: ExecutionTrustRecord['authorization'] }) {
  const { callerAuthentication: said } = authorization.payload
  return said === undefined ? null : (
    <>
      : <Said text={authenticationText(authorization)} />, token <Hash value={said.tokenHash} />
    </>
  )
}

function Take({ id, text, record }: Kept) {
  return (
    <Panel title="Take it with you">
      <ul class="plain">
        <li>
          Record hash <Hash value={record.trustRecordHash} />
        </li>
        <li>
          Id <Hash value={id} whole />
        </li>
        <li>
          <a href={`/trust-records/${id}?bundle`} download={`${id}.bundle.json`}>
            Bundle
          </a>{' '}
          for an offline check: record, receipt, approvals, policy, proof of the log
        </li>
        <li>
          <button type="button" onClick={() => print()}>
            Print
          </button>{' '}
          <Copy text={text} label="Copy the record" />
        </li>
      </ul>
      <Command
        text={`curl -sS -H "Authorization: Bearer $KEY" ${location.origin}/trust-records/${id} > mine/record.json`}
      />
    </Panel>
  )
}

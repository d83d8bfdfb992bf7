// Executions: the list, and one with its evidence, which this page verifies itself.
import { useEffect, useState } from 'preact/hooks'
import type { Report } from '../../core/verifier/index.ts'
import { ApiProblem, get, getText, isAborted, problemText } from '../api.ts'
import { Badge, Command, Copy, Hash, Members, Panel, Problem, Said, Time } from '../components/basic.tsx'
import { Confirmations } from '../components/confirmations.tsx'
import { Listed, listPath, Table, TextFilter } from '../components/list.tsx'
import { Step } from '../components/timeline.tsx'
import { useLoaded, useTitle } from '../hooks.ts'
import { oneLine } from '../text.ts'
import type { PageProps } from '../page.ts'
import { WithoutRecord } from './without-record.tsx'

interface Transaction {
  readonly businessTransactionId: string
  readonly createdAt: string
  readonly metadata: { readonly submittedBy: string; readonly correlationId?: string }
  readonly authority: { readonly principalId: string }
  readonly intent: { readonly action: string; readonly target: string; readonly parameters: object }
  readonly policy: { readonly name: string; readonly version: string }
  readonly signals: object
}

export function Executions({ query }: PageProps) {
  const wanted = (query.get('contains') ?? '').toLowerCase()
  const path = listPath('/transactions', query, ['callerId', 'cursor'])
  const loaded = useLoaded<Transaction[]>(wanted === '' ? path : largest(path), 10_000)
  return (
    <>
      <h1>Executions</h1>
      <div class="filters">
        <TextFilter label="Caller" name="callerId" />
        <TextFilter label="On this page" name="contains" placeholder="action, target, policy" />
      </div>
      <Listed
        loaded={loaded}
        rowsOf={(rows) => rows.filter((row) => textOf(row).includes(wanted))}
        empty={
          wanted === ''
            ? query.has('callerId')
              ? 'This caller has submitted nothing.'
              : 'Nothing was executed yet. The first start prints a curl line to paste.'
            : 'Nothing on this page fits the filter. Older ones are on the next pages.'
        }
      >
        {(rows) => (
          <Table
            caption="Executions, newest first"
            rows={rows}
            keyOf={({ businessTransactionId }) => businessTransactionId}
            hrefOf={({ businessTransactionId }) => `/console/executions/${businessTransactionId}`}
            columns={[
              {
                title: 'Action',
                cell: ({ intent }) => <Said text={`${intent.action} → ${intent.target}`} />,
              },
              { title: 'Caller', cell: ({ metadata }) => <Said text={metadata.submittedBy} /> },
              {
                title: 'Policy',
                minor: true,
                cell: ({ policy }) => <Said text={`${policy.name} ${policy.version}`} />,
              },
              { title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
            ]}
          />
        )}
      </Listed>
    </>
  )
}

/** A filter that the page applies itself looks through as much as one reply may hold. */
function largest(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}pageSize=100`
}

function textOf({ intent, metadata, policy, businessTransactionId }: Transaction): string {
  return [
    intent.action,
    intent.target,
    metadata.submittedBy,
    metadata.correlationId,
    policy.name,
    businessTransactionId,
  ]
    .join(' ')
    .toLowerCase()
}

interface TrustRecord {
  readonly createdAt: string
  readonly transaction: Transaction
  readonly trustRecordHash: string
  readonly authorization: {
    readonly payload: {
      readonly authorizedAt: string
      readonly policyName: string
      readonly policyVersion: string
    }
  }
  readonly executions: readonly {
    readonly decision: {
      readonly outcome: string
      readonly reason: string
      readonly matchedRuleId: string | null
      readonly evaluatedRules: readonly string[]
      readonly evaluatedAt: string
      readonly signals: object
      readonly verifiedSignals: Readonly<
        Record<
          string,
          {
            readonly by: string
            readonly approvals?: readonly {
              readonly payload: { approverId: string; keyId: string; issuedAt: string }
            }[]
          }
        >
      >
    }
    readonly status: string
    readonly startedAt: string
    readonly completedAt: string
    readonly evidence: {
      readonly connector: object
      readonly executedAt: string
      readonly success: boolean
      readonly result: object
    }
  }[]
  readonly verifications: readonly {
    readonly status: string
    readonly verifiedAt: string
    readonly message: string
  }[]
  readonly receipts: readonly {
    readonly receiptId: string
    readonly receiptHash: string
    readonly issuedAt?: string
    readonly signedAt?: string
  }[]
}

type Found =
  | { readonly text: string; readonly record: TrustRecord }
  | { readonly problem: string; readonly missing: boolean }

export function Execution({ params }: PageProps) {
  const id = params['id'] ?? ''
  const [found, setFound] = useState<Found>()
  useTitle(
    found !== undefined && 'record' in found ? oneLine(found.record.transaction.intent.action) : 'Execution',
  )
  useEffect(() => {
    const load = async () => {
      try {
        const text = await getText(`/trust-records/${encodeURIComponent(id)}`)
        setFound({ text, record: JSON.parse(text) as TrustRecord })
      } catch (error) {
        if (!isAborted(error))
          setFound({
            problem: problemText(error),
            missing: error instanceof ApiProblem && error.status === 404,
          })
      }
    }
    void load()
  }, [id])
  if (found === undefined) return <h1>Execution</h1>
  if ('record' in found) return <Shown id={id} {...found} />
  return found.missing ? <WithoutRecord id={id} /> : <Problem text={found.problem} />
}

function Shown({
  id,
  text,
  record,
}: {
  readonly id: string
  readonly text: string
  readonly record: TrustRecord
}) {
  const { transaction } = record
  const [execution] = record.executions
  const approvals = Object.values(execution?.decision.verifiedSignals ?? {}).flatMap(
    (signal) => signal.approvals ?? [],
  )
  return (
    <>
      <header class="heading">
        <h1>
          <Said text={transaction.intent.action} />
        </h1>
        <Badge status={execution?.status ?? 'unknown'} />
        <Time at={record.createdAt} />
      </header>
      <div class="columns">
        <div>
          <Panel title="What was done">
            <p class="sentence">
              <Said text={transaction.metadata.submittedBy} /> did <Said text={transaction.intent.action} />{' '}
              on <Said text={transaction.intent.target} />
              {transaction.authority.principalId === transaction.metadata.submittedBy ? null : (
                <>
                  , in the name of <Said text={transaction.authority.principalId} />
                </>
              )}
              .
            </p>
            <Members of={transaction.intent.parameters} />
          </Panel>
          <Panel title="How it went">
            <ol class="timeline">
              <Step name="Submitted" at={transaction.createdAt}>
                by <Said text={transaction.metadata.submittedBy} />
              </Step>
              {execution !== undefined && (
                <>
                  <Step name="Decided" at={execution.decision.evaluatedAt}>
                    {execution.decision.outcome.toLowerCase()} by rule{' '}
                    <code>{execution.decision.matchedRuleId ?? 'none'}</code> of{' '}
                    <a
                      href={`/console/policies/${encodeURIComponent(transaction.policy.name)}/${encodeURIComponent(transaction.policy.version)}`}
                    >
                      <Said text={`${transaction.policy.name} ${transaction.policy.version}`} />
                    </a>
                    : <Said text={execution.decision.reason} />
                  </Step>
                  {approvals.map(({ payload }) => (
                    <Step
                      key={`${payload.approverId}:${payload.keyId}`}
                      name="Approved"
                      at={payload.issuedAt}
                    >
                      by <Said text={payload.approverId} /> with key <Said text={payload.keyId} />
                    </Step>
                  ))}
                  <Step name="Authorized" at={record.authorization.payload.authorizedAt}>
                    once, for this transaction
                  </Step>
                  <Step name="Sent" at={execution.startedAt}>
                    to the connector
                  </Step>
                  <Step name="Reported" at={execution.evidence.executedAt}>
                    {execution.evidence.success ? 'as done' : 'as failed'}
                  </Step>
                </>
              )}
              {record.verifications.map(({ status, verifiedAt, message }) => (
                <Step key={verifiedAt} name="Verified by the service" at={verifiedAt}>
                  {status.toLowerCase()}: <Said text={message} />
                </Step>
              ))}
              {record.receipts.map((receipt) => (
                <Step
                  key={receipt.receiptId}
                  name="Receipt"
                  at={receipt.issuedAt ?? receipt.signedAt ?? record.createdAt}
                >
                  <Hash value={receipt.receiptHash} />
                </Step>
              ))}
            </ol>
          </Panel>
          <Confirmations of={id} />
          <Verification
            text={text}
            approvals={approvals.map(({ payload }) => `${payload.approverId}:${payload.keyId}`)}
          />
        </div>
        <div>
          <Panel title="Signals">
            <Members of={execution?.decision.signals ?? {}} />
            {Object.entries(execution?.decision.verifiedSignals ?? {}).map(([name, { by }]) => (
              <p key={name}>
                <code>{oneLine(name)}</code> verified by {by}.
              </p>
            ))}
          </Panel>
          {execution !== undefined && (
            <Panel title="What the connector reported">
              <Members of={execution.evidence.result} />
              <Members of={execution.evidence.connector} />
            </Panel>
          )}
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
        </div>
      </div>
    </>
  )
}

/** Runs the offline verifier on the bytes that were loaded, with the keys that the service publishes. */
function Verification({ text, approvals }: { readonly text: string; readonly approvals: readonly string[] }) {
  const [report, setReport] = useState<Report>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const verify = async () => {
      try {
        // Loaded where it is wanted: it is larger than all of the rest.
        const [{ verifyEvidence }, { data: own }, ...humans] = await Promise.all([
          import('../verify.ts'),
          get<object>('/.well-known/jwks.json'),
          ...[...new Set(approvals)].map((keyId) => get<object>(`/keys/${encodeURIComponent(keyId)}`)),
        ])
        setReport(verifyEvidence(text, [own, ...humans.map(({ data }) => data)]))
      } catch (error) {
        setProblem(error instanceof ApiProblem ? error.message : String(error))
      }
    }
    void verify()
  }, [text, approvals.join(' ')])
  return (
    <Panel title="Verified in this page">
      <Problem text={problem} />
      {report === undefined && problem === undefined && <p class="quiet">Verifying…</p>}
      {report !== undefined && (
        <>
          <p class={`verdict ${report.verdict}`}>
            {report.verdict === 'valid'
              ? '✓ Every check holds'
              : report.verdict === 'invalid'
                ? '✗ Not valid'
                : '? Cannot be checked'}
          </p>
          <ul class="checks">
            {report.checks.map(({ name, problem: why }) => (
              <li key={name}>
                {why === undefined ? '✓' : '✗'} {name}
                {why === undefined ? null : <Said text={`: ${why}`} />}
              </li>
            ))}
          </ul>
          <details>
            <summary>What this does not prove</summary>
            <ul>
              <li>
                That the service is honest: this page and the keys came from it. Save the bundle, and check it
                with a verifier and keys of your own.
              </li>
              {report.notProven.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </details>
        </>
      )}
    </Panel>
  )
}

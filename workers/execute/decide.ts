// Second step: what the policy says of a transaction, computed but not stored (decisions §3, §6).
// Nothing here is kept unless `admit` claims the id, so a duplicate's decision leaves no trace.
import type { Json } from '../../src/core/json/canonical.ts'
import { failures, type Failure } from '../../src/core/errors.ts'
import { evaluate, rejected, type Evaluation, type PolicySubject } from '../../src/core/policy/evaluate.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import type { Connector } from '../connectors/connector.ts'
import type { Connectors } from '../connectors/index.ts'
import type { LoadedPolicy, Policies } from '../policies.ts'
import { describeAuthorization, type UnsignedAuthorization } from './authorization.ts'
import { describeDecision, type Decision } from './decision.ts'
import { refuse, type Refusal } from './refuse.ts'
import type { Accepted } from './validate.ts'

/** Approved: the connector that will be called, and the authorization that is to be signed for it. */
export interface Approved extends Accepted {
  readonly outcome: 'approved'
  readonly connector: Connector
  readonly decision: Decision
  readonly authorization: UnsignedAuthorization
  /** approverIds whose approvals stand behind it. */
  readonly approvedBy: readonly string[]
  /** Listed for velocity limits to count: some version of its policy has one. */
  readonly counted: boolean
}

/** Rejected or denied: a signed Refusal Record, and the failure that the caller gets. */
export interface Refused extends Accepted {
  readonly outcome: 'refused'
  readonly failure: Failure
  readonly refusal: Refusal
}

/** An unknown policy or an action without connector: only the transaction is stored, and its id is used (decisions §3). */
export interface Unexecutable extends Accepted {
  readonly outcome: 'unexecutable'
  readonly failure: Failure
}

export type Concluded = Approved | Refused | Unexecutable

/** Approved by the rules of a policy that verifies state. `proveAndAdmit` compares its signals with that state and decides. */
export interface StateUnverified extends Accepted {
  readonly outcome: 'state unverified'
  readonly version: LoadedPolicy
}

interface DecideWith {
  readonly policies: Policies
  readonly connectors: Connectors
  readonly key: SigningKey
  readonly now: Date
}

/** Decides one transaction. Pure but for fresh ids and a nonce. */
export function decide(accepted: Accepted, tools: DecideWith): Concluded | StateUnverified {
  const { policy } = accepted.transaction
  const version = tools.policies.find(policy)
  if (version === undefined)
    return { ...accepted, outcome: 'unexecutable', failure: failures.policyNotFound(policy) }
  const evaluation = evaluateVersion(version, accepted.transaction, tools.now)
  // No state is read for an action that nothing here can carry out: `conclude` answers it.
  const { action } = accepted.transaction.intent
  const executable = tools.connectors.find(action, policy.name) !== undefined
  if (executable && evaluation.verify.length > 0) return { ...accepted, outcome: 'state unverified', version }
  return conclude(accepted, evaluation, { ...tools, version })
}

interface ConcludeWith extends Omit<DecideWith, 'policies'> {
  readonly decisionId?: string
  readonly version: LoadedPolicy
  readonly verifiedSignals?: Readonly<Record<string, Json>>
  readonly approvedBy?: readonly string[]
}

/** Writes a decision down: what releases it, or the signed record of its refusal. */
export function conclude(accepted: Accepted, evaluation: Evaluation, tools: ConcludeWith): Concluded {
  const { connectors, key, now, version, approvedBy = [] } = tools
  const { businessTransactionId, intent, policy } = accepted.transaction
  const decision = describeDecision(accepted, evaluation, {
    ...tools,
    policyContentHash: version.contentHash,
  })
  const failure = failureOfEvaluation(evaluation, businessTransactionId)
  if (failure !== undefined) {
    const refusal = refuse(accepted, { decision, mismatches: evaluation.mismatches, key, now })
    return { ...accepted, outcome: 'refused', failure, refusal }
  }
  const connector = connectors.find(intent.action, policy.name)
  if (connector === undefined)
    return { ...accepted, outcome: 'unexecutable', failure: failures.noConnector(intent.action) }
  const authorization = describeAuthorization(accepted, { decision, now })
  const counted = version.limitedSince !== undefined
  return { ...accepted, outcome: 'approved', connector, decision, authorization, approvedBy, counted }
}

/** What a version says of a transaction. One that nobody has approved rejects everything. */
export function evaluateVersion(
  { policy, approved }: LoadedPolicy,
  subject: PolicySubject,
  now: Date,
): Evaluation {
  if (approved) return evaluate(policy, subject, now)
  return rejected(`Policy '${policy.name}' version '${policy.version}' is not approved.`)
}

/** Undefined: approved. */
export function failureOfEvaluation(
  { kind, reason, mismatches }: Evaluation,
  businessTransactionId: string,
): Failure | undefined {
  if (kind === 'approved') return undefined
  const approvals = mismatches.some(({ source }) => source === 'approval')
  return kind === 'denied'
    ? failures.policyDenied(reason, businessTransactionId, { approvals })
    : failures.executionRejected(reason, businessTransactionId)
}

// Second stage: the policy's decision on a transaction, computed but not stored (decisions §3, §6). Nothing here is kept unless `claim`
// takes the id, so a duplicate's decision leaves no trace.
import type { Fresh } from '../../fresh.ts'
import type { Json } from '../../../src/formats/json/canonical.ts'
import { failures, type Failure } from '../../../src/core/errors/errors.ts'
import { groupsOf, countable } from '../../../src/core/policy/counting.ts'
import { evaluate, rejected, type Evaluation, type PolicySubject } from '../../../src/core/policy/evaluate.ts'
import type { SigningKey } from '../../../src/core/signing/keys.ts'
import type { Connector } from '../../connectors/connector.ts'
import type { Connectors } from '../../connectors/index.ts'
import type { LoadedPolicy, Policies } from '../../policies.ts'
import { draftAuthorization, type UnsignedAuthorization } from './authorization.ts'
import { describeDecision, type Decision } from './decision.ts'
import { refuse, type Refusal } from './refuse.ts'
import type { Accepted } from '../validate/validate.ts'

/** Approved: the connector that will be called, and the authorization that is to be signed for it. */
export interface Approved extends Accepted {
  readonly outcome: 'approved'
  readonly connector: Connector
  readonly decision: Decision
  readonly unsignedAuthorization: UnsignedAuthorization
  /** approverIds whose approvals stand behind it. */
  readonly approvedBy: readonly string[]
  /** Listed for velocity limits to count: some version of its policy has one. */
  readonly counted: boolean
  /** SHA-256 of the groups in which limits with `per` or `where` count it. */
  readonly groups: readonly string[]
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

/**
 * Approved by the rules of a policy that verifies state, or waiting for the value of a signal that was left out. `proveAndClaim` reads the
 * state and decides.
 */
export interface StateUnverified extends Accepted {
  readonly outcome: 'state unverified'
  readonly version: LoadedPolicy
}

interface DecideWith extends Pick<Fresh, 'newId' | 'newNonce'> {
  readonly policies: Policies
  readonly connectors: Connectors
  readonly key: SigningKey
  readonly now: Date
}

/** Decides one transaction: `authorize` signs an approval, a refusal is signed here. */
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
  /** Refused, but with the missing approvals the same transaction would be approved. */
  readonly approvable?: boolean
}

/** Writes a decision down: the authorization that releases it, or the signed record of its refusal. */
export function conclude(accepted: Accepted, evaluation: Evaluation, tools: ConcludeWith): Concluded {
  const { connectors, key, now, newId, newNonce, version, approvedBy = [], approvable = false } = tools
  const { decisionId = newId() } = tools
  const { businessTransactionId, intent, policy } = accepted.transaction
  const describe = () =>
    describeDecision(accepted, evaluation, { ...tools, decisionId, policyContentHash: version.contentHash })
  const failure = failureOfEvaluation(evaluation, businessTransactionId, approvable)
  if (failure !== undefined) {
    const refusal = refuse(accepted, {
      decision: describe(),
      mismatches: evaluation.mismatches,
      approvable,
      key,
      now,
      newId,
    })
    return { ...accepted, outcome: 'refused', failure, refusal }
  }
  const connector = connectors.find(intent.action, policy.name)
  if (connector === undefined)
    return { ...accepted, outcome: 'unexecutable', failure: failures.noConnector(intent.action) }
  if (evaluation.kind === 'unfilled') throw new Error('a decision lacks the value of a signal')
  const decision = describe()
  const unsignedAuthorization = draftAuthorization(accepted, { decision, now, newId, newNonce })
  const counted = version.limitedSince !== undefined
  const groups = groupsOf(version.groupings, countable(accepted), now)
  return {
    ...accepted,
    outcome: 'approved',
    connector,
    decision,
    unsignedAuthorization,
    approvedBy,
    counted,
    groups,
  }
}

/**
 * Evaluates a transaction by a version. An unapproved or retired version rejects everything.
 * @param filled the verified values of signals that were left out
 */
export function evaluateVersion(
  { policy, standing }: LoadedPolicy,
  subject: PolicySubject,
  now: Date,
  filled?: Readonly<Record<string, boolean | number>>,
): Evaluation {
  if (standing === 'APPROVED') return evaluate(policy, subject, now, filled)
  return rejected(outOfEffect(policy, standing))
}

/** Why a version decides nothing; a sentence. */
function outOfEffect(
  { name, version }: { readonly name: string; readonly version: string },
  standing: 'LOADED' | 'RETIRED',
): string {
  return `Policy '${name}' version '${version}' is ${standing === 'RETIRED' ? 'retired' : 'not approved'}.`
}

/** Undefined: approved, or not known before state is read. */
export function failureOfEvaluation(
  { kind, reason }: Evaluation,
  businessTransactionId: string,
  approvable = false,
): Failure | undefined {
  if (kind === 'approved' || kind === 'unfilled') return undefined
  return kind === 'denied'
    ? failures.policyDenied(reason, businessTransactionId, { approvable })
    : failures.executionRejected(reason, businessTransactionId, { approvable })
}

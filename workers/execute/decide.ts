// Second step: what the policy says of a transaction, computed and signed but not stored (decisions §3, §6).
// Nothing here is kept unless `admit` claims the id, so a duplicate's decision leaves no trace.
import type { Json } from '../../src/canonical.ts'
import { failures, type Failure } from '../../src/errors.ts'
import { evaluate, type Evaluation } from '../../src/policy/evaluate.ts'
import type { SigningKey } from '../../src/signing/keys.ts'
import type { Connector } from '../connectors/connector.ts'
import type { Connectors } from '../connectors/index.ts'
import type { Policies } from '../policies.ts'
import { authorize, type Authorization } from './authorize.ts'
import { describeDecision, type Decision } from './decision.ts'
import { refuse, type Refusal } from './refuse.ts'
import type { Accepted } from './validate.ts'

/** Approved: the connector that will be called, and the authorization that releases it. */
export interface Authorized extends Accepted {
  readonly outcome: 'authorized'
  readonly connector: Connector
  readonly decision: Decision
  readonly authorization: Authorization
  /** approverIds whose approvals stand behind it. */
  readonly approvedBy: readonly string[]
}

/** Rejected or denied: a signed Refusal Record, and what the caller is told. */
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

export type Decided = Authorized | Refused | Unexecutable

/** Approved by the rules, on signals that independently verified state has yet to confirm. `prove` takes it on from here. */
export interface Unproven extends Accepted {
  readonly outcome: 'unproven'
  readonly evaluation: Evaluation
  readonly policyContentHash: string
}

export interface DecideWith {
  readonly policies: Policies
  readonly connectors: Connectors
  readonly key: SigningKey
  readonly now: Date
}

/** Decides one transaction. Pure but for fresh ids and a nonce. */
export function decide(accepted: Accepted, tools: DecideWith): Decided | Unproven {
  const { policy } = accepted.transaction
  const version = tools.policies.find(policy)
  if (version === undefined)
    return { ...accepted, outcome: 'unexecutable', failure: failures.policyNotFound(policy) }
  const { contentHash: policyContentHash } = version
  const evaluation = version.approved
    ? evaluate(version.policy, accepted.transaction, tools.now)
    : notApproved(policy)
  if (evaluation.verify.length > 0) return { ...accepted, outcome: 'unproven', evaluation, policyContentHash }
  return conclude(accepted, evaluation, { ...tools, policyContentHash })
}

export interface ConcludeWith extends Omit<DecideWith, 'policies'> {
  readonly decisionId?: string
  readonly policyContentHash: string
  readonly verifiedSignals?: Readonly<Record<string, Json>>
  readonly approvedBy?: readonly string[]
}

/** Writes a decision down: signs what releases it, or the record of its refusal. */
export function conclude(accepted: Accepted, evaluation: Evaluation, tools: ConcludeWith): Decided {
  const { connectors, key, now, approvedBy = [] } = tools
  const { intent, policy } = accepted.transaction
  const decision = describeDecision(accepted, evaluation, tools)
  if (evaluation.kind !== 'approved') {
    const { mismatches, reason } = evaluation
    const failure =
      evaluation.kind === 'denied' ? failures.policyDenied(reason) : failures.executionRejected(reason)
    const refusal = refuse(accepted, { decision, mismatches, key, now })
    return { ...accepted, outcome: 'refused', failure, refusal }
  }
  const connector = connectors.find(intent.action, policy.name)
  if (connector === undefined)
    return { ...accepted, outcome: 'unexecutable', failure: failures.noConnector(intent.action) }
  const authorization = authorize(accepted, { decision, key, now })
  return { ...accepted, outcome: 'authorized', connector, decision, authorization, approvedBy }
}

export function notApproved(policy: { name: string; version: string }): Evaluation {
  const reason = `Policy '${policy.name}' version '${policy.version}' is not approved.`
  return { kind: 'rejected', reason, matchedRuleId: null, evaluatedRules: [], mismatches: [], verify: [] }
}

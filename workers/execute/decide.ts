// Second step: what the policy says of a transaction, computed and signed but not stored (decisions §3, §6).
// Nothing here is kept unless `admit` claims the id, so a duplicate's decision leaves no trace.
import { failures, type Failure } from '../../src/errors.ts'
import { denied, evaluate, type Evaluation } from '../../src/policy/evaluate.ts'
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

export interface DecideWith {
  readonly policies: Policies
  readonly connectors: Connectors
  readonly key: SigningKey
  readonly now: Date
}

/** Decides one transaction. Pure but for fresh ids and a nonce. */
export function decide(accepted: Accepted, { policies, connectors, key, now }: DecideWith): Decided {
  const { transaction } = accepted
  const version = policies.find(transaction.policy)
  if (version === undefined) {
    return { ...accepted, outcome: 'unexecutable', failure: failures.policyNotFound(transaction.policy) }
  }
  const evaluation = version.approved
    ? verified(evaluate(version.policy, transaction, now), transaction.signals)
    : notApproved(transaction.policy)
  const decision = describeDecision(accepted, evaluation, { policyContentHash: version.contentHash, now })

  if (evaluation.kind !== 'approved') {
    const { mismatches, reason } = evaluation
    const failure =
      evaluation.kind === 'denied' ? failures.policyDenied(reason) : failures.executionRejected(reason)
    return {
      ...accepted,
      outcome: 'refused',
      failure,
      refusal: refuse(accepted, { decision, mismatches, key, now }),
    }
  }
  const connector = connectors.find(transaction.intent.action)
  if (connector === undefined) {
    return { ...accepted, outcome: 'unexecutable', failure: failures.noConnector(transaction.intent.action) }
  }
  return {
    ...accepted,
    outcome: 'authorized',
    connector,
    decision,
    authorization: authorize(accepted, { decision, key, now }),
  }
}

function notApproved(policy: { name: string; version: string }): Evaluation {
  const reason = `Policy '${policy.name}' version '${policy.version}' is not approved.`
  return { kind: 'rejected', reason, matchedRuleId: null, evaluatedRules: [], mismatches: [], verify: [] }
}

/** State that nothing here can verify does not hold: a policy that asks for more than this release can verify is denied. */
function verified(evaluation: Evaluation, signals: Accepted['transaction']['signals']): Evaluation {
  if (evaluation.verify.length === 0) return evaluation
  const mismatches = evaluation.verify.map(({ signal, by }) => ({
    signal,
    declared: signals[signal] ?? null,
    verified: null,
    source: by,
  }))
  const { matchedRuleId, evaluatedRules } = evaluation
  return { ...denied(mismatches), matchedRuleId, evaluatedRules }
}

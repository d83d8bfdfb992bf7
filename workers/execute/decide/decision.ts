// The Decision of decisions §4: the result of the policy, with its rule trace, as record and refusal hold it.
import { Canonical, canonicalize, type Json } from '../../../src/formats/json/canonical.ts'
import type { Evaluation } from '../../../src/core/policy/evaluate.ts'
import type { Accepted } from '../validate/validate.ts'

/** Canonical text; id and content hash are bound into the authorization too. */
export interface Decision {
  readonly decisionId: string
  readonly policyContentHash: string
  /** Whether it rests on signals whose values were verified. */
  readonly verifiesState: boolean
  readonly text: Canonical
}

export function describeDecision(
  accepted: Accepted,
  evaluation: Evaluation,
  {
    decisionId,
    policyContentHash,
    verifiedSignals = {},
    now,
  }: {
    decisionId: string
    policyContentHash: string
    verifiedSignals?: Readonly<Record<string, Json>>
    now: Date
  },
): Decision {
  const text = canonicalize({
    decisionId,
    evaluatedAt: now.toISOString(),
    evaluatedRules: evaluation.evaluatedRules,
    intentId: accepted.transaction.intent.intentId,
    matchedRuleId: evaluation.matchedRuleId,
    outcome: evaluation.kind === 'approved' ? 'APPROVED' : 'REJECTED',
    policy: accepted.canonical.policy,
    policyContentHash,
    reason: evaluation.reason,
    signals: accepted.canonical.signals,
    verifiedSignals,
  })
  const verifiesState = Object.keys(verifiedSignals).length > 0
  return { decisionId, policyContentHash, verifiesState, text: new Canonical(text) }
}

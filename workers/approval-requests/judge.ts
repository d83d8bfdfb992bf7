// Whether approvals would let an execution through: judged as POST /sandbox/evaluate does, its approvals taken as given.
import { Check } from 'typebox/value'
import { failures, type Failure } from '../../src/core/errors.ts'
import type { BusinessTransactionInput } from '../../src/core/schemas/business-transaction.ts'
import { SignedApproval } from '../../src/core/schemas/approval.ts'
import type { ThreadContext } from '../context.ts'
import { evaluateVersion } from '../execute/decide.ts'
import { problemsOf } from '../execute/problems.ts'
import { attributed, rebuild } from '../execute/validate.ts'
import type { ScopedCaller } from '../in-flight.ts'

/** A transaction that needs approvals and nothing else. */
export interface Approvable {
  readonly transaction: BusinessTransactionInput
  readonly policyContentHash: string
  /** Over all signals that the policy verifies by approvals. */
  readonly quorum: number
}

/**
 * @param posted of any shape: a BusinessTransaction as POST /execute takes it
 * @param path of `posted` in the body, for messages
 * @returns what POST /execute would answer a body that is wrong or outside of the caller's scope, but 400 where that is a bare 500; 409
 *   where no approval would help
 */
export function judge(
  posted: unknown,
  {
    path,
    caller,
    now,
    policies,
  }: { path: string; caller: ScopedCaller; now: Date } & Pick<ThreadContext, 'policies'>,
): Approvable | Failure {
  const rebuilt = rebuild(posted)
  const [first] = problemsOf(posted, rebuilt, caller)
  if (first !== undefined)
    return first.failure.status === 403 ? first.failure : failures.invalidField(`${path}.${first.message}`)
  const transaction = attributed(rebuilt as unknown as BusinessTransactionInput, caller.callerId)
  const { intent, policy } = transaction
  const version = policies.find(policy)
  if (version === undefined) return failures.policyNotFound(policy)
  const approvals = version.policy.verify.filter((verifier) => verifier.by === 'approval')
  const granted = Object.fromEntries(approvals.map(({ signal }) => [signal, true]))
  const asGranted = { ...transaction, signals: { ...transaction.signals, ...granted } }
  const evaluation = evaluateVersion(version, asGranted, now)
  if (evaluation.kind !== 'approved') return failures.notApprovable(sentence(evaluation.reason))
  const unclaimed = approvals.find(({ signal }) => transaction.signals[signal] !== true)
  const needsNone = unclaimed !== undefined && evaluateVersion(version, transaction, now).kind === 'approved'
  if (approvals.length === 0 || needsNone)
    return failures.notApprovable(
      `Policy '${policy.name}' version '${policy.version}' lets this through without one.`,
    )
  if (unclaimed !== undefined)
    return failures.invalidField(
      `${path}.signals.${unclaimed.signal} must be true: it claims the approval that is asked for.`,
    )
  const { capability, target } = SignedApproval.properties.payload.properties
  if (!Check(capability, intent.action) || !Check(target, intent.target))
    return failures.notApprovable(
      `An approval names its action and target by 1 to 129 and 1 to 512 characters on one line.`,
    )
  return {
    transaction,
    policyContentHash: version.contentHash,
    quorum: approvals.reduce((sum, verifier) => sum + verifier.quorum, 0),
  }
}

/** As a decision states it, a reason may begin in lower case. */
function sentence(reason: string): string {
  return reason.charAt(0).toUpperCase() + reason.slice(1)
}

// Whether approvals would let an execution through: judged as POST /sandbox/evaluate does, its approvals taken as given.
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import type { BusinessTransactionInput } from '../../src/formats/schemas/business-transaction.ts'
import type { Ask } from '../../src/core/policy/ask.ts'
import type { CompiledPolicy } from '../../src/core/policy/check.ts'
import type { ThreadContext } from '../context.ts'
import { evaluateVersion } from '../execute/decide/decide.ts'
import { problemsOf } from '../execute/validate/problems.ts'
import { attributed, rebuild } from '../execute/validate/validate.ts'
import type { ScopedCaller } from '../in-flight.ts'
import {
  canBeNamed,
  grantsOf,
  quorumOf,
  type ApprovalSignal,
} from '../../src/core/approval-requests/grants.ts'

/** A transaction that needs approvals and nothing else. */
export interface Approvable {
  readonly transaction: BusinessTransactionInput
  readonly policyContentHash: string
  /** The signals that it needs, of those that the policy verifies by approvals. */
  readonly needed: readonly ApprovalSignal[]
  /** When approvers are told of it again. */
  readonly ask: Ask
}

/**
 * @param posted of any shape: a BusinessTransaction as POST /execute takes it
 * @param path of `posted` in the body, for messages
 * @returns the answer of POST /execute to a body that is wrong or outside the caller's scope, but 400 in place of its bare 500; 409 where no
 *   approval would help
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
  const { verify } = version.policy
  const approvals = verify.filter((verifier) => verifier.by === 'approval')
  const ungranted = approvals.filter(({ signal }) => transaction.signals[signal] !== true)
  const evaluations = grantsOf(ungranted).map((granted) =>
    evaluateVersion(version, { ...transaction, signals: { ...transaction.signals, ...granted } }, now),
  )
  // A request that waits for other state that the caller left out may yet be approved.
  if (!evaluations.some(({ kind }) => kind === 'approved' || kind === 'unfilled'))
    return failures.notApprovable(sentence(evaluations.at(-1)!.reason))
  const unclaimed = approvals.find(({ signal }) => transaction.signals[signal] === false)
  const claimed = approvals.length > ungranted.length
  const none = Object.fromEntries(approvals.map(({ signal }) => [signal, false]))
  const needsNone =
    (unclaimed !== undefined || !claimed) &&
    evaluateVersion(version, transaction, now, none).kind === 'approved'
  if (approvals.length === 0 || needsNone)
    return failures.notApprovable(
      `Policy '${policy.name}' version '${policy.version}' lets this through without one.`,
    )
  if (unclaimed !== undefined)
    return failures.invalidField(
      `${path}.signals.${unclaimed.signal} must be true or left out: it claims the approval that is asked for.`,
    )
  if (!canBeNamed(intent))
    return failures.notApprovable(
      `An approval names its action and target by 1 to 129 and 1 to 512 characters on one line.`,
    )
  return {
    transaction,
    policyContentHash: version.contentHash,
    ask: version.policy.ask,
    needed: fewest(approvals, transaction, (granted) => {
      const filled = { ...nothingBefore(version.policy), ...granted }
      return evaluateVersion(version, transaction, now, filled).kind === 'approved'
    }),
  }
}

/** Limits as the very first execution finds them: their values at the execution are not known yet. */
function nothingBefore({ verify }: CompiledPolicy): Record<string, number> {
  return Object.fromEntries(verify.flatMap(({ signal, by }) => (by === 'history' ? [[signal, 0]] : [])))
}

/**
 * The signals that take the fewest approvals to let it through: those that it declares and, of the signals that it leaves out, the cheapest set
 * with which the rules approve; all of them where no such set is known.
 */
function fewest(
  approvals: readonly ApprovalSignal[],
  { signals }: { readonly signals: Readonly<Record<string, unknown>> },
  approves: (granted: Readonly<Record<string, boolean>>) => boolean,
): ApprovalSignal[] {
  const leftOut = approvals.filter(({ signal }) => !Object.hasOwn(signals, signal))
  const declared = approvals.filter((one) => !leftOut.includes(one))
  const grants = grantsOf(leftOut).filter((granted) => declared.length > 0 || quorumOf(leftOut, granted) > 0)
  const granted = grants.find(approves) ?? grants.at(-1)!
  return [...declared, ...leftOut.filter(({ signal }) => granted[signal] === true)]
}

/** Begins with a capital letter: a decision may state its reason in lower case. */
function sentence(reason: string): string {
  return reason.charAt(0).toUpperCase() + reason.slice(1)
}

// Whether an execution is the one that an approval request asked for. The one function by which the service matches an approval of
// version 2 before an execution, and a verifier after it.
import type { Json } from '../json/canonical.ts'
import { canonicalText } from './evidence.ts'
import { isMembers } from '../json/members.ts'
import { instantMs } from './instant.ts'

/** The execution as its decision has it. */
export interface RequestedAction {
  readonly capability: string
  readonly target: string
  readonly parameters: unknown
  /** The signals of the decision: declared ones, and verified ones that were filled in. */
  readonly signals: Readonly<Record<string, unknown>>
  /** Names of the signals that the service verified: only these may be there without having been asked for. */
  readonly verified: readonly string[]
  readonly policy: { readonly name: string; readonly version: string; readonly contentHash: string }
  readonly principalId: string
  /** The callerId that executes. */
  readonly requestedBy: string
  /** When it is decided, RFC 3339. */
  readonly evaluatedAt: string
}

/**
 * Compares an execution with the content of an approval request; never throws. Whether the request was declined or withdrawn, and how
 * many approvals it needs, is not compared here.
 * @param request an `ApprovalRequestContent`, parsed, or any other JSON
 * @returns undefined where it is the execution that was asked for; else the end of a sentence that begins with the approval
 */
export function requestProblem(request: unknown, action: RequestedAction): string | undefined {
  const asked = request as Json | undefined
  if (!isMembers(asked)) return 'is for a request that is not there'
  const { name, version, contentHash } = isMembers(asked['policy']) ? asked['policy'] : {}
  if (asked['requestedBy'] !== action.requestedBy) return 'was asked for by another caller'
  if (asked['principalId'] !== action.principalId) return 'was asked for by another principal'
  if (asked['capability'] !== action.capability) return 'was asked for another capability'
  if (asked['target'] !== action.target) return 'was asked for another target'
  if (!isSame(asked['parameters'], action.parameters)) return 'was asked for other parameters'
  if (name !== action.policy.name || version !== action.policy.version)
    return 'was asked for under another policy'
  if (contentHash !== action.policy.contentHash) return 'was asked for under another content of the policy'
  if (!hasSignals(asked['signals'], action)) return 'was asked for with other signals'
  const { createdAt, expiresAt } = asked
  const at = instantMs(action.evaluatedAt)
  if (typeof createdAt !== 'string' || !(instantMs(createdAt) <= at)) return 'was asked for later'
  if (typeof expiresAt !== 'string' || !(at < instantMs(expiresAt)))
    return 'is for a request that was expired'
  return undefined
}

/** Every signal that was asked with has the same value, and no other one was declared. */
function hasSignals(asked: Json | undefined, { signals, verified }: RequestedAction): boolean {
  if (!isMembers(asked)) return false
  return (
    Object.keys(asked).every((name) => Object.hasOwn(signals, name) && isSame(asked[name], signals[name])) &&
    Object.keys(signals).every((name) => Object.hasOwn(asked, name) || verified.includes(name))
  )
}

function isSame(one: unknown, other: unknown): boolean {
  const text = canonicalText(one as Json)
  return text !== undefined && text === canonicalText(other as Json)
}

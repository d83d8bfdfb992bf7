// Decides whether an execution is the one that an approval request asked for. The service matches an approval of version 2 by
// this same function before an execution, and a verifier after it.
import type { Json } from '../json/canonical.ts'
import { canonicalText } from './evidence.ts'
import { isMembers } from '../json/members.ts'
import { instantMs } from './instant.ts'

/** The execution as in its decision. */
export interface RequestedAction {
  readonly capability: string
  readonly target: string
  readonly parameters: unknown
  /** The signals of the decision: declared ones, and verified ones that were filled in. */
  readonly signals: Readonly<Record<string, unknown>>
  /** Names of the signals that the service verified: only these may be present without having been in the request. */
  readonly verified: readonly string[]
  readonly policy: { readonly name: string; readonly version: string; readonly contentHash: string }
  readonly principalId: string
  /** The callerId of the executing caller. */
  readonly requestedBy: string
  /** Time of the decision, RFC 3339. */
  readonly evaluatedAt: string
}

/**
 * Compares an execution with the content of an approval request; never throws. Does not check whether the request was declined or
 * withdrawn, or how many approvals it needs.
 * @param request an `ApprovalRequestContent`, parsed, or any other JSON
 * @returns undefined if the request asked for this execution; else the end of a sentence that begins with the approval
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

/** Every signal in the request has the same value, and no other signal was declared. */
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

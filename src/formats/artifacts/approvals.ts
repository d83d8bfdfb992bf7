// The check of a decision's verified signals (decisions §4 "Decision", §7): approvals by humans, or answers of a system of record,
// from the text of the record alone.
import { canonicalize, type Json } from '../json/canonical.ts'
import {
  checkSigned,
  itemsOf,
  list,
  members,
  string,
  type Check,
  type CheckCrypto,
  type Crypto,
} from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { requestHash } from '../approval-requests/request-hash.ts'
import { REASON_MAX } from '../schemas/approval-reason.ts'
import { requestProblem } from './request-problem.ts'
import { instantMs } from './instant.ts'
import { scopeCovers } from './scope.ts'
import { isAuthorizationSigned, requireHumanAlgorithm } from './signatures.ts'

/** The action that an approval must cover to count for an execution. */
interface ApprovedAction {
  readonly capability: string
  readonly target: string
  readonly parameters: Json
  /** Time of the decision, RFC 3339. */
  readonly evaluatedAt: string
  /** The principal whose authority is used, and the caller: neither may approve it. */
  readonly principalId: string
  readonly requestedBy: string
  /** approverIds of the persons behind these two; none in evidence that is older than this list. */
  readonly notCounted: readonly string[]
  /** The hash of the request in the decision, which approvals of version 2 and 3 must name; undefined: the decision has no request. */
  readonly requestHash: string | undefined
}

/** Compares an approval with an action, except signature and key. Returns undefined when it approves the action, else the reason. */
function approvalProblem(
  payload: Members,
  action: ApprovedAction,
  sha256Hex: (text: string) => string,
): string | undefined {
  const { version, approverId, issuedAt, expiresAt, scope } = payload
  if (version !== 1 && !isForRequest(payload)) return 'is of an unknown version'
  if ('reason' in payload && !(version === 3 && isReason(payload['reason'])))
    return 'has a reason that an approval of its version cannot have'
  if (version !== 1 && (action.requestHash === undefined || payload['requestHash'] !== action.requestHash))
    return 'is for another request'
  if (payload['capability'] !== action.capability) return 'is for another capability'
  if (payload['target'] !== action.target) return 'is for another target'
  if (!scopeCovers(scope, action.parameters, sha256Hex)) return 'does not cover the parameters'
  const at = instantMs(action.evaluatedAt)
  if (typeof issuedAt !== 'string' || !(instantMs(issuedAt) <= at)) return 'was not yet valid'
  if (typeof expiresAt !== 'string' || !(at < instantMs(expiresAt))) return 'was expired'
  if (
    typeof approverId !== 'string' ||
    [action.principalId, action.requestedBy, ...action.notCounted].includes(approverId)
  )
    return 'is by who asked for it'
  return undefined
}

/** Whether an approval is for the execution that one request asked for, and for no other execution. */
function isForRequest({ version }: Members): boolean {
  return version === 2 || version === 3
}

function isReason(reason: Json | undefined): boolean {
  return typeof reason === 'string' && reason !== '' && Array.from(reason).length <= REASON_MAX
}

/** The check of a record: every verified signal of every decision in it. */
export function checkApprovals(record: Members, given: Crypto): Check {
  return checkSigned('approvals', 'The verified signals cannot be verified', given, (crypto) => {
    const used = new Set<string>()
    const inPlaceOf = new Set<string>()
    const stoodFor = new Map<string, { signal: string; hasGroups: boolean }>()
    for (const execution of list(record['executions'])) {
      const decision = members(members(execution)['decision'])
      for (const [signal, verified] of Object.entries(members(decision['verifiedSignals'])))
        verifySignal({
          signal,
          verified: members(verified),
          decision,
          record,
          used,
          stoodFor,
          inPlaceOf,
          crypto,
        })
    }
    return true
  })
}

/**
 * The check of a Refusal Record: insufficient approvals are in it, and each is signed, by another person than the requester.
 * The refusal itself states that they are insufficient.
 */
export function checkRefusedApprovals(refusal: Members, given: Crypto): Check {
  return checkSigned('approvals', 'The approvals in the decision are not signed ones', given, (crypto) => {
    const verifiedSignals = members(members(refusal['decision'])['verifiedSignals'])
    for (const verified of Object.values(verifiedSignals).map(members)) {
      const notCounted = notCountedIn(verified)
      membershipsOf(verified)
      for (const approval of approvalsOf(verified)) {
        const { approverId } = requireSignature(approval, crypto)
        if (notCounted.includes(approverId))
          throw new Error(`the approval by ${JSON.stringify(approverId)} is by who asked for it`)
      }
    }
    return true
  })
}

interface VerifiedSignal {
  readonly signal: string
  readonly verified: Members
  readonly decision: Members
  readonly record: Members
  /** Nonces of the approvals that another signal or execution of the record used up. */
  readonly used: Set<string>
  /** By approver of the record: the signal that their approval counts for, and whether groups restrict the approvers. */
  readonly stoodFor: Map<string, { readonly signal: string; readonly hasGroups: boolean }>
  /** The members of groups in whose place a stand-in counts. */
  readonly inPlaceOf: Set<string>
  readonly crypto: CheckCrypto
}

/** Throws an Error that names the failed check. */
function verifySignal(one: VerifiedSignal): void {
  const { signal, verified, decision } = one
  const { value, by } = verified
  const named = `signal ${JSON.stringify(signal)}`
  const declared = members(decision['signals'])
  // A left-out signal is decided with its verified value (decisions §12).
  const isDeclared = Object.hasOwn(declared, signal)
  if (isDeclared && canonicalize(declared[signal] as Json) !== canonicalize(value as Json))
    throw new Error(`${named} is verified to be another value than was declared`)
  if (!isDeclared && typeof value !== 'boolean' && typeof value !== 'number')
    throw new Error(`${named} was left out, and what is filled in is no value of a signal`)
  const approvals = approvalsOf(verified)
  const notCounted = notCountedIn(verified)
  if (by === 'approval' && value === true) {
    if (approvals.length === 0) throw new Error(`${named} has no approval`)
    requireApprovals(approvals, named, { ...one, notCounted })
    return
  }
  if (approvals.length > 0 || 'request' in verified || 'groups' in verified)
    throw new Error(`${named} has approvals that it does not claim`)
  if (by === 'approval' && value === false) return
  if (by === 'history' && typeof value === 'number') return
  if (by === 'crm-deal') {
    requireAuthorizedRead(named, one)
    return
  }
  throw new Error(`${named} is verified by what nothing here can check`)
}

/** Requires as many approvers as approvals; the quorum itself is in the policy. */
function requireApprovals(
  approvals: readonly Members[],
  named: string,
  {
    signal,
    verified,
    decision,
    record,
    used,
    stoodFor,
    inPlaceOf,
    crypto,
    notCounted,
  }: VerifiedSignal & Pick<ApprovedAction, 'notCounted'>,
): void {
  const transaction = members(record['transaction'])
  const { action, target, parameters } = members(transaction['intent'])
  const { request } = verified
  const approved: ApprovedAction = {
    capability: string(action),
    target: string(target),
    parameters: parameters as Json,
    evaluatedAt: string(decision['evaluatedAt']),
    principalId: string(members(transaction['authority'])['principalId']),
    requestedBy: string(members(transaction['metadata'])['submittedBy']),
    notCounted,
    requestHash: request === undefined ? undefined : requestHash(members(request), crypto.sha256Hex),
  }
  const memberships = membershipsOf(verified)
  const hasGroups = memberships !== undefined
  const approvers = new Set<string>()
  for (const [i, approval] of approvals.entries()) {
    const { approverId, nonce, revokedAt } = requireSignature(approval, crypto)
    const whose = `${named}: the approval by ${JSON.stringify(approverId)}`
    const problem = approvalProblem(members(approval['payload']), approved, crypto.sha256Hex)
    if (problem !== undefined) throw new Error(`${whose} ${problem}`)
    if (revokedAt !== null && !(instantMs(approved.evaluatedAt) < instantMs(revokedAt)))
      throw new Error(`${whose} is by a key that was revoked`)
    if (approvers.has(approverId)) throw new Error(`${whose} is not the only one of this approver`)
    const other = stoodFor.get(approverId)
    // Before groups existed, two approvals by one approver could count for two signals.
    if (other !== undefined && (hasGroups || other.hasGroups))
      throw new Error(`${whose} stands for signal ${JSON.stringify(other.signal)} too`)
    stoodFor.set(approverId, { signal, hasGroups })
    const absent = memberships?.[i]?.standIn?.for
    if (absent !== undefined) {
      if ([approved.principalId, approved.requestedBy, ...notCounted].includes(absent))
        throw new Error(`${whose} is in place of ${JSON.stringify(absent)}, who asked for it`)
      if (inPlaceOf.has(absent))
        throw new Error(`${whose} is not the only one in place of ${JSON.stringify(absent)}`)
      inPlaceOf.add(absent)
    }
    if (used.has(nonce)) throw new Error(`${whose} is used twice`)
    approvers.add(approverId)
    used.add(nonce)
  }
  if (request !== undefined) requireRequest(members(request), approvals, named, { decision, approved })
}

/** Approvals of version 2 and 3 are for the execution that this request asked for, and for no other execution. */
function requireRequest(
  request: Members,
  approvals: readonly Members[],
  named: string,
  { decision, approved }: { decision: Members; approved: ApprovedAction },
): void {
  if (!approvals.some(({ payload }) => isForRequest(members(payload))))
    throw new Error(`${named} has a request that no approval is for`)
  const { name, version } = members(decision['policy'])
  const verifiedSignals = members(decision['verifiedSignals'])
  const problem = requestProblem(request, {
    ...approved,
    signals: members(decision['signals']),
    verified: Object.keys(verifiedSignals),
    policy: {
      name: string(name),
      version: string(version),
      contentHash: string(decision['policyContentHash']),
    },
  })
  if (problem !== undefined) throw new Error(`${named}: the approval ${problem}`)
  // A request counts its approvals over all signals of the decision.
  const count = Object.values(verifiedSignals).flatMap((one) => approvalsOf(members(one))).length
  if (typeof request['quorum'] !== 'number' || !(count >= request['quorum']))
    throw new Error(`${named} has fewer approvals than its request asked for`)
}

/** Throws when the approver that it names did not sign it. */
function requireSignature(
  { payload, algorithm, signature, webauthn }: Members,
  crypto: CheckCrypto,
): { approverId: string; nonce: string; revokedAt: string | null } {
  const { approverId, keyId, nonce } = members(payload)
  const approver = string(approverId)
  // `a:b` with key `c` and `a` with key `b:c` have the same key name, and must not be two approvers.
  if (approver === '' || approver.includes(':')) throw new Error('an approverId is not one')
  const carried = {
    algorithm: string(algorithm),
    keyId: `${approver}:${string(keyId)}`,
    value: string(signature),
    webauthn,
  }
  requireHumanAlgorithm(carried.algorithm)
  if (!crypto.verifySignature('approval', canonicalize(payload as Json), carried))
    throw new Error(`the approval by ${JSON.stringify(approver)} is not signed by that approver`)
  return {
    approverId: approver,
    nonce: string(nonce),
    revokedAt: crypto.humanKey(carried.keyId)?.revokedAt ?? null,
  }
}

/** A read of a system of record has an authorization of its own, for the same transaction. */
function requireAuthorizedRead(named: string, { verified, record, crypto }: VerifiedSignal): void {
  const authorization = members(verified['authorization'])
  const payload = members(authorization['payload'])
  const { businessTransactionId, authorizationId } = payload
  if (!isAuthorizationSigned(authorization, crypto))
    throw new Error(`${named}: the authorization of the read is not signed`)
  if (string(businessTransactionId) !== record['businessTransactionId'])
    throw new Error(`${named}: the authorization of the read is of another transaction`)
  const released = members(members(record['authorization'])['payload'])
  if (string(authorizationId) === released['authorizationId'])
    throw new Error(`${named}: the authorization of the read is that of the execution`)
}

/** @throws Error when it exists and is not a list of names */
function notCountedIn(verified: Members): readonly string[] {
  return 'notCounted' in verified ? list(verified['notCounted']).map(string) : []
}

/** Whether a decision rests on approvals and does not list the approverIds of the persons behind the execution. */
function isSilentOnPersons(decision: Json | undefined): boolean {
  const verifiedSignals = isMembers(decision) ? decision['verifiedSignals'] : undefined
  return Object.values(isMembers(verifiedSignals) ? verifiedSignals : {}).some(
    (one) => isMembers(one) && itemsOf(one['approvals']).length > 0 && !('notCounted' in one),
  )
}

/** Notes facts that a reader should know of approvals that pass their check. */
export function notesOnApprovals(decisions: readonly (Json | undefined)[]): string[] {
  return decisions.some(isSilentOnPersons)
    ? [
        'It does not say which approver names the caller and the principal have: whether one of them approved it under another name is not known.',
      ]
    : []
}

/** The approvals in a verified signal. */
export function approvalsOf(verified: Members): readonly Members[] {
  return 'approvals' in verified ? list(verified['approvals']).map(members) : []
}

/** The reason why an approval counts when the policy names groups: its approver is in the group as this change set it. */
export interface StatedMembership {
  readonly group: string
  readonly changeId: string
  /** The member in whose place the approver counts, and the change that states it; undefined: the approver is a member. */
  readonly standIn?: { readonly for: string; readonly changeId: string }
}

/**
 * The memberships that a verified signal states, in the order of its approvals; undefined when it states none. The changes in a bundle
 * show whether they are true.
 * @throws Error when there is not one membership for each approval
 */
export function membershipsOf(verified: Members): readonly StatedMembership[] | undefined {
  if (!('groups' in verified)) return undefined
  const stated = list(verified['groups']).map((one) => {
    const { group, changeId, standsInFor, standInChangeId } = members(one)
    const own = { group: string(group), changeId: string(changeId) }
    return standsInFor === undefined && standInChangeId === undefined
      ? own
      : { ...own, standIn: { for: string(standsInFor), changeId: string(standInChangeId) } }
  })
  if (stated.length !== approvalsOf(verified).length || stated.length === 0)
    throw new Error('it does not state one group for each approval')
  return stated
}

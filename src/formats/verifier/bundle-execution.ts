// Reads the execution from the record of a bundle. The log has an entry for each part of it.
import { canonicalize, type Json } from '../json/canonical.ts'
import { approval } from '../artifacts/approval.ts'
import { approvalRequest } from '../artifacts/approval-request.ts'
import { authorization as authorizationKind } from '../artifacts/authorization.ts'
import { entryOf } from '../artifacts/kinds.ts'
import { providerConfirmation } from '../artifacts/provider-confirmation.ts'
import { approvalsOf, membershipsOf, type StatedMembership } from '../artifacts/approvals.ts'
import type { LoggedPart } from './bundle-log.ts'
import { itemsOf, list, members, string, type Crypto } from '../artifacts/evidence.ts'
import { isMembers, type Members } from '../json/members.ts'

/** An approval in the record, and the name of its stated signing key. */
interface UsedApproval {
  readonly part: LoggedPart
  readonly keyId: string
  /** The hash of the request that the approval is for; undefined: none. */
  readonly requestHash: Json | undefined
}

/** A signal that approvals support, as a decision states it. */
export interface ApprovedSignal {
  readonly signal: string
  /** RFC 3339. */
  readonly evaluatedAt: string
  readonly approverIds: readonly string[]
  /** In the order of the approvers; undefined: the decision states none. */
  readonly memberships: readonly StatedMembership[] | undefined
}

interface StatedChange {
  readonly changeId: Json | undefined
  readonly of: Json | undefined
}

/** The execution and its authority, as the record states them. */
export interface Execution {
  readonly policy: { readonly name: string; readonly version: string; readonly contentHash: string }
  readonly authorization: LoggedPart
  /** The requests that the approvers signed. */
  readonly requests: readonly LoggedPart[]
  readonly approvals: readonly UsedApproval[]
  /** The changes by which its decisions justify groups and stand-ins, each with the group, or the member who is away. Of any shape. */
  readonly statedChanges: readonly StatedChange[]
  /** The newest receipt. */
  readonly receipt: { readonly part: LoggedPart; readonly log: string | undefined } | undefined
  readonly confirmations: readonly LoggedPart[]
}

export function readExecution(record: Members, { sha256Hex }: Crypto): Execution {
  const id = string(record['businessTransactionId'])
  const payload = members(members(record['authorization'])['payload'])
  return {
    policy: {
      name: string(payload['policyName']),
      version: string(payload['policyVersion']),
      contentHash: string(payload['policyContentHash']),
    },
    authorization: {
      kind: 'authorization',
      id,
      entry: entryOf(authorizationKind, canonicalize(payload), sha256Hex),
    },
    requests: readRequests(record, sha256Hex),
    approvals: readApprovals(record, sha256Hex),
    statedChanges: readStatedChanges(record),
    receipt: readReceipt(record, id),
    confirmations: readConfirmations(record, sha256Hex),
  }
}

/** Each approval once, however often the record has it: the check of the record's approvals decides whether repetition is allowed. */
function readApprovals(record: Members, sha256Hex: Crypto['sha256Hex']): UsedApproval[] {
  const approvals = verifiedSignalsOf(record).flatMap(approvalsOf)
  const payloads = new Map(approvals.map(({ payload = null }) => [canonicalize(payload), members(payload)]))
  return Array.from(payloads, ([text, { approvalId, approverId, keyId, requestHash }]) => ({
    requestHash,
    part: { kind: 'approval', id: string(approvalId), entry: entryOf(approval, text, sha256Hex) },
    keyId: `${string(approverId)}:${string(keyId)}`,
  }))
}

/** Each request once, as in `readApprovals`. */
function readRequests(record: Members, sha256Hex: Crypto['sha256Hex']): LoggedPart[] {
  const requests = verifiedSignalsOf(record).flatMap(({ request }) =>
    request === undefined ? [] : [members(request)],
  )
  const texts = new Map(requests.map((request) => [canonicalize(request), request]))
  return Array.from(texts, ([text, { requestId }]) => ({
    kind: 'approval-request',
    id: string(requestId),
    entry: entryOf(approvalRequest, text, sha256Hex),
  }))
}

function readStatedChanges(record: Members): StatedChange[] {
  return verifiedSignalsOf(record).flatMap(({ groups }) =>
    itemsOf(groups).flatMap((one) => {
      const { group, changeId, standsInFor, standInChangeId } = isMembers(one) ? one : {}
      return [
        { changeId, of: group },
        { changeId: standInChangeId, of: standsInFor },
      ]
    }),
  )
}

/**
 * Reads the verified signals of its decisions that have approvals.
 * @throws Error when a signal does not state its groups in the form of a decision
 */
export function readApprovedSignals(record: Members): ApprovedSignal[] {
  return list(record['executions']).flatMap((execution) => {
    const decision = members(members(execution)['decision'])
    return Object.entries(members(decision['verifiedSignals'])).flatMap(([signal, one]) => {
      const verified = members(one)
      const approverIds = approvalsOf(verified).map(({ payload }) => string(members(payload)['approverId']))
      if (approverIds.length === 0) return []
      const memberships = membershipsOf(verified)
      return [{ signal, evaluatedAt: string(decision['evaluatedAt']), approverIds, memberships }]
    })
  })
}

function verifiedSignalsOf(record: Members): Members[] {
  return list(record['executions']).flatMap((execution) => {
    const decision = members(members(execution)['decision'])
    return Object.values(members(decision['verifiedSignals'])).map((one) => members(one))
  })
}

function readReceipt(record: Members, id: string): Execution['receipt'] {
  const newest = list(record['receipts']).at(-1)
  if (newest === undefined) return undefined
  const { receiptHash, transparency } = members(newest)
  const log = isMembers(transparency) ? transparency['log'] : undefined
  return {
    part: { kind: 'receipt', id, entry: { kind: 'receipt', hash: string(receiptHash) } },
    log: typeof log === 'string' ? log : undefined,
  }
}

function readConfirmations({ confirmations = [] }: Members, sha256Hex: Crypto['sha256Hex']): LoggedPart[] {
  return list(confirmations).map((one) => {
    const confirmation = members(members(one)['confirmation'])
    return {
      kind: 'confirmation',
      id: string(confirmation['confirmationId']),
      entry: entryOf(providerConfirmation, canonicalize(confirmation), sha256Hex),
    }
  })
}

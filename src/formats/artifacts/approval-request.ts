// The checks of an approval request as GET /approval-requests/{id} returns it, and of its close, from their text alone (decisions §7).
import { actionCode } from '../approval-requests/action-code.ts'
import type { Json } from '../json/canonical.ts'
import { canonicalText, check, members, string, type Check, type Crypto } from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { instantMs } from './instant.ts'
import { checkEd25519 } from './signatures.ts'
import { checkNotesOf, NOTE } from './approval-request-note.ts'
import { approvalRequestStatuses } from '../schemas/approval-request-statuses.ts'
import type { ArtifactKind } from './kind.ts'
import * as shape from './known-members.ts'
import {
  actionOf,
  membersAt,
  joined,
  membersText,
  policyText,
  textAt,
  type AccountText,
} from './account-text.ts'

const HASH = /^[0-9a-f]{64}$/
/** The states that a request can have only by its signed close. */
const CLOSED = ['DECLINED', 'WITHDRAWN']

/**
 * Checks an approval request; never throws.
 * @param evidence `{request, requestHash, …, signature}`, with `closed` if it was declined or withdrawn and `notes` if there are any, or
 *   any other JSON
 * @returns at least one check
 */
export function checkApprovalRequest(evidence: Json, given: Crypto): Check[] {
  const asked = isMembers(evidence) ? evidence : {}
  const { request, requestHash, signature, closed, notes } = asked
  const text = isMembers(request) ? canonicalText(request) : undefined
  return [
    check('request hash', 'The requestHash is not that of the request', () => {
      return text !== undefined && given.sha256Hex(text) === requestHash
    }),
    checkEd25519('request signature', 'The signature of the request is not valid', given, {
      artifact: 'approval-request',
      text,
      signature,
    }),
    check('request', 'The request is not one that the service makes', () => isWhole(members(request))),
    check('action code', 'The actionCode is not that of the action', () => {
      return actionCode(codedAction(members(request)), given.sha256Hex) === asked['actionCode']
    }),
    ...(closed === undefined ? [] : checkApprovalRequestClose(closed, given)),
    ...(notes === undefined ? [] : [checkNotesOf(asked, given)]),
    check('standing', 'What it says beside the request is not what was signed', () => isAsSigned(asked)),
  ]
}

/**
 * Checks the close of a request; never throws.
 * @param evidence the member `closed` of a request, or any other JSON
 * @returns at least one check
 */
export function checkApprovalRequestClose(evidence: Json, given: Crypto): Check[] {
  const { signature, ...closed }: Members = isMembers(evidence) ? evidence : {}
  return [
    checkEd25519('close signature', 'The signature of its end is not valid', given, {
      artifact: 'approval-request-close',
      text: canonicalText(closed),
      signature,
    }),
    check('close', 'Its end is not one that a request can have', () => isClose(closed)),
  ]
}

/**
 * Whether these are the members of a request that the service makes.
 * @throws Error when a member is missing or of another type
 */
export function isWhole(request: Members): boolean {
  const { policy, quorum, createdAt, expiresAt, note } = request
  const { name, version, contentHash } = members(policy)
  members(request['parameters'])
  members(request['signals'])
  return (
    ['requestId', 'requestedBy', 'principalId', 'capability', 'target'].every((key) =>
      isText(request[key]),
    ) &&
    isText(name) &&
    isText(version) &&
    HASH.test(string(contentHash)) &&
    typeof quorum === 'number' &&
    Number.isInteger(quorum) &&
    quorum >= 1 &&
    typeof note === 'string' &&
    instantMs(string(createdAt)) < instantMs(string(expiresAt))
  )
}

function isClose({ closeId, requestId, requestHash, status, by, reason, closedAt }: Members): boolean {
  const isReasoned = status === 'DECLINED' ? isText(reason) : status === 'WITHDRAWN' && reason === ''
  return (
    isReasoned &&
    [closeId, requestId, by].every(isText) &&
    HASH.test(string(requestHash)) &&
    !Number.isNaN(instantMs(string(closedAt)))
  )
}

/** A request has a closed state exactly if its close states it, and the close belongs to this request. */
function isAsSigned({ request, requestHash, status, expiresAt, closed }: Members): boolean {
  const { requestId, requestedBy, createdAt, expiresAt: until } = members(request)
  if (string(expiresAt) !== until) return false
  if (closed === undefined) return !CLOSED.includes(string(status))
  const end = members(closed)
  return (
    string(end['status']) === status &&
    string(end['requestId']) === requestId &&
    string(end['requestHash']) === requestHash &&
    (status !== 'WITHDRAWN' || string(end['by']) === requestedBy) &&
    instantMs(string(createdAt)) <= instantMs(string(end['closedAt']))
  )
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== ''
}

/** @throws Error when a member is missing */
function codedAction(request: Members) {
  const { name, version } = members(request['policy'])
  return {
    capability: string(request['capability']),
    target: string(request['target']),
    parameters: members(request['parameters']),
    policy: { name: string(name), version: string(version) },
    principalId: string(request['principalId']),
    requestedBy: string(request['requestedBy']),
  }
}

/** If the status is not a text, the check of the state fails. */
const status = (value: Json) =>
  typeof value !== 'string' || (approvalRequestStatuses as readonly string[]).includes(value)

/** Members that the service adds to the request in its reply: no signature covers them. */
const STANDING: shape.ObjectShape['known'] = {
  status,
  missing: shape.count,
  eligible: shape.texts,
  signals: shape.listOf(
    shape.closed({
      signal: shape.text,
      quorum: shape.count,
      ...shape.all(shape.texts, ['from', 'approvedBy', 'eligible']),
    }),
  ),
  ask: shape.objectOf(
    shape.closed({ ...shape.all(shape.time, ['remindAt', 'escalateAt']), escalateTo: shape.text }),
  ),
  ...shape.all(shape.advice, ['compared', 'usual']),
  approvals: shape.listOf(
    shape.closed({
      ...shape.all(shape.text, ['approvalId', 'approverId', 'keyId', 'reason']),
      approvedAt: shape.time,
    }),
  ),
  notCounted: shape.listOf(
    shape.closed({
      ...shape.all(shape.text, ['approvalId', 'approverId', 'keyId', 'because']),
      ...shape.all(shape.time, ['approvedAt', 'since']),
    }),
  ),
  endedBy: shape.objectOf(shape.closed({ changeId: shape.text }), ['changeId']),
  usedBy: shape.objectOf(shape.closed(shape.all(shape.text, ['businessTransactionId', 'outcome'])), [
    'businessTransactionId',
  ]),
  intervalSeconds: shape.count,
  url: shape.text,
}

/** Notes facts that a reader should know of a request that passes its checks. */
export function notesOnApprovalRequest(asked: Members): string[] {
  const stands = Object.keys(STANDING).filter((name) => Object.hasOwn(asked, name))
  if (stands.length === 0) return []
  return [
    `Nothing signs how it stands (${stands.join(', ')}): the service says so when it is asked. Its end is signed where it was declined or withdrawn.`,
  ]
}

const CLOSE = shape.signed({ signature: shape.SIGNATURE })

function ofRequest(request: Members): AccountText {
  return {
    action: actionOf(
      { ...request, action: request['capability'] ?? '' },
      { ending: 'An approval was asked for', at: textAt(request, 'createdAt') },
    ),
    said: {
      'Asked for': joined(' → ', textAt(request, 'capability'), textAt(request, 'target')),
      'How much': membersText(membersAt(request, 'parameters')),
      'Asked by': textAt(request, 'requestedBy'),
      'On behalf of': textAt(request, 'principalId'),
      'Under policy': policyText(membersAt(request, 'policy')),
      When: textAt(request, 'createdAt'),
    },
  }
}

export const approvalRequest = {
  name: 'approval-request',
  times: ['createdAt'],
  logged: {
    kind: 'approval-request',
    event: 'approval_request.opened',
    // A request is opened only for a policy that governs the action.
    counted: ({ requestedBy, capability, policy }) => ({
      streams: {
        caller: string(requestedBy),
        capability: string(capability),
        policy: string(members(policy)['name']),
      },
    }),
  },
  stored: {
    table: 'approval_requests',
    id: 'requestId',
    at: 'createdAt',
    columns: {
      requestId: 'uuid',
      requestHash: 'text',
      /** The hash of the content without its id and times. */
      askedHash: 'text',
      requestedBy: 'text',
      principalId: 'text',
      quorum: 'integer',
      createdAt: 'timestamptz',
      expiresAt: 'timestamptz',
      status: 'text',
      policyName: 'text',
      policyVersion: 'text',
      noticeAt: 'timestamptz',
      neededSignals: 'text?',
      remindAt: 'timestamptz?',
      escalateAt: 'timestamptz?',
      escalateTo: 'text?',
      /** The earlier of the two times whose notification is still due. */
      askNextAt: 'timestamptz?',
    },
    owner: { column: 'requested_by' },
    audited: ['approval_request.opened'],
  },
  evidence: {
    marks: ['request', 'requestHash', 'signature'],
    idOf: ({ request }) => (isMembers(request) ? request['requestId'] : undefined),
    check: checkApprovalRequest,
    notesOn: notesOnApprovalRequest,
    members: shape.closed({
      ...shape.all(shape.checked, ['request', 'requestHash', 'actionCode', 'expiresAt']),
      ...STANDING,
      closed: CLOSE,
      notes: [NOTE],
      signature: shape.SIGNATURE,
    }),
    title: 'Approval request',
    plainTitle: 'Request for approval',
    account: (evidence) => ofRequest(membersAt(evidence, 'request')),
    notProven: [
      'That anybody approved it: an approval is signed by its approver, and stands in the record of the execution.',
      'That it stands as the members beside the request say: only the request and its end are signed.',
      'That what was asked for was executed, or was not: that is what a record or a refusal says.',
      'That its note and its notes are true: they are what the caller and the approvers wrote.',
      'That its notes are all that were written on it: the service shows them when it is asked, and each has an entry in the log.',
      'That its signals are true: they are what the caller declared.',
    ],
  },
  feed: {
    types: ['approval_request.opened'],
    details: ({ requestHash, createdAt, expiresAt }, { id: requestId, callerId }) => ({
      occurredAt: createdAt!,
      callerId,
      requestId,
      requestHash,
      expiresAt,
    }),
  },
} as const satisfies ArtifactKind

export const approvalRequestClose = {
  name: 'approval-request-close',
  times: ['closedAt'],
  logged: {
    kind: 'approval-request-close',
    mark: (close) => ({ event: close['status'] === 'DECLINED' ? 'approval_request.declined' : 'none' }),
  },
  stored: {
    table: 'approval_request_closes',
    id: 'closeId',
    at: 'closedAt',
    columns: { closeId: 'uuid', requestId: 'uuid', closedAt: 'timestamptz' },
    owner: { column: 'requested_by', of: 'approval_requests', by: 'request_id' },
    audited: ['approval_request.declined', 'approval_request.withdrawn'],
  },
  evidence: {
    marks: ['closeId', 'requestHash', 'signature'],
    idOf: ({ closeId }) => closeId,
    check: checkApprovalRequestClose,
    members: CLOSE,
    title: 'End of an approval request',
    plainTitle: 'End of a request for approval',
    account: (close) => ({
      said: {
        Request: textAt(close, 'requestId'),
        'How it ended': joined(': ', textAt(close, 'status'), textAt(close, 'reason')),
        By: textAt(close, 'by'),
        When: textAt(close, 'closedAt'),
      },
    }),
    notProven: [
      'What was asked for: it names a request by its hash. Verify the request, and compare its requestHash.',
      'That the one who closed it is the human or the caller of that name: their names are what the service knew them by.',
      'That nothing was executed before: a request that was used cannot be closed, and the service says so.',
    ],
  },
  feed: {
    types: ['approval_request.declined'],
    details: ({ requestId, requestHash, by, closedAt }, { id: closeId, callerId }) => ({
      occurredAt: closedAt!,
      callerId,
      requestId,
      requestHash,
      closeId,
      by,
    }),
  },
} as const satisfies ArtifactKind

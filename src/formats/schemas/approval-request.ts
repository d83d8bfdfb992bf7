// Approval requests: a caller asks humans to approve one exact execution (decisions §7).
import { Type } from 'typebox'
import { approvalRequestStatuses } from './approval-request-statuses.ts'
import { AnyKey, Signals } from './business-transaction.ts'
import { Instant, NonEmptyText, Sha256, Text, Uuid } from './primitives.ts'
import { GROUP_NAME } from './policy.ts'
import { Signature } from './signature.ts'

export const NOTE_MAX = 1_000

/** Exactly the members that `requestHash` and the signature of the artifact `approval-request` cover. */
export const ApprovalRequestContent = Type.Object({
  requestId: Uuid,
  requestedBy: Type.String({ pattern: '\\S', description: 'the callerId that asks, and alone may execute' }),
  principalId: NonEmptyText,
  capability: NonEmptyText,
  target: NonEmptyText,
  parameters: Type.Record(AnyKey, Type.Unknown(), { description: 'an object' }),
  signals: Signals,
  policy: Type.Object({ name: NonEmptyText, version: NonEmptyText, contentHash: Sha256 }),
  quorum: Type.Integer({
    minimum: 1,
    description:
      'how many approvals the execution uses up, over all signals that the policy verifies by them',
  }),
  note: Type.String({
    maxLength: NOTE_MAX,
    description: `a text of at most ${NOTE_MAX} characters, '' where none was given`,
  }),
  createdAt: Instant,
  expiresAt: Instant,
})
export type ApprovalRequestContent = Type.Static<typeof ApprovalRequestContent>

/** How many notes a request takes, of all who write on it together. */
export const NOTES_MAX = 20
/** How many of them one caller writes. */
export const NOTES_OF_ONE_MAX = 10

/** Exactly the members that the signature of the artifact `approval-request-note` covers. */
export const ApprovalRequestNote = Type.Object({
  noteId: Uuid,
  requestId: Uuid,
  requestHash: Sha256,
  by: Type.String({ pattern: '\\S', description: 'the callerId that wrote it' }),
  text: Type.String({ pattern: '\\S', maxLength: NOTE_MAX, description: `1 to ${NOTE_MAX} characters` }),
  notedAt: Instant,
})
export type ApprovalRequestNote = Type.Static<typeof ApprovalRequestNote>

/** Exactly the members that the signature of the artifact `approval-request-close` covers. */
export const ApprovalRequestClose = Type.Object({
  closeId: Uuid,
  requestId: Uuid,
  requestHash: Sha256,
  status: Type.Enum(['DECLINED', 'WITHDRAWN']),
  by: Type.String({ pattern: '\\S', description: 'the callerId that closed it' }),
  reason: Type.String({ description: "'' where it was withdrawn" }),
  closedAt: Instant,
})
export type ApprovalRequestClose = Type.Static<typeof ApprovalRequestClose>

export const ApprovalRequest = Type.Object({
  request: ApprovalRequestContent,
  requestHash: Sha256,
  actionCode: Type.String({
    pattern: '^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$',
    description: 'for comparing over another channel, such as `7H2K-Q4ZM-9TRW`',
  }),
  status: Type.Enum([...approvalRequestStatuses], {
    description: 'advice: the execution checks and uses up the approvals in its own commit',
  }),
  missing: Type.Integer({ minimum: 0, description: 'how many approvals are missing' }),
  intervalSeconds: Type.Integer({ minimum: 1, description: 'how long to wait before asking again' }),
  expiresAt: Instant,
  url: Text,
  eligible: Type.Array(NonEmptyText, {
    description:
      'approverIds that could sign and have not; while approvals are missing, those whose approval is one of them. Before its escalation, without those who are only asked then: their approval counts before, too.',
  }),
  ask: Type.Optional(
    Type.Object(
      {
        remindAt: Type.Optional(Instant),
        escalateAt: Type.Optional(Instant),
        escalateTo: Type.Optional(
          Type.String({ pattern: GROUP_NAME, description: 'the group that is asked from `escalateAt` on' }),
        ),
      },
      {
        description:
          'of an open request: when those who are `eligible` are told of it once more, and when a further group is asked, where the policy says so. It changes nothing that counts.',
      },
    ),
  ),
  signals: Type.Optional(
    Type.Array(
      Type.Object({
        signal: NonEmptyText,
        quorum: Type.Integer({ minimum: 1 }),
        from: Type.Optional(
          Type.Array(NonEmptyText, {
            description: 'the groups whose members count; left out: every approver',
          }),
        ),
        approvedBy: Type.Array(NonEmptyText, { description: 'approverIds that stand for it so far' }),
        eligible: Type.Array(NonEmptyText, {
          description:
            'those of `eligible` that count for it, or whose approval lets one that stands for another signal count for it',
        }),
      }),
      {
        description:
          'of an open request: the signals that it needs of those that the policy verifies by approvals, in their order. A person stands for one of them.',
      },
    ),
  ),
  usual: Type.Optional(
    Type.Array(
      Type.Object({
        currency: Type.Union([Text, Type.Null()]),
        count: Type.Integer({ minimum: 1, description: 'how many of them had an amount' }),
        highest: Type.Number({ description: 'the highest of their amounts' }),
      }),
      {
        description:
          'in a list, for humans and auditors, where there is a catalogue: by currency, what was carried out or may have been of the newest 100 executions of the same action on the same target, by anybody',
      },
    ),
  ),
  approvals: Type.Array(
    Type.Object({
      approvalId: NonEmptyText,
      approverId: NonEmptyText,
      keyId: NonEmptyText,
      approvedAt: Instant,
      reason: Type.Optional(Type.String({ description: 'why, where the approver says so' })),
    }),
  ),
  endedBy: Type.Optional(
    Type.Object(
      { changeId: Uuid },
      {
        description: 'where the status is `ENDED`: the change that retired the policy version of the request',
      },
    ),
  ),
  notes: Type.Optional(
    Type.Array(Type.Object({ ...ApprovalRequestNote.properties, signature: Signature }), {
      maxItems: NOTES_MAX,
      description:
        'what its approvers and its requester wrote on it, oldest first; left out where nobody did. A note changes nothing that an approval covers.',
    }),
  ),
  closed: Type.Optional(Type.Object({ ...ApprovalRequestClose.properties, signature: Signature })),
  signature: Signature,
})
export type ApprovalRequest = Type.Static<typeof ApprovalRequest>

export const ApprovalRequestPage = Type.Object({ requests: Type.Array(ApprovalRequest) })

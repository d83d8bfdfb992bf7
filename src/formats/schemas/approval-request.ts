// Approval requests: a caller asks humans to approve one exact execution (decisions §7).
import { Type } from 'typebox'
import { approvalRequestStatuses } from './approval-request-statuses.ts'
import { catalogueStatuses } from './catalogue.ts'
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

/** Maximum number of notes on a request, of all writers together. */
export const NOTES_MAX = 20
/** Maximum number of notes of one caller on a request. */
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

/** The reasons why an approval for a request does not count. */
export const notCountedReasons = ['KEY_REVOKED', 'EXPIRED', 'INITIATOR', 'NOT_IN_GROUP'] as const
export type NotCounted = (typeof notCountedReasons)[number]

const OptionalText = Type.Union([Text, Type.Null()])
const Highest = Type.Union([Type.Number(), Type.Null()], {
  description: 'the highest of their amounts; null: none had one',
})

/** The comparison of a request with others, so that its approvers look twice where it differs. */
export const Compared = Type.Object(
  {
    onTarget: Type.Optional(
      Type.Array(
        Type.Object({
          status: Type.Enum(['completed', 'in_doubt']),
          currency: OptionalText,
          count: Type.Integer({ minimum: 1 }),
          highest: Highest,
          byCaller: Type.Integer({ minimum: 0, description: 'how many of them were by the same caller' }),
        }),
        {
          description:
            'of the newest 100 executions of the same action on the same target, by anybody, and of those in doubt: by outcome and currency. Left out where there is no catalogue, as `byCaller`',
        },
      ),
    ),
    byCaller: Type.Optional(
      Type.Array(
        Type.Object({ currency: OptionalText, count: Type.Integer({ minimum: 1 }), highest: Highest }),
        {
          description:
            'what the same caller completed of the same action, on any target, among its newest 100 executions: by currency',
        },
      ),
    ),
    requests: Type.Object(
      {
        same: Type.Integer({ minimum: 0, description: 'open, with exactly the same parameters' }),
        pending: Type.Integer({ minimum: 0 }),
        approved: Type.Integer({ minimum: 0, description: 'signed, and not used yet' }),
        declined: Type.Integer({ minimum: 0 }),
        declinedBecause: Type.Optional(Type.String({ description: 'the reason of the newest one' })),
      },
      { description: 'other requests for the same action on the same target, by anybody' },
    ),
    elsewhere: Type.Array(
      Type.Object({
        target: NonEmptyText,
        status: Type.Enum(['PENDING', 'APPROVED', 'DECLINED', 'completed', 'in_doubt']),
        requestId: Type.Optional(Uuid),
        businessTransactionId: Type.Optional(Uuid),
        shared: Type.Array(NonEmptyText, {
          description: 'values of the request that it has too, and that few others have',
        }),
      }),
      {
        maxItems: 3,
        description:
          'requests and executions of the same action on other targets with the same numbers and a further value in common, such as the number of an invoice, that few others have',
      },
    ),
  },
  {
    description:
      'of one request, and with `compared=true` in a list of pending ones, for humans and auditors: what it is compared with, as it was when the request was decided on',
  },
)
export type Compared = Type.Static<typeof Compared>

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
  compared: Type.Optional(Compared),
  usual: Type.Optional(
    Type.Array(
      Type.Object({
        currency: Type.Union([Text, Type.Null()]),
        count: Type.Integer({ minimum: 1, description: 'how many of them had an amount' }),
        highest: Type.Number({ description: 'the highest of their amounts' }),
      }),
      {
        description:
          'the amounts of `compared.onTarget` by currency, whether or not they are in doubt; `compared` says more',
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
  notCounted: Type.Optional(
    Type.Array(
      Type.Object({
        approvalId: NonEmptyText,
        approverId: NonEmptyText,
        keyId: NonEmptyText,
        approvedAt: Instant,
        because: Type.Enum([...notCountedReasons], {
          description:
            'its key was revoked; it expired; its approver is behind the request; or its approver is in no group whose approval is asked for',
        }),
        since: Type.Optional(Instant),
      }),
      {
        description:
          'approvals that were given for it and count no more, or never did, each with the reason; left out where there are none',
      },
    ),
  ),
  endedBy: Type.Optional(
    Type.Object(
      { changeId: Uuid },
      {
        description: 'where the status is `ENDED`: the change that retired the policy version of the request',
      },
    ),
  ),
  usedBy: Type.Optional(
    Type.Object(
      {
        businessTransactionId: Uuid,
        outcome: Type.Optional(
          Type.Enum([...catalogueStatuses], {
            description:
              'as the catalogue has it; left out while it is not known there, or without a catalogue',
          }),
        ),
      },
      {
        description:
          'where the status is `USED`: the execution that used its approvals up, and what came of it',
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

// Maker/checker changes and the step-up that resolves a change (decisions §7).
import { Type, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { humanSignature } from './approval.ts'
import { AnyKey } from './business-transaction.ts'
import { ImpactReport } from './impact-report.ts'
import { resolutions } from './intent-states.ts'
import { closed, Instant, NonEmptyText, Sha256, Timestamp, Uuid } from './primitives.ts'
import { Signature } from './signature.ts'

export const changeKinds = [
  'policy',
  'approver',
  'external-connector',
  'webhook-rules',
  'event-endpoint',
  'caller-key',
  'approver-group',
  'stand-in',
] as const
export type ChangeKindName = (typeof changeKinds)[number]

export const changeStatuses = ['PENDING_APPROVAL', 'APPROVED', 'REJECTED'] as const
export type ChangeStatus = (typeof changeStatuses)[number]

/** The nonce and times of every step-up, which is valid once and for a limited time. */
const once = {
  version: Type.Literal(1),
  nonce: Type.String({
    pattern: '^[\\x20-\\x7e]{16,128}$',
    description: '16 to 128 printable characters, used once',
  }),
  authorizedAt: Timestamp,
  expiresAt: Timestamp,
}

/** Exact members: a human would sign an unread member and think that it counts. */
function stepUpOf<Payload extends TSchema>(payload: Payload) {
  return Type.Object(
    {
      payload,
      keyId: Type.String({ pattern: '^[\\x20-\\x7e]{1,200}$', description: 'informative' }),
      ...humanSignature,
    },
    {
      additionalProperties: false,
      description:
        'At most 120 s long, signed as `step-up` by the private half of the caller’s `stepUpPublicKey`, or by the passkey `stepUpPasskey`.',
    },
  )
}

export const StepUpAuthorization = stepUpOf(
  closed({
    ...once,
    changeId: Uuid,
    action: Type.Enum(['approve', 'reject'], { description: 'one of approve, reject' }),
    changeHash: Sha256,
    impactHash: Type.Optional(Sha256),
  }),
)
export type StepUpAuthorization = Type.Static<typeof StepUpAuthorization>

/** Signs a human's act on an event endpoint, exactly as in the body. */
export const EndpointStepUp = stepUpOf(
  closed({
    ...once,
    endpointId: Uuid,
    action: Type.Enum(['redeliver', 'secret'], { description: 'one of redeliver, secret' }),
    after: Type.Optional(Type.String({ description: 'for a redelivery: the same as in the body' })),
  }),
)
export type EndpointStepUp = Type.Static<typeof EndpointStepUp>

/** Signs how an execution in doubt ended, exactly as in the body, for the action whose hash the human was shown. */
export const ResolutionStepUp = stepUpOf(
  closed({
    ...once,
    businessTransactionId: Uuid,
    businessTransactionHash: Sha256,
    action: Type.Literal('resolve'),
    resolution: Type.Enum([...resolutions], { description: 'the same as in the body' }),
    note: Type.String({ minLength: 1, maxLength: 1000, description: 'the same as in the body' }),
  }),
)
export type ResolutionStepUp = Type.Static<typeof ResolutionStepUp>

/** Signs a human's proposal; the hash covers every member that a checker is shown. */
export const ProposalStepUp = stepUpOf(
  closed({
    ...once,
    action: Type.Literal('propose'),
    kind: Type.Enum([...changeKinds], { description: 'the kind of the change' }),
    target: NonEmptyText,
    proposalHash: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description:
        'SHA-256 of the canonical JSON of `{kind, target, proposed, reason}`, as the change will have them',
    }),
  }),
)
export type ProposalStepUp = Type.Static<typeof ProposalStepUp>

export const isProposalStepUp = guardOf(ProposalStepUp)
export const isResolutionStepUp = guardOf(ResolutionStepUp)
export const isStepUpAuthorization = guardOf(StepUpAuthorization)
export const isEndpointStepUp = guardOf(EndpointStepUp)

function guardOf<Shape extends TSchema>(shape: Shape): (value: unknown) => value is Type.Static<Shape> {
  const compiled = Compile(shape)
  return (value): value is Type.Static<Shape> => compiled.Check(value)
}

/** The reason that a human writes for the humans who follow. */
export const Reason = Type.String({
  minLength: 1,
  maxLength: 1000,
  pattern: '\\S',
  description: 'a text of 1 to 1000 characters',
})

/** The members of an item that a change has put into effect. */
export const approvedMembers = {
  approvedBy: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'a callerId, or `genesis` for versions loaded at the very first start',
    }),
  ),
  approvedAt: Type.Optional(Instant),
  approvedByChange: Type.Optional(Uuid),
}

const Members = Type.Record(AnyKey, Type.Unknown())

export const Change = Type.Object({
  changeId: Uuid,
  kind: Type.Enum([...changeKinds]),
  target: Type.String({
    description:
      '`<name>/<version>`, `<approverId>:<keyId>`, `<callerId>:<keyId>`, a capability, a provider, a URL, a group or `<for>/<from>` of a stand-in',
  }),
  proposed: Members,
  reason: Reason,
  proposedBy: NonEmptyText,
  proposedAt: Instant,
  changeHash: Sha256,
  status: Type.Enum([...changeStatuses]),
  resolvedBy: Type.Optional(NonEmptyText),
  resolvedAt: Type.Optional(Instant),
  rejectionReason: Type.Optional(Reason),
  stepUpAuthorization: Type.Optional(StepUpAuthorization),
  impactReport: Type.Optional(ImpactReport),
  warnings: Type.Array(NonEmptyText, {
    description:
      'advice, not signed: of now where an open change is read by its id, else of when it was proposed',
  }),
  diff: Type.Optional(Members),
  signature: Signature,
})
export type Change = Type.Static<typeof Change>

export const ChangePage = Type.Object({ changes: Type.Array(Change) })

/** Only a change of a policy has a report; its SHA-256 is the `impactHash` of the step-up. */
const impact = { impactReport: Type.Optional(ImpactReport) }
export const ChangeApproval = closed({ stepUpAuthorization: StepUpAuthorization, ...impact })
export const ChangeRejection = closed({
  rejectionReason: Reason,
  stepUpAuthorization: StepUpAuthorization,
  ...impact,
})

/** As they are read: a missing or malformed step-up is a failed step-up, not a mistake of the body. */
const stepUpRead = { stepUpAuthorization: Type.Optional(Type.Unknown()), ...impact }
export const ChangeApprovalRead = closed(stepUpRead)
export const ChangeRejectionRead = closed({ rejectionReason: Reason, ...stepUpRead })

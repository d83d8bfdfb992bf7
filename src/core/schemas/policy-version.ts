// Policy versions as GET /policies and its neighbours show them (decisions §7).
import { Type } from 'typebox'
import { closed } from './approval.ts'
import { AnyKey } from './business-transaction.ts'
import { Reason } from './governance.ts'
import { Instant, NonEmptyText, Sha256, Uuid } from './primitives.ts'
import { PolicyDocument, SignalVerifier } from './policy.ts'

const summary = {
  name: NonEmptyText,
  version: NonEmptyText,
  status: Type.Enum(['APPROVED', 'LOADED'], { description: 'what is only loaded rejects' }),
  contentHash: Sha256,
  approvedBy: Type.Optional(
    Type.String({ minLength: 1, description: 'a callerId, or `genesis` for those of the very first start' }),
  ),
  approvedAt: Type.Optional(Instant),
  approvedByChange: Type.Optional(Uuid),
  description: NonEmptyText,
  capabilities: Type.Array(NonEmptyText),
}

export const PolicySummary = Type.Object(summary)

export const PolicyPage = Type.Object({ policies: Type.Array(PolicySummary) })

const SignalToSend = Type.Object({
  signal: NonEmptyText,
  type: Type.Enum(['boolean', 'number']),
  mustEqual: Type.Optional(
    Type.String({ minLength: 1, description: 'the place in the intent that holds the same value' }),
  ),
  verified: Type.Optional(SignalVerifier),
})

export const PolicyDetail = Type.Object({
  ...summary,
  toSend: Type.Array(SignalToSend, { description: 'what a caller declares in `signals`' }),
  document: PolicyDocument,
})

export const PolicyProposal = closed({ reason: Reason, proposedContent: Type.Optional(PolicyDocument) })

/** As it is read: the document's own check names every mistake in it, this one would name the first. */
export const PolicyProposalRead = closed({
  reason: Reason,
  proposedContent: Type.Optional(Type.Record(AnyKey, Type.Unknown(), { description: 'a policy document' })),
})

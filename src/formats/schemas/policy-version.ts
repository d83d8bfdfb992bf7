// Policy versions as GET /policies and related routes return them (decisions §7).
import { Type } from 'typebox'
import { AnyKey } from './business-transaction.ts'
import { approvedMembers, ProposalStepUp, Reason } from './governance.ts'
import { closed, Instant, NonEmptyText, Sha256, Uuid } from './primitives.ts'
import { PolicyDocument, PolicyVersionText, SignalVerifier } from './policy.ts'

/** A version is only loaded, approved by humans, or retired by them (decisions §6, §12). */
export const policyStandings = ['APPROVED', 'LOADED', 'RETIRED'] as const
export type PolicyStanding = (typeof policyStandings)[number]

const summary = {
  name: NonEmptyText,
  version: NonEmptyText,
  status: Type.Enum([...policyStandings], {
    description: 'versions that are LOADED or RETIRED reject every execution',
  }),
  contentHash: Sha256,
  ...approvedMembers,
  retiredBy: Type.Optional(NonEmptyText),
  retiredAt: Type.Optional(Instant),
  retiredByChange: Type.Optional(Uuid),
  replacedBy: Type.Optional(
    Type.String({ minLength: 1, description: 'the version that was approved by the change that retired it' }),
  ),
  replaces: Type.Optional(
    Type.Array(NonEmptyText, { description: 'retired versions in whose place it is in effect' }),
  ),
  description: NonEmptyText,
  capabilities: Type.Array(NonEmptyText),
}

export const PolicySummary = Type.Object(summary)
export type PolicySummary = Type.Static<typeof PolicySummary>

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
  toSend: Type.Array(SignalToSend, {
    description:
      'the signals that a caller declares; signals marked `verified` may be left out, and the service fills them in',
  }),
  document: PolicyDocument,
})
export type PolicyDetail = Type.Static<typeof PolicyDetail>

const proposal = {
  action: Type.Optional(
    Type.Literal('retire', {
      description: 'retire: ends the version of the path; left out: proposes it',
    }),
  ),
  reason: Reason,
  retires: Type.Optional(
    Type.Array(PolicyVersionText, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'approved versions of the same policy that end when this one is approved',
    }),
  ),
}

export const PolicyProposal = closed({
  ...proposal,
  proposedContent: Type.Optional(PolicyDocument),
  stepUpAuthorization: Type.Optional(ProposalStepUp),
})

/**
 * As it is read: the document's own check reports every mistake in it, this schema would report only the first. A malformed step-up is a failed
 * step-up.
 */
export const PolicyProposalRead = closed({
  ...proposal,
  proposedContent: Type.Optional(Type.Record(AnyKey, Type.Unknown(), { description: 'a policy document' })),
  stepUpAuthorization: Type.Optional(Type.Unknown()),
})

// Decision (interface §2.2, decisions §4): the result of the policy, with its rule trace.
import { Type } from 'typebox'
import { ApprovalRequestContent } from './approval-request.ts'
import { AnyKey, PolicyReference, Signals, SignalValue } from './business-transaction.ts'
import { Instant, NonEmptyText, Sha256, Text, Uuid } from './primitives.ts'

const VerifiedSignal = Type.Object({
  value: SignalValue,
  by: NonEmptyText,
  approvals: Type.Optional(
    Type.Array(Type.Record(AnyKey, Type.Unknown()), { description: 'by approval: the SignedApprovals' }),
  ),
  groups: Type.Optional(
    Type.Array(
      Type.Object({
        group: NonEmptyText,
        changeId: Uuid,
        standsInFor: Type.Optional(
          Type.String({
            description: 'the member in whose place the approver counts, where it is a stand-in',
          }),
        ),
        standInChangeId: Type.Optional(Uuid),
      }),
      {
        description:
          'by approval, where the policy names groups: for each approval, in their order, the group by which its approver counts, and the change that set that group as it was then',
      },
    ),
  ),
  notCounted: Type.Optional(
    Type.Array(Text, {
      description:
        'by approval: the approverIds of the persons behind the execution (its caller and its principal), sorted; approvals by them do not count. Absent in evidence that is older than this member',
    }),
  ),
  request: Type.Optional(
    Type.Object(ApprovalRequestContent.properties, {
      description: 'by approval: the approval request that approvals of version 2 and 3 are for',
    }),
  ),
  authorization: Type.Optional(
    Type.Record(AnyKey, Type.Unknown(), {
      description: 'by crm-deal: the execution authorization of the read',
    }),
  ),
  observedAt: Type.Optional(Instant),
})

export const Decision = Type.Object({
  decisionId: Uuid,
  intentId: Uuid,
  policy: PolicyReference,
  policyContentHash: Sha256,
  signals: Signals,
  outcome: Type.Enum(['APPROVED', 'REJECTED']),
  reason: Text,
  matchedRuleId: Type.Union([NonEmptyText, Type.Null()], {
    description: 'a rule id, or null where no rule decided',
  }),
  evaluatedRules: Type.Array(NonEmptyText, {
    description: 'an array of rule ids in order, the one that decided last',
  }),
  verifiedSignals: Type.Record(AnyKey, VerifiedSignal),
  evaluatedAt: Instant,
})

// What the sandbox takes and answers (decisions §9).
import { Type } from 'typebox'
import { PolicyDocument } from './policy.ts'
import { Instant, NonEmptyText, Sha256, Text, Timestamp, Uuid } from './primitives.ts'
import { Mismatch } from './refusal-record.ts'

const Finding = Type.Object({
  path: Type.String({ description: 'where; empty for the last of more than there is room for' }),
  message: NonEmptyText,
})

const MatchedRule = Type.Union([NonEmptyText, Type.Null()], { description: 'null where no rule decided' })

const TracedRule = Type.Object({
  id: NonEmptyText,
  outcome: Type.Enum(['approve', 'reject']),
  matched: Type.Union([Type.Boolean(), Type.Null()], { description: 'null where it could not be evaluated' }),
  error: Type.Optional(NonEmptyText),
  column: Type.Optional(
    Type.Integer({ minimum: 1, description: "of the error, in the rule's `when`, from 1" }),
  ),
})

const PendingVerification = Type.Object({
  signal: NonEmptyText,
  by: Type.Enum(['approval', 'crm-deal', 'history']),
  declared: Type.Union([Type.Boolean(), Type.Number()]),
  quorum: Type.Optional(Type.Integer()),
  property: Type.Optional(NonEmptyText),
  window: Type.Optional(NonEmptyText),
  sum: Type.Optional(NonEmptyText),
})

const SandboxDecision = Type.Object({
  outcome: Type.Enum(['APPROVED', 'REJECTED', 'DENIED'], {
    description: 'DENIED: a declared signal is not what it must equal',
  }),
  reason: Text,
  policyContentHash: Sha256,
  matchedRuleId: MatchedRule,
  evaluatedRules: Type.Array(NonEmptyText, { description: 'ids in order, the one that decided last' }),
  rules: Type.Array(TracedRule, { description: 'every rule by itself, in order' }),
  mismatches: Type.Array(Mismatch),
  pendingVerification: Type.Array(PendingVerification, {
    description: 'state that an execution would verify before the approval holds',
  }),
})

export const SandboxEvaluation = Type.Object({
  valid: Type.Boolean({ description: 'no problems; the decision may still be a rejection' }),
  problems: Type.Array(Finding, { description: 'what keeps it from being executed' }),
  warnings: Type.Array(Finding, { description: 'what is allowed but decides nothing' }),
  decision: Type.Union([SandboxDecision, Type.Null()], {
    description: 'null where the policy is unknown, or action or signals cannot be read',
  }),
  connector: Type.Object({ registered: Type.Boolean(), connectorId: Type.Optional(NonEmptyText) }),
  wouldAnswer: Type.Object({
    status: Type.Integer(),
    error: Type.Optional(NonEmptyText),
    code: Type.Optional(NonEmptyText),
  }),
})

export const SimulationRequest = Type.Object(
  {
    policy: PolicyDocument,
    since: Type.Optional(Timestamp),
    until: Type.Optional(Timestamp),
    cursor: Type.Optional(Type.String({ description: 'the `next` of the answer before' })),
  },
  { additionalProperties: false },
)

const Outcome = Type.Enum(['APPROVED', 'REJECTED'])

const Flip = Type.Object({
  businessTransactionId: Uuid,
  createdAt: Instant,
  was: Type.Object({ outcome: Outcome, reason: Type.Optional(Text) }),
  wouldBe: Type.Object({
    outcome: Outcome,
    reason: Text,
    matchedRuleId: MatchedRule,
    unverified: Type.Optional(
      Type.Array(NonEmptyText, { description: 'signals taken as declared: nothing verified them then' }),
    ),
  }),
})

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const PolicySimulation = Type.Object({
  complete: Type.Boolean({ description: 'the whole range has been looked at' }),
  progress: Type.Object({
    examined: count('transactions of this chunk, of any policy'),
    decided: count('those of them that were decided under this policy'),
    until: Instant,
    share: Type.Number({ minimum: 0, maximum: 1, description: "of the range's time" }),
  }),
  flips: Type.Array(Flip, { description: 'newest first' }),
  unchanged: count('decided as they were'),
  skipped: count('under this policy, but never decided: an unknown version, or no connector'),
  next: Type.Optional(Type.String({ description: 'send it as `cursor` for the next chunk' })),
})

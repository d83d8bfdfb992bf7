// The bodies and answers of the sandbox (decisions §9).
import { Type } from 'typebox'
import { AnyKey } from './business-transaction.ts'
import { PolicyDocument, PolicyVersionText } from './policy.ts'
import { closed, Instant, NonEmptyText, Sha256, Text, Timestamp, Uuid } from './primitives.ts'
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
    Type.Integer({ minimum: 1, description: "column of the error in the rule's `when`, from 1" }),
  ),
})

const PendingVerification = Type.Object({
  signal: NonEmptyText,
  by: Type.Enum(['approval', 'crm-deal', 'history']),
  declared: Type.Union([Type.Boolean(), Type.Number()]),
  quorum: Type.Optional(Type.Integer()),
  from: Type.Optional(Type.Array(NonEmptyText)),
  property: Type.Optional(NonEmptyText),
  window: Type.Optional(NonEmptyText),
  sum: Type.Optional(NonEmptyText),
  per: Type.Optional(Type.Array(NonEmptyText)),
  where: Type.Optional(NonEmptyText),
})

const PresentSignal = Type.Object({
  value: Type.Union([Type.Boolean(), Type.Number(), Type.Null()], {
    description: 'a boolean, a number or null',
  }),
  by: Type.Enum(['approval', 'history']),
})

const SandboxDecision = Type.Object({
  outcome: Type.Enum(['APPROVED', 'REJECTED', 'DENIED', 'UNDECIDED'], {
    description:
      'DENIED: a declared signal is not what it must equal; UNDECIDED: a rule reads a signal that was left out, and only an execution reads its state',
  }),
  reason: Text,
  policyContentHash: Sha256,
  matchedRuleId: MatchedRule,
  evaluatedRules: Type.Array(NonEmptyText, { description: 'ids in order, the one that decided last' }),
  rules: Type.Array(TracedRule, { description: 'the result of each rule alone, in order' }),
  mismatches: Type.Array(Mismatch),
  pendingVerification: Type.Array(PendingVerification, {
    description: 'state that an execution would verify before the approval holds',
  }),
  presentState: Type.Record(AnyKey, PresentSignal, {
    description:
      'current values of the signals that the policy verifies from the service itself (history, approvals); signals that were left out take these values',
  }),
})

export const ApprovalRequestJudgement = Type.Object({
  requestId: Uuid,
  evaluatedAt: Instant,
  decision: Type.Union([SandboxDecision, Type.Null()], {
    description:
      'the decision that the requester would get now with the approvals that the request asks for; null where this instance does not have the policy version',
  }),
})

const WouldAnswer = Type.Object({
  status: Type.Integer(),
  error: Type.Optional(NonEmptyText),
  code: Type.Optional(NonEmptyText),
})

export const SandboxEvaluation = Type.Object({
  valid: Type.Boolean({ description: 'no problems; the decision may still be a rejection' }),
  problems: Type.Array(Finding, { description: 'problems that prevent the execution' }),
  warnings: Type.Array(Finding, {
    description: 'members that are allowed but have no effect on the decision',
  }),
  decision: Type.Union([SandboxDecision, Type.Null()], {
    description: 'null where the policy is unknown, or action or signals cannot be read',
  }),
  connector: Type.Object({ registered: Type.Boolean(), connectorId: Type.Optional(NonEmptyText) }),
  wouldAnswer: WouldAnswer,
})

const range = {
  since: Type.Optional(Timestamp),
  until: Type.Optional(Timestamp),
  cursor: Type.Optional(Type.String({ description: 'the `next` of the answer before' })),
}

const Retires = Type.Array(PolicyVersionText, {
  minItems: 1,
  maxItems: 100,
  description: 'versions of the policy that would end',
})

/** Much more than a person reads, and less than the default limit of a proposal (MAX_BODY_BYTES). */
const POLICY_TEXT_MAX = 65_536
const yamlText = (description: string) =>
  Type.String({ minLength: 1, maxLength: POLICY_TEXT_MAX, description })

export const PolicyCheckRequest = closed({
  policy: yamlText('a policy as YAML text of 1 to 65536 characters'),
  cases: Type.Optional(
    yamlText('its cases, as `policy test` takes them: YAML text of 1 to 65536 characters'),
  ),
  retires: Type.Optional(Retires),
})

export const PolicyCheck = Type.Object({
  mistakes: Type.Array(
    Type.Object({
      line: Type.Optional(Type.Integer({ minimum: 1 })),
      column: Type.Optional(Type.Integer({ minimum: 1 })),
      rule: Type.Optional(NonEmptyText),
      part: Type.Optional(NonEmptyText),
      message: NonEmptyText,
    }),
    { description: 'empty: the policy can be proposed, as far as its text says' },
  ),
  warnings: Type.Array(NonEmptyText, { description: 'those that its change would have' }),
  contentHash: Type.Optional(Sha256),
  document: Type.Optional(PolicyDocument),
  cases: Type.Optional(
    Type.Object({
      count: Type.Integer({ minimum: 0 }),
      failures: Type.Array(NonEmptyText, {
        description: 'a line for each case that does not end as it says',
      }),
      undecided: Type.Array(NonEmptyText, { description: 'ids of rules that decide no case' }),
    }),
  ),
  wouldAnswer: Type.Optional(WouldAnswer),
  openChange: Type.Optional(
    Type.String({ minLength: 1, description: 'the changeId of a change of this version that is open' }),
  ),
})
export type PolicyCheck = Type.Static<typeof PolicyCheck>

/** A document and optionally versions that end with it; or only such versions. */
export const SimulationRequest = Type.Union([
  closed({ policy: PolicyDocument, retires: Type.Optional(Retires), ...range }),
  closed({ policyId: NonEmptyText, retires: Retires, ...range }),
])

const Outcome = Type.Enum(['APPROVED', 'REJECTED'])

/** An execution for people, as a list shows it: none of it is in a report. */
const shown = {
  summary: Type.Optional(
    Type.String({ description: 'what was to be done, in the words of the policy where it has some' }),
  ),
  amount: Type.Optional(Type.Number({ description: 'the sum of money' })),
  currency: Type.Optional(Text),
}

const flipped = {
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
    needs: Type.Optional(
      Type.Array(NonEmptyText, {
        description:
          'approvals that nobody was asked for then, and with which it would be approved: as it was sent, it would wait for them',
      }),
    ),
  }),
}

/** As in an impact report. */
export const Flip = Type.Object(flipped)
const ShownFlip = Type.Object({ ...flipped, ...shown })

const refused = { businessTransactionId: Uuid, createdAt: Instant, version: NonEmptyText }

/** As in an impact report. */
export const RefusedByRetirement = Type.Object(refused)

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const PolicySimulation = Type.Object({
  complete: Type.Boolean({ description: 'the whole range has been looked at' }),
  progress: Type.Object({
    examined: count('transactions of this chunk, of any policy'),
    decided: count('those of them that were decided under this policy'),
    until: Instant,
    share: Type.Number({ minimum: 0, maximum: 1, description: "of the range's time" }),
  }),
  flips: Type.Array(ShownFlip, { description: 'newest first' }),
  retired: Type.Optional(
    Type.Array(Type.Object({ ...refused, ...shown }), {
      description:
        'with `retires`: executions that were approved under a version to retire and would have been refused as they were sent; newest first',
    }),
  ),
  unchanged: count(
    'decided as they were; without a document, those that the end of versions would not have refused',
  ),
  skipped: count('under this policy, but never decided: an unknown version, or no connector'),
  unknown: Type.Optional(
    count(
      'decided then, and by the document only with a value of then that nothing says, such as a sum of the past; left out by earlier releases',
    ),
  ),
  unknownSignals: Type.Optional(
    Type.Array(NonEmptyText, {
      description: 'the signals with such a value, sorted; left out where there are none',
    }),
  ),
  range: Type.Object(
    { since: Instant, until: Instant },
    {
      description: 'the range of all chunks, `until` excluded; `since` is not before the oldest transaction',
    },
  ),
  next: Type.Optional(Type.String({ description: 'send it as `cursor` for the next chunk' })),
})

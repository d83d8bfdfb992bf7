// Refusal Record (decisions §4) and the answer of POST /refusal/verify about one (decisions §9).
import { Type } from 'typebox'
import { CheckOutcome } from './check-outcome.ts'
import { Intent } from './business-transaction.ts'
import { Decision } from './decision.ts'
import { Instant, NonEmptyText, Sha256, Uuid } from './primitives.ts'
import { Signature } from './signature.ts'

const Scalar = Type.Union([Type.Boolean(), Type.Number(), Type.String(), Type.Null()], {
  description: 'a boolean, a number, a string or null',
})

export const Mismatch = Type.Object({
  signal: NonEmptyText,
  declared: Scalar,
  verified: Scalar,
  source: Type.String({ description: 'the path in the intent, or the state verifier' }),
})

export const RefusalRecord = Type.Object({
  refusalRecordId: Uuid,
  businessTransactionId: Uuid,
  decision: Decision,
  evaluatedIntent: Intent,
  mismatches: Type.Array(Mismatch),
  approvable: Type.Optional(
    Type.Literal(true, {
      description:
        'With approvals that were missing, the same transaction would have been approved: `POST /approval-requests` asks for them. Absent otherwise, and in refusals before release 0.2.0.',
    }),
  ),
  submittedBy: NonEmptyText,
  createdAt: Instant,
  refusalRecordHash: Sha256,
  signature: Signature,
})
export type RefusalRecord = Type.Static<typeof RefusalRecord>

export const RefusalPage = Type.Object({ refusals: Type.Array(RefusalRecord) })

export const RefusalVerification = Type.Object({ valid: Type.Boolean(), checks: Type.Array(CheckOutcome) })

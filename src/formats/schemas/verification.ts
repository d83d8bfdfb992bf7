// Verification (interface §2.3).
import { Type } from 'typebox'
import { Instant, Sha256, Text, Uuid } from './primitives.ts'

export const Verification = Type.Object({
  verificationId: Uuid,
  businessTransactionId: Uuid,
  status: Type.Enum(['VERIFIED', 'FAILED']),
  message: Text,
  verifiedAt: Instant,
  trustRecordHash: Sha256,
})

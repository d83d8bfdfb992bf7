// Receipt (interface §2.4, decisions §4 "Receipt").
import { Type } from 'typebox'
import { Base64, Instant, NonEmptyText, Sha256, Uuid } from './primitives.ts'
import { Algorithm, hybridMembers } from './signature.ts'

export const Receipt = Type.Object({
  receiptId: Uuid,
  businessTransactionId: Uuid,
  verificationId: Uuid,
  trustRecordHash: Sha256,
  receiptHash: Sha256,
  issuedAt: Instant,
  algorithm: Algorithm,
  keyId: NonEmptyText,
  signature: Base64,
  ...hybridMembers,
})

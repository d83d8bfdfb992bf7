// Receipt (interface §2.4, decisions §4 "Receipt").
import { Type } from 'typebox'
import { Base64, Instant, NonEmptyText, Sha256, Uuid } from './primitives.ts'
import { Algorithm, hybridMembers } from './signature.ts'

/** If the service has an evidence log: the log that will contain the receipt, and the deadline (decisions §12). It is signed, too. */
const Promised = Type.Object({
  log: Type.String({ pattern: '\\S', description: 'the origin of the log: `<name>/log/<number>`' }),
  by: Instant,
})

export const Receipt = Type.Object({
  receiptId: Uuid,
  businessTransactionId: Uuid,
  verificationId: Uuid,
  trustRecordHash: Sha256,
  receiptHash: Sha256,
  issuedAt: Instant,
  algorithm: Algorithm,
  keyId: NonEmptyText,
  transparency: Type.Optional(Promised),
  signature: Base64,
  ...hybridMembers,
})

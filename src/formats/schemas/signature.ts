// Signatures in artifacts (decisions §4 "Signature", §12).
import { Type } from 'typebox'
import { Base64, Instant, NonEmptyText } from './primitives.ts'

/** A further algorithm needs a name here, a file in src/core/signing/ and a row of its `keys.ts`. */
export const algorithms = ['ed25519', 'ml-dsa-65'] as const
export type Algorithm = (typeof algorithms)[number]
export const Algorithm = Type.Enum([...algorithms], { description: 'one of ed25519, ml-dsa-65' })

/** The position of an artifact in a batch that was signed together. */
export const BatchPosition = Type.Object({
  origin: Type.String({ description: 'the first line of the signed head: `<name>/batch/<uuid>`' }),
  size: Type.Integer({ minimum: 2, description: 'how many artifacts the batch has' }),
  index: Type.Integer({ minimum: 0 }),
  path: Type.Array(Base64, { minItems: 1, description: 'hashes from the leaf up (RFC 9162 §2.1.3)' }),
})

const batch = Type.Optional(BatchPosition)

/** With these algorithms `value` signs the head of the batch that `batch` names. */
export const BatchAlgorithm = Type.Enum(
  algorithms.map((name) => `${name}-batch` as const),
  { description: 'one of ed25519-batch, ml-dsa-65-batch' },
)

/** One signature of a hybrid. */
export const CarriedSignature = Type.Object({
  algorithm: Type.Union([Algorithm, BatchAlgorithm]),
  keyId: NonEmptyText,
  value: Base64,
  batch,
})

/** The signature of a record, a refusal or an event; only records are signed by batch. `signedAt` is informative: it is not signed. */
export const Signature = Type.Object({ ...CarriedSignature.properties, signedAt: Instant })

/** The signature members beside the payload of an execution authorization: always by an Ed25519 key. */
export const authorizationMembers = {
  keyId: NonEmptyText,
  algorithm: Type.Enum(['ed25519', 'ed25519-batch']),
  signature: Base64,
  batch,
}

/** The members that a hybrid adds, so that the removal of a signature is noticed (decisions §4 "Receipt"). */
export const hybridMembers = {
  requiredAlgorithms: Type.Optional(Type.Array(Algorithm, { minItems: 2 })),
  signatures: Type.Optional(Type.Array(CarriedSignature, { minItems: 2 })),
}

// Signatures as artifacts carry them (decisions §4 "Signature").
import { Type } from 'typebox'
import { algorithms } from '../signing/keys.ts'
import { Base64, Instant, NonEmptyText } from './primitives.ts'

export const Algorithm = Type.Enum([...algorithms], { description: 'one of ed25519, ml-dsa-65' })

/** One of a hybrid's. */
export const CarriedSignature = Type.Object({ algorithm: Algorithm, keyId: NonEmptyText, value: Base64 })

/** Beside a record, a refusal or an event. `signedAt` is informative: the signature does not cover it. */
export const Signature = Type.Object({ ...CarriedSignature.properties, signedAt: Instant })

/** What a hybrid adds, so that a stripped signature is missed (decisions §4 "Receipt"). */
export const hybridMembers = {
  requiredAlgorithms: Type.Optional(Type.Array(Algorithm, { minItems: 2 })),
  signatures: Type.Optional(Type.Array(CarriedSignature, { minItems: 2 })),
}

// Seventh step: recomputes from the record's text what the record claims, as anyone who reads it later would (decisions §4).
import type { PublicKey } from '../../src/core/signing/keys.ts'
import {
  isSameVerification,
  type Signature,
  type VerifiedSignature,
} from '../../src/core/signing/signature.ts'
import { verifySealed, type Verification } from '../../src/core/verification.ts'
import type { Crypto } from '../../src/core/verifier/trust-record.ts'
import type { SealedExecution } from './seal.ts'

export interface VerifiedExecution extends SealedExecution {
  readonly verification: Verification
}

/**
 * Starts from the bytes that will be stored. The one thing it takes from an earlier step is that the gate has verified the
 * authorization's signature, and only where the record holds the same bytes, signature and key.
 */
export function verify(
  execution: SealedExecution,
  tools: { readonly crypto: Crypto; readonly findKey: (keyId: string) => PublicKey | undefined },
): VerifiedExecution {
  const { businessTransactionId } = execution.transaction
  const crypto = withVerified(execution.verifiedSignature, tools)
  return { ...execution, verification: verifySealed(execution.record, businessTransactionId, crypto) }
}

function withVerified(
  verified: VerifiedSignature | undefined,
  { crypto, findKey }: Parameters<typeof verify>[1],
): Crypto {
  if (verified === undefined) return crypto
  return {
    ...crypto,
    verifySignature(artifact, text, carried) {
      const publicKey = findKey(carried.keyId)
      const signature = carried as Signature
      const known =
        publicKey !== undefined &&
        isSameVerification(verified, { artifact, canonicalText: text, signature, publicKey })
      return known || crypto.verifySignature(artifact, text, carried)
    },
  }
}

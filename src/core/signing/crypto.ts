// The cryptography of the checks (src/formats/verifier) in the service: libsodium and OpenSSL, with every published key.
import type { CheckCrypto, SignedArtifact } from '../../formats/artifacts/evidence.ts'
import type { ApproverKey } from './approver-keys.ts'
import type { PublicKey } from './keys.ts'
import { humanSignatureProblem } from './human-key.ts'
import { revocationProblem } from './revocation.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { verifySignature, type Signature, type SignatureMemo } from './signature.ts'

interface KnownKeys {
  /** A key of the service. */
  readonly findKey: (keyId: string) => PublicKey | undefined
  /** An approver's key by `{approverId}:{keyId}`. */
  readonly findApproverKey: (keyId: string) => ApproverKey | undefined
}

/** @param verifiedOf known results of signature checks, for each kind of artifact; by default none */
export function openCrypto(
  { findKey, findApproverKey }: KnownKeys,
  verifiedOf: (artifact: SignedArtifact) => SignatureMemo | undefined = () => undefined,
): CheckCrypto {
  return {
    sha256Hex,
    verifySignature(artifact, canonicalText, signature) {
      const { keyId } = signature
      // An approver's key signs approvals only, and no other key signs approvals.
      if (artifact === 'approval') {
        const human = findApproverKey(keyId)?.key
        if (human === undefined) return false
        const why = humanSignatureProblem(artifact, canonicalText, signature, human, verifiedOf(artifact))
        return why === undefined
      }
      const key = findKey(keyId)
      if (key === undefined) return false
      // `verifySignature` refuses it too; this check puts the reason into the report.
      const revoked = revocationProblem(artifact, canonicalText, key)
      if (revoked !== undefined) throw new Error(revoked)
      return verifySignature(artifact, canonicalText, signature as Signature, key, verifiedOf(artifact))
    },
    humanKey: findApproverKey,
  }
}

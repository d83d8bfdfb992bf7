// Decides which signatures evidence must have, so that none can be stripped or replaced by another (decisions §4 "Receipt").
import { canonicalize, type Json } from '../json/canonical.ts'
import { familyOf } from '../merkle/batch-head.ts'
import { isPasskeyAlgorithm } from '../webauthn/assertion.ts'
import {
  checkSigned,
  list,
  members,
  string,
  type CarriedSignature,
  type Check,
  type CheckCrypto,
  type Crypto,
  type SignedArtifact,
} from './evidence.ts'
import type { Members } from '../json/members.ts'

type Family = 'ed25519' | 'ml-dsa-65'

/** RFC 8032 §5.1.6 and FIPS 204 §4. Some libraries verify a longer signature by its first bytes, so its length is checked first. */
export const SIGNATURE_BYTES: Readonly<Record<Family, number>> = { ed25519: 64, 'ml-dsa-65': 3309 }

/**
 * The algorithm of the key that signs under this name, individually or in a batch.
 * @throws Error for a name that this verifier does not know, such as a name of a later version
 */
export function knownFamily(algorithm: string): Family {
  const family = familyOf(algorithm)
  if (!Object.hasOwn(SIGNATURE_BYTES, family)) throw new Error(`the algorithm '${algorithm}' is not known`)
  return family as Family
}

/**
 * For artifacts that are always signed by Ed25519, whichever other keys are published (decisions §4, §7).
 * @throws Error for any other name, stating whether it is known
 */
function requireEd25519(algorithm: string, names: readonly string[] = ['ed25519']): void {
  knownFamily(algorithm)
  if (!names.includes(algorithm)) throw new Error(`'${algorithm}' does not sign this kind of artifact`)
}

/**
 * Requires that a human's signature is by a raw Ed25519 key or by a passkey.
 * @throws Error for any other name
 */
export function requireHumanAlgorithm(algorithm: string): void {
  if (!isPasskeyAlgorithm(algorithm)) requireEd25519(algorithm)
}

/** @throws Error when the algorithm, the keyId or the value is not a string */
export function carriedSignature(value: Json | undefined): CarriedSignature {
  const { algorithm, keyId, value: bytes, batch } = members(value)
  return { algorithm: string(algorithm), keyId: string(keyId), value: string(bytes), batch }
}

/**
 * Whether an execution authorization, the transaction's own or that of a read, is signed: always by an Ed25519 key.
 * @throws Error when the algorithm, the keyId or the signature is not a string, or the algorithm is another one
 */
export function isAuthorizationSigned(
  { payload = null, signature = null, ...by }: Members,
  crypto: CheckCrypto,
): boolean {
  const carried = carriedSignature({ ...by, value: signature })
  requireEd25519(carried.algorithm, ['ed25519', 'ed25519-batch'])
  return crypto.verifySignature('execution-authorization', canonicalize(payload), carried)
}

/**
 * The check of the only signature of an artifact that is neither a record nor a receipt: always Ed25519.
 * @param signed.text canonical text; undefined when it has no canonical form, and then the check fails
 * @param signed.signature signature in the evidence, of any shape
 */
export function checkEd25519(
  name: string,
  problem: string,
  given: Crypto,
  signed: { artifact: SignedArtifact; text: string | undefined; signature: Json | undefined },
): Check {
  const { artifact, text, signature } = signed
  return checkSigned(name, problem, given, (crypto) => {
    const carried = carriedSignature(signature)
    requireEd25519(carried.algorithm)
    return text !== undefined && crypto.verifySignature(artifact, text, carried)
  })
}

function textOf(signature: CarriedSignature | undefined): string {
  const { algorithm = null, keyId = null, value = null, batch } = signature ?? {}
  return canonicalize([algorithm, keyId, value, ...(batch === undefined ? [] : [batch])])
}

/**
 * The signatures that must all be valid: the only one, or exactly one for each required algorithm of a hybrid record or receipt.
 * @param first the evidence's `signature`
 * @throws Error when a signature is missing, superfluous or in another's place
 */
export function requiredSignatures(evidence: Members, first: CarriedSignature): readonly CarriedSignature[] {
  if (!('requiredAlgorithms' in evidence)) {
    if ('signatures' in evidence) throw new Error('signatures that nothing requires')
    return [first]
  }
  const required = list(evidence['requiredAlgorithms']).map(string)
  const carried = list(evidence['signatures']).map(carriedSignature)
  const complete =
    required.length > 1 &&
    new Set(required).size === required.length &&
    carried.length === required.length &&
    carried.every((one, i) => familyOf(one.algorithm) === required[i])
  if (!complete) throw new Error('a required signature is missing')
  // `signature` repeats the first of them, for readers that know only one algorithm, so the two must be equal.
  if (textOf(first) !== textOf(carried[0])) throw new Error('signature is not the first of signatures')
  return carried
}

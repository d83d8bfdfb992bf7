// Which signatures evidence must carry, so that none can be stripped or put in another's place (decisions §4 "Receipt").
import { canonicalize, type Json } from '../json/canonical.ts'
import { familyOf } from '../merkle/batch-head.ts'
import { checkSigned, list, members, string } from './evidence.ts'
import type { CarriedSignature, Check, CheckCrypto, Crypto, Members, SignedArtifact } from './evidence.ts'

/** @throws Error when the algorithm, the keyId or the value is not a string */
export function carriedSignature(value: Json | undefined): CarriedSignature {
  const { algorithm, keyId, value: bytes, batch } = members(value)
  return { algorithm: string(algorithm), keyId: string(keyId), value: string(bytes), batch }
}

/**
 * Whether an execution authorization, the transaction's own or that of a read, is signed. Always by an Ed25519 key (decisions §4), whatever
 * else is published.
 * @throws Error when the algorithm, the keyId or the signature is not a string
 */
export function isAuthorizationSigned(
  { payload = null, signature = null, ...by }: Members,
  crypto: CheckCrypto,
): boolean {
  const carried = carriedSignature({ ...by, value: signature })
  if (familyOf(carried.algorithm) !== 'ed25519') return false
  return crypto.verifySignature('execution-authorization', canonicalize(payload), carried)
}

/**
 * The check of the one signature of an artifact that is neither a record nor a receipt: always Ed25519, whatever else is published
 * (decisions §4).
 * @param signed.text canonical; undefined where it has no canonical form, and then the check fails
 * @param signed.signature as the evidence carries it, of any shape
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
    if (text === undefined || carried.algorithm !== 'ed25519') return false
    return crypto.verifySignature(artifact, text, carried)
  })
}

function textOf(signature: CarriedSignature | undefined): string {
  const { algorithm = null, keyId = null, value = null, batch } = signature ?? {}
  return canonicalize([algorithm, keyId, value, ...(batch === undefined ? [] : [batch])])
}

/**
 * The signatures that must all hold: the only one, or exactly one for each required algorithm of a hybrid record or receipt.
 * @param first the evidence's `signature`
 * @throws Error when one is missing, is too many or is in another's place
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
  // `signature` repeats the first of them, for readers that know one algorithm only: it must not be another one.
  if (textOf(first) !== textOf(carried[0])) throw new Error('signature is not the first of signatures')
  return carried
}

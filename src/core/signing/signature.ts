// Every signature of the service is made and verified here: canonical text in, base64 out, and back (decisions §4 "Signature").
import { preAuthEncoding, type Artifact } from './dsse.ts'
import type { Algorithm, PublicKey, SigningKey } from './keys.ts'

export interface Signature {
  readonly algorithm: Algorithm
  readonly keyId: string
  /** Base64 with padding. */
  readonly value: string
}

/** Synchronous: an Ed25519 signature takes less than a turn of the event loop. `key` is an Ed25519 one. */
export function signEd25519(artifact: Artifact, canonicalText: string, key: SigningKey): Signature {
  const bytes = key.sign(preAuthEncoding(artifact, canonicalText))
  if (bytes instanceof Promise) throw new TypeError(`${key.public.keyId} is not an Ed25519 key`)
  return signatureBy(key, bytes)
}

/** One signature per key, in their order; more than one is a hybrid. */
export async function sign(
  artifact: Artifact,
  canonicalText: string,
  keys: readonly SigningKey[],
): Promise<Signature[]> {
  const message = preAuthEncoding(artifact, canonicalText)
  return Promise.all(keys.map(async (key) => signatureBy(key, await key.sign(message))))
}

/**
 * Whether a signature is this key's for this text as this artifact. Never throws, whatever was posted.
 * Strict: the algorithm and key it names must be the key's, and only one base64 text stands for its bytes,
 * so that a signature cannot be rewritten and still pass.
 */
export function verifySignature(
  artifact: Artifact,
  canonicalText: string,
  signature: Signature,
  publicKey: PublicKey,
): boolean {
  const { algorithm, keyId, value } = signature
  if (algorithm !== publicKey.algorithm || keyId !== publicKey.keyId || typeof value !== 'string')
    return false
  const bytes = Buffer.from(value, 'base64')
  if (bytes.toString('base64') !== value) return false
  return publicKey.verifies(preAuthEncoding(artifact, canonicalText), bytes)
}

/** A verification that has succeeded: exactly these bytes, this signature and this key. */
export interface VerifiedSignature {
  readonly artifact: Artifact
  readonly canonicalText: string
  readonly signature: Signature
  readonly publicKey: PublicKey
}

/** Whether `verified` was a verification of the very same text and signature, as the same artifact and by the same key. */
export function isSameVerification(
  verified: VerifiedSignature,
  { artifact, canonicalText, signature, publicKey }: VerifiedSignature,
): boolean {
  return (
    verified.artifact === artifact &&
    verified.publicKey === publicKey &&
    verified.signature.algorithm === signature.algorithm &&
    verified.signature.keyId === signature.keyId &&
    verified.signature.value === signature.value &&
    verified.canonicalText === canonicalText
  )
}

function signatureBy({ public: { algorithm, keyId } }: SigningKey, bytes: Buffer): Signature {
  return { algorithm, keyId, value: bytes.toString('base64') }
}

// One road for every signature of the service: canonical text in, base64 out, and back (decisions §4 "Signature").
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

const VERIFIED_MAX = 1_024
const verified = new Map<string, { readonly canonicalText: string; readonly publicKey: PublicKey }>()

/**
 * As `verifySignature`, of an execution authorization. The road asks the same question twice, at the gate and of the record that
 * holds it: what was verified a moment ago, byte for byte and by this key, is not computed again.
 */
export function verifyAuthorization(
  canonicalText: string,
  signature: Signature,
  publicKey: PublicKey,
): boolean {
  const before = verified.get(signature.value)
  if (
    before?.canonicalText === canonicalText &&
    before.publicKey === publicKey &&
    signature.algorithm === publicKey.algorithm &&
    signature.keyId === publicKey.keyId
  )
    return true
  if (!verifySignature('execution-authorization', canonicalText, signature, publicKey)) return false
  // The oldest makes room: a Map keeps the order of insertion.
  if (verified.size === VERIFIED_MAX) verified.delete(verified.keys().next().value as string)
  verified.set(signature.value, { canonicalText, publicKey })
  return true
}

function signatureBy({ public: { algorithm, keyId } }: SigningKey, bytes: Buffer): Signature {
  return { algorithm, keyId, value: bytes.toString('base64') }
}

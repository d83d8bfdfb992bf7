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

interface Verified {
  readonly signature: string
  readonly canonicalText: string
  readonly publicKey: PublicKey
}

/** A signature's place is given by its first characters; a newer one takes it. Not a Map: see docs/design-notes.md "Performance". */
const PLACES = 8_192
const verified = Array.from<Verified | undefined>({ length: PLACES })

function placeOf(value: string): number {
  return (value.charCodeAt(0) * 4_096 + value.charCodeAt(1) * 64 + value.charCodeAt(2)) % PLACES
}

/**
 * As `verifySignature`, of an execution authorization. The road asks the same question twice, at the gate and of the record that
 * holds it: where the first was answered a moment ago, byte for byte and by this key, the second is answered from memory.
 */
export function verifyAuthorization(
  canonicalText: string,
  signature: Signature,
  publicKey: PublicKey,
): boolean {
  const { algorithm, keyId, value } = signature
  if (typeof value !== 'string') return false
  const place = placeOf(value)
  const before = verified[place]
  if (
    before?.signature === value &&
    before.canonicalText === canonicalText &&
    before.publicKey === publicKey &&
    algorithm === publicKey.algorithm &&
    keyId === publicKey.keyId
  ) {
    verified[place] = undefined
    return true
  }
  if (!verifySignature('execution-authorization', canonicalText, signature, publicKey)) return false
  verified[place] = { signature: value, canonicalText, publicKey }
  return true
}

function signatureBy({ public: { algorithm, keyId } }: SigningKey, bytes: Buffer): Signature {
  return { algorithm, keyId, value: bytes.toString('base64') }
}

// The keys of humans: raw Ed25519 keys, and passkeys, which sign an assertion around the same bytes (decisions §12).
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import type { Json } from '../../formats/json/canonical.ts'
import {
  assertedBytes,
  isPasskeyAlgorithm,
  keyAlgorithmOf,
  readPasskey,
  type Passkey,
} from '../../formats/webauthn/assertion.ts'
import { preAuthEncoding, type SignedKind } from './dsse.ts'
import { ed25519PublicKey, ONE_PUBLIC_KEY, type PublicKey } from './keys.ts'
import { publicKeyJson, type PublicKeyJson } from './published.ts'
import { sha256 } from '../../store/sha256.ts'
import { fromBase64, verifySignature, type SignatureMemo } from './signature.ts'

/** A raw key or a passkey, never both: no signature of one kind passes for the other. */
export type HumanKey =
  | { readonly raw: PublicKey }
  | { readonly passkey: Passkey; readonly published: PasskeyJson; readonly verifies: PublicKey['verifies'] }

/** A passkey as GET /keys/{approverId}:{keyId} returns it. */
type PasskeyJson = Omit<PublicKeyJson, 'algorithm'> & {
  readonly algorithm: 'es256' | 'ed25519'
  readonly passkey: Passkey
}

/** The members of a human's signature except its payload. */
interface HumanSignature {
  readonly algorithm: string
  /** Base64. */
  readonly value: string
  readonly webauthn?: Json | undefined
}

/**
 * @param passkey members of the passkey; undefined: the key is a raw key
 * @throws Error for a PEM that is not such a public key, and for a passkey that lacks a member
 */
export function readHumanKey(keyId: string, pem: string, passkey: Json | undefined): HumanKey {
  if (passkey === undefined) return { raw: ed25519PublicKey(keyId, pem) }
  const read = readPasskey(passkey)
  if (!ONE_PUBLIC_KEY.test(pem)) throw new Error('Not a PEM public key (SPKI).')
  const key = createPublicKey(pem)
  if (key.asymmetricKeyType === 'ed25519') {
    const raw = ed25519PublicKey(keyId, pem)
    return {
      passkey: read,
      published: { ...publicKeyJson(raw), algorithm: 'ed25519', passkey: read },
      verifies: raw.verifies,
    }
  }
  return {
    passkey: read,
    published: es256Json(keyId, key, read),
    verifies: (message, signature) => verify('sha256', message, key, signature),
  }
}

/** DER of the SPKI of an uncompressed point of P-256 up to its coordinates: other notations of the same key are refused. */
const P256_SPKI_HEX = '3059301306072a8648ce3d020106082a8648ce3d03010703420004'
const P256_SPKI = Buffer.from(P256_SPKI_HEX, 'hex')

function es256Json(keyId: string, key: KeyObject, passkey: Passkey): PasskeyJson {
  const der = key.export({ type: 'spki', format: 'der' })
  if (der.length !== P256_SPKI.length + 64 || !der.subarray(0, P256_SPKI.length).equals(P256_SPKI))
    throw new Error('Neither an Ed25519 nor a P-256 key.')
  const point = der.subarray(P256_SPKI.length)
  const [x, y] = [point.subarray(0, 32), point.subarray(32)].map((one) => one.toString('base64url'))
  return {
    keyId,
    algorithm: 'es256',
    use: 'sig',
    pem: key.export({ type: 'spki', format: 'pem' }).toString(),
    jwk: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '', alg: 'ES256', kid: keyId, use: 'sig' },
    passkey,
  }
}

export function humanKeyJson(key: HumanKey): PublicKeyJson | PasskeyJson {
  return 'raw' in key ? publicKeyJson(key.raw) : key.published
}

/**
 * The reason why this is no signature of this text as this artifact by this key; undefined: it is valid. Never throws.
 * @param verified memo of the batch that the text belongs to: raw keys' signatures in it are not verified again
 */
export function humanSignatureProblem(
  artifact: SignedKind,
  canonicalText: string,
  { algorithm, value, webauthn }: HumanSignature,
  key: HumanKey,
  verified?: SignatureMemo,
): string | undefined {
  if ('raw' in key) {
    if (algorithm !== 'ed25519' || webauthn !== undefined) return 'the key is no passkey'
    const signature = { algorithm, keyId: key.raw.keyId, value } as const
    const holds = verifySignature(artifact, canonicalText, signature, key.raw, verified)
    return holds ? undefined : 'it does not verify'
  }
  if (!isPasskeyAlgorithm(algorithm) || keyAlgorithmOf(algorithm) !== key.published.algorithm)
    return `the key is a passkey, which signs as webauthn-${key.published.algorithm}`
  const signature = fromBase64(value)
  if (signature === undefined) return 'it is not canonical base64'
  try {
    const message = preAuthEncoding(artifact, canonicalText)
    const asserted = assertedBytes(webauthn, { message, passkey: key.passkey, sha256 })
    return key.verifies(Buffer.from(asserted), signature) ? undefined : 'it does not verify'
  } catch (error) {
    return (error as Error).message
  }
}

// The cryptography of the offline verifier, in JavaScript only: it shares no code with the server's cryptography (libsodium and
// OpenSSL), so that each can reveal mistakes of the other (decisions §4 "Signature").
import type { EdwardsPoint } from '@noble/curves/abstract/edwards.js'
import { ed25519 } from '@noble/curves/ed25519.js'
import { p256 } from '@noble/curves/nist.js'
import { bytesToNumberLE } from '@noble/curves/utils.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js'
import { signedMessage, type Hashing } from '../merkle/batch-head.ts'
import { assertedBytes, isPasskeyAlgorithm, keyAlgorithmOf } from '../webauthn/assertion.ts'
import { base64, toBase64 } from '../base64.ts'
import { mayVerify, type CarriedSignature, type Crypto, type SignedArtifact } from '../artifacts/evidence.ts'
import { ed25519Point, uncompressed, type KeySet, type VerifyingKey } from './keys.ts'
import { preAuthEncoding } from './pre-auth-encoding.ts'
import { judgeRevoked } from './revoked.ts'
import { knownFamily, SIGNATURE_BYTES } from '../artifacts/signatures.ts'

/**
 * @param keys the only keys that verify
 * @param onUsed called with each key that verified a signature
 * @param ed25519By replaces the Ed25519 check of this file
 */
export function cryptoOf(
  keys: KeySet,
  onUsed: (key: VerifyingKey) => void = () => undefined,
  ed25519By: VerifyEd25519 = verifiers.ed25519,
): Crypto {
  const by = { ...verifiers, ed25519: ed25519By }
  return {
    sha256Hex: (text) => bytesToHex(sha256(utf8ToBytes(text))),
    verifySignature: (artifact, canonicalText, carried) => {
      const { keyId, value } = carried
      if (keyId.includes(':') && isPasskeyAlgorithm(carried.algorithm))
        return isAsserted(artifact, canonicalText, carried, { keys, onUsed, by })
      const algorithm = knownFamily(carried.algorithm)
      requireMayVerify(artifact, keyId)
      const signature = base64(value)
      if (signature === undefined) throw new Error('the signature is not canonical base64')
      const length = SIGNATURE_BYTES[algorithm]
      if (signature.length !== length)
        throw new Error(`the signature has ${signature.length} bytes; one of ${algorithm} has ${length}`)
      const message = signedMessage(artifact, preAuthEncoding(artifact, canonicalText), carried, HASHING)
      const key = keys.get(keyId)
      // Checked last: mistakes that do not depend on the key are reported even without it.
      if (key === undefined) return undefined
      if (key.algorithm !== algorithm) throw new Error(`key '${keyId}' is not an ${algorithm} key`)
      if (key.passkey !== undefined) throw new Error(`key '${keyId}' is a passkey, and signs as one only`)
      const judged = judgedRevoked(artifact, canonicalText, key)
      if (judged?.counts === false) throw new Error(judged.sentence)
      return isSignedBy(key, message, signature, { onUsed, by })
    },
    noteOn(artifact, canonicalText, keyId) {
      const judged = judgedRevoked(artifact, canonicalText, keys.get(keyId))
      return judged?.counts === true ? judged.sentence : undefined
    },
    humanKey: (keyId) => (keyId.includes(':') ? keys.get(keyId) : undefined),
  }
}

/** Undefined for a key that was not revoked, and for a human's key. */
function judgedRevoked(artifact: SignedArtifact, canonicalText: string, key: VerifyingKey | undefined) {
  const { keyId = '', revokedAt = null } = key ?? {}
  return revokedAt === null || keyId.includes(':')
    ? undefined
    : judgeRevoked(artifact, canonicalText, { keyId, revokedAt })
}

interface Checking {
  readonly onUsed: (key: VerifyingKey) => void
  readonly by: typeof verifiers
}

function requireMayVerify(artifact: SignedArtifact, keyId: string): void {
  if (!mayVerify(artifact, keyId)) throw new Error(`key '${keyId}' is of no kind that signs as ${artifact}`)
}

/** A signature by a passkey covers an assertion, whose challenge is the hash of the bytes that a raw key would sign. */
function isAsserted(
  artifact: SignedArtifact,
  canonicalText: string,
  { algorithm, keyId, value, webauthn }: CarriedSignature,
  { keys, ...checking }: Checking & { readonly keys: KeySet },
): boolean | undefined {
  if (!isPasskeyAlgorithm(algorithm)) throw new Error(`the algorithm '${algorithm}' is not known`)
  requireMayVerify(artifact, keyId)
  const signature = base64(value)
  if (signature === undefined) throw new Error('the signature is not canonical base64')
  const kind = keyAlgorithmOf(algorithm)
  if (kind === 'es256' && !isDer(signature)) throw new Error('the signature is not canonical DER')
  if (kind === 'ed25519' && signature.length !== SIGNATURE_BYTES.ed25519)
    throw new Error(`the signature has ${signature.length} bytes; one of ed25519 has 64`)
  const key = keys.get(keyId)
  if (key !== undefined && key.passkey === undefined) throw new Error(`key '${keyId}' is no passkey`)
  if (key !== undefined && key.algorithm !== kind) throw new Error(`key '${keyId}' is not an ${kind} key`)
  const message = preAuthEncoding(artifact, canonicalText)
  const asserted = assertedBytes(webauthn, { message, passkey: key?.passkey, sha256 })
  return key && isSignedBy(key, asserted, signature, checking)
}

function isSignedBy(
  key: VerifyingKey,
  message: Uint8Array,
  signature: Uint8Array,
  { onUsed, by }: Checking,
): boolean {
  const { algorithm, bytes: publicKey, point } = key
  const isSigned = by[algorithm]({ message, signature, publicKey, point })
  if (isSigned) onUsed(key)
  return isSigned
}

/** X.690 §10: exactly one encoding for each signature; a superfluous zero is refused. */
function isDer(signature: Uint8Array): boolean {
  try {
    p256.Signature.fromBytes(signature, 'der')
    return true
  } catch {
    return false
  }
}

const HASHING: Hashing = {
  sha256,
  fromBase64: base64,
  toBase64,
}

interface Signed {
  readonly message: Uint8Array
  readonly signature: Uint8Array
  readonly publicKey: Uint8Array
  /** The point of an Ed25519 key, if it was decoded before. */
  readonly point?: EdwardsPoint | undefined
}

type Algorithm = VerifyingKey['algorithm']

/** Verifies with a key whose encoding is canonical and whose order is not small: the reader of the key set ensures both. */
export type VerifyEd25519 = (signed: Signed) => boolean

/** False also for a signature of another length, on which the libraries would throw. */
export const verifiers: Readonly<Record<Algorithm, (signed: Signed) => boolean>> = {
  ed25519: (signed) => signed.signature.length === SIGNATURE_BYTES.ed25519 && holds(signed),
  // FIPS 204, pure, empty context.
  'ml-dsa-65': ({ message, signature, publicKey }) =>
    signature.length === SIGNATURE_BYTES['ml-dsa-65'] && ml_dsa65.verify(signature, message, publicKey),
  // FIPS 186-5 §6.4.2, with SHA-256. Half of passkeys' signatures have an S above half the order, which noble refuses by default.
  es256: ({ message, signature, publicKey }) =>
    isDer(signature) &&
    p256.verify(signature, message, uncompressed(publicKey), { format: 'der', lowS: false }),
}

/**
 * RFC 8032 §5.1.7 as libsodium checks it: R = SB - kA, of canonical encodings, S below the order, neither R nor A of small order. noble's
 * own check multiplies both sides by the cofactor, so a key holder could make a signature that passes there and fails at the server.
 */
function holds({ message, signature, publicKey, point }: Signed): boolean {
  const { Point } = ed25519
  const encodedR = signature.subarray(0, 32)
  const S = bytesToNumberLE(signature.subarray(32))
  if (S >= Point.Fn.ORDER) return false
  const [R, A] = [ed25519Point(encodedR), point ?? ed25519Point(publicKey)]
  if (R === undefined || A === undefined || R.isSmallOrder() || A.isSmallOrder()) return false
  const k = bytesToNumberLE(sha512(concatBytes(encodedR, publicKey, message))) % Point.Fn.ORDER
  return Point.BASE.multiplyUnsafe(S).subtract(A.multiplyUnsafe(k)).equals(R)
}

// Ed25519 (RFC 8032) by libsodium: it takes half the time of node:crypto, and refuses small-order keys.
import type { KeyObject } from 'node:crypto'
import sodium from 'sodium-native'

/** The DER before the 32-byte seed (RFC 8410 §7). */
export const pkcs8Prefix = '302e020100300506032b657004220420'
export const publicKeyBytes = sodium.crypto_sign_PUBLICKEYBYTES

/** RFC 8037 §2. */
export function jwk(publicKey: Buffer) {
  return { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url'), alg: 'EdDSA' }
}

/** @returns a synchronous signer: 64 bytes, the same for the same message */
export function signer(key: KeyObject) {
  const secretKey = secretKeyOf(key.export({ type: 'pkcs8', format: 'der' }).subarray(-32))
  return (message: Buffer) => sign({ message, secretKey })
}

export function verifier({ bytes }: { bytes: Buffer }) {
  return (message: Buffer, signature: Buffer) => verify({ message, signature, publicKey: bytes })
}

/** False for points of small order, in another notation or off the subgroup: no private key has them, and some verify any signature. */
export function isValidPublicKey(bytes: Buffer): boolean {
  return sodium.crypto_core_ed25519_is_valid_point(bytes)
}

/**
 * @param seed 32 bytes
 * @returns the 64 bytes, seed and public key, that libsodium signs with
 */
export function secretKeyOf(seed: Buffer): Buffer {
  const secretKey = Buffer.alloc(sodium.crypto_sign_SECRETKEYBYTES)
  sodium.crypto_sign_seed_keypair(Buffer.alloc(publicKeyBytes), secretKey, seed)
  return secretKey
}

export function sign({ message, secretKey }: { message: Buffer; secretKey: Buffer }): Buffer {
  const signature = Buffer.allocUnsafe(sodium.crypto_sign_BYTES)
  sodium.crypto_sign_detached(signature, message, secretKey)
  return signature
}

/** False also for a signature of another length, on which libsodium's binding would throw. */
export function verify(signed: { message: Buffer; signature: Buffer; publicKey: Buffer }): boolean {
  if (signed.signature.length !== sodium.crypto_sign_BYTES) return false
  return sodium.crypto_sign_verify_detached(signed.signature, signed.message, signed.publicKey)
}

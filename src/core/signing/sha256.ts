// SHA-256 as every hash of the contract is written (decisions §4 "Hash"), and as the hashes of a Merkle tree.
import { hash } from 'node:crypto'
import sodium from 'sodium-native'

/** SHA-256 of bytes, or of the UTF-8 bytes of a text: 64 lowercase hex characters. */
export function sha256Hex(input: string | Uint8Array): string {
  return hash('sha256', input, 'hex')
}

/** Up to here libsodium is the faster one: a node of a tree has 65 bytes and takes it 0.7 µs, and node:crypto 1.5 µs. */
const SHORT_BYTES = 200

/** SHA-256 of bytes, as 32 bytes. */
export function sha256(input: Uint8Array): Buffer {
  if (input.length > SHORT_BYTES) return hash('sha256', input, 'buffer')
  const output = Buffer.allocUnsafe(sodium.crypto_hash_sha256_BYTES)
  sodium.crypto_hash_sha256(output, input as Buffer)
  return output
}

// SHA-256 as every hash of the contract is written (decisions §4 "Hash"), and as the hashes of a Merkle tree.
import { hash } from 'node:crypto'

/** SHA-256 of bytes, or of the UTF-8 bytes of a text: 64 lowercase hex characters. */
export function sha256Hex(input: string | Uint8Array): string {
  return hash('sha256', input, 'hex')
}

/**
 * SHA-256 of bytes, or of the UTF-8 bytes of a text, as 32 bytes. By way of a string, because a Buffer that `hash` itself makes costs 0.7 µs more, twice the hash
 * (docs/design-notes.md "Performance").
 */
export function sha256(input: string | Uint8Array): Buffer {
  return Buffer.from(hash('sha256', input, 'binary'), 'binary')
}

/** The SHA-256 of each, one behind the other; of a text, that of its UTF-8 bytes. */
export function sha256Joined(inputs: readonly (string | Uint8Array)[]): Buffer {
  let hashes = ''
  for (const input of inputs) hashes += hash('sha256', input, 'binary')
  return Buffer.from(hashes, 'binary')
}

// SHA-256 in the form of the contract's hashes (decisions §4 "Hash"), and in the form of a Merkle tree's hashes.
import { hash } from 'node:crypto'

/** SHA-256 of bytes, or of the UTF-8 bytes of a text: 64 lowercase hex characters. */
export function sha256Hex(input: string | Uint8Array): string {
  return hash('sha256', input, 'hex')
}

/**
 * SHA-256 of bytes, or of the UTF-8 bytes of a text, as 32 bytes. It goes through a string, because a Buffer that `hash` itself makes costs 0.7 µs
 * more, twice the hash (docs/design-notes.md "Performance").
 */
export function sha256(input: string | Uint8Array): Buffer {
  return Buffer.from(hash('sha256', input, 'binary'), 'binary')
}

/** The joined SHA-256 of each input; a text is hashed as its UTF-8 bytes. */
export function sha256Joined(inputs: readonly (string | Uint8Array)[]): Buffer {
  let hashes = ''
  for (const input of inputs) hashes += hash('sha256', input, 'binary')
  return Buffer.from(hashes, 'binary')
}

// SHA-256 as every hash of the contract is written (decisions §4 "Hash").
import { hash } from 'node:crypto'

/** SHA-256 of bytes, or of the UTF-8 bytes of a text: 64 lowercase hex characters. */
export function sha256Hex(input: string | Uint8Array): string {
  return hash('sha256', input, 'hex')
}

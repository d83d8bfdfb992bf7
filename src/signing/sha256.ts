// SHA-256 as every hash of the contract is written (decisions §4 "Hash").
import { hash } from 'node:crypto'

/** SHA-256 of the UTF-8 bytes of a canonical text: 64 lowercase hex characters. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex')
}

// Hashes of the content that this page shows. The page computes them itself, and compares the service's hashes with them instead of trusting them.
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Hashes the UTF-8 bytes of a text. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)))
}

/** @param pem of a public key @returns the SHA-256 of its DER form in hex, as reports name keys; '' where it is no PEM */
export function fingerprintOf(pem: string): string {
  const [, body] = /-----BEGIN PUBLIC KEY-----([\sA-Za-z0-9+/=]+)-----END PUBLIC KEY-----/.exec(pem) ?? []
  if (body === undefined) return ''
  return bytesToHex(sha256(Uint8Array.from(atob(body.replaceAll(/\s/g, '')), (char) => char.charCodeAt(0))))
}

// The signed bytes, made without Buffer: `core/signing/dsse.ts` makes the same bytes in the service.
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { SignedArtifact } from '../artifacts/evidence.ts'

/** DSSE: the signed bytes begin with their type, so that a signature of one artifact does not verify for another. */
export function preAuthEncoding(
  artifact: SignedArtifact | 'key-proof' | 'console-login',
  canonicalText: string,
): Uint8Array {
  const type = utf8ToBytes(`application/vnd.countersign.${artifact}.v1+json`)
  const body = utf8ToBytes(canonicalText)
  const ascii = utf8ToBytes
  return concatBytes(ascii(`DSSEv1 ${type.length} `), type, ascii(` ${body.length} `), body)
}

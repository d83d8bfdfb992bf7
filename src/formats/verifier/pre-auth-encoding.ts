// The bytes that are signed, without Buffer: `core/signing/dsse.ts` makes the same ones in the service.
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import type { SignedArtifact } from '../artifacts/evidence.ts'

/** DSSE: the signed bytes begin with what they are, so that a signature of one artifact is none of another. */
export function preAuthEncoding(
  artifact: SignedArtifact | 'key-proof' | 'console-login',
  canonicalText: string,
): Uint8Array {
  const type = utf8ToBytes(`application/vnd.countersign.${artifact}.v1+json`)
  const body = utf8ToBytes(canonicalText)
  const ascii = utf8ToBytes
  return concatBytes(ascii(`DSSEv1 ${type.length} `), type, ascii(` ${body.length} `), body)
}

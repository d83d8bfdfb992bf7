// DSSE pre-authentication encoding: signed bytes name their artifact, so no signature passes for another (decisions §4 "Signature").
import type { SignedArtifact } from '../../formats/artifacts/evidence.ts'

/** The artifacts of evidence, and signed texts for other readers: connectors, key registers, the console. */
export type SignedKind =
  | SignedArtifact
  | 'connector-release'
  | 'connector-question'
  | 'key-proof'
  | 'console-session'
  | 'console-login'

/** The bytes to sign for the canonical text of an artifact. */
export function preAuthEncoding(artifact: SignedKind, canonicalText: string): Buffer {
  return encode(`application/vnd.countersign.${artifact}.v1+json`, canonicalText)
}

/** PAE of the DSSE protocol: `DSSEv1` SP length SP type SP length SP body, lengths in bytes of UTF-8. */
export function encode(payloadType: string, body: string): Buffer {
  const bytes = Buffer.byteLength(body)
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${bytes} `
  // Not built from one string: joining it would copy the body once more, five times in each execution.
  const headBytes = Buffer.byteLength(head)
  const encoded = Buffer.allocUnsafe(headBytes + bytes)
  encoded.write(head)
  encoded.write(body, headBytes)
  return encoded
}

// Signs texts together: the Merkle tree over them and the position of each text (docs/design-notes.md "Batch signatures").
import { headText, type BatchPosition } from '../../formats/merkle/batch-head.ts'
import { leafHasher, levelsOf, pathIn } from '../../formats/merkle/tree.ts'
import { sha256 } from '../../store/sha256.ts'
import { preAuthEncoding, type SignedKind } from './dsse.ts'

interface Batch {
  /** The bytes that are signed. */
  readonly head: Buffer
  /** In the order of the texts. */
  readonly positions: readonly BatchPosition[]
}

/**
 * @param canonicalTexts at least one
 * @param origin name of the batch
 */
export function batchOf(artifact: SignedKind, canonicalTexts: readonly string[], origin: string): Batch {
  const hashOf = leafHasher(sha256)
  const leaves = canonicalTexts.map((text) => hashOf(preAuthEncoding(artifact, text)))
  // Encodes each node once: it stands in the paths of all leaves that are not below it.
  const levels = levelsOf(leaves, sha256).map((level) => level.map(toBase64))
  const [root] = levels.at(-1) ?? []
  if (root === undefined) throw new Error('a batch needs at least one text')
  const size = leaves.length
  return {
    head: Buffer.from(headText({ origin, size, root })),
    positions: leaves.map((_, index) => ({ index, origin, path: pathIn(levels, index), size })),
  }
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
}

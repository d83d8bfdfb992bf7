// Subtrees of a log as draft-ietf-plants-merkle-tree-certs §4 defines them: runs of leaves that are a Merkle tree of their own, with
// the same hashes as within the larger tree.
import { rootOfInclusion, type Sha256 } from './tree.ts'

/** The leaves from `start` up to and without `end`. */
export interface LeafRange {
  readonly start: number
  readonly end: number
}

/** @throws Error when the range is empty or does not begin at a multiple of its size rounded up to a power of two (§4.1) */
export function assertSubtree({ start, end }: LeafRange): void {
  const integers = Number.isSafeInteger(start) && Number.isSafeInteger(end)
  if (!integers || start < 0 || start >= end)
    throw new Error('a subtree has a start of 0 or more and a greater end, both integers')
  let width = 1
  while (width < end - start) width *= 2
  if (start % width !== 0) throw new Error(`the leaves from ${start} to ${end} are no subtree`)
}

/**
 * The root that a leaf has in a subtree (§4.3.2). A path within one is that of `buildTree` of its leaves.
 *
 * @param proof.index counts from the first leaf of the log, as start and end do
 * @param proof.path from the leaf up, 32 bytes each
 * @throws Error when the range is no subtree, when it does not hold the index, and as `rootOfInclusion` does
 */
export function rootOfSubtreeInclusion(
  proof: LeafRange & {
    readonly leafHash: Uint8Array
    readonly index: number
    readonly path: readonly Uint8Array[]
  },
  sha256: Sha256,
): Uint8Array {
  const { start, end, index, leafHash, path } = proof
  assertSubtree(proof)
  if (!Number.isSafeInteger(index) || index < start || index >= end)
    throw new Error(`the index ${index} is not in the subtree from ${start} to ${end}`)
  return rootOfInclusion({ leafHash, index: index - start, size: end - start, path }, sha256)
}

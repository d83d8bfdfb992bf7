// Consistency proofs: a tree contains an earlier tree unchanged (RFC 9162 §2.1.4), or any subtree of it
// (draft-ietf-plants-merkle-tree-certs §4.4). The earlier tree is the subtree that starts at 0, so one algorithm serves for both.
import { equalBytes } from '../bytes.ts'
import { assertHash, half, nodeHash, odd, type Sha256 } from './tree.ts'

/** The leaves from `start` up to, but excluding, `end`. */
export interface LeafRange {
  readonly start: number
  readonly end: number
}

/** `start` to `end` is the subtree, or, from 0, the earlier tree; `size` is the number of leaves of the whole tree. */
interface Part extends LeafRange {
  readonly size: number
}

/**
 * The leaves under each hash of a consistency proof, in its order: the hash is the root of the tree of these leaves.
 *
 * @throws Error when the part is no subtree or ends after the tree
 */
export function consistencyRanges(part: Part): LeafRange[] {
  assertPart(part)
  const { start, end } = part
  const ranges: LeafRange[] = []
  // The node that contains the part, from the root down. Its other child is in the proof, after the hashes below.
  let node: LeafRange = { start: 0, end: part.size }
  // If a node splits the part, its left child lies wholly in the part and goes into the proof; the right child contains the rest of it.
  let rest = start
  while (node.start !== rest || node.end !== end) {
    const split = node.start + largestPowerOfTwoBelow(node.end - node.start)
    const left = { start: node.start, end: split }
    const right = { start: split, end: node.end }
    if (end <= split) {
      ranges.push(right)
      node = left
    } else {
      ranges.push(left)
      node = right
      rest = Math.max(rest, split)
    }
  }
  // The verifier has the hash of the whole part, but not of a rest of it.
  if (rest !== start) ranges.push(node)
  return ranges.toReversed()
}

/**
 * Checks that the tree with `root` contains the subtree with `partRoot` (§4.4.3; from 0, RFC 9162 §2.1.4.2).
 *
 * @throws Error with the reason why it does not: the part is no subtree or ends after the tree, the path does not have exactly the length
 *   that they require, a hash is not 32 bytes long, or the path leads to another root
 */
export function assertConsistent(
  proof: Part & {
    readonly partRoot: Uint8Array
    readonly root: Uint8Array
    readonly path: readonly Uint8Array[]
  },
  sha256: Sha256,
): void {
  const { start, end, size, partRoot, root, path } = proof
  assertPart(proof)
  assertHash(partRoot, 'the root of the part')
  assertHash(root, 'the root of the tree')
  path.forEach((hash, i) => assertHash(hash, 'path hash', i))
  // The positions, within their level, of the first and last node over the part and of the last node of the tree.
  const at = { first: start, last: end - 1, treeLast: size - 1 }
  // Goes up to the largest complete subtree at the end of the part: the proof begins there.
  const isBelow = () => at.first !== at.last && (odd(at.last) || end === size)
  while (isBelow()) goUp(at)
  // The part is this subtree itself, or the subtree's hash is the first of the path.
  const isWhole = at.first === at.last
  const seed = isWhole ? partRoot : path[0]
  if (seed === undefined) throw new Error('the path is too short for the part and the size')
  let [ofPart, ofTree] = [seed, seed]
  for (const hash of isWhole ? path : path.slice(1)) {
    if (at.treeLast === 0) throw new Error('the path is too long for the part and the size')
    if (odd(at.last) || at.last === at.treeLast) {
      if (at.first < at.last) ofPart = nodeHash(hash, ofPart, sha256)
      ofTree = nodeHash(hash, ofTree, sha256)
      // A last node without a sibling moves up unchanged.
      while (!odd(at.last)) goUp(at)
    } else ofTree = nodeHash(ofTree, hash, sha256)
    goUp(at)
  }
  if (at.treeLast !== 0) throw new Error('the path is too short for the part and the size')
  if (!equalBytes(ofPart, partRoot)) throw new Error('the path does not lead to the root of the part')
  if (!equalBytes(ofTree, root)) throw new Error('the path does not lead to the root of the tree')
}

function goUp(at: { first: number; last: number; treeLast: number }): void {
  at.first = half(at.first)
  at.last = half(at.last)
  at.treeLast = half(at.treeLast)
}

/**
 * A subtree is a range of leaves that has the same hashes as a separate tree and within the larger tree.
 * @throws Error when the range is empty or does not begin at a multiple of its size rounded up to a power of two (§4.1)
 */
export function assertSubtree({ start, end }: LeafRange): void {
  const integers = Number.isSafeInteger(start) && Number.isSafeInteger(end)
  if (!integers || start < 0 || start >= end)
    throw new Error('a subtree has a start of 0 or more and a greater end, both integers')
  let width = 1
  while (width < end - start) width *= 2
  if (start % width !== 0) throw new Error(`the leaves from ${start} to ${end} are no subtree`)
}

function assertPart(part: Part): void {
  assertSubtree(part)
  if (!Number.isSafeInteger(part.size) || part.end > part.size)
    throw new Error(`the part ends at ${part.end}, after the tree of size ${part.size}`)
}

function largestPowerOfTwoBelow(size: number): number {
  let power = 1
  while (power * 2 < size) power *= 2
  return power
}

// The right edge of a growing Merkle tree: appending needs only the roots of its complete subtrees. Browser-safe.
import { assertHash, half, nodeHash, nodeHasher, odd, type Sha256 } from '../merkle/tree.ts'

/** A tree of `size` leaves, as the roots of its complete subtrees, one for each bit of the size, largest first. */
export interface Frontier {
  readonly size: number
  readonly peaks: readonly Uint8Array[]
}

export const EMPTY: Frontier = { size: 0, peaks: [] }

/**
 * @param completed called for each complete subtree that ends with a new leaf, from the leaf upwards: 2^height leaves have this root
 * @returns the tree with the leaves at its end
 */
export function appendLeaves(
  { size, peaks }: Frontier,
  leafHashes: readonly Uint8Array[],
  sha256: Sha256,
  completed: (height: number, root: Uint8Array) => void = () => undefined,
): Frontier {
  const edge = [...peaks]
  const hashOf = nodeHasher(sha256)
  let count = size
  for (const leaf of leafHashes) {
    let root = leaf
    completed(0, root)
    // Each trailing 1 bit of the old size is a complete subtree as large as the new one.
    for (let [height, rest] = [1, count]; odd(rest); [height, rest] = [height + 1, half(rest)]) {
      root = hashOf(edge.pop()!, root)
      completed(height, root)
    }
    edge.push(root)
    count++
  }
  return { size: count, peaks: edge }
}

/** The root of the tree: SHA-256 of the empty string when it has no leaves (RFC 6962 §2.1). */
export function rootOf({ peaks }: Frontier, sha256: Sha256): Uint8Array {
  const last = peaks.at(-1)
  if (last === undefined) return sha256(new Uint8Array(0))
  return peaks.slice(0, -1).reduceRight((right, left) => nodeHash(left, right, sha256), last)
}

/** The peaks as one value to store. */
export function joinHashes(hashes: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(hashes.length * 32)
  hashes.forEach((hash, i) => {
    assertHash(hash, 'hash', i)
    bytes.set(hash, i * 32)
  })
  return bytes
}

/** @throws Error when the length is not a multiple of a hash's length */
export function splitHashes(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length % 32 !== 0) throw new Error(`${bytes.length} bytes are no whole number of hashes`)
  return Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(i * 32, (i + 1) * 32))
}

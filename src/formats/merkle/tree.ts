// Merkle trees with the hashing of RFC 9162 §2.1 (and RFC 6962 before it). They also run in a browser, so the hash function is an argument.

/** @returns 32 bytes. It must not keep its input: a tree reuses the input buffer for each node */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** SHA-256(0x00 ‖ data), RFC 9162 §2.1.1. */
export function leafHash(data: Uint8Array, sha256: Sha256): Uint8Array {
  const input = new Uint8Array(1 + data.length)
  input.set(data, 1)
  return sha256(input)
}

/** `leafHash` for many leaves with one shared buffer: an allocation for each would cost a third of the hashing. */
export function leafHasher(sha256: Sha256): (data: Uint8Array) => Uint8Array {
  let input = new Uint8Array(256)
  return (data) => {
    if (data.length >= input.length) input = new Uint8Array(1 + 2 * data.length)
    input.set(data, 1)
    return sha256(input.subarray(0, 1 + data.length))
  }
}

/** SHA-256(0x01 ‖ left ‖ right), RFC 9162 §2.1.1: the first byte prevents a node from passing for a leaf. */
export function nodeHash(left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array {
  return sha256(nodeInput(new Uint8Array(65), left, right))
}

/** `nodeHash` for many nodes with one shared buffer. */
export function nodeHasher(sha256: Sha256): (left: Uint8Array, right: Uint8Array) => Uint8Array {
  const input = new Uint8Array(65)
  return (left, right) => sha256(nodeInput(input, left, right))
}

function nodeInput(input: Uint8Array, left: Uint8Array, right: Uint8Array): Uint8Array {
  input[0] = 1
  input.set(left, 1)
  input.set(right, 33)
  return input
}

interface MerkleTree {
  /** The number of leaves. */
  readonly size: number
  readonly root: Uint8Array
  /**
   * The inclusion path of a leaf, from the leaf up (RFC 9162 §2.1.3.1).
   *
   * @throws Error when the index is not below the size
   */
  readonly path: (index: number) => Uint8Array[]
}

/**
 * @param leafHashes one `leafHash` of 32 bytes per leaf
 * @throws Error when there are no leaves: an empty tree has nothing to prove, and its root could not be distinguished from a mistake
 */
export function buildTree(leafHashes: readonly Uint8Array[], sha256: Sha256): MerkleTree {
  leafHashes.forEach((hash, index) => assertHash(hash, 'leaf hash', index))
  const size = leafHashes.length
  const levels = levelsOf(leafHashes, sha256)
  const root = levels.at(-1)?.[0]
  if (root === undefined) throw new Error('a tree needs at least one leaf')
  const path = (index: number) => {
    assertIndex(index, size)
    return pathIn(levels, index)
  }
  return { size, root, path }
}

type Level = readonly Uint8Array[]

/** The hashes of a tree, level by level from the leaves up to the root. */
export function levelsOf(leafHashes: Level, sha256: Sha256): Uint8Array[][] {
  const hashOf = nodeHasher(sha256)
  let level = [...leafHashes]
  const levels = [level]
  while (level.length > 1) {
    const above: Uint8Array[] = []
    for (let i = 0; i * 2 < level.length; i++) above.push(parentIn(level, i, hashOf))
    levels.push(above)
    level = above
  }
  return levels
}

/** The hash above two neighbours. A last node without a neighbour moves up unchanged: no node is hashed with itself. */
export function parentIn(below: Level, position: number, hashOf: ReturnType<typeof nodeHasher>): Uint8Array {
  const left = below[position * 2]!
  const right = below[position * 2 + 1]
  return right === undefined ? left : hashOf(left, right)
}

/**
 * The inclusion path of a leaf, from the leaf up.
 * @param levels the nodes of each level, in any notation
 */
export function pathIn<Node>(levels: readonly (readonly Node[])[], index: number): Node[] {
  const hashes: Node[] = []
  for (let height = 0, position = index; height < levels.length; height++, position >>= 1) {
    const sibling = levels[height]![position ^ 1]
    if (sibling !== undefined) hashes.push(sibling)
  }
  return hashes
}

/**
 * The root of a leaf in a tree of the given size, RFC 9162 §2.1.3.2. It proves nothing until it is compared with a trusted root.
 *
 * @param proof.path from the leaf up, 32 bytes each
 * @throws Error when index and size are not integers with 0 ≤ index < size, when the path does not have exactly the length that they require,
 *   or when a hash is not 32 bytes long
 */
export function rootOfInclusion(
  proof: {
    readonly leafHash: Uint8Array
    readonly index: number
    readonly size: number
    readonly path: readonly Uint8Array[]
  },
  sha256: Sha256,
): Uint8Array {
  const { index, size, path } = proof
  assertIndex(index, size)
  assertHash(proof.leafHash, 'the leaf hash')
  path.forEach((hash, height) => assertHash(hash, 'path hash', height))
  let hash = proof.leafHash
  // The position in its level of the node on the way to the root, and the position of the level's last node.
  let [position, last] = [index, size - 1]
  for (const sibling of path) {
    if (last === 0) throw new Error('the path is too long for the index and the size')
    if (odd(position) || position === last) {
      hash = nodeHash(sibling, hash, sha256)
      // A last node without a sibling moves up unchanged to the level where it is a right child.
      while (!odd(position)) [position, last] = [half(position), half(last)]
    } else hash = nodeHash(hash, sibling, sha256)
    ;[position, last] = [half(position), half(last)]
  }
  if (last !== 0) throw new Error('the path is too short for the index and the size')
  return hash
}

/** Does not use `>>`, which is limited to 32 bits: a log may have more leaves. */
export const half = (position: number): number => Math.floor(position / 2)
export const odd = (position: number): boolean => position % 2 === 1

/** @throws Error that names the hash and its position in the list, if it is not 32 bytes long */
export function assertHash(hash: Uint8Array, name: string, index?: number): void {
  if (hash.length === 32) return
  throw new Error(`${name}${index === undefined ? '' : ` ${index}`} has ${hash.length} bytes; a hash has 32`)
}

/** A size that is no safe integer is refused too: half of it would not be exact. */
function assertIndex(index: number, size: number): void {
  if (!Number.isSafeInteger(size) || size < 1) throw new Error('the size is not an integer of 1 or more')
  if (!Number.isSafeInteger(index) || index < 0) throw new Error('the index is not an integer of 0 or more')
  if (index >= size) throw new Error(`the index ${index} is not below the size ${size}`)
}

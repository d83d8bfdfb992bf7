import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildTree,
  leafHash,
  leafHasher,
  nodeHash,
  nodeHasher,
  rootOfInclusion,
} from '../../src/formats/merkle/tree.ts'
import { bytes, flipped, inclusionPath, leaves, mth, path, sha256, SIZES, vectors } from './trees.ts'
import { KNOWN_LEAVES } from './known-leaves.ts'

const hashesOf = (entries: readonly Uint8Array[]) => entries.map((entry) => leafHash(entry, sha256))
const hex = (hash: Uint8Array) => Buffer.from(hash).toString('hex')

/** The root that the proof gives; undefined where it is refused. */
const rootOf = (proof: Parameters<typeof rootOfInclusion>[0]) => {
  try {
    return hex(rootOfInclusion(proof, sha256))
  } catch {
    return undefined
  }
}

test('the hashes are those of RFC 6962: of a leaf, of an empty leaf, and of a node', () => {
  expect(hex(leafHash(Buffer.from('L123456'), sha256))).toBe(
    '395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56',
  )
  const empty = leafHash(new Uint8Array(), sha256)
  expect(hex(empty)).toBe('6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d')
  const other = leafHash(Buffer.of(0), sha256)
  expect(hex(nodeHash(empty, other, sha256))).toBe(
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  )
})

test('hashes of many, which share a buffer, are those of each alone', () => {
  const [hashLeaf, hashNode] = [leafHasher(sha256), nodeHasher(sha256)]
  // Shorter than the one before it, longer than the buffer at first, and short again.
  const data = [190, 100, 255, 256, 1_000, 0, 300].map((length) => Buffer.alloc(length, 0xa5))
  const hashes = data.map(hashLeaf)
  expect(hashes.map(hex)).toEqual(data.map((one) => hex(leafHash(one, sha256))))
  const pairs = hashes.slice(1).map((right, i) => [hashes[i]!, right] as const)
  expect(pairs.map(([left, right]) => hex(hashNode(left, right)))).toEqual(
    pairs.map(([left, right]) => hex(nodeHash(left, right, sha256))),
  )
})

test('the root of the tree that Certificate Transparency tests with is the known one', () => {
  const hashes = hashesOf(KNOWN_LEAVES.map((leaf) => Buffer.from(leaf, 'hex')))
  expect(hex(buildTree(hashes, sha256).root)).toBe(
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  )
})

describe('a tree', () => {
  test('has the root and the paths of RFC 9162 for every size and index to 130', () => {
    for (const size of SIZES) {
      const entries = leaves(size)
      const tree = buildTree(hashesOf(entries), sha256)
      expect(tree.size).toBe(size)
      expect(hex(tree.root)).toBe(hex(mth(entries)))
      for (let index = 0; index < size; index++) {
        const proof = tree.path(index)
        expect(proof.map(hex)).toEqual(inclusionPath(index, entries).map(hex))
        const leaf = leafHash(entries[index]!, sha256)
        const root = rootOfInclusion({ leafHash: leaf, index, size, path: proof }, sha256)
        expect(hex(root)).toBe(hex(tree.root))
      }
    }
  })

  test('hashes each of its inner nodes once', () => {
    for (const size of SIZES) {
      let hashed = 0
      const tree = buildTree(hashesOf(leaves(size)), (input) => {
        hashed += 1
        return sha256(input)
      })
      for (let index = 0; index < size; index++) tree.path(index)
      expect(hashed).toBe(size - 1)
    }
  })

  test('of no leaves is refused', () => {
    expect(() => buildTree([], sha256)).toThrow('a tree needs at least one leaf')
  })

  test('refuses a leaf hash that has not 32 bytes', () => {
    expect(() => buildTree([new Uint8Array(32), new Uint8Array(31)], sha256)).toThrow(
      'leaf hash 1 has 31 bytes; a hash has 32',
    )
  })

  test.each([-1, 3, 0.5, Number.NaN])('of three leaves has no path for index %s', (index) => {
    expect(() => buildTree(hashesOf(leaves(3)), sha256).path(index)).toThrow('the index')
  })
})

describe('an inclusion proof', () => {
  const aProof = fc.tuple(fc.integer({ min: 1, max: 130 }), fc.nat()).map(([size, chosen]) => {
    const index = chosen % size
    const tree = buildTree(hashesOf(leaves(size)), sha256)
    return { leafHash: leafHash(leaves(size)[index]!, sha256), index, size, path: tree.path(index), tree }
  })
  const aBit = fc.tuple(fc.nat({ max: 31 }), fc.nat({ max: 7 }))

  test('leads to another root when a bit of the leaf is changed', () => {
    fc.assert(
      fc.property(aProof, aBit, (proof, bit) => {
        expect(rootOf({ ...proof, leafHash: flipped(proof.leafHash, bit) })).not.toBe(hex(proof.tree.root))
      }),
    )
  })

  test('leads to another root when a bit of its path is changed', () => {
    fc.assert(
      fc.property(aProof, fc.nat(), aBit, (proof, chosen, bit) => {
        fc.pre(proof.path.length > 0)
        const at = chosen % proof.path.length
        const changed = proof.path.map((hash, i) => (i === at ? flipped(hash, bit) : hash))
        expect(rootOf({ ...proof, path: changed })).not.toBe(hex(proof.tree.root))
      }),
    )
  })

  test('holds for no other index', () => {
    for (const size of SIZES) {
      const tree = buildTree(hashesOf(leaves(size)), sha256)
      const index = size >> 1
      const proof = { leafHash: leafHash(leaves(size)[index]!, sha256), size, path: tree.path(index) }
      for (let other = 0; other <= size; other++)
        if (other !== index) expect(rootOf({ ...proof, index: other })).not.toBe(hex(tree.root))
    }
  })

  test('is refused when its path has one hash more or one less', () => {
    fc.assert(
      fc.property(aProof, fc.nat(), (proof, chosen) => {
        const at = chosen % (proof.path.length + 1)
        const longer = proof.path.toSpliced(at, 0, proof.leafHash)
        expect(() => rootOfInclusion({ ...proof, path: longer }, sha256)).toThrow(
          'the path is too long for the index and the size',
        )
        fc.pre(proof.path.length > 0)
        const shorter = proof.path.toSpliced(at % proof.path.length, 1)
        expect(() => rootOfInclusion({ ...proof, path: shorter }, sha256)).toThrow(
          'the path is too short for the index and the size',
        )
      }),
    )
  })

  // The size is part of what is signed: for some leaves another size has a path of the same length and the same sides.
  test('of a size whose path has another length is refused', () => {
    fc.assert(
      fc.property(aProof, fc.integer({ min: 1, max: 260 }), (proof, size) => {
        fc.pre(size !== proof.size && proof.index < size)
        const length = inclusionPath(proof.index, leaves(size)).length
        fc.pre(length !== proof.path.length)
        expect(() => rootOfInclusion({ ...proof, size }, sha256)).toThrow(/^the path is too (long|short)/)
      }),
    )
  })

  const leaf = leafHash(new Uint8Array(), sha256)
  test.each([
    [{ index: 0, size: 0 }, 'the size is not an integer of 1 or more'],
    [{ index: 0, size: 1.5 }, 'the size is not an integer of 1 or more'],
    [{ index: 0, size: 2 ** 53 }, 'the size is not an integer of 1 or more'],
    [{ index: -1, size: 1 }, 'the index is not an integer of 0 or more'],
    [{ index: 0.5, size: 2 }, 'the index is not an integer of 0 or more'],
    [{ index: 2, size: 2 }, 'the index 2 is not below the size 2'],
    [{ index: 0, size: 1, leafHash: leaf.subarray(1) }, 'the leaf hash has 31 bytes; a hash has 32'],
    [{ index: 0, size: 2, path: [new Uint8Array(33)] }, 'path hash 0 has 33 bytes; a hash has 32'],
  ])('of %o is refused: %s', (proof, problem) => {
    expect(() => rootOfInclusion({ leafHash: leaf, path: [], ...proof }, sha256)).toThrow(problem)
  })

  test('of a tree with more leaves than 32 bits count has one hash per level', () => {
    const size = 2 ** 53 - 1
    const index = 2 ** 52
    const hashes = Array.from({ length: 53 }, () => leaf)
    const at = (length: number) =>
      rootOfInclusion({ leafHash: leaf, index, size, path: hashes.slice(0, length) }, sha256)
    expect(at(53)).toHaveLength(32)
    expect(() => at(52)).toThrow('too short')
  })
})

describe('the vectors of transparency-dev/merkle', () => {
  interface Inclusion {
    name: string
    leafIdx: number
    treeSize: number
    root: string
    leafHash: string
    proof: string[] | null
    wantErr: boolean
  }
  const cases = vectors<Inclusion>('inclusion')

  test('are some that hold and some that do not', () => {
    expect(new Set(cases.map((one) => one.wantErr)).size).toBe(2)
  })

  test.each(cases)('$name', (one) => {
    const proof = {
      leafHash: bytes(one.leafHash),
      index: one.leafIdx,
      size: one.treeSize,
      path: path(one.proof),
    }
    const holds = () => expect(hex(rootOfInclusion(proof, sha256))).toBe(hex(bytes(one.root)))
    if (one.wantErr) expect(holds).toThrow()
    else holds()
  })
})

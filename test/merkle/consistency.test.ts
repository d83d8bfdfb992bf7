import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  assertConsistent,
  assertSubtree,
  consistencyRanges,
  type LeafRange,
} from '../../src/formats/merkle/consistency.ts'
import { buildTree, leafHash, rootOfInclusion } from '../../src/formats/merkle/tree.ts'
import { bytes, consistencyPath, flipped, leaves, path, sha256, SIZES, subproof, vectors } from './trees.ts'

const MAX = SIZES.length
const hashes = leaves(MAX).map((entry) => leafHash(entry, sha256))
const hex = (hash: Uint8Array) => Buffer.from(hash).toString('hex')

const roots = new Map<string, Uint8Array>()
function rootOf({ start, end }: LeafRange): Uint8Array {
  const name = `${start}-${end}`
  const root = roots.get(name) ?? buildTree(hashes.slice(start, end), sha256).root
  roots.set(name, root)
  return root
}

/** As `consistencyPath`, of roots that are computed once for all sizes. */
function proofOf({ start, end, size }: LeafRange & { size: number }) {
  return {
    start,
    end,
    size,
    partRoot: rootOf({ start, end }),
    root: rootOf({ start: 0, end: size }),
    path: consistencyRanges({ start, end, size }).map(rootOf),
  }
}

function isSubtree(range: LeafRange): boolean {
  try {
    assertSubtree(range)
    return true
  } catch {
    return false
  }
}

const subtrees: LeafRange[] = SIZES.flatMap((end) => SIZES.map((i) => ({ start: i - 1, end }))).filter(
  ({ start, end }) => start < end && isSubtree({ start, end }),
)

const refused = (proof: Parameters<typeof assertConsistent>[0]) =>
  expect(() => assertConsistent(proof, sha256))

// Accepted by transparency-dev/merkle, refused here: an empty part, which proves nothing, and equal roots that are no hashes.
const isVacuous = ({ start, end, root }: LeafRange & { root: Uint8Array }) =>
  start === end || root.length !== 32

describe('a consistency proof', () => {
  test('is that of RFC 9162 and holds, for every two sizes to 130', () => {
    let held = 0
    for (const size of SIZES)
      for (let end = 1; end <= size; end++) {
        // Throws where it does not hold.
        assertConsistent(proofOf({ start: 0, end, size }), sha256)
        held++
      }
    expect(held).toBe((MAX * (MAX + 1)) / 2)
    // The definition is slow: its proofs are compared for the sizes around powers of two.
    for (const size of [1, 2, 3, 7, 8, 9, 31, 33, 64, 100])
      for (let end = 1; end <= size; end++)
        expect(consistencyPath(hashes.slice(0, size), { start: 0, end }).map(hex)).toEqual(
          subproof(end, leaves(size), true).map(hex),
        )
  })

  test('holds for every subtree of every size to 130', () => {
    expect(subtrees.length).toBeGreaterThan(500)
    let held = 0
    for (const size of SIZES)
      for (const { start, end } of subtrees)
        if (end <= size) {
          // Throws where it does not hold.
          assertConsistent(proofOf({ start, end, size }), sha256)
          held++
        }
    expect(held).toBeGreaterThan(500 * (MAX / 2))
  })

  const aProof = fc.tuple(fc.integer({ min: 1, max: MAX }), fc.nat()).map(([size, chosen]) => {
    const within = subtrees.filter(({ end }) => end <= size)
    return proofOf({ ...within[chosen % within.length]!, size })
  })
  const aBit = fc.tuple(fc.nat({ max: 31 }), fc.nat({ max: 7 }))

  test('is refused when a bit of either root or of its path is changed', () => {
    fc.assert(
      fc.property(aProof, aBit, fc.nat(), (proof, bit, chosen) => {
        refused({ ...proof, partRoot: flipped(proof.partRoot, bit) }).toThrow('does not lead to the root')
        refused({ ...proof, root: flipped(proof.root, bit) }).toThrow(
          'the path does not lead to the root of the tree',
        )
        fc.pre(proof.path.length > 0)
        const at = chosen % proof.path.length
        const changed = proof.path.map((hash, i) => (i === at ? flipped(hash, bit) : hash))
        refused({ ...proof, path: changed }).toThrow('does not lead to the root')
      }),
    )
  })

  test('is refused when its path has one hash more or one less', () => {
    fc.assert(
      fc.property(aProof, fc.nat(), (proof, chosen) => {
        const at = chosen % (proof.path.length + 1)
        refused({ ...proof, path: proof.path.toSpliced(at, 0, proof.root) }).toThrow('the path is too long')
        fc.pre(proof.path.length > 0)
        const shorter = proof.path.toSpliced(at % proof.path.length, 1)
        refused({ ...proof, path: shorter }).toThrow('the path is too short')
      }),
    )
  })

  test('holds for no other subtree', () => {
    for (const [start, end, size] of [
      [0, 7, 13],
      [8, 13, 13],
      [4, 6, 9],
      [96, 128, 130],
    ] as const) {
      const proof = proofOf({ start, end, size })
      for (const other of subtrees)
        if (other.start !== start || other.end !== end) refused({ ...proof, ...other }).toThrow()
    }
  })

  test.each([
    [{ start: 0, end: 0, size: 4 }, 'a subtree has a start of 0 or more and a greater end, both integers'],
    [{ start: -1, end: 1, size: 4 }, 'a subtree has a start of 0 or more and a greater end, both integers'],
    [{ start: 0, end: 1.5, size: 4 }, 'a subtree has a start of 0 or more and a greater end, both integers'],
    [{ start: 1, end: 3, size: 4 }, 'the leaves from 1 to 3 are no subtree'],
    [{ start: 0, end: 5, size: 4 }, 'the part ends at 5, after the tree of size 4'],
    [{ start: 0, end: 4, size: 4.5 }, 'the part ends at 4, after the tree of size 4.5'],
  ])('of %o is refused: %s', (part, problem) => {
    const root = rootOf({ start: 0, end: 4 })
    refused({ ...part, partRoot: root, root, path: [] }).toThrow(problem)
    expect(() => consistencyRanges(part)).toThrow(problem)
  })
})

describe('the vectors of transparency-dev/merkle', () => {
  interface Consistency {
    name: string
    size1: number
    size2: number
    root1: string
    root2: string
    proof: string[] | null
    wantErr: boolean
  }
  interface SubtreeConsistency extends Omit<Consistency, 'size1' | 'size2'>, LeafRange {
    size: number
  }
  interface SubtreeInclusion extends LeafRange {
    name: string
    leafIdx: number
    root: string
    leafHash: string
    proof: string[] | null
    wantErr: boolean
  }
  const ofTrees = vectors<Consistency>('consistency').map(({ size1, size2, ...one }) => ({
    ...one,
    start: 0,
    end: size1,
    size: size2,
  }))
  const ofSubtrees = vectors<SubtreeConsistency>('subtreeconsistency')
  const inSubtrees = vectors<SubtreeInclusion>('subtreeinclusion')

  test.each([[ofTrees], [ofSubtrees], [inSubtrees]])('are some that hold and some that do not', (cases) => {
    expect(new Set(cases.map((one) => one.wantErr)).size).toBe(2)
  })

  test.each([...ofTrees, ...ofSubtrees])('consistency $start to $end: $name', (one) => {
    const { start, end, size, wantErr } = one
    const proof = {
      start,
      end,
      size,
      partRoot: bytes(one.root1),
      root: bytes(one.root2),
      path: path(one.proof),
    }
    const holds = expect(() => assertConsistent(proof, sha256))
    if (wantErr || isVacuous(proof)) holds.toThrow()
    else holds.not.toThrow()
  })

  test.each(inSubtrees)('inclusion $start to $end: $name', (one) => {
    const { start, end, leafIdx } = one
    const [index, size] = [leafIdx - start, end - start]
    const proof = { index, size, leafHash: bytes(one.leafHash), path: path(one.proof) }
    const holds = () => {
      assertSubtree(one)
      expect(hex(rootOfInclusion(proof, sha256))).toBe(hex(bytes(one.root)))
    }
    if (one.wantErr) expect(holds).toThrow()
    else holds()
  })
})

// The definitions of RFC 9162 §2.1 as they stand there, recursive and slow: what the trees and proofs are held against.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { consistencyRanges, type LeafRange } from '../../src/formats/merkle/consistency.ts'
import { buildTree } from '../../src/formats/merkle/tree.ts'

export const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

/** The sizes that are tried one by one. */
export const SIZES = Array.from({ length: 130 }, (_, i) => i + 1)

const LEAVES = Array.from({ length: 260 }, (_, i) => new Uint8Array(i).fill(i))

/** Leaves of all lengths from none up, each another; the same ones every time. */
export function leaves(size: number): Uint8Array[] {
  if (size > LEAVES.length) throw new Error(`there are ${LEAVES.length} leaves`)
  return LEAVES.slice(0, size)
}

/** The hashes that `mth` has computed, by the leaves' lengths: without them the definitions hash each subtree again for every proof. */
const roots = new Map<string, Uint8Array>()

/** MTH of RFC 9162 §2.1.1, of entries that stand side by side in `leaves`. */
export function mth(entries: readonly Uint8Array[]): Uint8Array {
  const name = `${entries[0]!.length}-${entries.length}`
  const root = roots.get(name) ?? rootOf(entries)
  roots.set(name, root)
  return root
}

function rootOf(entries: readonly Uint8Array[]): Uint8Array {
  const [first] = entries
  if (entries.length === 1) return sha256(Buffer.concat([Buffer.of(0), first!]))
  const k = split(entries.length)
  return sha256(Buffer.concat([Buffer.of(1), mth(entries.slice(0, k)), mth(entries.slice(k))]))
}

/** PATH of RFC 9162 §2.1.3.1. */
export function inclusionPath(m: number, entries: readonly Uint8Array[]): Uint8Array[] {
  if (entries.length === 1) return []
  const k = split(entries.length)
  return m < k
    ? [...inclusionPath(m, entries.slice(0, k)), mth(entries.slice(k))]
    : [...inclusionPath(m - k, entries.slice(k)), mth(entries.slice(0, k))]
}

/** SUBPROOF of RFC 9162 §2.1.4.1. */
export function subproof(m: number, entries: readonly Uint8Array[], complete: boolean): Uint8Array[] {
  if (m === entries.length) return complete ? [] : [mth(entries)]
  const k = split(entries.length)
  return m <= k
    ? [...subproof(m, entries.slice(0, k), complete), mth(entries.slice(k))]
    : [...subproof(m - k, entries.slice(k), false), mth(entries.slice(0, k))]
}

function split(size: number): number {
  return 2 ** (31 - Math.clz32(size - 1))
}

/** The hash with one bit changed. */
export const flipped = (of: Uint8Array, [byte, bit]: [number, number]): Uint8Array =>
  of.map((value, i) => (i === byte ? value ^ (1 << bit) : value))

/** The test data of transparency-dev/merkle (test/vectors/README.md); a missing list is an empty one there. */
export function vectors<T>(name: string): T[] {
  const file = join(import.meta.dirname, '..', 'vectors', 'merkle', `${name}.json`)
  return JSON.parse(readFileSync(file, 'utf8')) as T[]
}

export const bytes = (base64: string): Uint8Array => Buffer.from(base64, 'base64')
export const path = (hashes: readonly string[] | null): Uint8Array[] => (hashes ?? []).map(bytes)

/**
 * @param leafHashes of the whole tree
 * @returns the proof that the subtree is part of it (SUBTREE_PROOF; from 0, PROOF of RFC 9162 §2.1.4.1)
 * @throws Error when the range is no subtree or ends after the tree
 */
export function consistencyPath(leafHashes: readonly Uint8Array[], { start, end }: LeafRange): Uint8Array[] {
  const ranges = consistencyRanges({ start, end, size: leafHashes.length })
  return ranges.map((range) => buildTree(leafHashes.slice(range.start, range.end), sha256).root)
}

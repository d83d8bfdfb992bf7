// The ids of the log's entries, in sorted runs: two neighbours in a run prove that no id between them is in it. A run holds the ids of the
// entries [first, end), its leaves are sorted, and an entry of kind `ids` states the root of their tree (RFC 9162 hashing). Sixteen runs of
// a level are merged into one run of the next level. Browser-safe.
import type { Sha256 } from '../merkle/tree.ts'
import { toHex } from '../bytes.ts'
import { LATE } from './entry.ts'

/** The kinds with ids, by their names in proofs of the API, and the kind of their entries. */
export const idKinds = {
  authorization: 'authorization',
  receipt: 'receipt',
  refusal: 'refusal',
  change: 'governance-change',
  event: 'audit-event',
  approval: 'approval',
  transition: 'intent-transition',
  confirmation: 'provider-confirmation',
  webhook: 'webhook',
  'approval-request': 'approval-request',
  'approval-request-close': 'approval-request-close',
  'approval-request-note': 'approval-request-note',
} as const
export type IdKind = keyof typeof idKinds

/** The kinds that writers put into the log. */
export type LoggedKind = (typeof idKinds)[IdKind]

/** The kinds of GET /log/proofs/{kind}/{id}, and the kind of each one's entry: a record is proven by its receipt, which states its hash. */
export const proofKinds = { ...idKinds, record: 'receipt' } as const

export function isIdKind(kind: string): kind is IdKind {
  return Object.hasOwn(idKinds, kind)
}

/** Kinds of entries that the log adds itself; they belong to no artifact and have no id. */
const OWN_KINDS: readonly string[] = ['heads', 'ids']

/** Whether entries of a kind have an id. */
export function hasId(kind: string): boolean {
  return !OWN_KINDS.includes(kind)
}

const encoder = new TextEncoder()

/** The hash that represents an id: SHA-256 of its `idText`, in UTF-8. */
export function idKey(item: { kind: string; id: string }, sha256: Sha256): Uint8Array {
  return sha256(encoder.encode(idText(item)))
}

/**
 * kind ‖ 0x00 ‖ id
 * @param kind kind of the entry; a late entry has the key that it would have had in time
 * @param id UUIDs in lower case
 */
export function idText({ kind, id }: { kind: string; id: string }): string {
  return `${kind.startsWith(LATE) ? kind.slice(LATE.length) : kind}\0${id}`
}

export const KEY_BYTES = 32
/** A leaf's data: the key, then the index of the entry in 8 bytes. Leaves are sorted by these bytes, and no two are equal. */
export const LEAF_BYTES = 40

export function idLeaf(key: Uint8Array, index: number): Uint8Array {
  const leaf = new Uint8Array(LEAF_BYTES)
  leaf.set(key)
  new DataView(leaf.buffer).setBigUint64(KEY_BYTES, BigInt(index))
  return leaf
}

/** The index in a leaf. */
export function indexOfLeaf(leaf: Uint8Array): number {
  return Number(new DataView(leaf.buffer, leaf.byteOffset, LEAF_BYTES).getBigUint64(KEY_BYTES))
}

/** The members of a run that the log states. */
interface Run {
  /** 0, or one more than the level of the runs that it was merged from. */
  readonly level: number
  /** The index of the first entry that the run covers. Entries of the log itself, such as heads, have no id and no leaf. */
  readonly first: number
  /** The index after the last entry. */
  readonly end: number
  /** Number of ids, 1 or more. */
  readonly size: number
  /** The root of the tree over its leaves, 32 bytes. */
  readonly root: Uint8Array
}

/**
 * The text whose SHA-256 an entry of kind `ids` states: one line of ASCII without a newline,
 * `countersign/1 ids <level> <first> <end> <size> <root in lowercase hex>`, its numbers in decimal.
 */
export function runText({ level, first, end, size, root }: Run): string {
  return `countersign/1 ids ${level} ${first} ${end} ${size} ${toHex(root)}`
}

/** The hash of the entry that states a run, in lowercase hex. */
export function runHash(run: Run, sha256: Sha256): string {
  return toHex(sha256(encoder.encode(runText(run))))
}

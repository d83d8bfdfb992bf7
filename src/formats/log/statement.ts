// Reads the log's answers on absence and completeness member by member, and checks the entries in them. Nothing in an answer is trusted
// before these checks. Browser-safe.
import { equalBytes } from '../bytes.ts'
import { leafHash, rootOfInclusion } from '../merkle/tree.ts'
import { parseHash, PATH_MAX, type Checkpoint, type OpenedCheckpoint } from './checkpoint.ts'
import type { NoteCrypto } from './note.ts'
import { openByPolicy, type LogPolicy } from './policy.ts'

export type Members = Readonly<Record<string, unknown>>

/** A policy names the trusted signers of checkpoints; a function opens a checkpoint, and throws if no trusted key signed it. */
export type OpenedBy = LogPolicy | ((note: string) => OpenedCheckpoint)

export function openedBy(by: OpenedBy, note: string, crypto: NoteCrypto): OpenedCheckpoint {
  return typeof by === 'function' ? by(note) : openByPolicy(note, by, crypto)
}

/** @throws Error that names the entry as `which`, when its path does not lead to the root of the checkpoint */
export function assertLogged(
  { entry, index, path }: { readonly entry: string; readonly index: number; readonly path: Uint8Array[] },
  which: string,
  { size, root }: Checkpoint,
  { sha256 }: NoteCrypto,
): void {
  const leaf = leafHash(new TextEncoder().encode(entry), sha256)
  if (!equalBytes(rootOfInclusion({ leafHash: leaf, index, size, path }, sha256), root))
    throw new Error(`${which} is not at index ${index} of the log: its path does not lead to the root`)
}

export function membersOf(value: unknown, which: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw new Error(`${which} is not an object`)
}

export function textOf(members: Members, name: string): string {
  const value = members[name]
  if (typeof value === 'string') return value
  throw new Error(`${name} is not a string`)
}

export function integerOf(members: Members, name: string): number {
  const value = members[name]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`${name} is not an integer of 0 or more`)
}

export function listOf(members: Members, name: string, max = Infinity): readonly unknown[] {
  const value = members[name]
  if (!Array.isArray(value)) throw new Error(`${name} is not a list`)
  if (value.length > max) throw new Error(`${name} has ${value.length} items; at most ${max} are read`)
  return value
}

export function pathOf(members: Members): Uint8Array[] {
  return listOf(members, 'path', PATH_MAX).map((hash) => hashOf(hash, 'a hash of a path'))
}

export function hashOf(value: unknown, what: string): Uint8Array {
  return parseHash(typeof value === 'string' ? value : '', what)
}

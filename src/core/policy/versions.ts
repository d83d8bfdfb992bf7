// Versions of a policy: their status, the order in which they are read, their successors, and the stored members of a version
// (decisions §6, §12).
import { DocumentError } from '../cel/mistakes.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import type { PolicyStanding } from '../../formats/schemas/policy-version.ts'
import type { PolicyVersionRow, StoredPolicyVersion } from '../../store/tables/policy-versions.ts'
import { compilePolicy, type CompiledPolicy } from './check.ts'

export function standingOf({
  approvedBy,
  retiredBy,
}: Pick<StoredPolicyVersion, 'approvedBy' | 'retiredBy'>): PolicyStanding {
  if (retiredBy !== null) return 'RETIRED'
  return approvedBy === null ? 'LOADED' : 'APPROVED'
}

type Replaceable = Pick<StoredPolicyVersion, 'name' | 'version' | 'approvedByChange' | 'retiredByChange'>

/**
 * The version that replaced a retired version: the same change approved it.
 * @param versions versions of any policies
 * @returns undefined when the version is not retired, or was retired without a successor
 */
export function successorOf<V extends Replaceable>(
  { name, retiredByChange }: Replaceable,
  versions: readonly V[],
): V | undefined {
  if (retiredByChange === null) return undefined
  return versions.find((row) => row.name === name && row.approvedByChange === retiredByChange)
}

/**
 * The versions that a version replaced, directly or through other versions.
 * @param versions versions of any policies
 * @returns each once, directly replaced versions first
 */
export function replacedBy<V extends Replaceable>(row: V, versions: readonly V[]): readonly V[] {
  const reached = new Set([row])
  for (const { name, approvedByChange } of reached)
    for (const one of approvedByChange === null ? [] : versions)
      if (one.name === name && one.retiredByChange === approvedByChange) reached.add(one)
  reached.delete(row)
  return [...reached]
}

type Version = Pick<StoredPolicyVersion, 'name' | 'version'>

/** Sorts by name, the highest version first: 1.10.0 before 1.9.0. */
export function byNameAndVersion(a: Version, b: Version): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return compareVersions(b.version, a.version)
}

/** The newest approval first; versions with the same approval time as in `byNameAndVersion`. */
export function byApproval(a: StoredPolicyVersion, b: StoredPolicyVersion): number {
  const before = a.approvedAt ?? ''
  const after = b.approvedAt ?? ''
  return before === after ? byNameAndVersion(a, b) : before < after ? 1 : -1
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  const at = left?.findIndex((part, i) => part !== right?.[i]) ?? -1
  return at === -1 ? 0 : (left?.[at] ?? 0) - (right?.[at] ?? 0)
}

/** No check is needed: a stored version was compiled before. */
export function documentOf({ content }: Pick<PolicyVersionRow, 'content'>): PolicyDocument {
  return JSON.parse(content) as PolicyDocument
}

/** Undefined: another release wrote it with terms that this release does not know. Nothing is executed under it here. */
export function compileStored({
  name,
  version,
  content,
}: Pick<PolicyVersionRow, 'name' | 'version' | 'content'>): CompiledPolicy | undefined {
  try {
    return compilePolicy(JSON.parse(content), `${name}/${version}`, { isStored: true }).policy
  } catch (error) {
    if (error instanceof DocumentError) return undefined
    throw error
  }
}

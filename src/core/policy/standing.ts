// How a policy version stands: only loaded, approved by humans, or retired by them (decisions §6, §12).
import type { PolicyStanding } from '../../formats/schemas/policy-version.ts'
import type { StoredPolicyVersion } from '../../store/tables/policy-versions.ts'

export function standingOf({
  approvedBy,
  retiredBy,
}: Pick<StoredPolicyVersion, 'approvedBy' | 'retiredBy'>): PolicyStanding {
  if (retiredBy !== null) return 'RETIRED'
  return approvedBy === null ? 'LOADED' : 'APPROVED'
}

type Replaceable = Pick<StoredPolicyVersion, 'name' | 'version' | 'approvedByChange' | 'retiredByChange'>

/**
 * The version that took the place of a retired one: the one that the same change approved.
 * @param versions of any names
 * @returns undefined where it is not retired, or was retired without a successor
 */
export function successorOf<V extends Replaceable>(
  { name, retiredByChange }: Replaceable,
  versions: readonly V[],
): V | undefined {
  if (retiredByChange === null) return undefined
  return versions.find((row) => row.name === name && row.approvedByChange === retiredByChange)
}

/**
 * The versions that a version took the place of, directly or by way of another one.
 * @param versions of any names
 * @returns each once, those that it replaced itself first
 */
export function replacedBy<V extends Replaceable>(row: V, versions: readonly V[]): readonly V[] {
  const reached = new Set([row])
  for (const { name, approvedByChange } of reached)
    for (const one of approvedByChange === null ? [] : versions)
      if (one.name === name && one.retiredByChange === approvedByChange) reached.add(one)
  reached.delete(row)
  return [...reached]
}

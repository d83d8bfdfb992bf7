// In which order policy versions are read: by number, not by text, and by when they were approved.
import type { StoredPolicyVersion } from '../../store/tables/policy-versions.ts'

type Version = Pick<StoredPolicyVersion, 'name' | 'version'>

/** Sorts by name, the highest version first: 1.10.0 before 1.9.0. */
export function byNameAndVersion(a: Version, b: Version): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return compareVersions(b.version, a.version)
}

/** The newest approval first; what was approved in one go as above. */
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

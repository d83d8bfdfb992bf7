// The policy versions of this thread, compiled from what the database holds: the approved content, never the file's.
import { compilePolicy, type CompiledPolicy } from '../src/policy/check.ts'
import type { PolicyVersionRow } from '../src/tables/policy-versions.ts'

export interface LoadedPolicy {
  readonly policy: CompiledPolicy
  readonly contentHash: string
  readonly approved: boolean
}

export interface Policies {
  find(reference: { name: string; version: string }): LoadedPolicy | undefined
}

export function openPolicies(rows: readonly PolicyVersionRow[]): Policies {
  const byName = new Map<string, Map<string, LoadedPolicy>>()
  for (const { name, version, content, contentHash, approvedBy } of rows) {
    const versions = byName.get(name) ?? new Map<string, LoadedPolicy>()
    const { policy } = compilePolicy(JSON.parse(content), `${name}/${version}`)
    byName.set(name, versions.set(version, { policy, contentHash, approved: approvedBy !== null }))
  }
  return { find: ({ name, version }) => byName.get(name)?.get(version) }
}

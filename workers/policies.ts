// The policy versions of this thread, compiled from what the database holds: the approved content, never the file's.
import { PolicyError } from '../src/policy/error.ts'
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

export interface ReplaceablePolicies extends Policies {
  /** What is in effect from now on. Contents that were compiled before are not compiled again. */
  replace(rows: readonly PolicyVersionRow[]): void
}

export function openPolicies(rows: readonly PolicyVersionRow[]): ReplaceablePolicies {
  let byName = load(rows, new Map())
  return {
    find: ({ name, version }) => byName.get(name)?.get(version),
    replace(newRows) {
      byName = load(newRows, byName)
    },
  }
}

type ByName = ReadonlyMap<string, ReadonlyMap<string, LoadedPolicy>>

function load(rows: readonly PolicyVersionRow[], before: ByName): ByName {
  const byName = new Map<string, Map<string, LoadedPolicy>>()
  for (const row of rows) {
    const known = before.get(row.name)?.get(row.version)
    const policy = known?.contentHash === row.contentHash ? known.policy : compiled(row)
    if (policy === undefined) continue
    const loaded = { policy, contentHash: row.contentHash, approved: row.approvedBy !== null }
    const versions = byName.get(row.name) ?? new Map<string, LoadedPolicy>()
    byName.set(row.name, versions.set(row.version, loaded))
  }
  return byName
}

/** Undefined: written by a newer release, in words that this one does not know. Nothing is executed under it here. */
function compiled({ name, version, content }: PolicyVersionRow): CompiledPolicy | undefined {
  try {
    return compilePolicy(JSON.parse(content), `${name}/${version}`).policy
  } catch (error) {
    if (error instanceof PolicyError) return undefined
    throw error
  }
}

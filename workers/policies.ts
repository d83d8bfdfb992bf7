// The policy versions of this thread, compiled from what the database holds: the approved content, never the file's.
import type { CompiledPolicy } from '../src/core/policy/check.ts'
import { compileStored } from '../src/core/policy/stored.ts'
import type { PolicyVersionRow } from '../src/core/tables/policy-versions.ts'

export interface LoadedPolicy {
  readonly policy: CompiledPolicy
  readonly contentHash: string
  readonly approved: boolean
  /**
   * Since when a version of this name has a velocity limit, ISO 8601; undefined: none has. Executions under any version of it are
   * then listed for `history` to count.
   */
  readonly limitedSince: string | undefined
}

export interface Policies {
  find(reference: { name: string; version: string }): LoadedPolicy | undefined
}

export interface OpenPolicies extends Policies {
  /** Whether any version has this name. */
  has(name: string): boolean
  /** Whether any version of any name governs this action. */
  govern(action: string): boolean
  /** What is in effect from now on. Contents that were compiled before are not compiled again. */
  replace(rows: readonly PolicyVersionRow[]): void
}

export function openPolicies(rows: readonly PolicyVersionRow[]): OpenPolicies {
  let byName = load(rows, new Map())
  let actions = governed(byName)
  return {
    find: ({ name, version }) => byName.get(name)?.get(version),
    has: (name) => byName.has(name),
    govern: (action) => actions.has(action),
    replace(newRows) {
      byName = load(newRows, byName)
      actions = governed(byName)
    },
  }
}

type ByName = ReadonlyMap<string, ReadonlyMap<string, LoadedPolicy>>

function governed(byName: ByName): ReadonlySet<string> {
  const actions = new Set<string>()
  for (const versions of byName.values())
    for (const { policy } of versions.values()) for (const action of policy.capabilities) actions.add(action)
  return actions
}

function load(rows: readonly PolicyVersionRow[], before: ByName): ByName {
  const byName = new Map<string, Map<string, LoadedPolicy>>()
  for (const [name, versions] of Map.groupBy(rows, (row) => row.name)) {
    const compiled = versions.flatMap((row) => {
      const known = before.get(name)?.get(row.version)
      const policy = known?.contentHash === row.contentHash ? known.policy : compileStored(row)
      return policy === undefined ? [] : [{ row, policy }]
    })
    const limitedSince = compiled
      .filter(({ policy }) => policy.verify.some(({ by }) => by === 'history'))
      .map(({ row }) => row.loadedAt)
      .toSorted((a, b) => (a < b ? -1 : 1))[0]
    const loaded = compiled.map(({ row, policy }): [string, LoadedPolicy] => [
      row.version,
      { policy, contentHash: row.contentHash, approved: row.approvedBy !== null, limitedSince },
    ])
    byName.set(name, new Map(loaded))
  }
  return byName
}

// The policy versions of this thread, compiled from the approved content in the database, never from the files.
import type { CompiledPolicy } from '../src/core/policy/check.ts'
import type { Grouping } from '../src/core/policy/counting.ts'
import { compileStored, standingOf, successorOf } from '../src/core/policy/versions.ts'
import type { PolicyStanding } from '../src/formats/schemas/policy-version.ts'
import type { StoredPolicyVersion } from '../src/store/tables/policy-versions.ts'

export interface LoadedPolicy {
  readonly policy: CompiledPolicy
  readonly contentHash: string
  readonly standing: PolicyStanding
  /** The version that took its place when it was retired; undefined: none. */
  readonly successor: string | undefined
  /**
   * Since when a version of this name has a velocity limit without `per` and `where`, ISO 8601; undefined: none has. Executions under any
   * version of it are then listed for `history` to count.
   */
  readonly limitedSince: string | undefined
  /** The groupings of the limits of all its versions that are not retired: executions that any of them releases are put into these groups. */
  readonly groupings: readonly Grouping[]
}

export interface Policies {
  find(reference: { name: string; version: string }): LoadedPolicy | undefined
}

export interface OpenPolicies extends Policies {
  /** Whether any version has this name. */
  has(name: string): boolean
  /** Whether any version of any name governs this action. */
  govern(action: string): boolean
  /** Puts the versions in effect from now on. Contents that were compiled before are not compiled again. */
  replace(rows: readonly StoredPolicyVersion[]): void
}

/** Compiles when a policy is first looked for: a thread that decides nothing need not. */
export function openPolicies(rows: readonly StoredPolicyVersion[]): OpenPolicies {
  let newest = rows
  let loaded:
    { rows: readonly StoredPolicyVersion[]; byName: ByName; actions: ReadonlySet<string> } | undefined
  function inEffect() {
    if (loaded?.rows !== newest) {
      const byName = load(newest, loaded?.byName ?? new Map())
      loaded = { rows: newest, byName, actions: governed(byName) }
    }
    return loaded
  }
  return {
    find: ({ name, version }) => inEffect().byName.get(name)?.get(version),
    has: (name) => inEffect().byName.has(name),
    govern: (action) => inEffect().actions.has(action),
    replace(newRows) {
      newest = newRows
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

function load(rows: readonly StoredPolicyVersion[], before: ByName): ByName {
  const byName = new Map<string, Map<string, LoadedPolicy>>()
  for (const [name, versions] of Map.groupBy(rows, (row) => row.name)) {
    const compiled = versions.flatMap((row) => {
      const known = before.get(name)?.get(row.version)
      const policy = known?.contentHash === row.contentHash ? known.policy : compileStored(row)
      return policy === undefined ? [] : [{ row, policy }]
    })
    const limitedSince = compiled
      .filter(({ policy: { verify, groupings } }) =>
        verify.some(({ by, signal }) => by === 'history' && !groupings.has(signal)),
      )
      .map(({ row }) => row.loadedAt)
      .toSorted((a, b) => (a < b ? -1 : 1))[0]
    const groupings = groupingsOf(compiled)
    const loaded = compiled.map(({ row, policy }): [string, LoadedPolicy] => [
      row.version,
      {
        policy,
        contentHash: row.contentHash,
        standing: standingOf(row),
        successor: successorOf(row, versions)?.version,
        limitedSince,
        groupings,
      },
    ])
    byName.set(name, new Map(loaded))
  }
  return byName
}

function groupingsOf(
  versions: readonly { readonly row: StoredPolicyVersion; readonly policy: CompiledPolicy }[],
): Grouping[] {
  const byText = new Map<string, Grouping>()
  for (const { row, policy } of versions) {
    if (standingOf(row) === 'RETIRED') continue
    for (const grouping of policy.groupings.values()) byText.set(grouping.text, grouping)
  }
  return [...byText.values()]
}

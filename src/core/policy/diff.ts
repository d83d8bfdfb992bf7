// What a policy version changes against another, for whoever has to check it (decisions §7 `diff`).
import { canonicalize, type Json } from '../json/canonical.ts'
import type { PolicyDocument } from '../schemas/policy.ts'

interface MemberDiff {
  readonly added: { readonly [name: string]: Json }
  readonly removed: { readonly [name: string]: Json }
  readonly changed: { readonly [name: string]: { readonly from: Json; readonly to: Json } }
}

/** Places where nothing changed are left out; `rulesReordered`: the first that matches decides, so their order does. */
export function diffPolicies(from: PolicyDocument, to: PolicyDocument): { readonly [place: string]: Json } {
  const [before, after] = [placesOf(from), placesOf(to)]
  const differing = Object.entries(after).flatMap(([place, members]) => {
    const diff = diffMembers(before[place] ?? {}, members)
    return diff === undefined ? [] : [[place, { ...diff }] as const]
  })
  return { ...Object.fromEntries(differing), ...(isReordered(from, to) ? { rulesReordered: true } : {}) }
}

type Members = { readonly [name: string]: Json }

function placesOf(document: PolicyDocument): Readonly<Record<string, Members>> {
  const { capabilities, signals, bindings = {}, verify = {}, rules } = document
  return {
    capabilities: Object.fromEntries(capabilities.map((name) => [name, true])),
    signals,
    bindings,
    verify,
    rules: Object.fromEntries(rules.map(({ id, ...rule }) => [id, rule])),
  }
}

function diffMembers(from: Members, to: Members): MemberDiff | undefined {
  const added = Object.entries(to).filter(([name]) => !Object.hasOwn(from, name))
  const removed = Object.entries(from).filter(([name]) => !Object.hasOwn(to, name))
  const changed = Object.entries(to).flatMap(([name, value]) => {
    const before = from[name]
    return before === undefined || canonicalize(before) === canonicalize(value)
      ? []
      : [[name, { from: before, to: value }] as const]
  })
  if (added.length + removed.length + changed.length === 0) return undefined
  return {
    added: Object.fromEntries(added),
    removed: Object.fromEntries(removed),
    changed: Object.fromEntries(changed),
  }
}

/** Whether the rules that both have are in another order. */
function isReordered(from: PolicyDocument, to: PolicyDocument): boolean {
  const before = from.rules.map(({ id }) => id).filter((id) => to.rules.some((rule) => rule.id === id))
  const after = to.rules.map(({ id }) => id).filter((id) => before.includes(id))
  return before.some((id, i) => after[i] !== id)
}

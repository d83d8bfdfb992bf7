// The diff between two versions of a document, for the checker of a change (decisions §7 `diff`). Browser-safe.
import { canonicalize, type Json } from '../../formats/json/canonical.ts'

export type Members = { readonly [name: string]: Json }
type Rules = readonly { readonly [member: string]: Json; readonly id: string }[]

interface MemberDiff {
  readonly added: Members
  readonly removed: Members
  readonly changed: { readonly [name: string]: { readonly from: Json; readonly to: Json } }
}

/** A document's ordered rules, and its other members by place. */
interface Places {
  readonly places: { readonly [place: string]: Members }
  readonly rules: Rules
}

/**
 * Places without changes are left out. The first matching rule decides, so `rulesReordered` says whether the remaining rules have another
 * order, and `rulesAfter` names the rule before each new rule; null: the new rule is the first.
 */
export function diffDocuments(from: Places, to: Places): Members {
  const [before, after] = [from, to].map(({ places, rules }): Record<string, Members> => ({
    ...places,
    rules: Object.fromEntries(rules.map(({ id, ...rule }) => [id, rule])),
  }))
  const differing = Object.entries(after ?? {}).flatMap(([place, members]) => {
    const diff = diffMembers(before?.[place] ?? {}, members)
    return diff === undefined ? [] : [[place, { ...diff }] as const]
  })
  const rulesAfter = placesOfNew(from, to)
  return {
    ...Object.fromEntries(differing),
    ...(Object.keys(rulesAfter).length === 0 ? {} : { rulesAfter }),
    ...(isReordered(from, to) ? { rulesReordered: true } : {}),
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

function placesOfNew(from: Places, to: Places): Record<string, string | null> {
  const before = new Set(from.rules.map(({ id }) => id))
  return Object.fromEntries(
    to.rules.flatMap(({ id }, i) => (before.has(id) ? [] : [[id, to.rules[i - 1]?.id ?? null] as const])),
  )
}

/** Whether the rules that both documents have are in another order. */
function isReordered(from: Places, to: Places): boolean {
  const before = from.rules.map(({ id }) => id).filter((id) => to.rules.some((rule) => rule.id === id))
  const after = to.rules.map(({ id }) => id).filter((id) => before.includes(id))
  return before.some((id, i) => after[i] !== id)
}

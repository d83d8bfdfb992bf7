// The differences between two versions of a policy, for people. Browser-safe.
import { diffDocuments, type Members } from '../cel/diff.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'

/** Additions, removals and changes by place, as in the `diff` of a change, and whether the rules have another order. */
export function diffPolicies(from: PolicyDocument, to: PolicyDocument): Members {
  return diffDocuments(placesOf(from), placesOf(to))
}

function placesOf(document: PolicyDocument) {
  const {
    description,
    capabilities,
    display = {},
    signals,
    bindings = {},
    verify = {},
    ask = {},
    closeQuorum,
    rules,
  } = document
  return {
    places: {
      capabilities: Object.fromEntries(capabilities.map((name) => [name, true])),
      display,
      signals,
      bindings,
      verify,
      ask,
      document: { description, ...(closeQuorum === undefined ? {} : { closeQuorum }) },
    },
    rules,
  }
}

/** Reasons that name a number which the condition of their rule no longer has: a refused caller would read the old limit. */
export function outdatedReasons(from: PolicyDocument, to: PolicyDocument): string[] {
  return to.rules.flatMap(({ id, when, reason }) => {
    const before = from.rules.find((rule) => rule.id === id)
    const present = numbersIn(when)
    const named = numbersIn(reason)
    return [...numbersIn(before?.when ?? '')]
      .filter((number) => !present.has(number) && named.has(number))
      .map(
        (number) =>
          `The reason of rule ${id} names ${number}, which its condition no longer has: ${JSON.stringify(reason)}`,
      )
  })
}

/** 10000.0, 10,000 and 10000 are the same number. */
function numbersIn(text: string): ReadonlySet<number> {
  const found = text.match(/\d+(,\d{3})*(\.\d+)?/g) ?? []
  return new Set(found.map((digits) => Number(digits.replaceAll(',', ''))))
}

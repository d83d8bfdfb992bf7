// A policy document as the text of a policy.yaml, for a person who writes the next version.
import { stringify } from 'yaml'
import { PolicyDocument } from '../../formats/schemas/policy.ts'

const members = Object.keys(PolicyDocument.properties)
const ruleMembers = Object.keys(PolicyDocument.properties.rules.items.properties)

/**
 * Writes a document in the handbook's order of members: a stored document has them in alphabetical order.
 * @returns YAML 1.2 that reads as the same document
 */
export function policyText(document: PolicyDocument): string {
  const rules = document.rules.map((rule) => inOrder(rule, ruleMembers))
  // Folded lines would change the columns that mistakes in an expression name.
  return stringify(inOrder({ ...document, rules }, members), { lineWidth: 0 })
}

function inOrder(object: object, names: readonly string[]): object {
  const entries = Object.entries(object)
  return Object.fromEntries(entries.toSorted(([a], [b]) => names.indexOf(a) - names.indexOf(b)))
}

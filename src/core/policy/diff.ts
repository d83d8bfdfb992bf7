// The diff says how a policy version differs from another.
import { diffDocuments, type Members } from '../cel/diff.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'

export function diffPolicies(from: PolicyDocument, to: PolicyDocument): Members {
  return diffDocuments(placesOf(from), placesOf(to))
}

function placesOf(document: PolicyDocument) {
  const { capabilities, display = {}, signals, bindings = {}, verify = {}, closeQuorum, rules } = document
  return {
    places: {
      capabilities: Object.fromEntries(capabilities.map((name) => [name, true])),
      display,
      signals,
      bindings,
      verify,
      document: closeQuorum === undefined ? {} : { closeQuorum },
    },
    rules,
  }
}

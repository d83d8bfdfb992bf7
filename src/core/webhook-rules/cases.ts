// <provider>.cases.yaml beside the rules of a provider: the intended results of the rules for deliveries, run by `countersign webhooks check`
// and, for shipped rules, by the test suite.
//
//   given:                        # one delivery; every case starts from it
//     headers: {}
//     payload: { event: paid, reference: 7d9f2c1e-5b64-4a3f-9e0d-2c8b7a6f5e41, amount: 1999 }
//     transaction: { intent: { action: acme:pay, parameters: { amount: 1999 } } }
//   cases:
//     - case: A payment of another amount.
//       payload: { amount: 5 }    # changes to the given payload, member by member; null removes a member
//       headers: {}               # likewise
//       change: {}                # likewise, of the transaction
//       rule: paid                # the rule that is taken; or else `outcome: no-match | ambiguous | rule-failed`
//       transactionId: 7d9f…      # optional
//       holds: [false]            # its comparisons in order: true, false, or null if it fails; left out: all true
import { Type } from 'typebox'
import { documentOf } from '../cel/mistakes.ts'
import { readYaml } from '../cel/yaml.ts'
import { isObject, type Fields } from '../../formats/json/fields.ts'
import { closed, Uuid } from '../../formats/schemas/primitives.ts'
import { compare, matchRules } from './match.ts'
import type { WebhookRule } from './parse.ts'

export const CASES_SUFFIX = '.cases.yaml'

const Members = Type.Record(Type.String(), Type.Unknown())
const Headers = Type.Record(Type.String(), Type.String())

const Case = closed({
  case: Type.String({ minLength: 1 }),
  payload: Type.Optional(Members),
  headers: Type.Optional(Headers),
  change: Type.Optional(Members),
  rule: Type.Optional(Type.String()),
  outcome: Type.Optional(Type.Enum(['no-match', 'ambiguous', 'rule-failed'])),
  transactionId: Type.Optional(Uuid),
  holds: Type.Optional(Type.Array(Type.Union([Type.Boolean(), Type.Null()]))),
})
type Case = Type.Static<typeof Case>

const CasesFile = closed({
  given: closed({
    headers: Headers,
    payload: Members,
    transaction: Members,
  }),
  cases: Type.Array(Case, { minItems: 1 }),
})
type Given = Type.Static<typeof CasesFile>['given']

const casesOf = documentOf(CasesFile)

/**
 * Runs the cases of a provider's rules.
 *
 * @param file the cases
 * @returns the number of cases, and a sentence for every case with another result than expected and every rule that no case expects
 * @throws DocumentError when the file is not a file of cases
 */
export function runCases(
  rules: readonly WebhookRule[],
  file: string,
): { readonly count: number; readonly failures: readonly string[] } {
  const { value, positionOf } = readYaml(file)
  const { given, cases } = casesOf(value, { file, positionOf })
  const failures = cases.flatMap((expected, i) => {
    const problem = problemOf(rules, given, expected)
    return problem === undefined
      ? []
      : [`line ${positionOf(['cases', i])?.line}: ${expected.case} ${problem}`]
  })
  const expected = new Set(cases.map(({ rule }) => rule))
  const untried = rules.filter(({ id }) => !expected.has(id)).map(({ id }) => `No case expects rule ${id}.`)
  return { count: cases.length, failures: [...failures, ...untried] }
}

function problemOf(rules: readonly WebhookRule[], given: Given, expected: Case): string | undefined {
  if ((expected.rule === undefined) === (expected.outcome === undefined))
    return 'It must name either a rule or an outcome.'
  const payload = changed(given.payload, expected.payload)
  const headers = { ...given.headers, ...expected.headers }
  const result = matchRules(rules, { payload, headers })
  if ('outcome' in result) {
    if (result.outcome === expected.outcome) return undefined
    return `But the outcome is ${result.outcome}: ${result.detail}`
  }
  if (result.ruleId !== expected.rule) return `But it is taken by rule ${result.ruleId}.`
  const { transactionId = result.transaction } = expected
  if (result.transaction !== transactionId.toLowerCase()) return `But it names ${result.transaction}.`
  const transaction = changed(given.transaction, expected.change)
  const comparisons = compare(result.rule, { payload, headers, transaction })
  const due = expected.holds ?? comparisons.map(() => true)
  const found = comparisons.map(({ holds }) => holds)
  if (JSON.stringify(found) === JSON.stringify(due)) return undefined
  return `But its comparisons are ${found.map(String).join(', ') || 'none'}.`
}

/** RFC 7396. */
function changed(given: unknown, changes: unknown): unknown {
  if (!isObject(changes)) return changes === undefined ? given : changes
  const members: Fields = isObject(given) ? { ...given } : {}
  for (const [name, change] of Object.entries(changes)) {
    if (change === null) delete members[name]
    else members[name] = changed(members[name], change)
  }
  return members
}

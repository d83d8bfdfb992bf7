// cases.yaml beside a policy.yaml: the intended decisions of the policy, run by `countersign policy test` and, for shipped policies,
// by the test suite (decisions §6).
//
//   given:                       # one transaction; every case starts from it
//     now: 2026-03-02T10:00:00Z
//     intent: { action: vendor:pay, target: vendor-4711, parameters: { amount: 950 } }
//     signals: { vendorVerified: true, paymentAmount: 950 }
//     authority: {}              # as metadata, only where rules read it
//   cases:
//     - case: An unverified vendor is not paid.
//       signals: { vendorVerified: false }     # changes to the given signals; null removes one
//       parameters: { amount: 1200 }           # likewise; also action, target, now, authority, metadata
//       outcome: rejected                      # approved | rejected | denied
//       rule: unverified-vendor                # null: no rule decided
//       reason: The vendor is not verified.    # optional
import { Type } from 'typebox'
import { DocumentError, documentOf, lineOf, type DocumentMistake } from '../cel/mistakes.ts'
import type { YamlFile } from '../cel/yaml.ts'
import { closed } from '../../formats/schemas/primitives.ts'
import type { CompiledPolicy } from './check.ts'
import { evaluate, type Evaluation } from './evaluate.ts'

const Members = Type.Record(Type.String(), Type.Unknown())

const Case = closed({
  case: Type.String({ minLength: 1 }),
  now: Type.Optional(Type.String()),
  action: Type.Optional(Type.String()),
  target: Type.Optional(Type.String()),
  parameters: Type.Optional(Members),
  signals: Type.Optional(Members),
  authority: Type.Optional(Members),
  metadata: Type.Optional(Members),
  outcome: Type.Enum(['approved', 'rejected', 'denied']),
  rule: Type.Union([Type.String(), Type.Null()]),
  reason: Type.Optional(Type.String()),
})
type Case = Type.Static<typeof Case>

const Given = closed({
  now: Type.String(),
  intent: closed({ action: Type.String(), target: Type.String(), parameters: Members }),
  signals: Members,
  authority: Type.Optional(Members),
  metadata: Type.Optional(Members),
})
type Given = Type.Static<typeof Given>

const CasesFile = closed({ given: Given, cases: Type.Array(Case, { minItems: 1 }) })
const casesOf = documentOf(CasesFile)

interface CasesRun {
  readonly count: number
  /** A line for every case with another outcome than stated: file, line and the actual outcome. */
  readonly failures: readonly string[]
  /** How many cases each rule decided, in the order of the rules. */
  readonly decidedBy: ReadonlyMap<string, number>
}

/**
 * Runs all cases of a policy.
 * @param casesMax maximum number of cases; a file with more is refused
 * @throws DocumentError when the file is not a file of cases
 */
export function runCases(
  policy: CompiledPolicy,
  { file, value, positionOf }: YamlFile,
  casesMax = Infinity,
): CasesRun {
  const { given, cases } = casesOf(value, { file, positionOf })
  if (cases.length > casesMax)
    throw new DocumentError([
      { file, message: `${cases.length} cases are more than the ${casesMax} that are run here.` },
    ])
  const failures: DocumentMistake[] = []
  const decidedBy = new Map(policy.rules.map(({ id }) => [id, 0]))
  for (const [i, expected] of cases.entries()) {
    const ended = endOf(policy, given, expected)
    const { matchedRuleId: rule } = ended
    if (rule !== null) decidedBy.set(rule, (decidedBy.get(rule) ?? 0) + 1)
    const message = failureOf(expected, ended)
    if (message !== undefined) failures.push({ file, ...positionOf(['cases', i]), message })
  }
  return { count: cases.length, failures: failures.map(lineOf), decidedBy }
}

function endOf(policy: CompiledPolicy, given: Given, expected: Case): Evaluation {
  const { action = given.intent.action, target = given.intent.target, now = given.now } = expected
  const transaction = {
    intent: { action, target, parameters: changed(given.intent.parameters, expected.parameters) },
    signals: changed(given.signals, expected.signals),
    authority: changed(given.authority, expected.authority),
    metadata: changed(given.metadata, expected.metadata),
  }
  return evaluate(policy, transaction, new Date(now))
}

function failureOf(expected: Case, { kind, matchedRuleId, reason }: Evaluation): string | undefined {
  if (kind !== expected.outcome || matchedRuleId !== expected.rule)
    return `${expected.case} Expected ${expected.outcome} by ${byRule(expected.rule)}, but it was ${kind} by ${byRule(matchedRuleId)}: ${reason}`
  if (reason !== (expected.reason ?? reason))
    return `${expected.case} Expected the reason ${JSON.stringify(expected.reason)}, but it was ${JSON.stringify(reason)}.`
  return undefined
}

function byRule(rule: string | null): string {
  return rule === null ? 'no rule' : `rule ${rule}`
}

function changed(members: Case['signals'] = {}, changes: Case['signals'] = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...members, ...changes }).filter(([, value]) => value !== null))
}

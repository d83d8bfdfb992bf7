// cases.yaml beside a policy.yaml: what the policy is meant to do, run by the test suite (decisions §6).
//
//   given:                       # one transaction; every case starts from it
//     now: 2026-03-02T10:00:00Z
//     intent: { action: vendor:pay, target: vendor-4711, parameters: { amount: 950 } }
//     signals: { vendorVerified: true, paymentAmount: 950 }
//     authority: {}              # as metadata, only where rules read it
//   cases:
//     - case: An unverified vendor is not paid.
//       signals: { vendorVerified: false }     # changes to the given ones; null takes one away
//       parameters: { amount: 1200 }           # likewise; also action, target, now, authority, metadata
//       outcome: rejected                      # approved | rejected | denied
//       rule: unverified-vendor                # null: no rule decided
//       reason: The vendor is not verified.    # optional
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { CompiledPolicy } from '../src/core/policy/check.ts'
import { evaluate } from '../src/core/policy/evaluate.ts'

const closed = { additionalProperties: false }
const Members = Type.Record(Type.String(), Type.Unknown())

const Case = Type.Object(
  {
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
  },
  closed,
)
type Case = Type.Static<typeof Case>

const Given = Type.Object(
  {
    now: Type.String(),
    intent: Type.Object({ action: Type.String(), target: Type.String(), parameters: Members }, closed),
    signals: Members,
    authority: Type.Optional(Members),
    metadata: Type.Optional(Members),
  },
  closed,
)
type Given = Type.Static<typeof Given>

const cases = Compile(Type.Object({ given: Given, cases: Type.Array(Case, { minItems: 1 }) }, closed))

/**
 * Runs all cases of a policy.
 * @param parsed the parsed YAML of cases.yaml
 * @returns a sentence for every case that did not end as expected and every rule that no case expects
 */
export function failedCases(policy: CompiledPolicy, parsed: unknown): string[] {
  if (!cases.Check(parsed))
    return cases.Errors(parsed).map(({ instancePath, message }) => `${instancePath} ${message}`)
  const failures = parsed.cases.flatMap((expected) => failureOf(policy, parsed.given, expected))
  const expected = new Set(parsed.cases.map(({ rule }) => rule))
  const untried = policy.rules
    .filter(({ id }) => !expected.has(id))
    .map(({ id }) => `No case expects rule ${id}.`)
  return [...failures, ...untried]
}

function failureOf(policy: CompiledPolicy, given: Given, expected: Case): string[] {
  const { action = given.intent.action, target = given.intent.target, now = given.now } = expected
  const transaction = {
    intent: { action, target, parameters: changed(given.intent.parameters, expected.parameters) },
    signals: changed(given.signals, expected.signals),
    authority: changed(given.authority, expected.authority),
    metadata: changed(given.metadata, expected.metadata),
  }
  const { kind, matchedRuleId, reason } = evaluate(policy, transaction, new Date(now))
  const holds =
    kind === expected.outcome && matchedRuleId === expected.rule && reason === (expected.reason ?? reason)
  return holds ? [] : [`${expected.case} But it was ${kind} by ${matchedRuleId ?? 'no rule'}: ${reason}`]
}

function changed(members: Case['signals'] = {}, changes: Case['signals'] = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...members, ...changes }).filter(([, value]) => value !== null))
}

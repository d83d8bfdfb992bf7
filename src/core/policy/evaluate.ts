// Decides one transaction under one compiled policy, in the order of decisions §6: capability → signals → bindings → rules.
// Pure, and never throws: any error inside a rule is a rejection. Verified signals may be left out (decisions §12): a rule that reads
// such a signal waits for its value.
import { EvaluationError } from '@marcbachmann/cel-js'
import { cause } from '../cel/expression.ts'
import type { SignalVerifier } from '../../formats/schemas/policy.ts'
import { cut } from '../../formats/text/text.ts'
import type { CompiledPolicy, CompiledRule } from './check.ts'
import { factsOf, type Facts } from './facts.ts'
import { memberAt } from '../../formats/json/fields.ts'

/** The part of a transaction that a policy sees (interface §2.1); its shape has been checked. */
export interface PolicySubject {
  readonly intent: Members & { readonly action: string; readonly parameters: Members }
  readonly authority: Members
  readonly metadata: Members
  /** Signals that the policy does not declare stay in the record and decide nothing. */
  readonly signals: Members
}

type Members = Readonly<Record<string, unknown>>
type Scalar = boolean | number | string | null

/** A signal whose declared value is wrong; `verified` is null if there is no scalar. */
export interface Mismatch {
  readonly signal: string
  readonly declared: Scalar
  readonly verified: Scalar
  /** The path in the intent, or the state verifier. */
  readonly source: string
}

export interface Evaluation {
  /**
   * rejected: 500 with `reason`; denied: 403 with `mismatches` (decisions §3); unfilled: no rule decided before the first rule that reads a
   * left-out verified signal.
   */
  readonly kind: 'approved' | 'rejected' | 'denied' | 'unfilled'
  readonly reason: string
  readonly matchedRuleId: string | null
  /** In order; the last rule decided. */
  readonly evaluatedRules: readonly string[]
  readonly mismatches: readonly Mismatch[]
  /**
   * The questions that state verifiers have yet to answer. For an approval: the declared signals, which it takes on the caller's word. For an
   * unfilled evaluation: the left-out signals that the next rule reads.
   */
  readonly verify: readonly ({ readonly signal: string } & SignalVerifier)[]
}

/** @param filled verified values of signals that were left out */
export function evaluate(
  policy: CompiledPolicy,
  transaction: PolicySubject,
  now: Date,
  filled: Readonly<Record<string, boolean | number>> = NOTHING,
): Evaluation {
  const { intent, signals } = transaction
  const notGoverned = capabilityProblem(policy, intent.action)
  if (notGoverned !== undefined) return rejected(notGoverned)
  const leftOut = new Set<string>()
  for (const name of policy.signals.keys()) {
    if (isLeftOut(name, policy, signals)) {
      leftOut.add(name)
      continue
    }
    const problem = signalProblem(name, policy, signals)
    if (problem !== undefined) return rejected(problem)
  }
  const mismatches = bindingMismatches(policy, transaction)
  if (mismatches.length > 0) return denied(mismatches)
  return applyRules(
    policy,
    leftOut.size === 0 ? transaction : { ...transaction, signals: { ...signals, ...filled } },
    {
      now,
      leftOut,
      unfilled: leftOut.size === 0 ? leftOut : leftOut.difference(new Set(Object.keys(filled))),
    },
  )
}

const NOTHING = {}

/** A signal that the service verifies, and that the caller left out. A signal that is bound to the intent is always declared. */
export function isLeftOut(name: string, policy: CompiledPolicy, signals: Members): boolean {
  const names = ({ signal }: { readonly signal: string }) => signal === name
  return !Object.hasOwn(signals, name) && policy.verify.some(names) && !policy.bindings.some(names)
}

/** A sentence when the policy does not govern the action; otherwise undefined. */
export function capabilityProblem(policy: CompiledPolicy, action: string): string | undefined {
  if (policy.capabilities.has(action)) return undefined
  return `Policy '${policy.name}' version '${policy.version}' does not govern action '${action}'.`
}

/** The problem of a signal that the policy declares, as a sentence; undefined when there is none. */
export function signalProblem(name: string, policy: CompiledPolicy, signals: Members): string | undefined {
  const type = policy.signals.get(name)
  if (type === undefined) return undefined
  if (!Object.hasOwn(signals, name)) return `Signal '${name}' is missing.`
  return isOfType(signals[name], type) ? undefined : `Signal '${name}' must be a ${type}.`
}

/** NaN and Infinity are no numbers here: they have no canonical form, and NaN makes every comparison false. */
function isOfType(value: unknown, type: 'boolean' | 'number'): value is boolean | number {
  return type === 'boolean' ? typeof value === 'boolean' : Number.isFinite(value)
}

export function bindingMismatches(policy: CompiledPolicy, { intent, signals }: PolicySubject): Mismatch[] {
  const mismatches: Mismatch[] = []
  for (const { signal, path, members } of policy.bindings) {
    const declared = scalar(signals[signal])
    const verified = scalar(memberAt(intent, members))
    if (declared !== verified) mismatches.push({ signal, declared, verified, source: path })
  }
  return mismatches
}

function scalar(value: unknown): Scalar {
  return typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string' ? value : null
}

/**
 * @param given.leftOut signals that the caller left out
 * @param given.unfilled the left-out signals that have no value yet
 */
function applyRules(
  policy: CompiledPolicy,
  transaction: PolicySubject,
  given: { now: Date; leftOut: ReadonlySet<string>; unfilled: ReadonlySet<string> },
): Evaluation {
  const { now, leftOut, unfilled } = given
  const evaluatedRules: string[] = []
  try {
    const facts = factsOf(transaction, policy.reads, now)
    for (const { id, matches, outcome, reason, signals } of policy.rules) {
      if (unfilled.size > 0 && !unfilled.isDisjointFrom(signals)) {
        const verify = policy.verify.filter(({ signal }) => unfilled.has(signal) && signals.has(signal))
        const names = verify.map(({ signal }) => signal).join(', ')
        const waiting = `Rule '${id}' waits for ${names}, which only an execution reads.`
        return { ...rejected(waiting), kind: 'unfilled', evaluatedRules, verify }
      }
      evaluatedRules.push(id)
      if (!matches(facts)) continue
      return outcome === 'approve'
        ? {
            kind: 'approved',
            reason,
            matchedRuleId: id,
            evaluatedRules,
            mismatches: [],
            verify:
              leftOut.size === 0 ? policy.verify : policy.verify.filter(({ signal }) => !leftOut.has(signal)),
          }
        : { ...rejected(reason), matchedRuleId: id, evaluatedRules }
    }
    return { ...rejected('No rule matched.'), evaluatedRules }
  } catch (error) {
    const rule = evaluatedRules.at(-1)
    return {
      ...rejected(
        `${rule === undefined ? 'The rules' : `Rule '${rule}'`} could not be evaluated: ${cause(error)}.`,
      ),
      evaluatedRules,
    }
  }
}

/** Rejected before any rule was evaluated. */
export function rejected(reason: string): Evaluation {
  return { kind: 'rejected', reason, matchedRuleId: null, evaluatedRules: [], mismatches: [], verify: [] }
}

/** A transaction whose declared signals differ from the verified state. */
export function denied(mismatches: readonly Mismatch[]): Evaluation {
  const reason = `declared signals do not match independently verified state (${describeMismatches(mismatches)}).`
  return { ...rejected(reason), kind: 'denied', mismatches }
}

/** The part in parentheses of the 403 POLICY_DENIED message (decisions §3). */
export function describeMismatches(mismatches: readonly Mismatch[]): string {
  return mismatches
    .map(
      ({ signal, declared, verified }) =>
        `${signal}=${short(declared)} != verified ${signal}=${short(verified)}`,
    )
    .join(', ')
}

const SHOWN_CHARACTERS_MAX = 64

function short(value: Scalar): string {
  return cut(JSON.stringify(value), SHOWN_CHARACTERS_MAX)
}

export interface TracedRule {
  readonly id: string
  readonly outcome: 'approve' | 'reject'
  /** Null when the rule could not be evaluated. */
  readonly matched: boolean | null
  readonly error?: string
  /** Column of the error in the rule's `when`, counted from 1. */
  readonly column?: number
}

/** The result of each rule alone, including rules after the deciding one, for authors of policies (decisions §9). */
export function traceRules(policy: CompiledPolicy, subject: PolicySubject, now: Date): TracedRule[] {
  try {
    const facts = factsOf(subject, policy.reads, now)
    return policy.rules.map((rule) => traceRule(rule, facts))
  } catch (error) {
    return policy.rules.map(({ id, outcome }) => ({ id, outcome, matched: null, error: cause(error) }))
  }
}

function traceRule({ id, outcome, matches }: CompiledRule, facts: Facts): TracedRule {
  try {
    return { id, outcome, matched: matches(facts) }
  } catch (error) {
    const start = error instanceof EvaluationError ? error.range?.start : undefined
    const column = start === undefined ? {} : { column: start + 1 }
    return { id, outcome, matched: null, error: cause(error), ...column }
  }
}

// Decides one transaction under one compiled policy, in the order of decisions §6: capability → signals → bindings → rules.
// Pure, and never throws: whatever goes wrong inside a rule is a rejection.
import { cause } from '../cel/expression.ts'
import { isObject } from '../json/body.ts'
import type { SignalVerifier } from '../schemas/policy.ts'
import type { CompiledPolicy } from './check.ts'
import { factsOf } from './facts.ts'

/** What a policy sees of a transaction (interface §2.1); its shape has been checked. */
export interface PolicySubject {
  readonly intent: Members & { readonly action: string; readonly parameters: Members }
  readonly authority: Members
  readonly metadata: Members
  /** Signals that the policy does not declare stay in the record and decide nothing. */
  readonly signals: Members
}

type Members = Readonly<Record<string, unknown>>
type Scalar = boolean | number | string | null

/** A signal that is not what it was declared to be; `verified` is null where there is no scalar. */
export interface Mismatch {
  readonly signal: string
  readonly declared: Scalar
  readonly verified: Scalar
  /** The path in the intent, or the state verifier. */
  readonly source: string
}

export interface Evaluation {
  /** rejected: 500 with `reason`; denied: 403 with `mismatches` (decisions §3). */
  readonly kind: 'approved' | 'rejected' | 'denied'
  readonly reason: string
  readonly matchedRuleId: string | null
  /** In order, the one that decided last. */
  readonly evaluatedRules: readonly string[]
  readonly mismatches: readonly Mismatch[]
  /** What state verifiers have yet to confirm before an approval holds; empty unless approved. */
  readonly verify: readonly ({ readonly signal: string } & SignalVerifier)[]
}

export function evaluate(policy: CompiledPolicy, transaction: PolicySubject, now: Date): Evaluation {
  const { intent, signals } = transaction
  const notGoverned = capabilityProblem(policy, intent.action)
  if (notGoverned !== undefined) return rejected(notGoverned)
  for (const name of policy.signals.keys()) {
    const problem = signalProblem(name, policy, signals)
    if (problem !== undefined) return rejected(problem)
  }
  const mismatches = bindingMismatches(policy, transaction)
  return mismatches.length > 0 ? denied(mismatches) : applyRules(policy, transaction, now)
}

/** A sentence where the policy does not govern the action; undefined where it does. */
export function capabilityProblem(policy: CompiledPolicy, action: string): string | undefined {
  if (policy.capabilities.has(action)) return undefined
  return `Policy '${policy.name}' version '${policy.version}' does not govern action '${action}'.`
}

/** What is wrong with a signal that the policy declares, a sentence; undefined where nothing is. */
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

/** Own members of objects only: neither a prototype's nor a list's `length` can stand for a value the caller sent. */
function memberAt(value: unknown, members: readonly string[]): unknown {
  let at = value
  for (const member of members) at = isObject(at) && Object.hasOwn(at, member) ? at[member] : undefined
  return at
}

function applyRules(policy: CompiledPolicy, transaction: PolicySubject, now: Date): Evaluation {
  const evaluatedRules: string[] = []
  try {
    const facts = factsOf(transaction, policy.reads, now)
    for (const { id, matches, outcome, reason } of policy.rules) {
      evaluatedRules.push(id)
      if (!matches(facts)) continue
      return outcome === 'approve'
        ? {
            kind: 'approved',
            reason,
            matchedRuleId: id,
            evaluatedRules,
            mismatches: [],
            verify: policy.verify,
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

/** Rejected before any rule was looked at. */
export function rejected(reason: string): Evaluation {
  return { kind: 'rejected', reason, matchedRuleId: null, evaluatedRules: [], mismatches: [], verify: [] }
}

/** A transaction whose declared signals are not what was verified. */
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
  const text = JSON.stringify(value)
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX).toWellFormed()}…` : text
}

// Every rule of a policy by itself, those behind the deciding one too: what an author looks at (decisions §9).
import { EvaluationError } from '@marcbachmann/cel-js'
import { cause } from '../cel/expression.ts'
import type { CompiledPolicy, CompiledRule } from './check.ts'
import type { PolicySubject } from './evaluate.ts'
import { factsOf, type Facts } from './facts.ts'

export interface TracedRule {
  readonly id: string
  readonly outcome: 'approve' | 'reject'
  /** Null where the rule could not be evaluated. */
  readonly matched: boolean | null
  readonly error?: string
  /** Where in the rule's `when` the error is, counted from 1. */
  readonly column?: number
}

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

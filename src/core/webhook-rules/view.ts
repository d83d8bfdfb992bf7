// The view of a delivery and a transaction for expressions of rules: only the places that they name. So a payload of a
// megabyte costs no more than the part that a rule reads.
import { celValue, openBudget, spend, type Budget } from '../cel/values.ts'
import type { RuleExpression, RuleSource } from './parse.ts'

/** Limits for one source in one expression. */
const VIEW_MAX = { values: 1000, characters: 100_000 }

/**
 * Limit for one delivery: the values that each expression sees, times its size, because a loop evaluates its body for each value. Fifty rules
 * of nine loops each, in which every step fails, took half a second for each rule.
 */
const STEPS_MAX = 100_000
const CHARACTERS_OF_A_STEP = 100

/** The budget that is left for the expressions of one delivery. */
interface Meter {
  steps: number
}

export function openMeter(): Meter {
  return { steps: STEPS_MAX }
}

/** Each is parsed JSON; a payload may be any JSON value. */
type Sources = { readonly [source in RuleSource]?: unknown }

/**
 * Evaluates an expression.
 * @throws Error when it fails, or reads more than a rule may
 */
export function evaluateOver(
  { evaluate, reads, size }: RuleExpression,
  sources: Sources,
  meter: Meter,
): unknown {
  const facts: Record<string, unknown> = {}
  for (const [source, paths] of reads) {
    const budget = openBudget(`what is read of the ${source}`, VIEW_MAX)
    facts[source] = shown(sources[source], paths, budget)
    const { values, characters } = budget
    const seen = VIEW_MAX.values - values + (VIEW_MAX.characters - characters) / CHARACTERS_OF_A_STEP
    meter.steps -= seen * size
  }
  if (meter.steps < 0) throw new Error(`the rules take more than ${STEPS_MAX} steps for this delivery`)
  return evaluate(facts)
}

function shown(value: unknown, paths: readonly (readonly string[])[], budget: Budget): unknown {
  if (paths.some((path) => path.length === 0)) return celValue(value, budget)
  spend(budget, value)
  if (typeof value !== 'object' || value === null) return value
  const members = new Map<string, unknown>()
  // A list has no named members.
  if (Array.isArray(value)) return members
  for (const [member, below] of Map.groupBy(paths, ([first = '']) => first))
    if (Object.hasOwn(value, member)) {
      const rest = below.map((path) => path.slice(1))
      members.set(member, shown((value as Record<string, unknown>)[member], rest, budget))
    }
  return members
}

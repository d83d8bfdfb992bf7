// Values of JSON as expressions see them. Every object becomes a Map, so that no name a caller chooses (`constructor`, `__proto__`)
// reaches a JS prototype.

/** Budget of data that expressions may read: it bounds the cost of a loop (10,000 failing steps took 90 ms) and of comparing texts. */
export interface Budget {
  /** The name of the data in the error. */
  readonly of: string
  readonly max: { readonly values: number; readonly characters: number }
  values: number
  characters: number
}

export function openBudget(of: string, max: Budget['max']): Budget {
  return { of, max, ...max }
}

const DEPTH_MAX = 64

/**
 * @param value anything that was parsed from JSON
 * @throws Error when it holds more values or characters than the budget, counted through lists and objects, or is too deep
 */
export function celValue(value: unknown, budget: Budget, depth = 0): unknown {
  spend(budget, value)
  // -0 is recorded as 0, so it decides as 0.
  if (value === 0) return 0
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEPTH_MAX) throw new Error(`${budget.of} is deeper than ${DEPTH_MAX}`)
  if (Array.isArray(value)) return value.map((item) => celValue(item, budget, depth + 1))
  return new Map(Object.entries(value).map(([key, member]) => [key, celValue(member, budget, depth + 1)]))
}

/** Counts one value. */
export function spend(budget: Budget, value: unknown): void {
  if (--budget.values < 0) throw new Error(`${budget.of} holds more than ${budget.max.values} values`)
  if (typeof value === 'string') budget.characters -= value.length
  if (budget.characters < 0)
    throw new Error(`${budget.of} holds more than ${budget.max.characters} characters`)
}

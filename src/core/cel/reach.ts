// Finds rules that can never match: rules are Boolean functions of their atoms, tried with every combination of values that could
// make a difference. Exact for signals compared with constants; any other condition counts as free to be true or false.
import { evaluate, type ASTNode } from '@marcbachmann/cel-js'
import { children, countNodes, isConstant, textOf } from './nodes.ts'

/**
 * Above these limits everything counts as possible: loading must stay fast for any document. With the first limit alone,
 * a hundred rules of a thousand characters took 27 s.
 */
const COMBINATIONS_MAX = 4096
const CONDITIONS_MAX = 200_000

type Value = boolean | number
type Assignment = ReadonlyMap<string, Value>
type Condition = (values: Assignment) => boolean
type Choices = readonly (readonly [string, readonly Value[]])[]
/** The parts that can differ: `free` conditions by their text, and numeric signals by the constants they are compared with. */
interface Atoms {
  readonly free: Set<string>
  readonly constants: Map<string, Set<number>>
}

const COMPARISONS = new Map<string, (a: Value, b: Value) => boolean>([
  ['<', (a, b) => a < b],
  ['<=', (a, b) => a <= b],
  ['>', (a, b) => a > b],
  ['>=', (a, b) => a >= b],
  ['==', (a, b) => a === b],
  ['!=', (a, b) => a !== b],
])

/** The facts about an ordered list of rules, in which the first matching rule decides. */
interface Reach {
  readonly mistakes: { readonly rule: string; readonly message: string }[]
  readonly warnings: string[]
  /** The id of a rule that always matches. */
  readonly catchAll: string | undefined
}

/** Finds rules that can never match, or never decide. */
export function reachOf(rules: readonly { readonly id: string; readonly ast: ASTNode }[]): Reach {
  const mistakes: Reach['mistakes'] = []
  const warnings: string[] = []
  let catchAll: string | undefined
  for (const [i, { id, ast }] of rules.entries()) {
    const upToHere = rules.slice(0, i + 1).map((rule) => rule.ast)
    if (catchAll !== undefined) {
      mistakes.push({ rule: id, message: `Stands after rule ${catchAll}, which always matches.` })
    } else if (!canHappen([ast], ([matches = never], values) => matches(values))) {
      mistakes.push({ rule: id, message: 'Can never match: its condition is constantly false.' })
    } else if (!canHappen(upToHere, firstIs(i))) {
      warnings.push(`Rule ${id} never decides: whenever it matches, an earlier rule has matched.`)
    }
    if (!canHappen([ast], ([matches = never], values) => !matches(values))) catchAll ??= id
  }
  return { mistakes, warnings, catchAll }
}

/** A question about the conditions of some expressions, under one assignment. */
type Wanted = (conditions: readonly Condition[], values: Assignment) => boolean

function firstIs(at: number): Wanted {
  return (conditions, values) => conditions.findIndex((matches) => matches(values)) === at
}

/** @returns whether some transaction could make `wanted` true of these expressions; true if there is too much to try */
function canHappen(expressions: readonly ASTNode[], wanted: Wanted): boolean {
  const atoms: Atoms = { free: new Set(), constants: new Map() }
  const conditions = expressions.map((expression) => conditionOf(expression, atoms))
  const choices: Choices = [
    ...[...atoms.free].map((name) => [name, [false, true]] as const),
    ...[...atoms.constants].map(([name, constants]) => [name, around(constants)] as const),
  ]
  const combinations = choices.reduce((product, [, values]) => product * values.length, 1)
  if (combinations > COMBINATIONS_MAX) return true
  const size = expressions.reduce((sum, expression) => sum + countNodes(expression), 0)
  if (combinations * size > CONDITIONS_MAX) return true
  const values = new Map<string, Value>()
  return tryAll(choices, values, () => wanted(conditions, values))
}

function tryAll(choices: Choices, values: Map<string, Value>, holds: () => boolean, from = 0): boolean {
  const choice = choices[from]
  if (choice === undefined) return holds()
  const [name, candidates] = choice
  return candidates.some((candidate) => tryAll(choices, values.set(name, candidate), holds, from + 1))
}

/** Each constant, a number between each two neighbours, and a number beyond either end. */
function around(constants: ReadonlySet<number>): number[] {
  const sorted = [-Number.MAX_VALUE, ...[...constants].toSorted((a, b) => a - b), Number.MAX_VALUE]
  return sorted.flatMap((constant, i) =>
    i === 0 ? [constant] : [constant / 2 + (sorted[i - 1] ?? 0) / 2, constant],
  )
}

function conditionOf(node: ASTNode, atoms: Atoms): Condition {
  const compare = COMPARISONS.get(node.op)
  if (compare !== undefined) return comparison(node, compare, atoms) ?? leaf(node, atoms)
  if (node.op !== '!_' && node.op !== '&&' && node.op !== '||' && node.op !== '?:') return leaf(node, atoms)

  const [first = never, second = never, third = never] = children(node).map((child) =>
    conditionOf(child, atoms),
  )
  if (node.op === '!_') return (values) => !first(values)
  if (node.op === '&&') return (values) => first(values) && second(values)
  if (node.op === '||') return (values) => first(values) || second(values)
  return (values) => (first(values) ? second(values) : third(values))
}

const never: Condition = () => false

/** Compares a numeric signal with a constant, in either order, or two constants. */
function comparison(node: ASTNode, compare: (a: Value, b: Value) => boolean, atoms: Atoms): Condition | null {
  const [left = null, right = null] = children(node).map((side) => numberOf(side) ?? signalOf(side))
  if (left === null || right === null || (typeof left === 'string' && typeof right === 'string')) return null
  for (const [side, other] of [[left, right] as const, [right, left] as const]) {
    if (typeof side === 'string')
      atoms.constants.set(side, (atoms.constants.get(side) ?? new Set()).add(Number(other)))
  }
  return (values) => compare(valueOf(left, values), valueOf(right, values))
}

/** The value of a constant, or of the numeric signal of that name. */
function valueOf(side: number | string, values: Assignment): Value {
  return typeof side === 'number' ? side : (values.get(side) ?? 0)
}

function numberOf(node: ASTNode): number | null {
  if (node.op === '-_') {
    const operand = numberOf(node.args)
    return operand === null ? null : -operand
  }
  if (node.op !== 'value') return null
  return typeof node.args === 'number' || typeof node.args === 'bigint' ? Number(node.args) : null
}

function signalOf(node: ASTNode): string | null {
  return node.op === '.' && node.args[0].op === 'id' && node.args[0].args === 'signals' ? node.args[1] : null
}

function leaf(node: ASTNode, atoms: Atoms): Condition {
  const constant = isConstant(node) ? constantOutcome(node) : null
  if (constant !== null) return () => constant
  // Keyed by source text: `serialize` rounds numbers, and two different conditions must not become one.
  const text = textOf(node)
  atoms.free.add(text)
  return (values) => values.get(text) === true
}

function constantOutcome(node: ASTNode): boolean | null {
  try {
    return evaluate(textOf(node)) === true
  } catch {
    return null
  }
}

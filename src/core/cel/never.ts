// Finds parts of an expression that can never be evaluated, whatever a caller sends. The language's type check covers known types only: a member
// of `intent.parameters` may be any JSON value, so `count + 1` passes the check and then fails each time (JSON numbers are doubles). The kinds
// of values that an operator or a function takes are found by trying examples in the evaluator itself.
import { Environment, EvaluationError, serialize, type ASTNode } from '@marcbachmann/cel-js'
import { children, isConstant, textOf } from './nodes.ts'

type Kind = keyof typeof EXAMPLES

const environment = new Environment().registerVariable('a', 'dyn').registerVariable('b', 'dyn')
const constant = (text: string): unknown => environment.evaluate(text) as unknown

const EXAMPLES = {
  null: [null],
  bool: [true, false],
  int: [1n],
  uint: [constant('1u')],
  double: [1],
  string: ['a'],
  bytes: [constant("b'a'")],
  list: [[]],
  map: [new Map()],
  Timestamp: [constant("timestamp('2026-01-01T00:00:00Z')")],
  Duration: [constant("duration('1s')")],
} as const satisfies Record<string, readonly unknown[]>

const KINDS = Object.keys(EXAMPLES) as Kind[]
const JSON_KINDS: readonly Kind[] = ['null', 'bool', 'double', 'string', 'list', 'map']

/** The kinds that a part can have; undefined: any kind, because nothing is known of the part or because it was reported. */
type Kinds = readonly Kind[] | undefined

/** Codes of the evaluator for operands of the wrong kind; other errors depend on the operands' values. */
const OF_KINDS = new Set(['no_such_overload', 'no_matching_overload', 'invalid_condition_type'])

const BINARY = new Set(['+', '-', '*', '/', '%', '<', '<=', '>', '>=', 'in', '&&', '||'])
const LOOPS = new Set(['all', 'exists', 'exists_one', 'filter'])

interface Found {
  /** Offset into the expression. */
  readonly at: number
  readonly message: string
}

/** @param ast parsed and checked */
export function neverEvaluated(ast: ASTNode): Found[] {
  const found: Found[] = []
  /** The values of constant parts. */
  const values = new Map<ASTNode, unknown>()
  visit(ast, new Map())
  return found

  /** @param loops the kinds of the variable of each surrounding loop */
  function visit(node: ASTNode, loops: ReadonlyMap<string, Kinds>): Kinds {
    const before = found.length
    const loop = isLoop(node) ? node.args : undefined
    const operands = loop === undefined ? children(node).map((child) => visit(child, loops)) : []
    if (loop !== undefined) {
      const [, list, [variable, ...body]] = loop
      operands.push(visit(list, loops))
      const within = new Map(loops)
      if (variable?.op === 'id') within.set(variable.args, isOfJson(list, loops) ? JSON_KINDS : undefined)
      for (const part of body) visit(part, within)
    }
    if (found.length > before) return undefined
    if (isConstant(node))
      return children(node).every((child) => values.has(child))
        ? constantKinds(node)
        : kindsByType(node, loops)
    const shape = shapeOf(node)
    const keyed = node.op === '[]' && node.args[0].op === 'map' ? keysOf(node.args[0], loops) : undefined
    const index = operands[1]
    if (keyed !== undefined && index !== undefined && !index.some((kind) => keyed.includes(kind))) {
      report(node, `its keys are ${describe(keyed)}, and a ${describe(index)} is looked up`)
      return undefined
    }
    if (shape === undefined) return kindsByType(node, loops)
    const given = operands.slice(0, shape.includes('b') ? 2 : 1)
    if (given.some((kinds) => kinds === undefined)) return kindsByType(node, loops)
    const results = resultsOf(shape, given as (readonly Kind[])[])
    if (results.length > 0) return kindsByType(node, loops) ?? (node.op === '?:' ? undefined : results)
    const [left, right] = given.map((kinds) => describe(kinds!))
    report(node, `${labelOf(node)} takes no ${left}${right === undefined ? '' : ` with a ${right}`}`)
    return undefined
  }

  /** The kinds of the keys of a map literal. */
  function keysOf(map: ASTNode & { op: 'map' }, loops: ReadonlyMap<string, Kinds>): Kinds {
    const kinds = map.args.map(([key]) => visit(key, loops))
    return kinds.some((one) => one === undefined)
      ? undefined
      : [...new Set(kinds.flatMap((one) => one ?? []))]
  }

  function constantKinds(node: ASTNode): Kinds {
    try {
      const value = valueOf(node)
      values.set(node, value)
      return [kindOf(value)]
    } catch (error) {
      // The text of a part that has no shape may lack a parenthesis: nothing is known of the part then.
      if (error instanceof EvaluationError) report(node, error.summary)
      return undefined
    }
  }

  /** Evaluates a node from the values of its operands: parentheses around an operand stand outside the text of the node. */
  function valueOf(node: ASTNode): unknown {
    const shape = node.op === '[]' ? 'a[b]' : shapeOf(node)
    const [a, b] = children(node).map((child) => values.get(child))
    if (node.op === '?:') return values.get(node.args[values.get(node.args[0]) === true ? 1 : 2])
    if (shape === undefined) return constant(textOf(node))
    return environment.evaluate(shape, { a, b })
  }

  function report(node: ASTNode, why: string): void {
    found.push({ at: node.start, message: `${serialize(node)} can never be evaluated: ${why}.` })
  }
}

function isLoop(node: ASTNode): node is ASTNode & { op: 'rcall' } {
  return node.op === 'rcall' && LOOPS.has(node.args[0])
}

/** The node with variables in place of its operands; undefined when it takes any operands, or when that depends on their values. */
function shapeOf(node: ASTNode): string | undefined {
  if (BINARY.has(node.op)) return `a ${node.op} b`
  if (node.op === '!_') return '!a'
  if (node.op === '-_') return '-a'
  if (node.op === '?:') return 'a ? 1 : 2'
  if (node.op === 'call' && node.args[0] === 'size') return 'size(a)'
  if (node.op === '==' || node.op === '!=') return `a ${node.op} b`
  if (node.op !== 'rcall') return undefined
  const [name, , given] = node.args
  if (LOOPS.has(name)) return `a.${name}(x, true)`
  // A getter's time zone was checked as a literal.
  const takesText = given.length === 1 && !name.startsWith('get')
  return `a.${name}(${takesText ? 'b' : ''})`
}

function labelOf(node: ASTNode): string {
  if (node.op === 'call' || node.op === 'rcall') return `${node.args[0]}()`
  return node.op === '!_' ? '!' : node.op === '-_' ? '-' : node.op === '?:' ? 'a condition' : node.op
}

function describe(kinds: readonly Kind[]): string {
  return kinds === JSON_KINDS ? 'JSON value' : kinds.join(' or ')
}

/** The kinds that a part's static type allows. */
function kindsByType(node: ASTNode, loops: ReadonlyMap<string, Kinds>): Kinds {
  const { checkedType } = node as { checkedType?: { toString(): string } }
  const type = (checkedType?.toString() ?? 'dyn').replace('google.protobuf.', '')
  const kind = KINDS.find((one) => type === one || type.startsWith(`${one}<`))
  if (kind !== undefined) return [kind]
  return type === 'dyn' && isOfJson(node, loops) ? JSON_KINDS : undefined
}

/** Whether a part is a member, at any depth, of data that a caller sent. */
function isOfJson(node: ASTNode, loops: ReadonlyMap<string, Kinds>): boolean {
  if (node.op === '.' || node.op === '[]') return isOfJson(node.args[0], loops)
  return node.op === 'id' && (!loops.has(node.args) || loops.get(node.args) === JSON_KINDS)
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  const plain = { boolean: 'bool', bigint: 'int', number: 'double', string: 'string' } as const
  const type = typeof value
  if (type in plain) return plain[type as keyof typeof plain]
  if (Array.isArray(value)) return 'list'
  return KINDS.find((kind) => EXAMPLES[kind].some((one) => isAlike(one, value))) ?? 'map'
}

function isAlike(example: unknown, value: unknown): boolean {
  return typeof example === 'object' && example !== null && example.constructor === value?.constructor
}

/** Results by shape and kinds, so that each is evaluated once. */
const results = new Map<string, readonly Kind[]>()

/** @returns the kinds of the results for operands of these kinds; none when the evaluator refuses all of them */
function resultsOf(shape: string, operands: readonly (readonly Kind[])[]): readonly Kind[] {
  const [left = [], right = [undefined]] = operands
  return [...new Set(left.flatMap((a) => right.flatMap((b) => resultsOfKinds(shape, a, b))))]
}

function resultsOfKinds(shape: string, a: Kind, b: Kind | undefined): readonly Kind[] {
  const key = `${shape}|${a}|${b}`
  const known = results.get(key)
  if (known !== undefined) return known
  const pairs = EXAMPLES[a].flatMap((one) =>
    b === undefined ? [[one, null]] : EXAMPLES[b].map((other) => [one, other]),
  )
  const kinds = [...new Set(pairs.flatMap(([one, other]) => resultOf(shape, { a: one, b: other })))]
  results.set(key, kinds)
  return kinds
}

function resultOf(shape: string, values: object): readonly Kind[] {
  try {
    return [kindOf(environment.evaluate(shape, values))]
  } catch (error) {
    return error instanceof EvaluationError && OF_KINDS.has(error.code) ? [] : KINDS
  }
}

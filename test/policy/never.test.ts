// Rules that can never be evaluated are warned of, and no others: what `policy check` says of every operator with every kind of operand is compared
// with what the evaluator does with them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, test } from 'vitest'
import { compileExpression } from '../../src/core/cel/expression.ts'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { factsOf, ruleEnvironment, ruleVocabulary } from '../../src/core/policy/facts.ts'

const signals = new Map([
  ['amount', 'number' as const],
  ['approved', 'boolean' as const],
])
const given = {
  environment: ruleEnvironment(signals),
  vocabulary: ruleVocabulary(signals),
  types: [
    'bool',
    'int',
    'uint',
    'double',
    'string',
    'dyn',
    'google.protobuf.Timestamp',
    'google.protobuf.Duration',
    'list<double>',
  ],
}
const compile = (text: string) => compileExpression(text, given)
const NEVER = /can never be evaluated/

/** A caller may send these as `x` and `y`. */
const JSON_VALUES = [
  null,
  true,
  false,
  0,
  1,
  2.5,
  -1,
  '',
  'a',
  'k',
  '2026-01-01T00:00:00Z',
  [],
  [1],
  ['a'],
  {},
  { k: 1 },
]
const OPERANDS = {
  JSON: 'intent.parameters.x',
  'other JSON': 'intent.parameters.y',
  double: 'signals.amount',
  bool: 'signals.approved',
  string: 'intent.target',
  time: 'now',
  int: 'size(intent.target)',
  'a literal int': '1',
  'a literal double': '1.0',
  'a literal text': "'a'",
  uint: '1u',
  null: 'null',
  duration: "duration('1s')",
  difference: "now - timestamp('2026-01-01T00:00:00Z')",
  list: '[1.0, 2.0]',
  map: "{'k': 1.0}",
} as const
const BINARY = ['+', '-', '*', '/', '%', '<', '<=', '>', '>=', '==', '!=', 'in', '&&', '||']
const UNARY = ['!', '-']
const CALLS = [
  'size($)',
  '$.size()',
  '$.startsWith("a")',
  '$.contains("a")',
  '$.getHours()',
  '$.all(i, true)',
  '$.exists(i, true)',
  '$ ? true : false',
]

/** Whether any transaction lets the expression be evaluated. */
function canSucceed({ expression, reads }: ReturnType<typeof compile>): boolean {
  return JSON_VALUES.some((x) =>
    JSON_VALUES.some((y) => {
      const transaction = {
        signals: { amount: 1, approved: true },
        intent: { target: 'a', parameters: { x, y } },
        authority: {},
        metadata: {},
      }
      const members = new Map(
        [...reads].map(([source, paths]) => [source, new Set(paths.map(([member = '']) => member))]),
      )
      try {
        expression!.evaluate(factsOf(transaction, members, new Date('2026-06-01T00:00:00Z')))
        return true
      } catch {
        return false
      }
    }),
  )
}

function expectHonest(text: string): void {
  const compiled = compile(text)
  // The language's own check refuses it.
  if (compiled.expression === undefined) return
  const warned = compiled.warnings.some(({ message }) => NEVER.test(message))
  expect(`${text}: ${warned ? 'never' : 'can'}`).toBe(`${text}: ${canSucceed(compiled) ? 'can' : 'never'}`)
}

describe('what is warned of always throws, and what always throws is warned of', () => {
  test.each(BINARY)('%s with every kind of operands', (operator) => {
    for (const left of Object.values(OPERANDS))
      for (const right of Object.values(OPERANDS)) expectHonest(`(${left}) ${operator} (${right})`)
  })

  test.each([...UNARY.map((operator) => `${operator}($)`), ...CALLS])('%s of every kind', (shape) => {
    for (const operand of Object.values(OPERANDS)) expectHonest(shape.replace('$', `(${operand})`))
  })
})

test.each([
  [
    'intent.parameters.count + 1 > 5.0',
    1,
    'intent.parameters.count + 1 can never be evaluated: + takes no JSON value with a int.',
  ],
  [
    'intent.parameters.t < now',
    1,
    'intent.parameters.t < now can never be evaluated: < takes no JSON value with a Timestamp.',
  ],
  [
    '{1: true}[intent.parameters.count]',
    1,
    '{1: true}[intent.parameters.count] can never be evaluated: its keys are int, and a JSON value is looked up.',
  ],
  [
    '9223372036854775807 + 1 > 0',
    1,
    '9223372036854775807 + 1 can never be evaluated: integer overflow: 9223372036854775808.',
  ],
  [
    'signals.approved && intent.parameters.items.all(i, i.price * 2 > 1.0)',
    52,
    'i.price * 2 can never be evaluated: * takes no JSON value with a int.',
  ],
])('%s: the part, its column and what meets what', (text, column, sentence) => {
  const { warnings } = compile(text)
  expect(warnings.map(({ at, message }) => [at + 1, message])).toEqual([[column, sentence]])
})

test.each([
  'intent.parameters.count + 1.0 > 5.0',
  'intent.parameters.n == 5 && intent.parameters.n in [5, 6] && intent.parameters.n > 4',
  'intent.parameters.items[0] == 1.0',
  "intent.parameters.a + intent.parameters.b == 'ab'",
  "{'a': true}[intent.parameters.key]",
  'intent.parameters.items.filter(i, i.price > 1.0).size() > 0',
  "now.getHours('Europe/Berlin') > 8",
  "timestamp('2026-01-01T12:00:00Z').getHours('Europe/Berlin') > 8",
  '(signals.approved ? intent.parameters.a : 1.0) > 0.0',
  '(signals.approved ? 1 : 2) + (true ? 1 : 2) > 0',
  "({'a': 1}).a + (1) > 0",
  '((1) + (2)) * (3) > 0 && !(false) && ([1.0])[0] > (0.0)',
  "now - metadata.submittedAt < duration('1h')",
])('%s is not warned of', (text) => {
  expect(compile(text).warnings.filter(({ message }) => NEVER.test(message))).toEqual([])
})

const POLICIES = join(import.meta.dirname, '..', '..', 'policies')
const shipped = readdirSync(POLICIES, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('policy.yaml'),
)

test.each(shipped)('no rule of %s is', (file) => {
  const { warnings } = compilePolicy(parse(readFileSync(join(POLICIES, file), 'utf8')), file)
  expect(warnings.filter((warning) => NEVER.test(warning))).toEqual([])
})

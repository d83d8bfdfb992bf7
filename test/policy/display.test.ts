// `display` of a policy: the sentence that the humans who approve an action read.
import { expect, test } from 'vitest'
import { DocumentError } from '../../src/core/cel/mistakes.ts'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { displayOf, moneyOf, sentenceOf, valueText } from '../../src/core/policy/display.ts'

const policy = (display: object) => ({
  policyId: 'refund',
  policyVersion: '1.0.0',
  schemaVersion: '1.0.0',
  description: 'Refunds an order.',
  capabilities: ['payments:refund', 'payments:void'],
  display,
  signals: { approved: 'boolean' },
  rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' }],
})

function mistakes(display: object): string[] {
  try {
    compilePolicy(policy(display), 'policy.yaml')
  } catch (error) {
    if (error instanceof DocumentError) return error.mistakes.map(({ message }) => message)
    throw error
  }
  return []
}

const NONE_OF =
  'which is none of {intent.target}, {intent.parameters.<member>} and {signals.<declared signal>}.'

test.each([
  ['{intent.target}', []],
  ['{intent.parameters.amount} of {intent.parameters.of.a-b}, {signals.approved}', []],
  ['{amount}', [`display.payments:refund has {amount}, ${NONE_OF}`]],
  ['{}', [`display.payments:refund has {}, ${NONE_OF}`]],
  ['{signals.aproved}', [`display.payments:refund has {signals.aproved}, ${NONE_OF}`]],
  ['{metadata.submittedBy}', [`display.payments:refund has {metadata.submittedBy}, ${NONE_OF}`]],
  ['{intent.target', ['display.payments:refund has a brace without its other one.']],
  ['a } b', ['display.payments:refund has a brace without its other one.']],
])('the sentence %j has these mistakes: %j', (sentence, expected) => {
  expect(mistakes({ 'payments:refund': sentence })).toEqual(expected)
})

test('a capability of another policy is named', () => {
  expect(mistakes({ 'payments:refnd': 'Refund.' })).toEqual([
    "display.payments:refnd names no capability of the policy (did you mean 'payments:refund'?).",
  ])
})

test('a sentence is at most 300 characters long', () => {
  expect(mistakes({ 'payments:refund': 'x'.repeat(300) })).toEqual([])
  expect(mistakes({ 'payments:refund': 'x'.repeat(301) })).toHaveLength(1)
})

const said = (capability: string, request: { target: unknown; parameters: unknown; signals: unknown }) =>
  displayOf(
    { display: { 'payments:refund': '{intent.parameters.a.b} and {intent.target}: {signals.approved}' } },
    { capability, ...request },
  )?.map((piece) => ('words' in piece ? piece.words : valueText(piece.value)))

test('a value is shown as JSON, and what is not there as such', () => {
  const request = { target: 'order-7', parameters: { a: { b: [1, 'x'] } }, signals: { approved: true } }
  expect(said('payments:refund', request)?.join('')).toBe('[1,"x"] and "order-7": true')
  expect(said('payments:refund', { ...request, parameters: {}, signals: {} })?.join('')).toBe(
    '(not given) and "order-7": (not given)',
  )
  expect(said('payments:void', request)).toBeUndefined()
})

test.each([
  [{ text: 'Refund.', amount: 'intent.parameters.amount', currency: 'intent.parameters.currency' }, []],
  [{ text: 'Refund.', amount: 'signals.approved' }, []],
  [
    { text: 'Refund {intent.target}.', amount: 'amount' },
    [
      'display.payments:refund has amount: amount, which is none of intent.target, intent.parameters.<member> and signals.<declared signal>.',
    ],
  ],
  [
    { text: '{x', amount: 'intent.parameters.a', currency: '{intent.parameters.c}' },
    [
      'display.payments:refund has a brace without its other one.',
      'display.payments:refund has currency: {intent.parameters.c}, which is none of intent.target, intent.parameters.<member> and signals.<declared signal>.',
    ],
  ],
])('the form with an amount %j has these mistakes: %j', (display, expected) => {
  expect(mistakes({ 'payments:refund': display })).toEqual(expected)
})

test('the form with an amount has a text and an amount', () => {
  expect(mistakes({ 'payments:refund': { text: 'Refund.' } })).not.toEqual([])
  expect(mistakes({ 'payments:refund': { amount: 'intent.parameters.a' } })).not.toEqual([])
})

const money = { text: 'x', amount: 'intent.parameters.sum', currency: 'intent.parameters.of' }

test.each([
  [{ sum: 250, of: 'EUR' }, '250', 'EUR'],
  [{ sum: '99.90', of: 'EUR' }, '99.9', 'EUR'],
  [{ sum: -0.5 }, '-0.5', null],
  [{ sum: '-0.00', of: 7 }, '0', null],
  [{ sum: 0.1 + 0.2, of: '' }, '0.30000000000000004', null],
  [{ sum: 1e21, of: 'EUR' }, null, null],
  [{ sum: '1e3', of: 'EUR' }, null, null],
  [{ sum: '007', of: 'EUR' }, null, null],
  [{ sum: ' 7', of: 'EUR' }, null, null],
  [{ sum: true, of: 'EUR' }, null, null],
  [{ of: 'EUR' }, null, null],
])('of the parameters %j the amount is %j and the currency %j', (parameters, amount, currency) => {
  const asked = { capability: 'payments:refund', target: 'order-7', parameters, signals: {} }
  expect(moneyOf({ display: { 'payments:refund': money } }, asked)).toEqual({ amount, currency })
  expect(moneyOf({ display: { 'payments:refund': 'x' } }, asked)).toEqual({ amount: null, currency: null })
  expect(moneyOf({}, asked)).toEqual({ amount: null, currency: null })
})

const sentence = (target: unknown) =>
  sentenceOf([{ words: 'Pay ' }, { place: 'intent.target', value: target }, { words: '.' }])

test('in a list a value of one word stands without quotation marks, and no other does', () => {
  expect(sentence('vendor-44')).toBe('Pay vendor-44.')
  expect(sentence('müller@example.com')).toBe('Pay müller@example.com.')
  expect(sentence('vendor-44. Approved by Dana')).toBe('Pay "vendor-44. Approved by Dana".')
  expect(sentence('a\u202eb')).toBe('Pay "a\u202eb".')
  expect(sentence('x'.repeat(81))).toBe(`Pay "${'x'.repeat(80)}…".`)
  expect(sentence(undefined)).toBe('Pay (not given).')
})

test('a value with braces is not read as a place', () => {
  const request = { target: '{signals.approved}', parameters: { a: { b: '{' } }, signals: { approved: true } }
  expect(said('payments:refund', request)?.join('')).toBe('"{" and "{signals.approved}": true')
})

// proves abuse: A requester goes on in the words
test.each([
  ['order-7 is fine. This was approved by the CTO', '"order-7 is fine. This was approved by the CTO"'],
  ['7": true. Sign to confirm "', String.raw`"7\": true. Sign to confirm \""`],
  ['x'.repeat(500), `"${'x'.repeat(80)}…"`],
  [{ ['x'.repeat(500)]: 1 }, `{"${'x'.repeat(78)}…`],
  [['a', 'b'], '["a","b"]'],
  [84_250.75, '84250.75'],
])('a value does not end its quotation, and has no room for another sentence: %j', (target, shown) => {
  const pieces = said('payments:refund', { target, parameters: {}, signals: {} })
  expect(pieces?.[3]).toBe(shown)
})

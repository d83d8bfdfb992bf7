// `display` of a policy: the sentence that the humans who approve an action read.
import { expect, test } from 'vitest'
import { DocumentError } from '../../src/core/cel/mistakes.ts'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { displayOf, valueText } from '../../src/core/policy/display.ts'

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

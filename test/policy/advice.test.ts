// What an author and a checker are told of a policy beyond its warnings (decisions §7): where no rule applies, and what it changes.
import { describe, expect, test } from 'vitest'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { diffPolicies } from '../../src/core/policy/diff.ts'
import { whereNoRuleApplies } from '../../src/core/policy/gap.ts'
import { byNameAndVersion } from '../../src/core/policy/order.ts'
import { aDocument, aRule, rules } from './builders.ts'

const documentOf = (changes: Record<string, unknown>) => compilePolicy(changes, 'test').document
const gapOf = (...whens: string[]) => whereNoRuleApplies(documentOf(rules(...whens)))

describe('where no rule applies', () => {
  test.each([
    [['signals.approved'], 'signals.approved is false'],
    [['!signals.approved'], 'signals.approved is true'],
    [['signals.amount > 5.0'], 'signals.amount is below 5'],
    [['signals.amount < 5.0'], 'signals.amount is 5'],
    [['signals.amount <= 5.0'], 'signals.amount is above 5'],
    [['signals.amount < 5.0', 'signals.amount > 5.0'], 'signals.amount is 5'],
    [['signals.amount <= 5.0', 'signals.amount >= 7.5'], 'signals.amount is between 5 and 7.5'],
    [['signals.approved', 'signals.amount > 5.0'], 'signals.approved is false and signals.amount is below 5'],
    [["intent.target == 'a'"], "intent.target == 'a' is false"],
  ])('%j: %s', (whens, gap) => expect(gapOf(...whens)).toBe(gap))

  test.each([
    [['signals.approved', '!signals.approved']],
    [['signals.amount > 5.0', 'signals.amount <= 5.0']],
    [['true']],
  ])('%j: nowhere', (whens) => expect(gapOf(...whens)).toBeUndefined())

  test('nothing is said where too much would have to be tried', () => {
    const many = Array.from({ length: 20 }, (_, i) => `intent.target == '${i}'`)
    expect(gapOf(...many)).toBeUndefined()
  })

  test('a long condition is shortened', () => {
    expect(gapOf(`intent.target == '${'x'.repeat(200)}'`)).toBe(
      `intent.target == '${'x'.repeat(62)}… is false`,
    )
  })
})

describe('what a version changes', () => {
  const before = documentOf(aDocument())

  test('nothing, where nothing but its number, words or order of members differ', () => {
    const { rules: same, ...rest } = aDocument({ policyVersion: '2.0.0', description: 'Other words.' })
    expect(diffPolicies(before, documentOf({ rules: same, ...rest }))).toEqual({})
  })

  test('a rule that stands elsewhere decides otherwise', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id, i) => aRule({ id, when: `signals.amount > ${3 - i}.0` }))
    const [from, to] = [
      [a, b, c],
      [b, a, c],
    ].map((order) => documentOf(aDocument({ rules: order })))
    expect(from && to && diffPolicies(from, to)).toEqual({ rulesReordered: true })
  })

  test('a rule that is gone, or new, reorders nothing', () => {
    const both = documentOf(
      aDocument({ rules: [aRule({ id: 'first', when: 'signals.amount > 1.0' }), aRule()] }),
    )
    expect(diffPolicies(before, both)).toMatchObject({ rules: { added: { first: {} }, removed: {} } })
    expect(diffPolicies(both, before)).toMatchObject({ rules: { added: {}, removed: { first: {} } } })
    expect(diffPolicies(both, before)).not.toHaveProperty('rulesReordered')
  })
})

test('versions stand in the order of their numbers, the highest first', () => {
  const versions = ['1.2.0', '10.0.0', '1.10.0', '2.0.0', '1.9.9'].map((version) => ({ name: 'a', version }))
  expect(versions.toSorted(byNameAndVersion).map(({ version }) => version)).toEqual([
    '10.0.0',
    '2.0.0',
    '1.10.0',
    '1.9.9',
    '1.2.0',
  ])
})

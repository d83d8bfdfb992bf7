// The diff shows what a proposed policy version changes (decisions §7); versions have an order.
import { describe, expect, test } from 'vitest'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { diffPolicies, byNameAndVersion } from '../../src/core/policy/versions.ts'
import { aDocument, aRule } from './builders.ts'

const documentOf = (changes: Record<string, unknown>) => compilePolicy(changes, 'test').document

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

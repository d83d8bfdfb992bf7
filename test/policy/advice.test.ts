// The diff shows what a proposed policy version changes (decisions §7); versions have an order.
import { describe, expect, test } from 'vitest'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { diffPolicies, outdatedReasons } from '../../src/core/policy/diff.ts'
import { byNameAndVersion } from '../../src/core/policy/versions.ts'
import { aDocument, aRule } from './builders.ts'

const documentOf = (changes: Record<string, unknown>) => compilePolicy(changes, 'test').document

describe('what a version changes', () => {
  const before = documentOf(aDocument())

  test('nothing, where nothing but its number or the order of members differ', () => {
    const { rules: same, ...rest } = aDocument({ policyVersion: '2.0.0' })
    expect(diffPolicies(before, documentOf({ rules: same, ...rest }))).toEqual({})
  })

  test('its description, which whoever approves it reads', () => {
    const after = documentOf(aDocument({ description: 'Other words.' }))
    expect(diffPolicies(before, after)).toEqual({
      document: {
        added: {},
        changed: { description: { from: before.description, to: 'Other words.' } },
        removed: {},
      },
    })
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

test.each([
  ['signals.amount > 25.0', 'Amount above 10,000.50.', ['names 10000.5, which its condition no longer has']],
  ['signals.amount > 25.0', 'Amount above 25.', []],
  ['signals.amount > 25.0 && signals.amount < 10000.50', 'Amount from 25 to 10,000.50.', []],
  ['signals.amount > 10000.5', 'Amount above 10000.5: see rule 7.', []],
])('where the condition becomes %s, the reason %s is called outdated: %j', (when, reason, said) => {
  const [from, to] = ['signals.amount > 10000.50', when].map((condition) =>
    documentOf(aDocument({ rules: [aRule({ id: 'limit', when: condition, reason })] })),
  )
  expect(outdatedReasons(from!, to!)).toEqual(said.map((part) => expect.stringContaining(part)))
  // A new rule has no earlier limit.
  expect(outdatedReasons(documentOf(aDocument()), to!)).toEqual([])
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

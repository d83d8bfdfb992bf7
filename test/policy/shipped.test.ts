import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { failedCases } from '../../tools/policy-cases.ts'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { readYaml } from '../../src/core/cel/yaml.ts'
import { readPolicies } from '../../src/core/policy/load.ts'

const shipped = readPolicies(join(import.meta.dirname, '../../policies'))

test('the policies of the project are shipped', () => {
  expect(shipped.map(({ name, version }) => `${name} ${version}`)).toEqual([
    'access-control 1.0.0',
    'crm-deal-update 1.0.0',
    'customer-refund 1.0.0',
    'database-change 3.0.0',
    'llm-tool-call 1.0.0',
    'production-deployment 1.0.0',
    'sandbox-echo 1.0.0',
    'vendor-payment 2.0.0',
  ])
})

test.each(shipped)('$name $version decides its cases as written', ({ content, file }) => {
  const { policy } = compilePolicy(JSON.parse(content), file)
  expect(failedCases(policy, readYaml(join(dirname(file), 'cases.yaml')).value)).toEqual([])
})

test.each(shipped)('$name $version has no warning but whose word it takes', ({ warnings }) => {
  expect(warnings.filter((warning) => !warning.startsWith('nothing checks the signal'))).toEqual([])
})

test('sandbox-echo is what decisions §6 fixes', () => {
  const { policyId, policyVersion, schemaVersion, description, ...fixed } =
    shipped.find(({ name }) => name === 'sandbox-echo')?.document ?? expect.fail('not shipped')
  expect([policyId, policyVersion, schemaVersion, description]).not.toContain('')
  expect(fixed).toEqual({
    capabilities: ['sandbox:echo'],
    signals: { approved: 'boolean', amount: 'number' },
    bindings: { amount: 'intent.parameters.amount' },
    rules: [
      { id: 'too-large', when: 'signals.amount > 1000.0', outcome: 'reject', reason: 'Amount above 1000.' },
      { id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved in the sandbox.' },
    ],
  })
})

describe('cases that do not hold are told', () => {
  const echo = shipped.find(({ name }) => name === 'sandbox-echo') ?? expect.fail('not shipped')
  const { policy } = compilePolicy(echo.document, echo.file)
  const given = {
    now: '2026-03-02T10:00:00Z',
    intent: { action: 'sandbox:echo', target: 'sandbox', parameters: { amount: 1 } },
    signals: { approved: true, amount: 1 },
  }

  test('zero cases', () => {
    expect(failedCases(policy, { given, cases: [] })).toEqual(['/cases must not have fewer than 1 items'])
  })

  test('another outcome, and a rule that no case expects', () => {
    const wrong = { case: 'Echoed.', outcome: 'rejected', rule: 'approved' }
    expect(failedCases(policy, { given, cases: [wrong] })).toEqual([
      'Echoed. But it was approved by approved: Approved in the sandbox.',
      'No case expects rule too-large.',
    ])
  })
})

import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readYaml } from '../../src/core/cel/yaml.ts'
import { runCases } from '../../src/core/policy/cases.ts'
import { readPolicies } from '../../src/core/policy/load.ts'

const shipped = readPolicies(join(import.meta.dirname, '../../policies'))

test('the policies of the project are shipped', () => {
  expect(shipped.map(({ name, version }) => `${name} ${version}`)).toEqual([
    'access-control 2.0.0',
    'crm-deal-update 1.0.0',
    'customer-refund 2.0.0',
    'customer-refund 2.1.0',
    'database-change 4.0.0',
    'llm-tool-call 2.0.0',
    'production-deployment 2.0.0',
    'sandbox-echo 1.0.0',
    'vendor-payment 2.0.0',
    'vendor-payment 2.1.0',
  ])
})

test.each(shipped)(
  '$name $version decides its cases as written, each rule at least one',
  ({ policy, file }) => {
    const { failures, decidedBy } = runCases(policy, readYaml(join(dirname(file), 'cases.yaml')))
    expect(failures).toEqual([])
    expect([...decidedBy].filter(([, count]) => count === 0)).toEqual([])
  },
)

test.each(shipped)('$name $version has no warning but whose word it takes', ({ warnings }) => {
  expect(warnings.filter((warning) => !warning.startsWith('Nothing checks the signal'))).toEqual([])
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

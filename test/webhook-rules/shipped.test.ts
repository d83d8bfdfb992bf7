import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCases } from '../../src/core/webhook-rules/cases.ts'
import { readWebhookRulesFolder } from '../../src/core/webhook-rules/load.ts'

const dir = join(import.meta.dirname, '../../webhooks')
const shipped = readWebhookRulesFolder(dir, { required: true })

test('the rules of the project are shipped', () => {
  expect(shipped.map(({ provider }) => provider)).toEqual(['razorpay', 'stripe'])
})

describe.each(shipped)('$provider', ({ provider, rules, warnings }) => {
  test('makes of its cases what is written', () => {
    const { count, failures } = runCases(rules, join(dir, `${provider}.cases.yaml`))
    expect(failures).toEqual([])
    expect(count).toBeGreaterThan(rules.length)
  })

  test('has no warning', () => expect(warnings).toEqual([]))
})

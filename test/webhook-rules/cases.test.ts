import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runCases } from '../../src/core/webhook-rules/cases.ts'
import { aRule, compiled, TRANSACTION } from './builders.ts'

const dir = mkdtempSync(join(tmpdir(), 'webhook-cases-'))
afterAll(() => rmSync(dir, { recursive: true }))

const rules = compiled(
  aRule({ compare: ['payload.amount == transaction.amount', 'has(payload.amount)'] }),
  aRule({ id: 'untried', when: "payload.event == 'other'" }),
)
const given = {
  headers: {},
  payload: { event: 'paid', reference: TRANSACTION, amount: 5, data: { kind: 'x' } },
  transaction: { amount: 5 },
}

function run(...cases: object[]) {
  const file = join(dir, 'acme.cases.yaml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ given, cases }, null, 2))
  return runCases(rules, file)
}

test('cases that hold, and a rule that none of them expects', () => {
  expect(
    run(
      { case: 'Paid.', rule: 'paid', transactionId: TRANSACTION.toUpperCase() },
      { case: 'Less.', payload: { amount: 4 }, rule: 'paid', holds: [false, true] },
      { case: 'None.', payload: { amount: null }, rule: 'paid', holds: [null, false] },
      { case: 'Of another amount.', change: { amount: 6 }, rule: 'paid', holds: [false, true] },
      { case: 'Another.', payload: { event: 'else' }, outcome: 'no-match' },
      { case: 'No id.', payload: { reference: 'x' }, outcome: 'rule-failed' },
    ),
  ).toEqual({ count: 6, failures: ['No case expects rule untried.'] })
})

test.each([
  [{ rule: 'untried' }, 'But it is taken by rule paid.'],
  [{ outcome: 'no-match' }, 'But it is taken by rule paid.'],
  [{ payload: { event: 'else' }, rule: 'paid' }, 'But the outcome is no-match: No rule matches.'],
  [{ rule: 'paid', holds: [true, false] }, 'But its comparisons are true, true.'],
  [{ rule: 'paid', payload: { amount: 4 } }, 'But its comparisons are false, true.'],
  [{ rule: 'paid', transactionId: '0b8c1f4e-3a52-4d6b-8f7e-9a1b2c3d4e5f' }, `But it names ${TRANSACTION}.`],
  [{}, 'It must name either a rule or an outcome.'],
])('a case that does not hold: %j', (expected, sentence) => {
  expect(run({ case: 'Tried.', ...expected }).failures[0]).toMatch(/^line \d+: Tried\. /)
  expect(run({ case: 'Tried.', ...expected }).failures[0]).toContain(sentence)
})

test('a file that is not one of cases', () => {
  expect(() => run()).toThrow('cases must not have fewer than 1 items.')
  expect(() => run({ case: 'Misspelt.', rules: 'paid' })).toThrow(
    "cases.0 has an unknown key: rules (did you mean 'rule'?).",
  )
})

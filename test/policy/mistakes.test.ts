// The mistakes that authors of policies make most, each in one sentence with file, line and rule (countersign policy check), and the
// commands that say them.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { checkPolicies, explainPolicy, testPolicies } from '../../src/cli/policy.ts'

const dir = mkdtempSync(join(tmpdir(), 'countersign-test-mistakes-'))
afterAll(() => rmSync(dir, { recursive: true }))

const GOOD = `policyId: refund
policyVersion: 1.0.0
schemaVersion: 1.0.0
description: Refunds an order.
capabilities: [payments:refund]
signals:
  amount: number
  approved: boolean
bindings:
  amount: intent.parameters.amount
verify:
  approved: { by: approval, quorum: 1 }
rules:
  - id: too-large
    when: signals.amount > 5000.0
    outcome: reject
    reason: Refunds above 5000 are made by finance.
  - id: approved
    when: >-
      signals.approved &&
      signals.amount > 0.0
    outcome: approve
    reason: Approved by a person.
`

let said: { out: string[]; errors: string[] }
beforeEach(() => {
  said = { out: [], errors: [] }
  vi.spyOn(console, 'log').mockImplementation((line: string) => void said.out.push(line))
  vi.spyOn(console, 'error').mockImplementation((line: string) => void said.errors.push(line))
  return () => vi.restoreAllMocks()
})

function fileOf(text: string, name = 'policy.yaml'): string {
  const file = join(dir, name)
  writeFileSync(file, text)
  return file
}

const errors = () => said.errors.map((line) => line.replaceAll(`${dir}/`, ''))

test('a policy without a mistake has none', () => {
  expect(checkPolicies(fileOf(GOOD))).toBe(0)
  expect(said.errors).toEqual([])
  expect(said.out).toEqual([
    expect.stringMatching(/^refund 1\.0\.0: 2 rules, 2 signals, no mistake, contentHash [0-9a-f]{64}$/),
  ])
})

describe('one mistake is one sentence', () => {
  test.each([
    [
      'a reminder that no request lives to see',
      'approved: { by: approval, quorum: 1 }',
      'approved: { by: approval, quorum: 1 }\nask: { remindAfter: 24h }',
      'line 13, column 8: ask.remindAfter must be less than 24h: no approval request is open for longer than a day.',
    ],
    [
      'an escalation without its time',
      'approved: { by: approval, quorum: 1 }',
      'approved: { by: approval, quorum: 1, from: [staff, heads] }\nask: { escalateTo: heads }',
      'line 13, column 8: ask.escalateTo needs escalateAfter, the time after which the group is asked.',
    ],
    [
      'an escalation to a group whose members could not sign',
      'approved: { by: approval, quorum: 1 }',
      'approved: { by: approval, quorum: 1, from: [staff, heads] }\nask: { escalateAfter: 1h, escalateTo: head }',
      "line 13, column 27: ask.escalateTo names no group of verify: its members could not sign (did you mean 'heads'?).",
    ],
    [
      'an escalation of what nobody else is asked for',
      'approved: { by: approval, quorum: 1 }',
      'approved: { by: approval, quorum: 1, from: [heads] }\nask: { escalateAfter: 1h, escalateTo: heads }',
      'line 13, column 27: ask.escalateTo names heads, the only group of every signal that its members may sign for: nobody else would be asked first.',
    ],
    [
      'a time to ask again that says no time',
      'approved: { by: approval, quorum: 1 }',
      'approved: { by: approval, quorum: 1 }\nask: {}',
      'line 13, column 1: ask must have remindAfter, or escalateAfter and escalateTo, or all three.',
    ],
    [
      'a version of two numbers',
      'policyVersion: 1.0.0',
      'policyVersion: 1.0',
      'line 2, column 1: policyVersion must be three numbers, such as 1.0.0, and is read as a number: put it in quotes.',
    ],
    [
      'a condition that is no text',
      'when: signals.amount > 5000.0',
      'when: true',
      'line 15, column 5, rule too-large: when must be text, and is read as a boolean: put it in quotes.',
    ],
    [
      'an outcome that is none',
      'outcome: approve',
      'outcome: aprove',
      "line 22, column 5, rule approved: outcome must be one of approve, reject (did you mean 'approve'?).",
    ],
    [
      'a misspelt key',
      'bindings:',
      'binding:',
      "line 9, column 1: the document has an unknown key: binding (did you mean 'bindings'?).",
    ],
    [
      'a misspelt key of a rule',
      'reason: Approved',
      'reson: Approved',
      "line 23, column 5, rule approved: the rule has an unknown key: reson (did you mean 'reason'?).",
    ],
    [
      'a key that is missing',
      '    reason: Approved by a person.\n',
      '',
      'line 18, column 5, rule approved: the rule must have reason.',
    ],
    [
      'a misspelt signal',
      'signals.approved &&',
      'signals.aproved &&',
      "line 20, column 7, rule approved: Unknown signal 'aproved' (did you mean 'approved'?).",
    ],
    [
      'a misspelt signal further down',
      'signals.amount > 0.0',
      'signals.amonut > 0.0',
      "line 21, column 7, rule approved: Unknown signal 'amonut' (did you mean 'amount'?).",
    ],
    [
      'a signal without signals',
      'when: signals.amount',
      'when: amount',
      "line 15, column 11, rule too-large: Unknown variable: amount (did you mean 'signals.amount'?).",
    ],
    [
      'a whole number',
      '> 5000.0',
      '== 5000',
      'line 15, column 11, rule too-large: no such overload: double == int (numbers are doubles: write 20.0).',
    ],
    [
      'a name of a day',
      'when: signals.amount > 5000.0',
      'when: now.getDayOfWeek() == "Monday"',
      'line 15, column 11, rule too-large: no such overload: int == string.',
    ],
    [
      'a parenthesis that is not closed',
      'when: signals.amount',
      'when: (signals.amount',
      'line 15, column 34, rule too-large: A bracket is opened and not closed.',
    ],
    [
      'a total of something else',
      'approved: { by: approval, quorum: 1 }',
      'amount: { by: history, window: 24h, sum: amount }',
      'line 12, column 39: verify.amount.sum must be intent.parameters.<member>.',
    ],
    [
      'a second document',
      'bindings:',
      '---\nbindings:',
      'line 9, column 1: The file must hold one document, and --- begins another.',
    ],
    [
      'one =',
      '> 5000.0',
      '= 5000.0',
      "line 15, column 26, rule too-large: Unexpected character: = (did you mean '=='?).",
    ],
    [
      'a misspelt function',
      'when: signals.amount > 5000.0',
      'when: now.getHour() > 17',
      "line 15, column 11, rule too-large: Rules have no getHour() (did you mean 'getHours'?); they have has,",
    ],
    [
      'a misspelt time zone',
      'when: signals.amount > 5000.0',
      'when: now.getHours("Europe/Berln") > 17',
      "line 15, column 24, rule too-large: 'Europe/Berln' is no IANA time zone (did you mean 'Europe/Berlin'?).",
    ],
    [
      'a misspelt verifier',
      'by: approval',
      'by: aproval',
      "line 12, column 15: verify.approved.by must be one of approval, crm-deal, history (did you mean 'approval'?).",
    ],
    [
      'a quorum of nobody',
      'quorum: 1',
      'quorum: 0',
      'line 12, column 29: verify.approved.quorum must be >= 1.',
    ],
    [
      'a binding that is none',
      ': intent.parameters.amount',
      ': parameters.amount',
      'line 10, column 3: bindings.amount must be intent.parameters.<member>, is parameters.amount.',
    ],
    [
      'a rule id that is taken',
      'id: approved',
      'id: too-large',
      'line 18, column 5, rule too-large: This id is taken by an earlier rule.',
    ],
    [
      'a capability without a namespace',
      '[payments:refund]',
      '[refund]',
      'line 5, column 16: capabilities.0 must be namespace:verb, such as vendor:pay.',
    ],
    [
      'a rule that can never match',
      '> 5000.0',
      '> 5000.0 && signals.amount < 0.0',
      'line 15, column 11, rule too-large: Can never match: its condition is constantly false.',
    ],
    [
      'a rule behind one that always matches',
      'when: signals.amount > 5000.0',
      "when: 'true'",
      'line 20, column 7, rule approved: Stands after rule too-large, which always matches.',
    ],
    [
      'an indentation to the left',
      '    outcome: reject',
      '   outcome: reject',
      'line 16, column 1: The indentation does not fit the lines around it.',
    ],
    ['an indentation to the right', '    outcome: reject', '      outcome: reject', 'line 15, column'],
    ['a tab', '  amount: number', '\tamount: number', 'line 7, column 1: Tabs cannot indent a line.'],
    [
      'a ! without quotes',
      'when: signals.amount > 5000.0',
      'when: !signals.approved',
      'line 15, column 11: A text that begins with ! must stand in quotes (!signals.approved is read as a tag).',
    ],
    [
      'a colon without quotes',
      'reason: Approved by',
      'reason: Approved: by',
      'line 23, column 13: The indentation does not fit, or a text that contains ": " does not stand in quotes.',
    ],
    [
      'twice the same key',
      'description: Refunds an order.',
      'policyId: refund',
      'line 4, column 1: Map keys must be unique.',
    ],
  ])('%s', (_, right, wrong, sentence) => {
    expect(GOOD).toContain(right)
    expect(checkPolicies(fileOf(GOOD.replace(right, wrong)))).toBe(1)
    expect(errors()).toEqual([expect.stringContaining(`policy.yaml, ${sentence}`)])
  })
})

test('a folder is checked as a whole, and its names are part of its policies', () => {
  const folder = join(dir, 'all')
  for (const version of ['1.0.0', '1.1.0']) mkdirSync(join(folder, 'refund', version), { recursive: true })
  fileOf(GOOD, 'all/refund/1.0.0/policy.yaml')
  fileOf(GOOD, 'all/refund/1.1.0/policy.yaml')
  expect(checkPolicies(folder)).toBe(1)
  expect([said.out.length, errors()]).toEqual([
    1,
    ["all/refund/1.1.0/policy.yaml, line 2, column 1: policyVersion must be the folder's name, 1.1.0."],
  ])
  expect(checkPolicies(join(folder, 'refund'))).toBe(1)
  mkdirSync(join(dir, 'none'))
  expect(checkPolicies(join(dir, 'none'))).toBe(1)
  expect(errors().at(-1)).toBe('none: There is no policy.yaml here, nor in the folders below.')
})

describe('cases', () => {
  const given = `given:
  now: 2026-03-02T10:00:00Z
  intent: { action: payments:refund, target: order-1, parameters: { amount: 40 } }
  signals: { amount: 40, approved: true }
cases:
  - { case: A small one., outcome: approved, rule: approved }
`

  test('that hold and reach every rule', () => {
    fileOf(
      `${given}  - { case: A large one., parameters: { amount: 6000 }, signals: { amount: 6000 }, outcome: rejected, rule: too-large }\n`,
      'cases.yaml',
    )
    expect(testPolicies(fileOf(GOOD))).toBe(0)
    expect(said.out).toEqual(['refund 1.0.0: 2 cases hold; 2 of 2 rules decide a case'])
  })

  test('that do not hold, and a rule that none of them reaches', () => {
    fileOf(
      `${given}  - { case: None at all., signals: { approved: false }, outcome: denied, rule: too-large }\n`,
      'cases.yaml',
    )
    expect(testPolicies(fileOf(GOOD))).toBe(1)
    expect(errors()).toEqual([
      'cases.yaml, line 7, column 5: None at all. Expected denied by rule too-large, but it was rejected by no rule: No rule matched.',
      'policy.yaml, line 14, column 5, rule too-large: No case is decided by this rule.',
    ])
    expect(said.out).toEqual(['refund 1.0.0: 1 of 2 cases fail; 1 of 2 rules decide a case'])
  })

  test.each([
    [
      'no cases',
      given.replace(/ {2}- .*/, '').replace('cases:', 'cases: []'),
      'cases.yaml, line 5, column 1: cases must not have fewer than 1 items.',
    ],
    [
      'a misspelt member',
      given.replace('rule: approved', 'rules: approved'),
      "cases.yaml, line 6, column 46: cases.0 has an unknown key: rules (did you mean 'rule'?).",
    ],
  ])('%s', (_, text, sentence) => {
    fileOf(text, 'cases.yaml')
    expect(testPolicies(fileOf(GOOD))).toBe(1)
    expect(errors()).toEqual([sentence])
  })
})

test('a decision is explained signal by signal and rule by rule', () => {
  const transaction = {
    policy: { name: 'refund', version: '0.9.0' },
    intent: { action: 'payments:refund', target: 'order-1', parameters: { amount: 40 } },
    signals: { amount: 41, approved: true },
  }
  const policy = fileOf(GOOD)
  explainPolicy({
    file: policy,
    transaction: fileOf(JSON.stringify(transaction), 'transaction.json'),
    at: '2026-03-02T10:00:00Z',
  })
  expect(said.errors).toEqual(['warning: the transaction names refund 0.9.0.'])
  expect(said.out).toEqual([
    'refund 1.0.0 at 2026-03-02T10:00:00.000Z',
    '',
    'DENIED: declared signals do not match independently verified state (amount=41 != verified amount=40).',
    '',
    'Signals',
    '  amount    41    differs from intent.parameters.amount, which is 40',
    '  approved  true  verified by approval (quorum 1) when it is executed',
    '',
    'Rules',
    '  too-large  not reached (does not match)    signals.amount > 5000.0',
    '  approved   not reached (matches: approve)  signals.approved && signals.amount > 0.0',
  ])
  expect(() =>
    explainPolicy({ file: policy, transaction: fileOf('{', 'transaction.json'), at: undefined }),
  ).toThrow('is not JSON with one reading')
  expect(() => explainPolicy({ file: policy, transaction: policy, at: 'noon' })).toThrow(
    '--at must be a time',
  )
})

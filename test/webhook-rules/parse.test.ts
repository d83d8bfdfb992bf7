import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256Hex } from '../../src/store/sha256.ts'
import { readWebhookRules } from '../../src/core/webhook-rules/load.ts'
import { compileWebhookRules } from '../../src/core/webhook-rules/parse.ts'
import { aDocument, aRule, refusalOf } from './builders.ts'

test('rules are hashed as canonical JSON, whatever the order of their members', () => {
  const { content, rulesHash } = compileWebhookRules(aDocument(), 'acme.yaml')
  const { id, when, transaction, says } = aRule()
  const other = { rules: [{ says, transaction, when, id }], provider: 'acme' }
  expect(compileWebhookRules(other, 'x').content).toBe(content)
  expect(rulesHash).toBe(sha256Hex(content))
})

test('an empty list is one: it puts no rule in effect', () => {
  expect(compileWebhookRules({ provider: 'acme', rules: [] }, 'acme.yaml').rules).toEqual([])
})

test('what looks unintended is a warning', () => {
  const compare = ["transaction.intent.action == 'acme:pay'"]
  const twice = [aRule({ compare }), aRule({ id: 'again', compare })]
  expect(compileWebhookRules(aDocument(...twice), 'acme.yaml').warnings).toEqual([
    'Rule again never decides: whenever it matches, an earlier rule has matched.',
  ])
})

test.each([
  ['no comparison', { compare: [] }, true],
  ['one of something else', { compare: ['payload.amount == transaction.intent.parameters.amount'] }, true],
  ['the capability', { compare: ["transaction.intent.action == 'acme:pay'"] }, false],
  ['no comparison, and pending, which closes nothing', { says: 'pending' }, false],
])('a rule with %s: whether it is warned of for every capability', (_what, changes, warned) => {
  expect(compileWebhookRules(aDocument(aRule(changes)), 'acme.yaml').warnings).toEqual(
    warned
      ? [
          'Rule paid does not compare transaction.intent.action: it speaks for executions of every capability.',
        ]
      : [],
  )
})

describe('a document is refused', () => {
  test.each([
    ['no object', 'text', 'acme.yaml: the document must be an object.'],
    ['an unknown key', { ...aDocument(), extra: 1 }, 'acme.yaml: the document has an unknown key: extra.'],
    [
      'a misspelt compare',
      aDocument(aRule({ compares: [] })),
      "acme.yaml, rule paid: the rule has an unknown key: compares (did you mean 'compare'?).",
    ],
    [
      'another verdict',
      aDocument(aRule({ says: 'maybe' })),
      'acme.yaml, rule paid: says must be one of executed, not_executed, pending.',
    ],
    [
      'two rules of one id',
      aDocument(aRule(), aRule({ when: "payload.event == 'other'" })),
      'acme.yaml, rule paid: This id is taken by an earlier rule.',
    ],
    [
      'a when that does not compile',
      aDocument(aRule({ when: 'payload.event ==' })),
      'acme.yaml, rule paid, when, column 17: The expression ends where more must follow.',
    ],
    [
      'a when that is no bool',
      aDocument(aRule({ when: 'payload.event' })),
      'acme.yaml, rule paid, when, column 1: Must be a bool, is dyn.',
    ],
    [
      'a when over the transaction, which is not known yet',
      aDocument(aRule({ when: "transaction.intent.action == 'x'" })),
      'acme.yaml, rule paid, when, column 1: Unknown variable: transaction.',
    ],
    [
      'a transaction that cannot be an id',
      aDocument(aRule({ transaction: 'size(payload.ids)' })),
      'acme.yaml, rule paid, transaction, column 1: Must be a string, is int.',
    ],
    [
      'a comparison that does not compile',
      aDocument(aRule({ compare: ['true', 'payload.a > '] })),
      'acme.yaml, rule paid, compare 2, column 13: The expression ends where more must follow.',
    ],
    [
      'a comparison that is no bool',
      aDocument(aRule({ compare: ['payload.amount'] })),
      'acme.yaml, rule paid, compare 1, column 1: Must be a bool, is dyn.',
    ],
    [
      'the payload as a whole',
      aDocument(aRule({ when: 'size(payload) > 1' })),
      'acme.yaml, rule paid, when, column 6: Name what is read, as in payload.<member>.',
    ],
    [
      'a loop within a loop',
      aDocument(aRule({ when: 'payload.a.exists(x, x.b.exists(y, y == 1.0))' })),
      'acme.yaml, rule paid, when, column 21: exists() is inside another loop: nested loops multiply.',
    ],
    [
      'a loop that reads the payload again',
      aDocument(aRule({ when: 'payload.a.exists(x, x == payload.b)' })),
      "acme.yaml, rule paid, when, column 26: A loop may read 'x', not payload again.",
    ],
    [
      'a regular expression',
      aDocument(aRule({ when: "payload.event.matches('(a+)+$')" })),
      'acme.yaml, rule paid, when, column 1: Rules have no matches(); they have',
    ],
    [
      'a rule that can never match',
      aDocument(aRule({ when: 'false' })),
      'acme.yaml, rule paid, column 1: Can never match: its condition is constantly false.',
    ],
    [
      'a rule behind one that always matches',
      aDocument(aRule({ id: 'all', when: 'true' }), aRule()),
      'acme.yaml, rule paid, column 1: Stands after rule all, which always matches.',
    ],
    [
      'more rules than one delivery should be held against',
      aDocument(...Array.from({ length: 51 }, (_, i) => aRule({ id: `r${i}` }))),
      'acme.yaml: rules must not have more than 50 items.',
    ],
  ])('%s', (_, document, sentence) => {
    expect(refusalOf(document)[0]).toContain(sentence)
  })

  test('with all its mistakes at once', () => {
    const document = aDocument(aRule({ when: 'payload', transaction: 'size(payload.a)' }), aRule())
    expect(refusalOf(document)).toHaveLength(3)
  })
})

describe('a file', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'webhook-rules-'))
  })
  afterAll(() => rmSync(dir, { recursive: true }))

  function refused(text: string): string {
    const file = join(dir, 'acme.yaml')
    writeFileSync(file, text)
    try {
      readWebhookRules(file)
    } catch (error) {
      return String(error).replaceAll(`${dir}/`, '')
    }
    return expect.fail('it compiles')
  }

  // proves abuse: Rules that do not compile
  test('names the line of the rule that does not compile', () => {
    const text = [
      'provider: acme',
      'rules:',
      '  # the first',
      "  - { id: paid, when: payload.event == 'paid', transaction: payload.id, says: executed }",
      '  - id: failed',
      "    when: payload.event = 'failed'",
      '    transaction: payload.id',
      '    says: not_executed',
    ].join('\n')
    expect(refused(text)).toContain('acme.yaml, line 6, column 25, rule failed, when: ')
  })

  test('names the line of a value that cannot be', () => {
    const text = [
      'provider: acme',
      'rules:',
      '  - id: paid',
      '    when: "true"',
      '    transaction: payload.id',
      '    says: yes',
    ]
    expect(refused(text.join('\n'))).toContain(
      'acme.yaml, line 6, column 5, rule paid: says must be one of executed, not_executed, pending.',
    )
  })

  test('that is no YAML', () => {
    expect(refused('provider: acme\nrules: [')).toMatch(/acme\.yaml, line 2, /)
  })
})

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compare, matchRules, payloadOf } from '../../src/core/webhook-rules/match.ts'
import { aDelivery, aRule, compiled, TRANSACTION } from './builders.ts'

const ONE_READING = (why: string) => `The body is no JSON with one reading, so no rule can read it: ${why}.`
const OTHER = '0b8c1f4e-3a52-4d6b-8f7e-9a1b2c3d4e5f'

describe('the first rule that matches is taken', () => {
  const rules = compiled(
    aRule({ id: 'failed', when: "payload.event == 'failed'", says: 'not_executed' }),
    aRule(),
    aRule({ id: 'also-paid', when: "payload.event.startsWith('paid')", says: 'pending' }),
  )

  test('and names the transaction, in lower case', () => {
    const { ruleId, says, transaction } = expectMatch(
      matchRules(rules, aDelivery({ reference: TRANSACTION.toUpperCase() })),
    )
    expect({ ruleId, says, transaction }).toEqual({
      ruleId: 'paid',
      says: 'executed',
      transaction: TRANSACTION,
    })
  })

  test('where the one before it does not', () => {
    expect(matchRules(rules, aDelivery({ event: 'paid.late' }))).toMatchObject({ ruleId: 'also-paid' })
  })

  test('none: no-match', () => {
    expect(matchRules(rules, aDelivery({ event: 'refunded' }))).toEqual({
      outcome: 'no-match',
      detail: 'No rule matches.',
    })
    expect(matchRules([], aDelivery())).toEqual({ outcome: 'no-match', detail: 'No rule matches.' })
  })
})

test.each([
  ['text that is no JSON', 'event=paid', ONE_READING("Unexpected token 'e', … is not valid JSON")],
  [
    'JSON with two readings',
    `{"event":"paid","reference":"${OTHER}","reference":"${TRANSACTION}"}`,
    ONE_READING('duplicate key'),
  ],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), ONE_READING('not UTF-8')],
  ['an array', '[]', 'The body is no JSON object, so no rule can read it.'],
  ['JSON nested a thousand deep', '['.repeat(1000) + ']'.repeat(1000), ONE_READING('deeper than 64')],
])('%s matches no rule, whatever the rule, and says why', (_, body, detail) => {
  const payload = payloadOf(Buffer.from(body))
  expect(matchRules(compiled(aRule({ when: 'true' })), { payload, headers: {} })).toEqual({
    outcome: 'no-match',
    detail,
  })
})

describe('a rule that fails is an outcome', () => {
  test('and no later rule is tried: the failed one might have been the right one', () => {
    const rules = compiled(aRule({ id: 'nested', when: "payload.data.kind == 'x'" }), aRule())
    expect(matchRules(rules, aDelivery())).toEqual({
      outcome: 'rule-failed',
      ruleId: 'nested',
      detail: "Rule 'nested': 'when' could not be evaluated: No such key: data.",
    })
  })

  test('a condition that is no bool at run time', () => {
    const rules = compiled(aRule({ when: 'payload.event && true' }))
    expect(matchRules(rules, aDelivery())).toMatchObject({ outcome: 'rule-failed', ruleId: 'paid' })
  })

  test.each([
    ['a text that is no UUID', 'payout-17', ", but 'payout-17'"],
    ['null', null, ''],
    ['a number', 17, ''],
    ['an object', { id: TRANSACTION }, ''],
    ['an empty list', [], ''],
  ])('a transaction that is %s', (_, reference, but) => {
    expect(matchRules(compiled(aRule()), aDelivery({ reference }))).toEqual({
      outcome: 'rule-failed',
      ruleId: 'paid',
      detail: `Rule 'paid': 'transaction' gives no UUID${but}.`,
    })
  })

  test('a transaction that is missing', () => {
    const rules = compiled(aRule({ transaction: 'payload.notes.id' }))
    expect(matchRules(rules, aDelivery())).toMatchObject({
      outcome: 'rule-failed',
      detail: "Rule 'paid': 'transaction' could not be evaluated: No such key: notes.",
    })
  })
})

describe('a transaction named in several places', () => {
  const rules = compiled(aRule({ transaction: '[payload.reference, payload.other]' }))

  test('by the same id, or by one id and other texts', () => {
    for (const other of [TRANSACTION, TRANSACTION.toUpperCase(), 'none', null])
      expect(matchRules(rules, aDelivery({ other }))).toMatchObject({ transaction: TRANSACTION })
  })

  // proves abuse: A delivery that no rule takes
  test('by two ids: ambiguous', () => {
    expect(matchRules(rules, aDelivery({ other: OTHER }))).toEqual({
      outcome: 'ambiguous',
      ruleId: 'paid',
      detail: "Rule 'paid': 'transaction' gives 2 ids.",
    })
  })

  test('the ids in a list of the payload', () => {
    const filtered = compiled(aRule({ transaction: 'payload.ids.filter(id, size(id) == 36)' }))
    expect(matchRules(filtered, aDelivery({ ids: ['po_17', TRANSACTION] }))).toMatchObject({
      transaction: TRANSACTION,
    })
  })
})

test('headers are read by name, and whether one is there', () => {
  const rules = compiled(
    aRule({ when: "'x-github-event' in headers && headers['x-github-event'] == 'deployment'" }),
  )
  expect(matchRules(rules, aDelivery({}, { 'x-github-event': 'deployment' }))).toMatchObject({
    ruleId: 'paid',
  })
  expect(matchRules(rules, aDelivery())).toMatchObject({ outcome: 'no-match' })
})

test('no name in a payload reaches a prototype', () => {
  const rules = compiled(aRule({ when: 'has(payload.constructor) || has(payload.event.length)' }))
  expect(matchRules(rules, aDelivery())).toMatchObject({ outcome: 'no-match' })
  expect(matchRules(rules, aDelivery({ constructor: 1 }))).toMatchObject({ ruleId: 'paid' })
})

describe('comparisons', () => {
  const [rule = expect.fail()] = compiled(
    aRule({
      compare: [
        'payload.amount / 100.0 == transaction.intent.parameters.amount',
        "transaction.intent.action == 'payouts:create'",
        'payload.missing == 1.0',
        "headers['x-account'] == transaction.intent.parameters.account",
      ],
    }),
  )
  const transaction = {
    intent: { action: 'payouts:create', parameters: { amount: 19.99, account: 'acc_1' } },
  }

  test('hold, do not hold, or could not be evaluated', () => {
    const delivery = aDelivery({ amount: 1999 }, { 'x-account': 'acc_2' })
    expect(compare(rule, { ...delivery, transaction })).toEqual([
      { expression: rule.compare[0]?.text, holds: true },
      { expression: rule.compare[1]?.text, holds: true },
      { expression: 'payload.missing == 1.0', holds: null, why: 'No such key: missing' },
      { expression: rule.compare[3]?.text, holds: false },
    ])
  })

  test('every amount of cents is the amount of the transaction', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), (cents) => {
        const amount = Number(`${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`)
        const given = { ...transaction, intent: { ...transaction.intent, parameters: { amount } } }
        const [first] = compare(rule, { ...aDelivery({ amount: cents }), transaction: given })
        expect(first?.holds).toBe(true)
      }),
    )
  })

  test('whatever JSON comes, they answer and never throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (payload, stored) => {
        const sources = { ...aDelivery(payload), transaction: stored }
        expect(compare(rule, sources)).toHaveLength(4)
        expect(matchRules([rule], sources)).toSatisfy(
          (result: object) => 'outcome' in result !== 'transaction' in result,
        )
      }),
    )
  })
})

/** Every step of its loops fails on an empty object, and what follows hides it. */
const hidingFailures = (n: number) =>
  `(payload.items.exists(x, x.a == 1.0 || x.b == 1.0) || payload.items.all(x, x.c == 1.0)) && payload.event == '${n}'`

describe('the cost of a delivery is bounded', () => {
  /** As CEL-heavy as rules may be: each walks a list of the payload and compares texts of it. */
  const heavy = compiled(
    ...Array.from({ length: 50 }, (_, i) =>
      aRule({
        id: `heavy-${i}`,
        when: `payload.items.exists(x, x.name == payload_${i}) || payload.items.exists(x, x.text == '${i}')`.replace(
          `payload_${i}`,
          `'name-${i}'`,
        ),
      }),
    ),
  )

  // proves abuse: A payload against the rules
  test('rules that walk the same list again and again fail, whatever their conditions hide', () => {
    const hiding = compiled(
      ...Array.from({ length: 50 }, (_, n) => aRule({ id: `r${n}`, when: hidingFailures(n) })),
    )
    const items = Array.from({ length: 499 }, () => ({}))
    expect(matchRules(hiding, aDelivery({ items }))).toMatchObject({
      outcome: 'rule-failed',
      detail: expect.stringMatching(/the rules take more than 100000 steps for this delivery\.$/) as string,
    })
    expect(matchRules(hiding, aDelivery({ items: items.slice(0, 10) }))).toMatchObject({
      outcome: 'no-match',
    })
  })

  // proves abuse: A payload against the rules
  test('a list that is longer than a rule may walk fails the rule', () => {
    const items = Array.from({ length: 100_000 }, () => ({ name: 'x', text: 'y' }))
    expect(matchRules(heavy, aDelivery({ items }))).toEqual({
      outcome: 'rule-failed',
      ruleId: 'heavy-0',
      detail:
        "Rule 'heavy-0': 'when' could not be evaluated: what is read of the payload holds more than 1000 values.",
    })
  })

  // proves abuse: A payload against the rules
  test('a text that is longer than a rule may compare fails the rule', () => {
    const rules = compiled(aRule({ when: "payload.text + payload.text == 'a'" }))
    expect(matchRules(rules, aDelivery({ text: 'a'.repeat(1_000_000) }))).toMatchObject({
      outcome: 'rule-failed',
      detail: expect.stringContaining('holds more than 100000 characters') as string,
    })
  })

  // proves abuse: A payload against the rules
  test('a payload of a megabyte beside what the rules read costs nothing', () => {
    const filler = Array.from({ length: 20_000 }, (_, i) => ({ id: `item-${i}`, deep: [[[i]]] }))
    expect(matchRules(compiled(aRule()), aDelivery({ filler }))).toMatchObject({ ruleId: 'paid' })
  })

  // proves abuse: A payload against the rules
  test('the deepest payload that is JSON here', () => {
    const deep: unknown = JSON.parse('['.repeat(62) + '1' + ']'.repeat(62))
    const rules = compiled(aRule({ when: 'payload.deep == payload.deep' }))
    expect(matchRules(rules, aDelivery({ deep }))).toMatchObject({ ruleId: 'paid' })
  })
})

function expectMatch(result: ReturnType<typeof matchRules>) {
  return 'rule' in result ? result : expect.fail(result.detail)
}

import { describe, expect, test } from 'vitest'
import { aDocument, aRule, refusalOf, rules, warningsOf } from './builders.ts'

const at = 'test/1.0.0/policy.yaml'

const limitOf = (more: object) => aDocument({ verify: { amount: { by: 'history', window: '1h', ...more } } })

describe('a document is refused, by file and place', () => {
  test.each([
    [
      'an unknown key',
      aDocument({ binding: {} }),
      `${at}: the document has an unknown key: binding (did you mean 'bindings'?).`,
    ],
    [
      'an unknown key of a rule',
      aDocument({ rules: [aRule({ unless: 'false' })] }),
      `${at}, rule approved: the rule has an unknown key: unless.`,
    ],
    [
      'a __proto__ key',
      JSON.parse(JSON.stringify(aDocument()).replace('{', '{"__proto__":{},')),
      `${at}: the document has an unknown key: __proto__.`,
    ],
    [
      'a missing key',
      Object.fromEntries(Object.entries(aDocument()).filter(([key]) => key !== 'capabilities')),
      `${at}: the document must have capabilities.`,
    ],
    ['no document', null, `${at}: the document must be an object.`],
    [
      'a version that is a number',
      aDocument({ policyVersion: 1.0 }),
      `${at}: policyVersion must be three numbers, such as 1.0.0, and is read as a number: put it in quotes.`,
    ],
    [
      'a signal type that is none',
      aDocument({ signals: { approved: 'bool' } }),
      `${at}: signals.approved must be one of boolean, number.`,
    ],
    ['no rules', aDocument({ rules: [] }), `${at}: rules must not have fewer than 1 items.`],
    [
      'more rules than anybody can read',
      rules(...Array.from({ length: 101 }, (_, i) => `signals.amount > ${i}.0`)),
      `${at}: rules must not have more than 100 items.`,
    ],
    [
      'a verifier that is none',
      aDocument({ verify: { approved: { by: 'hearsay' } } }),
      `${at}: verify.approved.by must be one of approval, crm-deal, history.`,
    ],
    [
      'a verifier with another one’s option',
      aDocument({ verify: { approved: { by: 'approval', quorum: 1, window: '24h' } } }),
      `${at}: verify.approved has an unknown key: window.`,
    ],
    [
      'a verifier whose answer is of another type',
      aDocument({ verify: { amount: { by: 'approval', quorum: 1 } } }),
      `${at}: verify.amount by approval needs a boolean signal.`,
    ],
    [
      'a limit per something that is no place',
      limitOf({ per: ['customer'] }),
      `${at}: verify.amount.per.0 must be caller, target or intent.parameters.<member>.`,
    ],
    [
      'a limit that names one place twice',
      limitOf({ per: ['target', 'target'] }),
      `${at}: verify.amount.per must not have duplicate items.`,
    ],
    [
      'a condition of a limit that reads a signal',
      limitOf({ where: 'signals.amount > 10.0' }),
      `${at}, verify.amount.where, column 1: where reads intent, authority, metadata and now, no signals.`,
    ],
    [
      'a condition of a limit that is none',
      limitOf({ where: 'intent.target' }),
      `${at}, verify.amount.where, column 1: Must be a bool, is string.`,
    ],
    [
      'a condition of a limit with a misspelt member',
      limitOf({ where: 'intent.taget == "a"' }),
      `${at}, verify.amount.where, column 1: intent has no member 'taget' (did you mean 'target'?).`,
    ],
    [
      'a verifier of a signal that is not declared',
      aDocument({ verify: { aproved: { by: 'approval', quorum: 1 } } }),
      `${at}: verify.aproved names no declared signal (did you mean 'approved'?).`,
    ],
    [
      'a binding of a signal that is not declared',
      aDocument({ bindings: { amuont: 'intent.parameters.amount' } }),
      `${at}: bindings.amuont names no declared signal (did you mean 'amount'?).`,
    ],
    ...['parameters.amount', 'intent.target', 'intent.parameters', 'intent.parameters.a..b'].map(
      (path): [string, unknown, string] => [
        `a binding to ${path}`,
        aDocument({ bindings: { amount: path } }),
        `${at}: bindings.amount must be intent.parameters.<member>, is ${path}.`,
      ],
    ),
    [
      'a rule id that is taken',
      aDocument({ rules: [aRule(), aRule({ when: '!signals.approved' })] }),
      `${at}, rule approved: This id is taken by an earlier rule.`,
    ],
  ])('%s', (_, document, refusal) => {
    expect(refusalOf(document)[0]).toContain(refusal)
  })

  test('all its mistakes are told at once', () => {
    const document = aDocument({
      bindings: { total: 'intent.parameters.total' },
      rules: [
        aRule({ id: 'first', when: 'signals.typo' }),
        aRule({ id: 'second', when: 'signals.amount +' }),
      ],
    })
    expect(refusalOf(document)).toEqual([
      `${at}: bindings.total names no declared signal.`,
      `${at}, rule first, column 1: Unknown signal 'typo'.`,
      `${at}, rule second, column 17: The expression ends where more must follow.`,
    ])
  })
})

describe('an expression is refused, by rule and column', () => {
  test.each([
    ['signals.approved && signals.aproved', 21, "Unknown signal 'aproved' (did you mean 'approved'?)."],
    ['!has(signals.typo)', 6, "Unknown signal 'typo'."],
    ['intent.amount == 1.0', 1, "intent has no member 'amount'."],
    ['price > 1.0', 1, 'Unknown variable: price.'],
    ['signals.amount', 1, 'Must be a bool, is double.'],
    ['intent.parameters.flag', 1, 'Must be a bool, is dyn.'],
    ['signals.approved > 1.0', 1, 'no such overload: bool > double.'],
    ['signals.amount == 20', 1, 'no such overload: double == int (numbers are doubles: write 20.0).'],
    ['signals.approved &&', 20, 'The expression ends where more must follow.'],
    ['signals["approved"]', 1, 'Name what is read, as in signals.<member>.'],
    ['size(signals) > 1', 6, 'Name what is read, as in signals.<member>.'],
    ['[true].exists(signals, signals)', 15, 'signals cannot name a loop variable.'],
    ['[true].exists(now, now)', 15, 'now cannot name a loop variable.'],
    // proves abuse: An expression that backtracks for ever
    ['intent.target.matches("^(a+)+$")', 1, 'Rules have no matches()'],
    ['intent.parameters.a.split("").join(intent.target) == ""', 1, 'Rules have no join()'],
    ['cel.bind(x, true)', 1, 'Rules have no bind()'],
    ['now.getHour() > 9', 1, "Rules have no getHour() (did you mean 'getHours'?); they have has, size,"],
    [
      'now.getHours("Europe/Berlin", "UTC") > 9',
      1,
      'Rules have no getHours() with these arguments; they have',
    ],
    ['now.getHours(intent.target) > 9', 14, 'getHours() takes the time zone as a literal only.'],
    [
      'now.getHours("Europe/Berln") > 9',
      14,
      "'Europe/Berln' is no IANA time zone (did you mean 'Europe/Berlin'?).",
    ],
    [
      'now.getHours("new york") > 9',
      14,
      "'new york' is no IANA time zone (did you mean 'America/New_York'?).",
    ],
    ['now.getHours("+01:00") > 9', 14, "'+01:00' is no IANA time zone (such as Europe/Berlin)."],
    ['now // x\n .getHours("UTC") > 9', 1, 'No comment can stand before getHours().'],
    [
      'intent.parameters.a.exists(x, x > 1.0 && now.getHours("UTC") > 9)',
      55,
      'getHours() with a time zone stands inside a loop.',
    ],
    ['intent.target.getHours("UTC") > 9', 1, "found no matching overload for 'string.getHours(string)'."],
    ['amount > 1.0', 1, "Unknown variable: amount (did you mean 'signals.amount'?)."],
    ['signals.amount = 1.0', 16, "Unexpected character: = (did you mean '=='?)."],
    ['signals.approved and signals.approved', 18, "Unexpected character: 'd' (did you mean '&&'?)."],
    ['not signals.approved', 5, "Unexpected character: 's' (did you mean '!'?)."],
    ['timestamp(intent.parameters.at) < now', 1, 'timestamp() takes a valid literal only.'],
    ['timestamp("2026-02-30T00:00:00Z") < now', 1, 'timestamp() takes a valid literal only.'],
    ['now - intent.createdAt < duration("soon")', 26, 'duration() takes a valid literal only.'],
    ['intent.target.contains(intent.parameters.a)', 1, 'contains() takes a literal only.'],
    [
      'intent.parameters.a.exists(x, x.exists(y, y > 1.0))',
      31,
      'exists() is inside another loop: nested loops multiply.',
    ],
    [
      'intent.parameters.a.filter(x, x > 1.0).all(y, y > 2.0)',
      1,
      'filter() is inside another loop: nested loops multiply.',
    ],
    [
      'intent.parameters.a.exists(x, x in intent.parameters.b)',
      36,
      "A loop may read 'x', signals and now, not intent again.",
    ],
    [`${'('.repeat(17)}true${')'.repeat(17)}`, 17, 'Exceeded maxDepth (16).'],
    [`${'!'.repeat(300)}signals.approved`, 102, 'Exceeded maxAstNodes (200).'],
    [`intent.target in [${'"a",'.repeat(101)}]`, 419, 'Exceeded maxListElements (100).'],
    ['false', 1, 'Can never match: its condition is constantly false.'],
  ])('%s', (when, column, sentence) => {
    const [refusal = ''] = refusalOf(aDocument({ rules: [aRule({ id: 'strange', when })] }))
    expect(refusal).toContain(`${at}, rule strange, column ${column}: ${sentence}`)
  })

  test('one of more than 1000 characters', () => {
    const when = Array.from({ length: 60 }, () => 'signals.approved').join(' && ')
    expect(refusalOf(aDocument({ rules: [aRule({ when })] }))).toEqual([
      `${at}, rule approved: when must not have more than 1000 characters.`,
    ])
  })
})

describe('a condition that is constant is found', () => {
  test.each([
    '1.0 > 2.0',
    '"a" == "b"',
    'true && false',
    'signals.approved && !signals.approved',
    'signals.amount > 20.0 && signals.amount < 10.0',
    'signals.amount > 0.0000000002 && signals.amount < 0.0000000001',
    '10.0 < signals.amount && !(signals.amount > 5.0)',
    'signals.amount == 1.0 && signals.amount == 2.0',
    'signals.approved ? signals.amount < 0.0 && signals.amount > 0.0 : false',
    'has(intent.parameters.a) && !has(intent.parameters.a)',
  ])('constantly false: %s', (when) => {
    expect(refusalOf(rules(when))).toEqual([
      `${at}, rule r0, column 1: Can never match: its condition is constantly false.`,
    ])
  })

  test.each([
    'true',
    '"a" != "b"',
    'size("abc") == 3',
    'signals.approved || !signals.approved',
    'signals.amount > 5.0 || signals.amount <= 5.0',
    'signals.amount < 10.0 || signals.amount > -1.0',
    '!(signals.amount > 20.0 && signals.amount < 10.0)',
  ])('constantly true, so nothing may follow: %s', (when) => {
    expect(refusalOf(rules(when, 'signals.approved'))).toEqual([
      `${at}, rule r1, column 1: Stands after rule r0, which always matches.`,
    ])
  })

  test.each([
    'signals.amount > 5.0 || signals.amount < 5.0',
    'signals.amount >= 1.0 && signals.amount <= 1.0',
    'signals.amount > signals.limit && signals.amount < signals.limit + 1.0',
    'signals.amount > 0.0000000001 && signals.amount < 0.0000000002',
    'intent.target == "a" || intent.target == "b"',
    Array.from({ length: 13 }, (_, i) => `intent.parameters.a${i} == 1.0`).join(' && '),
  ])('not constant: %s', (when) => {
    expect(refusalOf(rules(when, 'signals.approved'))).toEqual([])
  })
})

const unchecked = (signal: string) => `Nothing checks the signal '${signal}'; it is the caller's word.`

describe('what looks unintended is a warning', () => {
  const word = ['amount', 'approved', 'limit'].map(unchecked)

  test('a signal that no rule reads, and one that nothing checks', () => {
    const document = aDocument({
      bindings: { amount: 'intent.parameters.amount' },
      verify: { approved: { by: 'approval', quorum: 2 } },
    })
    expect(warningsOf(document)).toEqual([
      "No rule reads the signal 'amount'.",
      "No rule reads the signal 'limit'.",
      unchecked('limit'),
    ])
  })

  test('a rule that an earlier one repeats', () => {
    expect(warningsOf(rules('signals.amount > signals.limit', 'signals.amount > signals.limit'))).toEqual([
      "No rule reads the signal 'approved'.",
      ...word,
      'Rule r1 never decides: whenever it matches, an earlier rule has matched.',
    ])
  })

  test('a rule for which earlier ones together leave nothing', () => {
    const document = rules(
      'signals.amount > 5.0',
      'signals.amount < 6.0 && signals.limit > 0.0',
      'signals.limit > 1.0',
    )
    expect(warningsOf(document)).toContain(
      'Rule r2 never decides: whenever it matches, an earlier rule has matched.',
    )
  })

  test('an approval of everything else', () => {
    expect(warningsOf(rules('signals.amount > signals.limit && signals.approved', 'true'))).toEqual([
      ...word,
      'Rule r1 approves whatever no earlier rule decided.',
    ])
  })

  test('a policy that never approves', () => {
    const document = aDocument({ rules: [aRule({ outcome: 'reject' })] })
    expect(warningsOf(document)).toContain('No rule approves.')
  })

  test.each(['signals.limit', '0.0'])('a division by what may be 0: %s', (divisor) => {
    expect(warningsOf(rules(`signals.amount / ${divisor} > 2.0 && signals.approved`))).toContain(
      'Rule r0, column 18: The divisor may be 0. The result is then Infinity, or NaN for 0 / 0, and every comparison with NaN is false.',
    )
  })
})

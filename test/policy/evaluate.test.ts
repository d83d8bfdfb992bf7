import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { compilePolicy } from '../../src/core/policy/check.ts'
import { describeMismatches, evaluate, type Evaluation } from '../../src/core/policy/evaluate.ts'
import { aDocument, aPolicyThat, aRule, aSubject } from './builders.ts'

const now = new Date('2026-03-02T10:00:00Z')

/** Evaluates a rule of this condition on these parameters. */
function outcome(when: string, parameters: Record<string, unknown> = {}): Evaluation {
  return evaluate(aPolicyThat(when), aSubject({ intent: { parameters } }), now)
}

describe('the order of decisions §6', () => {
  const { policy } = compilePolicy(
    aDocument({
      bindings: { amount: 'intent.parameters.amount', limit: 'intent.parameters.account.limit' },
      verify: { approved: { by: 'approval', quorum: 2 } },
      rules: [
        aRule({
          id: 'too-large',
          when: 'signals.amount > signals.limit',
          outcome: 'reject',
          reason: 'Too large.',
        }),
        aRule(),
      ],
    }),
    'policy.yaml',
  )
  const bound = { amount: 5, account: { limit: 10 } }
  const decide = (changes: Parameters<typeof aSubject>[0]) =>
    evaluate(policy, aSubject({ intent: { parameters: bound }, ...changes }), now)

  test('an action that the policy does not govern is rejected before anything else', () => {
    expect(decide({ intent: { action: 'test:stop' }, signals: {} })).toMatchObject({
      kind: 'rejected',
      reason: "Policy 'test' version '1.0.0' does not govern action 'test:stop'.",
      evaluatedRules: [],
    })
  })

  test('signals are looked at by name, the first that is missing or of another type rejects', () => {
    expect(decide({ signals: { amount: 5, approved: true } }).reason).toBe("Signal 'limit' is missing.")
    expect(decide({ signals: { amount: '5', approved: 1 } }).reason).toBe("Signal 'amount' must be a number.")
    expect(decide({ signals: { amount: 5, approved: 1, limit: 10 } }).reason).toBe(
      "Signal 'approved' must be a boolean.",
    )
    expect(decide({ signals: { amount: Number.NaN, approved: true, limit: 10 } }).reason).toBe(
      "Signal 'amount' must be a number.",
    )
  })

  test('a verified signal may be left out: rules before the first that reads it decide, then its value is waited for', () => {
    const signals = { amount: 5, limit: 10 }
    const verify = [{ signal: 'approved', by: 'approval', quorum: 2 }]
    expect(decide({ signals })).toMatchObject({ kind: 'unfilled', evaluatedRules: ['too-large'], verify })
    const large = {
      intent: { parameters: { amount: 11, account: { limit: 10 } } },
      signals: { amount: 11, limit: 10 },
    }
    expect(decide(large)).toMatchObject({ kind: 'rejected', reason: 'Too large.' })
    const subject = aSubject({ intent: { parameters: bound }, signals })
    expect(evaluate(policy, subject, now, { approved: true })).toMatchObject({ kind: 'approved', verify: [] })
    expect(evaluate(policy, subject, now, { approved: false })).toMatchObject({ kind: 'rejected' })
  })

  test('every binding that does not hold is a mismatch, and no rule is asked', () => {
    const denied = decide({ intent: { parameters: { amount: '5', account: [10] } } })
    expect(denied).toEqual({
      kind: 'denied',
      reason:
        'declared signals do not match independently verified state (amount=5 != verified amount="5", limit=10 != verified limit=null).',
      matchedRuleId: null,
      evaluatedRules: [],
      mismatches: [
        { signal: 'amount', declared: 5, verified: '5', source: 'intent.parameters.amount' },
        { signal: 'limit', declared: 10, verified: null, source: 'intent.parameters.account.limit' },
      ],
      verify: [],
    })
  })

  test('the first rule that matches decides, and the trace ends with it', () => {
    const signals = { approved: true, amount: 11, limit: 10 }
    expect(decide({ intent: { parameters: { amount: 11, account: { limit: 10 } } }, signals })).toMatchObject(
      {
        kind: 'rejected',
        reason: 'Too large.',
        matchedRuleId: 'too-large',
        evaluatedRules: ['too-large'],
      },
    )
  })

  test('an approval says what has yet to be verified', () => {
    expect(decide({})).toEqual({
      kind: 'approved',
      reason: 'Approved.',
      matchedRuleId: 'approved',
      evaluatedRules: ['too-large', 'approved'],
      mismatches: [],
      verify: [{ signal: 'approved', by: 'approval', quorum: 2 }],
    })
  })

  test('no match is a rejection', () => {
    expect(decide({ signals: { approved: false, amount: 5, limit: 10 } })).toMatchObject({
      kind: 'rejected',
      reason: 'No rule matched.',
      matchedRuleId: null,
      evaluatedRules: ['too-large', 'approved'],
      verify: [],
    })
  })

  test('a signal that the policy does not declare decides nothing', () => {
    const signals = { approved: true, amount: 5, limit: 10, vip: true, constructor: 1 }
    expect(decide({ signals }).kind).toBe('approved')
  })
})

describe('what a rule can read', () => {
  test.each([
    ['intent.action == "test:run" && intent.target == "somewhere"', {}],
    ['authority.principalId == metadata.submittedBy', {}],
    ['now - authority.issuedAt == duration("1h") && now < timestamp("2026-03-02T10:00:01Z")', {}],
    ['now.getDayOfWeek() == 1 && now.getHours() == 10', {}],
    ['now.getHours("Europe/Berlin") == 11 && now.getHours("UTC") == 10', {}],
    ['now.getFullYear("Pacific/Auckland") == 2026 && now.getMonth("Pacific/Auckland") == 2', {}],
    ['now.getDate("Asia/Kathmandu") == 2 && now.getMinutes("Asia/Kathmandu") == 45', {}],
    ['(now - duration("12h")).getDayOfWeek("America/New_York") == 0', {}],
    ['authority.issuedAt.getHours("Asia/Tokyo") == 18', {}],
    ['intent.target == "somewhere" && intent.parameters.currency == "EUR"', { currency: 'EUR' }],
    [
      'intent.parameters.currency in ["EUR", "USD"] && authority.principalId != intent.parameters.to',
      { currency: 'USD', to: 'bob' },
    ],
    ['!has(metadata.sourceSystem) && !has(intent.parameters.a) && has(intent.target)', {}],
    ['intent.parameters.a.b["c d"] == 1.5', { a: { b: { 'c d': 1.5 } } }],
    ['intent.parameters.list.exists(x, x.n >= signals.limit)', { list: [{ n: 9 }, { n: 10 }] }],
    ['intent.parameters.all(name, name in ["a", "b"])', { a: 1, b: 2 }],
    ['intent.parameters.list.filter(x, x > 1.0).size() == 2', { list: [1, 2, 3] }],
    [
      'intent.parameters.a == intent.parameters.b',
      { a: { x: [1, { y: null }] }, b: { x: [1, { y: null }] } },
    ],
    ['1.0 / intent.parameters.zero > 0.0', { zero: -0 }],
  ])('%s', (when, parameters) => {
    expect(outcome(when, parameters)).toMatchObject({ kind: 'approved', reason: 'Approved.' })
  })

  test.each([
    ['intent.parameters.a > 1.0', {}, 'No such key: a'],
    ['intent.parameters.a > 1.0', { a: '2' }, 'no such overload: dyn<string> > double'],
    ['intent.parameters.a && true', { a: 1 }, "Logical operator requires bool operands, got 'double'"],
    ['metadata.sourceSystem == "shop"', {}, 'No such key: sourceSystem'],
    [
      'intent.parameters.list[5] == 1.0',
      { list: [] },
      'No such key: index out of bounds, index 5 >= size undefined',
    ],
  ])('%s fails, and a failure is a rejection that names the rule', (when, parameters, cause) => {
    expect(outcome(when, parameters)).toEqual({
      kind: 'rejected',
      reason: `Rule 'approved' could not be evaluated: ${cause}.`,
      matchedRuleId: null,
      evaluatedRules: ['approved'],
      mismatches: [],
      verify: [],
    })
  })

  test('a rejecting rule that fails rejects too: no later rule gets to approve', () => {
    const { policy } = compilePolicy(
      aDocument({
        rules: [
          aRule({
            id: 'blocked',
            when: 'intent.parameters.blocked == true && now > metadata.submittedAt',
            outcome: 'reject',
          }),
          aRule(),
        ],
      }),
      'policy.yaml',
    )
    const subject = aSubject({
      intent: { parameters: { blocked: true } },
      metadata: { submittedAt: 'yesterday' },
    })
    expect(evaluate(policy, subject, now)).toMatchObject({
      kind: 'rejected',
      reason: 'The rules could not be evaluated: metadata.submittedAt is not a timestamp.',
    })
  })
})

describe('a time zone', () => {
  const office = aPolicyThat('now.getHours("Europe/Berlin") >= 9 && now.getHours("Europe/Berlin") < 17')

  test.each([
    ['2026-03-02T08:00:00Z', 'approved', 'winter'],
    ['2026-03-02T07:59:59Z', 'rejected', 'winter'],
    ['2026-07-01T07:00:00Z', 'approved', 'summer'],
    ['2026-07-01T15:00:00Z', 'rejected', 'summer'],
  ])('at %s the office hours of Berlin make it %s, in %s', (time, kind) => {
    expect(evaluate(office, aSubject(), new Date(time)).kind).toBe(kind)
  })

  test("is read the same whatever the host's own is", () => {
    // In New York the clocks skip 02:00 to 03:00 on this day, which is when Berlin's show it.
    const policy = aPolicyThat('now.getHours("Europe/Berlin") == 2')
    const before = process.env['TZ']
    onTestFinished(() => {
      if (before === undefined) delete process.env['TZ']
      else process.env['TZ'] = before
    })
    for (const zone of ['America/New_York', 'Asia/Tokyo', 'UTC']) {
      process.env['TZ'] = zone
      expect(evaluate(policy, aSubject(), new Date('2026-03-08T01:30:00Z')).kind).toBe('approved')
    }
  })
})

describe('names and shapes of a hostile caller', () => {
  const hostile: Record<string, unknown> = JSON.parse(
    '{"constructor": "x", "__proto__": {"admin": true}, "toString": 1, "hasOwnProperty": null, "prototype": []}',
  )

  // proves abuse: Values of a caller that are too
  test.each([
    'intent.parameters.constructor == "x" && intent.parameters.toString == 1.0',
    '!has(intent.parameters.admin) && has(intent.parameters.hasOwnProperty)',
    'intent.parameters.exists(name, name == "__proto__")',
    'size(intent.parameters) == 5',
  ])('are only names: %s', (when) => {
    expect(outcome(when, hostile).kind).toBe('approved')
  })

  test.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty'])(
    'nothing inherited is a signal: %s',
    (name) => {
      const policy = aPolicyThat(`signals.${name}`, { signals: { [name]: 'boolean' } })
      expect(evaluate(policy, aSubject({ signals: {} }), now).reason).toBe(`Signal '${name}' is missing.`)
      expect(evaluate(policy, aSubject({ signals: { [name]: true } }), now).kind).toBe('approved')
    },
  )

  test.each(['constructor.length', 'list.length', 'text.length', 'missing.constructor.length'])(
    'nothing inherited or built in is bound: %s',
    (path) => {
      const policy = aPolicyThat('signals.amount > 0.0', {
        bindings: { amount: `intent.parameters.${path}` },
      })
      const subject = aSubject({
        intent: { parameters: { list: [1], text: 'a' } },
        signals: { approved: true, amount: 1, limit: 1 },
      })
      expect(evaluate(policy, subject, now).kind).toBe('denied')
    },
  )

  // proves abuse: Values of a caller that are too
  test('more values than a rule may look at, and deeper ones, are rejected', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`)
    expect(outcome('has(intent.parameters.a)', { a: Array.from({ length: 1000 }, () => 0) }).reason).toBe(
      'The rules could not be evaluated: intent.parameters holds more than 1000 values.',
    )
    expect(outcome('has(intent.parameters.a)', { a: deep }).reason).toBe(
      'The rules could not be evaluated: intent.parameters is deeper than 64.',
    )
    expect(outcome('signals.approved', { a: deep }).kind).toBe('approved')
  })

  test('whatever JSON is sent, evaluate answers and never throws', () => {
    const { policy } = compilePolicy(
      aDocument({
        bindings: { amount: 'intent.parameters.a.amount' },
        rules: [
          aRule({ id: 'r0', when: 'has(intent.parameters.a.b) && intent.parameters.a.b.size() > 3' }),
          aRule({ id: 'r1', when: 'intent.parameters.list.exists(x, x.n > signals.limit || x in ["a"])' }),
          aRule({ id: 'r2', when: 'intent.parameters.a == intent.parameters.list || signals.approved' }),
        ],
      }),
      'policy.yaml',
    )
    const name = fc.constantFrom('a', 'b', 'list', 'amount', 'n', 'constructor', '__proto__', 'length')
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.constantFrom<unknown>(0, -0, 5, true, 'aaaa', Number.NaN, Infinity),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 4 }),
      ),
    }))
    const members = fc.dictionary(fc.oneof(name, fc.string()), value)
    const valid = { approved: true, amount: 5, limit: 1 }
    const kinds = new Set<string>()
    fc.assert(
      fc.property(members, members, members, fc.boolean(), (a, others, sent, isValid) => {
        const subject = isValid
          ? aSubject({
              intent: { parameters: { ...others, a: { ...a, amount: 5 } } },
              signals: { ...sent, ...valid },
            })
          : aSubject({ intent: { parameters: { ...others, a } }, signals: sent })
        const { kind, reason } = evaluate(policy, subject, now)
        expect(reason).not.toBe('')
        kinds.add(kind)
      }),
      { numRuns: 2000 },
    )
    expect(kinds).toContain('approved')
    expect(kinds).toContain('rejected')
  })
})

describe('mismatches are described', () => {
  test('several are joined, and long values are cut', () => {
    const long = { signal: 'b', declared: 2, verified: 'x'.repeat(1000), source: 'intent.parameters.b' }
    expect(
      describeMismatches([{ signal: 'a', declared: true, verified: false, source: 'approval' }, long]),
    ).toBe(`a=true != verified a=false, b=2 != verified b="${'x'.repeat(63)}…`)
  })
})

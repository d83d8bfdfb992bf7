import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { evaluate } from '../../src/core/policy/evaluate.ts'
import { aPolicyThat, aSubject, refusalOf, rules } from './builders.ts'

const operator = fc.constantFrom('<', '<=', '>', '>=', '==', '!=')
const constant = fc.constantFrom('1.0', '2.0', '3.0')
const { condition } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('signals.approved', 'true'),
    fc.tuple(operator, constant).map(([op, n]) => `signals.amount ${op} ${n}`),
    fc.tuple(operator, constant).map(([op, n]) => `${n} ${op} signals.limit`),
    tie('condition').map((inner) => `!(${inner})`),
    fc
      .tuple(tie('condition'), fc.constantFrom('&&', '||'), tie('condition'))
      .map(([a, op, b]) => `(${a}) ${op} (${b})`),
    fc
      .tuple(tie('condition'), tie('condition'), tie('condition'))
      .map(([a, b, c]) => `(${a}) ? (${b}) : (${c})`),
  ),
}))

/** Every transaction that conditions on 1.0, 2.0 and 3.0 can tell apart. */
const steps = [0, 1, 1.5, 2, 2.5, 3, 4]
const subjects = [true, false].flatMap((approved) =>
  steps.flatMap((amount) => steps.map((limit) => aSubject({ signals: { approved, amount, limit } }))),
)

test('exactly the conditions that no transaction, or every one, meets are found constant', () => {
  const found = { always: 0, never: 0 }
  fc.assert(
    fc.property(
      condition.filter(({ length }) => length < 400),
      (when) => {
        // Compared with what is false here, the condition is what it is, but nothing the finder can see through.
        const policy = aPolicyThat(`(${when}) != has(intent.parameters.none)`)
        const matching = subjects.filter(
          (subject) => evaluate(policy, subject, new Date()).kind === 'approved',
        )
        const refusal = refusalOf(rules(when, 'signals.approved'))[0] ?? ''
        expect(refusal.includes('constantly false')).toBe(matching.length === 0)
        expect(refusal.includes('which always matches')).toBe(matching.length === subjects.length)
        if (matching.length === 0) found.never++
        if (matching.length === subjects.length) found.always++
      },
    ),
    { numRuns: 500 },
  )
  expect(found.always).toBeGreaterThan(0)
  expect(found.never).toBeGreaterThan(0)
})

// A change as a person reads it, for every kind, and its diff as lines.
import { describe, expect, test } from 'vitest'
import { diffDocuments, type Members } from '../src/core/cel/diff.ts'
import { changeTitle, consequencesOf, diffLines, endingVersions } from '../src/formats/change-text.ts'
import { changeKinds, type Change } from '../src/formats/schemas/governance.ts'
import * as changeExamples from '../src/server/openapi/examples/changes.ts'

type Said = Pick<Change, 'kind' | 'target' | 'proposed'>

const examples = Object.values(changeExamples).map(({ pending }) => pending as unknown as Change)

test('every kind of change has a title with a verb and says what an approval puts in effect', () => {
  expect(new Set(examples.map(({ kind }) => kind))).toEqual(new Set(changeKinds))
  for (const change of examples) {
    expect(changeTitle(change)).toMatch(/^[A-Z][a-z]+ [a-z]/)
    expect(consequencesOf(change)).not.toEqual([])
  }
})

describe('a title', () => {
  const titled: readonly [string, Said][] = [
    ['Add approver erin:laptop', { kind: 'approver', target: 'erin:laptop', proposed: { action: 'add' } }],
    [
      'Revoke approver erin:laptop',
      { kind: 'approver', target: 'erin:laptop', proposed: { action: 'revoke' } },
    ],
    [
      'Revoke external connector vendor:pay',
      { kind: 'external-connector', target: 'vendor:pay', proposed: { action: 'revoke' } },
    ],
    ['Put webhook rules stripe in effect', { kind: 'webhook-rules', target: 'stripe', proposed: {} }],
    ['Put policy pay 2.0.0 in effect', { kind: 'policy', target: 'pay/2.0.0', proposed: {} }],
    [
      'Put policy pay 2.0.0 in effect and retire 1.0.0, 1.1.0',
      { kind: 'policy', target: 'pay/2.0.0', proposed: { retires: ['1.0.0', '1.1.0'] } },
    ],
    [
      'Have erin stand in for dana from 2026-12-01 until 2026-12-15',
      {
        kind: 'stand-in',
        target: 'dana/2026-12-01T00:00:00.000Z',
        proposed: {
          action: 'set',
          for: 'dana',
          by: 'erin',
          from: '2026-12-01T00:00:00.000Z',
          until: '2026-12-15T00:00:00.000Z',
        },
      },
    ],
    [
      'End the stand-in for dana that begins on 2026-12-01',
      {
        kind: 'stand-in',
        target: 'dana/2026-12-01T00:00:00.000Z',
        proposed: { action: 'remove', for: 'dana', from: '2026-12-01T00:00:00.000Z' },
      },
    ],
    [
      'Retire policy pay 2.0.0',
      { kind: 'policy', target: 'pay/2.0.0', proposed: { action: 'retire', policyVersion: '2.0.0' } },
    ],
  ]
  test.each(titled)('%s', (title, change) => expect(changeTitle(change)).toBe(title))

  test('only a policy ends versions: a member of that name elsewhere says nothing', () => {
    expect(endingVersions({ kind: 'approver', target: 'a:b', proposed: { retires: ['1.0.0'] } })).toEqual([])
  })
})

const diff = (from: Members, to: Members, rules: Parameters<typeof diffDocuments>[0]['rules'][] = [[], []]) =>
  diffLines({
    against: '1.0.0',
    ...diffDocuments(
      { places: { policy: from }, rules: rules[0] ?? [] },
      { places: { policy: to }, rules: rules[1] ?? [] },
    ),
  })

describe('a diff', () => {
  test.each<[string, Members, Members, string[]]>([
    ['nothing', { a: 1 }, { a: 1 }, []],
    ['a text', { a: 'x <= 100' }, { a: 'x <= 40' }, ['policy.a', '  - x <= 100', '  + x <= 40']],
    ['a new member', {}, { a: true }, ['policy.a', '  + true']],
    ['a member that is gone', { a: null }, {}, ['policy.a', '  - null']],
    [
      'one member of an object',
      { a: { b: 1, c: 2 } },
      { a: { b: 1, c: 3 } },
      ['policy.a.c', '  - 2', '  + 3'],
    ],
    ['an object in the place of a number', { a: 1 }, { a: { b: 2 } }, ['policy.a', '  - 1', '  + {"b":2}']],
    ['an empty object', {}, { a: {} }, ['policy.a', '  + {}']],
    ['a list', { a: [1, 2] }, { a: [2, 1] }, ['policy.a', '  - [1,2]', '  + [2,1]']],
  ])('of %s names the place and both values', (_, from, to, lines) => {
    expect(diff(from, to)).toEqual(lines)
  })

  test('of rules names the member that changed, and tells a new order', () => {
    const [one, two] = [
      { id: 'one', when: 'a', reason: 'A.' },
      { id: 'two', when: 'b', reason: 'B.' },
    ] as const
    expect(
      diff({}, {}, [
        [one, two],
        [two, { ...one, when: 'c' }],
      ]),
    ).toEqual(['rules.one.when', '  - a', '  + c', 'The order of the rules changes.'])
  })

  test('has one entry for a rule that comes or goes, and says where it stands', () => {
    const [one, two, three] = [
      { id: 'one', when: 'a', outcome: 'approve', reason: 'A.' },
      { id: 'two', when: 'b', outcome: 'reject', reason: 'B.' },
      { id: 'three', when: 'c', outcome: 'approve', reason: 'C.' },
    ] as const
    expect(
      diff({}, {}, [
        [one, two],
        [three, two],
      ]),
    ).toEqual([
      'rule one goes',
      '  - when: a; outcome: approve; reason: A.',
      'new rule three, first of all',
      '  + when: c; outcome: approve; reason: C.',
    ])
    expect(diff({}, {}, [[two], [two, three]])).toEqual([
      'new rule three, after two',
      '  + when: c; outcome: approve; reason: C.',
    ])
  })

  test('of a shape that is not known shows no line in place of a failure', () => {
    expect(diffLines({ against: '1.0.0', rules: 'new', places: { changed: { a: 1 } } })).toEqual([])
  })
})

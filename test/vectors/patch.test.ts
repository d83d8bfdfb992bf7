import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from './edit.ts'
import { difference, patched } from './patch.ts'

const anyJson = () => fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>

test('what two values differ by, applied to the one, is the other', () => {
  fc.assert(
    fc.property(anyJson(), anyJson(), (from, to) => {
      // The published files hold such a member whole.
      fc.pre(!JSON.stringify([from, to]).includes('__proto__'))
      expect(patched(from, difference(from, to))).toEqual(to)
    }),
  )
})

test.each<[what: string, from: Json, to: Json, patch: object[]]>([
  ['nothing', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  [
    'a member that is replaced',
    { a: { b: 1 } },
    { a: { b: null } },
    [{ op: 'replace', path: '/a/b', value: null }],
  ],
  [
    'names with the signs of a pointer',
    { 'a/~b': 1 },
    { '~1': 1 },
    [
      { op: 'remove', path: '/a~1~0b' },
      { op: 'add', path: '/~01', value: 1 },
    ],
  ],
  [
    'a longer list',
    [1],
    [1, 2, 3],
    [
      { op: 'add', path: '/-', value: 2 },
      { op: 'add', path: '/-', value: 3 },
    ],
  ],
  [
    'a shorter list',
    [1, 2, 3],
    [1],
    [
      { op: 'remove', path: '/1' },
      { op: 'remove', path: '/1' },
    ],
  ],
  ['the whole', { a: 1 }, [1], [{ op: 'replace', path: '', value: [1] }]],
])('the patch of %s', (_, from, to, patch) => {
  expect(difference(from, to)).toEqual(patch)
  expect(patched(from, difference(from, to))).toEqual(to)
})

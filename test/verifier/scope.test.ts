// One function says what an approval covers (decisions §7), which the service and every verifier ask. The vectors have it from outside.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { instantMs } from '../../src/formats/artifacts/instant.ts'
import { scopeCovers } from '../../src/formats/artifacts/scope.ts'

const covers = (scope: Json, parameters: Json) => scopeCovers(scope, parameters, sha256Hex)
const parsed = (text: string) => JSON.parse(text) as Json
const aName = fc.stringMatching(/^[a-z]{1,6}$/).filter((name) => name !== 'intent')

// proves abuse: Approve A, execute B: another
test('the hash of the parameters covers them and nothing else', () => {
  fc.assert(
    fc.property(fc.dictionary(aName, fc.jsonValue()), fc.dictionary(aName, fc.jsonValue()), (one, other) => {
      // A value that cannot be signed has no hash.
      fc.pre(!JSON.stringify([one, other]).includes('__proto__'))
      const [parameters, others] = [parsed(JSON.stringify(one)), parsed(JSON.stringify(other))]
      const scope = { parametersHash: sha256Hex(canonicalize(parameters)) }
      expect(covers(scope, parameters)).toBe(true)
      expect(covers(scope, others)).toBe(canonicalize(others) === canonicalize(parameters))
    }),
  )
})

test('a limit covers what is not over it, at any depth, with and without the prefix', () => {
  const aPath = fc.array(aName, { minLength: 1, maxLength: 4 })
  const aNumber = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(aPath, aNumber, aNumber, (path, value, max) => {
      const parameters = path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value)
      for (const prefix of ['', 'intent.parameters.'])
        expect(covers({ limits: [{ path: `${prefix}${path.join('.')}`, max }] }, parameters)).toBe(
          value <= max,
        )
    }),
  )
})

// proves abuse: Approve A, execute B: another
test('every one of several limits must hold', () => {
  const limits = [
    { path: 'amount', max: 10 },
    { path: 'fee', max: 1 },
  ]
  expect(covers({ limits }, { amount: 10, fee: 1 })).toBe(true)
  expect(covers({ limits }, { amount: 10, fee: 2 })).toBe(false)
  expect(covers({ limits }, { amount: 11, fee: 1 })).toBe(false)
  expect(covers({ limits }, { amount: 10 })).toBe(false)
})

describe('a limit does not cover', () => {
  test.each<[string, string, string]>([
    ['a text', 'amount', '{"amount":"1"}'],
    ['a boolean', 'amount', '{"amount":true}'],
    ['null', 'amount', '{"amount":null}'],
    ['an object', 'amount', '{"amount":{}}'],
    ['the entry of a list', 'lines.0', '{"lines":[1]}'],
    ['the length of a list', 'lines.length', '{"lines":[]}'],
    ['the parameters themselves, a list', '0', '[1]'],
    ['what is inherited', 'toString.length', '{}'],
    // proves abuse: A scope or payload altered
    ['the prototype', '__proto__.toString.length', '{}'],
    ['a dotted name', 'a.b', '{"a.b":1}'],
    ['an empty path', '', '{"amount":1}'],
  ])('%s', (_, path, parameters) => {
    expect(covers({ limits: [{ path, max: 100 }] }, parsed(parameters))).toBe(false)
  })
})

// proves abuse: A scope or payload altered
test('a scope that is not wholly understood covers nothing, and nothing throws', () => {
  const hash = sha256Hex('{}')
  const scopes: Json[] = [
    null,
    'all',
    [],
    {},
    { limits: [] },
    { limits: {} },
    { limits: [null] },
    { parametersHash: hash, limits: [] },
    { parametersHash: hash, note: '' },
    { parametersHash: [hash] },
  ]
  for (const scope of scopes) expect(covers(scope, {}), JSON.stringify(scope)).toBe(false)
  expect(covers({ parametersHash: hash }, {})).toBe(true)
  for (const parameters of [null, [], 'x', { deep: Number.NaN }])
    expect(covers({ parametersHash: hash }, parameters)).toBe(false)
  expect(scopeCovers(undefined, undefined, sha256Hex)).toBe(false)
})

describe('an instant', () => {
  test.each([
    ['2026-11-21T01:00:00Z', '2026-11-21T01:00:00.000Z'],
    ['2026-11-21t01:00:00.1z', '2026-11-21T01:00:00.100Z'],
    ['2026-11-21T01:00:00.9999Z', '2026-11-21T01:00:00.999Z'],
    ['2026-11-21T01:00:00.000+23:59', '2026-11-20T01:01:00.000Z'],
    ['2024-02-29T00:00:00-00:30', '2024-02-29T00:30:00.000Z'],
  ])('%s is %s', (text, same) => {
    expect(new Date(instantMs(text)).toISOString()).toBe(same)
  })

  test.each([
    '',
    '2026-11-21',
    '2026-11-21T01:00:00',
    '2026-11-21 01:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2016-12-31T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '+002026-11-21T01:00:00Z',
    '2026-11-21T01:00:00.Z',
    '2026-11-21T01:00:00+24:00',
    '2026-11-21T01:00:00Z\n',
  ])('%j is none', (text) => {
    expect(instantMs(text)).toBeNaN()
  })
})

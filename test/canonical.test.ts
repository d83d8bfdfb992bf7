import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import oracle from 'canonicalize'
import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { Canonical, canonicalize, NotCanonical, type Json } from '../src/formats/json/canonical.ts'

/** The test data of RFC 8785's authors (test/vectors/README.md). */
const vectors = join(import.meta.dirname, 'vectors', 'jcs')

describe('the vectors of RFC 8785', () => {
  const names = readdirSync(join(vectors, 'input')).map((file) => file.replace(/\.json$/, ''))

  test('are at least one', () => expect(names).not.toHaveLength(0))

  test.each(names)('%s', (name) => {
    const input = readFileSync(join(vectors, 'input', `${name}.json`), 'utf8')
    const output = readFileSync(join(vectors, 'output', `${name}.json`), 'utf8')
    const bytes = readFileSync(join(vectors, 'outhex', `${name}.txt`), 'utf8').replaceAll(/\s/g, '')
    const canonical = canonicalize(JSON.parse(input) as Json)
    expect(canonical).toBe(output)
    expect(Buffer.from(canonical).toString('hex')).toBe(bytes)
  })
})

describe('any JSON value', () => {
  const key = fc.string({ unit: 'grapheme' }).filter((name) => name !== '__proto__')
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), fc.constant(-0)),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
      fc.array(tie('value')),
      fc.dictionary(key, tie('value'), { noNullPrototype: false }),
    ),
  }))

  test('has the text that another implementation gives it', () => {
    fc.assert(
      fc.property(value, (json) => {
        expect(canonicalize(json)).toBe(oracle(json))
      }),
    )
  })

  test('is what its text parses to, and has the same text again', () => {
    fc.assert(
      fc.property(value, (json) => {
        const text = canonicalize(json)
        expect(canonicalize(JSON.parse(text) as Json)).toBe(text)
      }),
    )
  })

  test('has the same text whatever order its members were made in', () => {
    fc.assert(
      fc.property(fc.dictionary(key, value), (members) => {
        const reversed = Object.fromEntries(Object.entries(members).toReversed())
        expect(canonicalize(reversed)).toBe(canonicalize(members))
      }),
    )
  })

  test('may be composed of parts that are canonical already', () => {
    fc.assert(
      fc.property(value, (json) => {
        const part = new Canonical(canonicalize(json))
        expect(canonicalize({ list: [part, 1], part })).toBe(canonicalize({ list: [json, 1], part: json }))
      }),
    )
  })
})

describe('what has no canonical form is refused, never repaired:', () => {
  class Money {
    amount = 1
  }
  const refused: [title: string, value: unknown, message: string][] = [
    ['undefined', undefined, 'undefined has no canonical form'],
    ['an undefined member', { a: { b: undefined } }, 'undefined has no canonical form'],
    ['a hole in an array', [1, , 2], 'undefined has no canonical form'], // oxlint-disable-line eslint/no-sparse-arrays
    ['NaN', { a: NaN }, 'is not a finite number'],
    ['Infinity', [1, Infinity], 'is not a finite number'],
    ['-Infinity', -Infinity, 'is not a finite number'],
    ['a lone high surrogate', { a: '\ud800' }, 'a string holds a lone surrogate'],
    ['a lone low surrogate', ['\udc00x'], 'a string holds a lone surrogate'],
    ['a lone surrogate in a key', { a: { '\ud800': 1 } }, 'a key cannot be signed'],
    ['__proto__', JSON.parse('{"a":{"__proto__":1}}'), 'a key cannot be signed'],
    ['a function', { a: () => 1 }, 'function has no canonical form'],
    ['a toJSON method', { toJSON: () => 1 }, 'function has no canonical form'],
    ['a symbol', Symbol('s'), 'symbol has no canonical form'],
    ['a bigint', { n: 1n }, 'bigint has no canonical form'],
    ['a Date', { at: new Date(0) }, 'an object is not a plain one'],
    ['a Map', new Map([['a', 1]]), 'an object is not a plain one'],
    ['a boxed number', { n: Object(1) as unknown }, 'an object is not a plain one'],
    ['an instance of a class', [new Money()], 'an object is not a plain one'],
    ['bytes', Buffer.from('a'), 'an object is not a plain one'],
  ]
  test.each(refused)('%s', (_title, value, message) => {
    expect(() => canonicalize(value as Json)).toThrow(NotCanonical)
    expect(() => canonicalize(value as Json)).toThrow(message)
  })
})

test('an object without a prototype is as good as any', () => {
  expect(canonicalize(Object.assign(Object.create(null), { b: 1, a: [] }) as Json)).toBe('{"a":[],"b":1}')
})

test('names are kept for the next time, but not those as long as a body, which a caller can make up without end', async () => {
  vi.resetModules()
  // The module is imported anew: what other tests have made it keep leaves room for no more.
  const fresh = await import('../src/formats/json/canonical.ts')
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const heapUsed = () => {
    // More than once: the engine itself remembers what shapes objects had for a few rounds.
    for (let i = 0; i < 8; i++) collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = heapUsed()
  // Out of order, so that it is not left to the engine.
  for (let i = 0; i < 300; i++) fresh.canonicalize({ [`${i}${'x'.repeat(100_000)}`]: 1, '': 2 })
  expect(heapUsed() - before).toBeLessThan(10_000_000)
})

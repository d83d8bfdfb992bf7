import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MalformedJson, parseJson } from '../src/core/json/json.ts'

const parse = (body: string | Uint8Array) => parseJson(Buffer.from(body))
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('a body with exactly one reading is parsed:', () => {
  test('any value that JSON.stringify writes', () => {
    const json = fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 8 }).filter((value) => !holdsProto(value))
    fc.assert(
      fc.property(json, fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? 2 : 0)
        expect(parse(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  const accepted: [title: string, text: string, value: unknown][] = [
    ['a value that is no object', ' 1 ', 1],
    ['a colon, a brace and a quote in a string', '{"a:{\\"":"}:\\\\"}', { 'a:{"': '}:\\' }],
    ['equal keys of different objects', '[{"a":1},{"a":{"a":2}}]', [{ a: 1 }, { a: { a: 2 } }]],
    ['keys that differ in case only', '{"a":1,"A":2}', { a: 1, A: 2 }],
    ['keys that differ in normalization only', '{"\u00e9":1,"e\u0301":2}', { '\u00e9': 1, 'e\u0301': 2 }],
    ['names that objects are born with', '{"constructor":1,"toString":2}', { constructor: 1, toString: 2 }],
    ['an empty key', '{"":0}', { '': 0 }],
    ['NUL, spelled as an escape', '"\\u0000"', '\0'],
    ['a surrogate pair, spelled as escapes', '"\\ud83d\\ude00"', '😀'],
    [
      'the smallest number, and every way to write 0',
      '[5e-324,0,0.0,0e5,0.000e-999,0E-400]',
      [5e-324, 0, 0, 0, 0, 0],
    ],
    ['0 below zero', '-0', -0],
    ['digits with a minus in a string', '"1e-400"', '1e-400'],
    ['the greatest number', '1.7976931348623157e308', Number.MAX_VALUE],
    ['depth 64', nested(64), JSON.parse(nested(64))],
  ]
  test.each(accepted)('%s', (_title, text, value) => expect(parse(text)).toEqual(value))
})

describe('a body with none, or with more than one, is refused:', () => {
  const noJson: [title: string, body: string][] = [
    ['nothing', ''],
    ['only white space', ' \n'],
    ['an object that does not end', '{"a":1'],
    ['a second value behind the first', '{} {}'],
    ['a trailing comma', '[1,]'],
    ['a comment', '/* */ 1'],
    ['single quotes', "{'a':1}"],
    ['NaN', 'NaN'],
    ['a leading zero', '01'],
    ['a raw control character in a string', '"\n"'],
    ['a string that does not end', '"abc'],
    ['a backslash at the end', '"abc\\'],
    ['a BOM', '\ufeff{}'],
  ]
  test.each(noJson)('%s', (_title, body) => expect(() => parse(body)).toThrow(MalformedJson))

  const refused: [title: string, body: string | Uint8Array, why: string][] = [
    ['a duplicate key', '{"a":1,"b":2,"a":1}', 'duplicate key'],
    ['a duplicate key below', '[{"x":{"a":1,"a":2}}]', 'duplicate key'],
    ['a duplicate key in another spelling', '{"a":1,"\\u0061":2}', 'duplicate key'],
    ['two empty keys', '{"":1,"":1}', 'duplicate key'],
    ['__proto__', '{"__proto__":{"admin":true}}', '__proto__'],
    ['__proto__ in another spelling', '{"a":{"\\u005f_proto__":1}}', '__proto__'],
    ['a lone surrogate', '{"a":"\\ud800"}', 'lone surrogate'],
    ['a reversed surrogate pair', '["\\ude00\\ud83d"]', 'lone surrogate'],
    ['a lone surrogate in a key', '{"\\udfff":1}', 'lone surrogate in a key'],
    ['a number that overflows', '{"a":1e400}', 'out of range'],
    ['one that overflows below zero', '[-1e309]', 'out of range'],
    ['a number that would be read as 0', '{"a":1e-400}', 'out of range'],
    ['one below zero', '[1,-1E-400]', 'out of range'],
    ['one with a fraction', '1.5e-330', 'out of range'],
    ['one of zeros and a digit', `0.${'0'.repeat(340)}1`, 'out of range'],
    ['one of zeros and a digit, with an exponent', `0.${'0'.repeat(320)}1e-9`, 'out of range'],
    ['depth 65', nested(65), 'deeper than 64'],
    ['depth 65 of objects', '{"a":'.repeat(65) + '1' + '}'.repeat(65), 'deeper than 64'],
    ['depth 10,000', nested(10_000), 'deeper than 64'],
    ['100,000 brackets that never close', '['.repeat(100_000), 'deeper than 64'],
    ['a BOM of UTF-16', Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0), 'not UTF-8'],
    ['a cut-off sequence', Uint8Array.of(0x22, 0xc3, 0x22), 'not UTF-8'],
    ['an overlong slash', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), 'not UTF-8'],
    ['an overlong NUL', Uint8Array.of(0x22, 0xc0, 0x80, 0x22), 'not UTF-8'],
    ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'not UTF-8'],
    ['a code point beyond Unicode', Uint8Array.of(0x22, 0xf4, 0x90, 0x80, 0x80, 0x22), 'not UTF-8'],
  ]
  test.each(refused)('%s', (_title, body, why) => {
    expect(() => parse(body)).toThrow(MalformedJson)
    expect(() => parse(body)).toThrow(why)
  })
})

test('what is said of a body repeats nothing of it: it may hold secrets, and it goes to the log', () => {
  for (const body of ['{"password":"hunter2",}', 'hunter2', '{"hunter2":"hunter2","hunter2":1}', '["hunter2'])
    expect(() => parse(body)).not.toThrow(/hunter2/)
})

test('only the bytes given are read, not what else stands in their buffer', () => {
  const buffer = Buffer.from('[1][2][3]')
  expect(parseJson(buffer.subarray(3, 6))).toEqual([2])
})

test('random bytes are parsed or refused, and nothing else happens', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        try {
          parseJson(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedJson)
        }
      },
    ),
  )
})

function holdsProto(value: unknown): boolean {
  return JSON.stringify(value).includes('__proto__')
}

// Evidence that reaches a terminal has the same characters replaced in TypeScript and in Python.
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { printable, printableJson } from '../../src/formats/text/printable.ts'
import { noPython, pythonEnv } from '../vectors/answers.ts'

const codePoints = Array.from({ length: 0x110000 }, (_, i) => i)
const replaced = codePoints.filter((point) => printable(String.fromCodePoint(point)) === '\ufffd')

describe('printable', () => {
  test('replaces every control, format, separator, surrogate and private character that this engine knows', () => {
    const known = codePoints.filter((point) =>
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\ufffd]/u.test(String.fromCodePoint(point)),
    )
    const set = new Set(replaced)
    expect(known.filter((point) => !set.has(point))).toEqual([])
  })

  test('leaves letters, marks, numbers, punctuation, symbols and spaces', () => {
    const set = new Set(replaced.filter((point) => point !== 0xfffd))
    expect(
      codePoints.filter(
        (point) => set.has(point) && /[\p{L}\p{N}\p{P}\p{S}\p{Zs}]/u.test(String.fromCodePoint(point)),
      ),
    ).toEqual([])
    expect(printable('Ünï 😀 한 é')).toBe('Ünï 😀 한 é')
  })

  // proves abuse: Control characters in a record's
  test.skipIf(noPython)('replaces the same in Python', () => {
    const program =
      'from countersign.printable import printable\nprint([i for i in range(0x110000) if printable(chr(i)) == "\\ufffd"])'
    const { stdout, stderr } = spawnSync('python3', ['-c', program], {
      encoding: 'utf8',
      env: pythonEnv,
      maxBuffer: 1e8,
    })
    expect(stderr).toBe('')
    expect(stdout.replaceAll(/\s/g, '') === JSON.stringify(replaced)).toBe(true)
  })

  test('JSON text keeps its value', () => {
    const value = { ['\u009b']: ['\u202e\u2028\ue000', '\u{e0041}', 'a\n'] }
    const text = printableJson(JSON.stringify(value, undefined, 2))
    expect(JSON.parse(text)).toEqual(value)
    expect(text).toMatch(/^[\x20-\x7e\n]*$/)
  })
})

import { describe, expect, test } from 'vitest'
import {
  formatNote,
  formatVkey,
  parseNote,
  parseVkey,
  signatureLine,
  verifiedLines,
  verifierKey,
  type NoteCrypto,
  type SignatureLine,
  type VerifierKey,
} from '../../src/formats/log/note.ts'
import { aSigner, cryptos, publishedNote, sha256 } from './signers.ts'

const text = 'one\n\ntwo\n'
const alice = aSigner('alice.example', 'ed25519')
const bob = aSigner('bob.example', 'ed25519')
const aliceLine = alice.textLine(text)

/** The names of the keys whose Ed25519 signature is over the text of the note. */
function signersOf(note: string | Uint8Array, keys: readonly VerifierKey[], crypto: NoteCrypto): string[] {
  const parsed = parseNote(note)
  const messageOf = (_: VerifierKey, { signature }: SignatureLine) => ({
    message: new TextEncoder().encode(parsed.text),
    signature,
  })
  return verifiedLines(parsed, keys, messageOf, crypto).map(({ key }) => key.name)
}

describe.each(cryptos)('by %s', (_, crypto) => {
  test.each([
    ['signed-note', ['example.com/foo']],
    ['go', ['PeterNeumann', 'EnochRoot']],
    ['sum.golang.org', ['sum.golang.org']],
  ])('the signatures of %s hold, and none over another text', (name, names) => {
    const { note, keys } = publishedNote(name)
    expect(signersOf(note, keys, crypto)).toEqual(names)
    expect(signersOf(Buffer.from(note), keys, crypto)).toEqual(names)
    expect(() => signersOf(note.replace(/[a-z]/, 'X'), keys, crypto)).toThrow(
      `the signature of ${names[0]} (key id ${keys[0]?.keyId}) does not hold`,
    )
  })

  test('lines of keys that are not trusted are ignored, whatever name or id they share', () => {
    const sameName = aSigner('alice.example', 'ed25519')
    const sameId = { ...bob.key, keyId: alice.key.keyId }
    const lines = [
      sameName.textLine('another text\n'),
      signatureLine(sameId, new Uint8Array(64)),
      bob.textLine('another text\n'),
      aliceLine,
    ]
    expect(signersOf(formatNote(text, lines), [alice.key], crypto)).toEqual(['alice.example'])
    expect(signersOf(formatNote(text, lines), [], crypto)).toEqual([])
  })

  test('a trusted key whose signature does not hold makes the note worthless, beside one that holds too', () => {
    const refused = (line: string) =>
      expect(() => signersOf(formatNote(text, [aliceLine, line]), [alice.key, bob.key], crypto))
    refused(bob.textLine('another text\n')).toThrow('the signature of bob.example')
    refused(alice.textLine('another text\n')).toThrow('the signature of alice.example')
    for (const length of [1, 63, 65, 72])
      refused(signatureLine(bob.key, new Uint8Array(length))).toThrow('the signature of bob.example')
  })

  test('a key that signed twice counts once', () => {
    const note = formatNote(text, [aliceLine, bob.textLine(text), aliceLine])
    expect(signersOf(note, [alice.key, bob.key], crypto)).toEqual(['alice.example', 'bob.example'])
  })
})

test('the text may hold blank lines: the signatures begin after the last one', () => {
  const note = parseNote(formatNote(text, [aliceLine]))
  expect(note.text).toBe(text)
  expect(note.lines).toEqual([
    { name: 'alice.example', keyId: alice.key.keyId, signature: expect.any(Uint8Array) as Uint8Array },
  ])
  expect(note.lines[0]?.signature).toHaveLength(64)
})

const noteOf = (count: number) => formatNote(text, Array<string>(count).fill(aliceLine))

test('32 signature lines are read, and no more', () => {
  expect(parseNote(noteOf(32)).lines).toHaveLength(32)
  expect(() => parseNote(noteOf(33))).toThrow('the note has 33 signature lines; at most 32 are read')
})

test.each<[string, string | Uint8Array, string]>([
  ['nothing', '', 'no blank line'],
  ['a text alone', text.replace('\n\n', '\n'), 'no blank line'],
  ['no signature', `${text}\n`, 'does not end with a signature line'],
  ['a last line without its newline', formatNote(text, [aliceLine]).slice(0, -1), 'does not end'],
  ['a carriage return', formatNote(text, [aliceLine.replace('\n', '\r\n')]), 'a control character'],
  ['a tab in the text', formatNote('a\tb\n', [aliceLine]), 'a control character'],
  ['a lone surrogate', formatNote('\ud800\n', [aliceLine]), 'not valid UTF-8'],
  [
    'bytes that are not UTF-8',
    Buffer.from(formatNote('ö\n', [aliceLine]).replace('—', '-'), 'latin1'),
    'not valid UTF-8',
  ],
  ['a hyphen for the em dash', formatNote(text, [aliceLine.replace('—', '-')]), 'signature line 1 is not'],
  ['two spaces', formatNote(text, [aliceLine.replace('— ', '—  ')]), 'signature line 1 is not'],
  ['a space at the end', formatNote(text, [aliceLine.replace('\n', ' \n')]), 'signature line 1 is not'],
  ['a line that is none', formatNote(text, [aliceLine, 'more\n']), 'signature line 2 is not'],
  ['a name with a plus sign', formatNote(text, ['— a+b AAAAAAA=\n']), 'signature line 1 is not'],
  ['a name with a no-break space', formatNote(text, ['— a\u00a0b AAAAAAA=\n']), 'signature line 1 is not'],
  ['a name with U+0085', formatNote(text, ['— a\u0085b AAAAAAA=\n']), 'signature line 1 is not'],
  ['no padding', formatNote(text, ['— a AAAAAAA\n']), 'signature line 1 is not canonical base64'],
  ['unused bits', formatNote(text, ['— a AAAAAAB=\n']), 'signature line 1 is not canonical base64'],
  ['base64url', formatNote(text, ['— a AAAAAA_=\n']), 'signature line 1 is not'],
  ['a key id alone', formatNote(text, ['— a AAAAAA==\n']), 'signature line 1 holds no more than a key id'],
])('refused: %s', (_, note, message) => {
  expect(() => parseNote(note)).toThrow(message)
})

const refused = (changed: string) => expect(() => parseVkey(changed, sha256), changed)

describe('a verifier key', () => {
  test.each(['signed-note', 'go', 'sum.golang.org', 'arche2025h1', 'coachandhorses2026h1'])(
    'of %s is read and written as it was published',
    (name) => {
      const { keys, vkeys } = publishedNote(name)
      expect(keys.map(formatVkey)).toEqual(vkeys)
    },
  )

  const vkey = publishedNote('go').vkeys[0]!

  test('cut anywhere, or with any character changed, is refused', () => {
    for (let from = 0; from <= vkey.length; from++)
      for (let to = from; to <= vkey.length; to++)
        if (to - from < vkey.length) refused(vkey.slice(from, to)).toThrow()
    for (let i = 0; i < vkey.length; i++) {
      const next = String.fromCharCode(vkey.charCodeAt(i) + 1)
      refused(vkey.slice(0, i) + next + vkey.slice(i + 1)).toThrow()
    }
  })

  test.each([
    [
      'of another length, its id adjusted',
      'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==',
      'not canonical base64',
    ],
    [
      'of an unknown type',
      'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
      'is of type 0x65, which is not known',
    ],
    ['with the id of another', vkey.replace('c74f20a3', 'c74f20a4'), 'has the id c74f20a3, not c74f20a4'],
    ['with an id in capitals', vkey.replace('c74f20a3', 'C74F20A3'), 'is a name, 8 hex digits and base64'],
    ['with a space in its name', vkey.replace('rN', 'r N'), 'is a name, 8 hex digits and base64'],
    ['with a line break at its end', `${vkey}\n`, 'not canonical base64'],
    ['without a key', 'PeterNeumann+c74f20a3+', 'not canonical base64'],
  ])('%s is refused', (_, changed, message) => refused(changed).toThrow(message))

  test('has another id for each type and name, with the same public key', () => {
    const { publicKey } = alice.key
    const ids = (['ed25519', 'ed25519-cosignature'] as const).flatMap((type) =>
      ['a', 'b'].map((name) => verifierKey({ name, type, publicKey }, sha256).keyId),
    )
    expect(new Set(ids).size).toBe(4)
  })
})

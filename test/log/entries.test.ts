// Entries of the log as text, and the tree over the heads of its streams.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatEntry, parseEntry, streamTag } from '../../src/formats/log/entry.ts'
import { headData, Heads, type StreamHead } from '../../src/formats/log/heads.ts'
import { leafHash } from '../../src/formats/merkle/tree.ts'
import { sha256, sha256Hex } from '../../src/store/sha256.ts'
import { rootOfLeaves } from './tree.ts'

const HASH = 'ab'.repeat(32)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('an entry', () => {
  const text = `countersign/1 trust-record ${HASH} caller=0011223344556677:1 policy=8899aabbccddeeff:9007199254740991`

  test('is one line of text, and reads back', () => {
    const entry = {
      kind: 'trust-record',
      hash: HASH,
      streams: [
        { stream: 'caller', tag: '0011223344556677', n: 1 },
        { stream: 'policy', tag: '8899aabbccddeeff', n: Number.MAX_SAFE_INTEGER },
      ],
    } as const
    expect(formatEntry(entry)).toBe(text)
    expect(parseEntry(text)).toEqual(entry)
    expect(parseEntry(`countersign/1 heads ${HASH}`)).toEqual({ kind: 'heads', hash: HASH, streams: [] })
  })

  test.each([
    ['', 'the entry does not begin with countersign/1'],
    [text.replace('/1', '/2'), 'the entry does not begin with countersign/1'],
    [text.replace('trust-record', 'Trust'), 'the kind of the entry is not in lowercase letters'],
    [text.replace(' trust-record', ''), 'the hash of the entry is not 64 lowercase hex digits'],
    [text.replace('ab', 'AB'), 'the hash of the entry is not 64 lowercase hex digits'],
    [text.replace('ab', ''), 'the hash of the entry is not 64 lowercase hex digits'],
    [text.replace('caller', 'called'), 'a stream of the entry is not a known name'],
    [text.replace(':1 ', ':0 '), 'a stream of the entry is not a known name'],
    [text.replace(':1 ', ':01 '), 'a stream of the entry is not a known name'],
    [text.replace('740991', '740992'), 'a stream of the entry is not a known name'],
    [text.replace('0011', '001'), 'a stream of the entry is not a known name'],
    [`${text} `, 'a stream of the entry is not a known name'],
    [`${text}\n`, 'a stream of the entry is not a known name'],
    [text.replace('caller', 'policy'), 'the streams of the entry are not each once and in order'],
    [text.replace('caller', 'approver'), 'the streams of the entry are not each once and in order'],
  ])('that is %j is refused: %s', (wrong, reason) => {
    expect(() => parseEntry(wrong)).toThrow(reason)
  })
})

test('a tag is 8 bytes of the hash of salt, stream name, a zero byte and value', () => {
  const salt = Buffer.alloc(32, 7)
  const tag = streamTag({ salt, stream: 'caller', value: 'ümlaut' }, sha256)
  const input = Buffer.concat([salt, Buffer.from('caller'), Buffer.of(0), Buffer.from('ümlaut', 'utf8')])
  expect(tag).toBe(sha256Hex(input).slice(0, 16))
  expect(streamTag({ salt, stream: 'policy', value: 'ümlaut' }, sha256)).not.toBe(tag)
})

describe('the tree of heads', () => {
  const aHead = fc.record({
    tag: fc.integer({ min: 0, max: 40 }).map((n) => sha256Hex(String(n)).slice(0, 16)),
    n: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    lastIndex: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  })

  test('has a leaf of 24 bytes for each stream', () => {
    expect(hex(headData({ tag: 'ff00000000000001', n: 2, lastIndex: 2 ** 40 }))).toBe(
      'ff0000000000000100000000000000020000010000000000',
    )
  })

  test('is that of the sorted heads, whenever it is asked for and whatever changes in between', () => {
    fc.assert(
      fc.property(fc.array(fc.array(aHead, { maxLength: 6 }), { maxLength: 12 }), (rounds) => {
        const all = new Map<string, StreamHead>()
        const heads = new Heads([], sha256)
        for (const round of rounds) {
          for (const head of round) {
            all.set(head.tag, head)
            heads.set(head)
          }
          const leaves = [...all.values()]
            .toSorted((a, b) => (a.tag < b.tag ? -1 : 1))
            .map((head) => leafHash(headData(head), sha256))
          expect(hex(heads.root())).toBe(hex(rootOfLeaves(leaves)))
          expect(hex(new Heads(all.values(), sha256).root())).toBe(hex(heads.root()))
        }
      }),
    )
  })

  test('without any is the hash of nothing', () => {
    expect(hex(new Heads([], sha256).root())).toBe(sha256Hex(''))
  })
})

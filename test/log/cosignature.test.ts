import { expect, test } from 'vitest'
import {
  cosignedMessage,
  ed25519CosignedMessage,
  readTimestampedSignature,
  timestampedSignature,
} from '../../src/formats/log/cosignature.ts'

const tree = {
  cosigner: 'witness.example/w1',
  timeSeconds: 1_679_315_147,
  origin: 'example.com/behind-the-sofa',
  start: 0,
  end: 20_852_163,
  hash: new Uint8Array(32).fill(7),
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

test('the message of an Ed25519 cosignature is the example of tlog-cosignature', () => {
  const text = 'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'
  expect(new TextDecoder().decode(ed25519CosignedMessage(1_679_315_147, text))).toBe(
    `cosignature/v1\ntime 1679315147\n${text}`,
  )
})

test('the message of an ML-DSA-44 cosignature is the structure `cosigned_message`', () => {
  expect(Buffer.from(cosignedMessage(tree))).toEqual(
    Buffer.concat([
      Buffer.from('subtree/v1\n\0'),
      Buffer.of(18),
      Buffer.from(tree.cosigner),
      uint64(1_679_315_147),
      Buffer.of(27),
      Buffer.from(tree.origin),
      uint64(0),
      uint64(20_852_163),
      Buffer.alloc(32, 7),
    ]),
  )
})

test('names are counted in bytes of UTF-8, up to 255', () => {
  expect(cosignedMessage({ ...tree, origin: 'ö'.repeat(127) })).toHaveLength(12 + 1 + 18 + 8 + 1 + 254 + 48)
  for (const [member, text] of [
    ['cosigner', ''],
    ['cosigner', 'a'.repeat(256)],
    ['origin', 'ö'.repeat(128)],
  ] as const)
    expect(() => cosignedMessage({ ...tree, [member]: text })).toThrow(`the ${member} of a cosignature has`)
})

test('what the structure cannot hold is refused by its name', () => {
  const refused = (changed: Partial<typeof tree>) => expect(() => cosignedMessage({ ...tree, ...changed }))
  refused({ timeSeconds: -1 }).toThrow('the time of a cosignature is not an integer of 0 or more')
  refused({ timeSeconds: 2 ** 53 }).toThrow('the time of a cosignature')
  refused({ end: 1.5 }).toThrow('the end of a cosignature')
  refused({ start: -8, timeSeconds: 0 }).toThrow('the start of a cosignature')
  refused({ start: 8 }).toThrow('a cosignature of a later part of the tree has no time')
  refused({ hash: new Uint8Array(31) }).toThrow('the hash of a cosignature has 31 bytes, not 32')
  expect(cosignedMessage({ ...tree, start: 8, timeSeconds: 0 })).toHaveLength(12 + 19 + 8 + 28 + 48)
})

test('the time stands before the signature', () => {
  const signature = new Uint8Array(64).fill(9)
  const bytes = timestampedSignature(1_679_315_147, signature)
  expect(Buffer.from(bytes.subarray(0, 8)).readBigUInt64BE()).toBe(1_679_315_147n)
  expect(readTimestampedSignature(bytes)).toEqual({ timeSeconds: 1_679_315_147, signature })
  // Not at the start of its buffer, as a line of a note has it.
  const within = new Uint8Array(80)
  within.set(bytes, 4)
  expect(readTimestampedSignature(within.subarray(4, 76))).toEqual({ timeSeconds: 1_679_315_147, signature })
  expect(() => readTimestampedSignature(bytes.subarray(0, 7))).toThrow('shorter than its time')
  expect(() => readTimestampedSignature(new Uint8Array(72).fill(255))).toThrow('is too great')
})

import { describe, expect, test } from 'vitest'
import {
  checkpointText,
  openCheckpoint,
  parseCheckpoint,
  signersOf,
} from '../../src/formats/log/checkpoint.ts'
import { formatNote, parseNote } from '../../src/formats/log/note.ts'
import { aSigner, cryptos, publishedNote, sha256, signed } from './signers.ts'

const origin = 'countersign.example/log/1'
const checkpoint = { origin, size: 20_852_163, root: new Uint8Array(sha256(Buffer.from('root'))) }
const log = aSigner(origin, 'ed25519')
const logMlDsa = aSigner(origin, 'ml-dsa-44-cosignature')
const otherLog = aSigner('countersign.example/log/2', 'ed25519')
const witness = aSigner('witness.example/w1', 'ed25519-cosignature')
const pqWitness = aSigner('witness.example/w2', 'ml-dsa-44-cosignature')
const logs = [log.key, logMlDsa.key, otherLog.key]
const witnesses = [witness.key, pqWitness.key]
const all = [log, logMlDsa, witness, pqWitness]

test('its text is three lines, and is read as what it was written from', () => {
  const text = checkpointText(checkpoint)
  expect(text).toBe(`${origin}\n20852163\n${Buffer.from(checkpoint.root).toString('base64')}\n`)
  expect(parseCheckpoint(text)).toEqual(checkpoint)
  for (const size of [0, 1, Number.MAX_SAFE_INTEGER])
    expect(parseCheckpoint(checkpointText({ ...checkpoint, size })).size).toBe(size)
})

test('the example of tlog-checkpoint is read', () => {
  const text = 'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'
  expect(parseCheckpoint(text)).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 })
  expect(checkpointText(parseCheckpoint(text))).toBe(text)
  expect(parseCheckpoint(`${text}an extension\n`)).toEqual(parseCheckpoint(text))
})

test.each([
  ['no newline at its end', (text: string) => text.slice(0, -1), 'does not end with a newline'],
  ['two lines', (text: string) => text.replace(/.*\n$/, ''), 'no three lines'],
  ['an empty origin', (text: string) => text.replace(origin, ''), 'an empty one'],
  ['an empty extension line', (text: string) => `${text}\n`, 'an empty one'],
  ['a size with a leading zero', (text: string) => text.replace('20852163', '020852163'), 'the tree size'],
  ['a size of 00', (text: string) => text.replace('20852163', '00'), 'the tree size'],
  ['a negative size', (text: string) => text.replace('20852163', '-1'), 'the tree size'],
  ['a size with a sign', (text: string) => text.replace('20852163', '+1'), 'the tree size'],
  ['a size with a space', (text: string) => text.replace('20852163', '1 '), 'the tree size'],
  ['a size of 2^53', (text: string) => text.replace('20852163', '9007199254740992'), 'above 2^53 - 1'],
  ['a size of 400 digits', (text: string) => text.replace('20852163', '9'.repeat(400)), 'above 2^53 - 1'],
  ['a short root', (text: string) => text.replace(/\n[^\n]+\n$/, '\nAAAA\n'), 'the root hash'],
  ['a root without padding', (text: string) => text.replace('=\n', '\n'), 'the root hash'],
])('a text with %s is refused', (_, change, message) => {
  const changed = change(checkpointText(checkpoint))
  expect(changed).not.toBe(checkpointText(checkpoint))
  expect(() => parseCheckpoint(changed)).toThrow(message)
})

describe.each(cryptos)('by %s', (_, crypto) => {
  const open = (note: string, trusted = { logs, witnesses }) => openCheckpoint(note, trusted, crypto)

  test('a checkpoint says what was signed, by whom and when', () => {
    expect(open(signed(checkpoint, all))).toEqual({
      ...checkpoint,
      signedBy: [{ key: log.key }, { key: logMlDsa.key, timeSeconds: 1_795_000_000 }],
      cosignedBy: [
        { key: witness.key, timeSeconds: 1_795_000_000 },
        { key: pqWitness.key, timeSeconds: 1_795_000_000 },
      ],
    })
  })

  test('one signature of the log is enough, and a key of another log is none', () => {
    expect(open(signed(checkpoint, [logMlDsa])).signedBy).toHaveLength(1)
    for (const signers of [[otherLog], [witness, pqWitness]])
      expect(() => open(signed(checkpoint, signers))).toThrow(
        `the checkpoint is not signed by a trusted key of the log '${origin}'`,
      )
    expect(() => open(signed(checkpoint, all), { logs: [otherLog.key], witnesses })).toThrow('is not signed')
  })

  test('a signature of any trusted key that is of another checkpoint is refused', () => {
    const others = [
      { ...checkpoint, size: checkpoint.size + 1 },
      { ...checkpoint, root: new Uint8Array(32) },
      { ...checkpoint, origin: 'countersign.example/log/2' },
    ]
    for (const other of others)
      for (const signer of all) {
        const lines = all.map((one) => one.line(one === signer ? other : checkpoint))
        expect(() => open(formatNote(checkpointText(checkpoint), lines))).toThrow(
          `the signature of ${signer.key.name} (key id ${signer.key.keyId}) does not hold`,
        )
      }
  })

  test('the time of a cosignature is signed', () => {
    for (const signer of [logMlDsa, witness, pqWitness]) {
      const line = signer.line(checkpoint, 1_795_000_001)
      const bytes = Buffer.from(line.split(' ')[2]!, 'base64')
      bytes[11]! ^= 1
      const changed = `— ${signer.key.name} ${bytes.toString('base64')}\n`
      const note = (one: string) => formatNote(checkpointText(checkpoint), [log.line(checkpoint), one])
      expect(() => open(note(line))).not.toThrow()
      expect(() => open(note(changed))).toThrow('does not hold')
      bytes[4] = 0x7f
      const late = `— ${signer.key.name} ${bytes.toString('base64')}\n`
      expect(() => open(note(late))).toThrow('the time of the cosignature is too great')
    }
  })

  test('an ML-DSA-44 cosignature under another name than it signed does not hold', () => {
    const renamed = { ...pqWitness.key, name: 'witness.example/w3' }
    const line = pqWitness.line(checkpoint).replace('w2', 'w3')
    const note = formatNote(checkpointText(checkpoint), [log.line(checkpoint), line])
    expect(() => open(note, { logs, witnesses: [renamed] })).toThrow('the signature of witness.example/w3')
  })

  test('a published checkpoint with the cosignatures of four witnesses opens, and not with another size', () => {
    const { note, keys } = publishedNote('arche2025h1')
    const trusted = { logs: keys.slice(0, 1), witnesses: keys.slice(1) }
    const opened = open(note, trusted)
    expect(opened).toMatchObject({ origin: keys[0]?.name, size: 1_432_088_532 })
    expect(opened.cosignedBy).toEqual(keys.slice(1).map((key) => ({ key, timeSeconds: 1_779_573_024 })))
    for (const key of keys)
      expect(() =>
        open(note.replace('1432088532', '1432088533'), { logs: keys.slice(0, 1), witnesses: [key] }),
      ).toThrow('does not hold')
  })

  test('an ML-DSA-44 cosignature that a public witness made holds, and not of another size', () => {
    const { note, keys } = publishedNote('coachandhorses2026h1')
    const signers = (text: string) => {
      const parsed = parseNote(text)
      return signersOf(parsed, parseCheckpoint(parsed.text), keys, crypto)
    }
    expect(signers(note)).toEqual([{ key: keys[0], timeSeconds: 1_785_704_691 }])
    expect(() => signers(note.replace('185550722', '185550723'))).toThrow('does not hold')
  })
})

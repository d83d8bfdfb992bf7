import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { parseNote, parseVkey } from '../../src/formats/log/note.ts'
import { generateKeys, readSigningKeys } from '../../src/core/signing/keys.ts'
import {
  defaultLogOrigin,
  generateLogKeys,
  generateMissingLogKeys,
  logKeyDir,
  logVkeys,
  noteCrypto,
  readLogKeys,
  signCheckpoint,
} from '../../src/core/signing/log-keys.ts'
import { sha256, sha256Hex } from '../../src/store/sha256.ts'
import { openTrusted, readLogTrust } from '../../src/formats/verifier/log-trust.ts'

const now = new Date('2026-11-21T01:00:00.999Z')
const edId = '20261121T010000Z-ed25519'
const mlId = '20261121T010000Z-ml-dsa-44'
const origin = 'countersign.example/log/1'
const checkpoint = { origin, size: 7, root: sha256(Buffer.from('root')) }

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-log-keys-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

test('one key of each algorithm is made, in a folder of their own, which the signing keys are read beside', () => {
  expect(generateMissingLogKeys({ dir, now }).map(({ keyId }) => keyId)).toEqual([edId, mlId])
  expect(generateMissingLogKeys({ dir, now })).toEqual([])
  expect(logKeyDir(dir)).toBe(join(dir, 'log'))
  expect(readdirSync(logKeyDir(dir))).toHaveLength(4)
  expect(statSync(logKeyDir(dir)).mode & 0o777).toBe(0o700)
  expect(statSync(join(logKeyDir(dir), `${mlId}.private.pem`)).mode & 0o777).toBe(0o600)
  generateKeys({ dir, now })
  expect(readSigningKeys(dir, ['ml-dsa-65']).receipt).toHaveLength(1)
})

test('the greatest keyId of each algorithm signs, and every public key is a vkey of the log', () => {
  generateMissingLogKeys({ dir, now })
  const later = new Date('2027-01-01T00:00:00Z')
  generateKeys({ dir: logKeyDir(dir), now: later, algorithms: ['ed25519'] })
  const keys = readLogKeys(dir)
  expect(keys.ed25519.public.keyId).toBe('20270101T000000Z-ed25519')
  expect(keys.mlDsa44.public.keyId).toBe(mlId)
  const vkeys = logVkeys(origin, keys).map((text) => parseVkey(text, sha256))
  expect(vkeys.map(({ name, type }) => [name, type])).toEqual([
    [origin, 'ed25519'],
    [origin, 'ml-dsa-44-cosignature'],
    [origin, 'ed25519'],
  ])
  expect(vkeys.map(({ publicKey }) => publicKey)).toEqual(
    keys.publicKeys.map(({ bytes }) => Uint8Array.from(bytes)),
  )
})

test('the name of a log without LOG_ORIGIN stays the same when its key is replaced', () => {
  generateMissingLogKeys({ dir, now })
  const before = readLogKeys(dir)
  expect(defaultLogOrigin(before)).toBe(`countersign-${sha256Hex(before.ed25519.public.bytes).slice(0, 8)}`)
  generateKeys({ dir: logKeyDir(dir), now, algorithms: ['ed25519'] })
  expect(defaultLogOrigin(readLogKeys(dir))).toBe(defaultLogOrigin(before))
})

test('a checkpoint has the Ed25519 line first, then the ML-DSA-44 line with the time', async () => {
  generateMissingLogKeys({ dir, now })
  const keys = readLogKeys(dir)
  const logs = logVkeys(origin, keys).map((text) => parseVkey(text, sha256))
  const note = await signCheckpoint(keys, { ...checkpoint, timeSeconds: 1_795_000_000 })
  expect(parseNote(note)).toMatchObject({
    text: `${origin}\n7\n${checkpoint.root.toString('base64')}\n`,
    lines: [
      { name: origin, keyId: logs[0]?.keyId },
      { name: origin, keyId: logs[1]?.keyId },
    ],
  })
  expect(openCheckpoint(note, { logs, witnesses: [] }, noteCrypto)).toEqual({
    origin,
    size: 7,
    root: new Uint8Array(checkpoint.root),
    signedBy: [{ key: logs[0] }, { key: logs[1], timeSeconds: 1_795_000_000 }],
    cosignedBy: [],
  })
})

test('who saved the description before a rotation is served until the keys before are deleted, or replaced again', async () => {
  const rotate = (time: string) => generateLogKeys({ dir, now: new Date(time) })
  generateMissingLogKeys({ dir, now })
  const described = () =>
    readLogTrust({ logs: [{ origin, vkeys: logVkeys(origin, readLogKeys(dir)) }] }, sha256)
  const saved = described()
  const opened = async (trust: typeof saved) =>
    openTrusted(
      await signCheckpoint(readLogKeys(dir), { ...checkpoint, timeSeconds: 1_795_000_000 }),
      trust,
      noteCrypto,
    ).signedBy.map(({ key }) => key.type)
  rotate('2027-01-01T00:00:00Z')
  const later = described()
  const both = ['ed25519', 'ml-dsa-44-cosignature']
  expect([await opened(saved), await opened(later)]).toEqual([both, [...both, ...both]])
  const { lines } = parseNote(await signCheckpoint(readLogKeys(dir), { ...checkpoint, timeSeconds: 1 }))
  expect(lines).toHaveLength(4)

  rmSync(join(logKeyDir(dir), `${mlId}.private.pem`))
  await expect(opened(saved)).rejects.toThrow('no key of the log')
  rotate('2027-02-01T00:00:00Z')
  await expect(opened(saved)).rejects.toThrow('no key of the log')
  expect(await opened(later)).toEqual(both)
})

test('what no note can say is refused, and so is a signature that does not hold', async () => {
  generateMissingLogKeys({ dir, now })
  const keys = readLogKeys(dir)
  const signed = (changed: Partial<typeof checkpoint & { timeSeconds: number }>) =>
    signCheckpoint(keys, { ...checkpoint, timeSeconds: 1, ...changed })
  await expect(signed({ origin: 'two words/log/1' })).rejects.toThrow('a key name is not empty')
  await expect(signed({ origin: 'x'.repeat(256) })).rejects.toThrow(
    'the cosigner of a cosignature has 256 bytes',
  )
  await expect(signed({ size: -1 })).rejects.toThrow('the end of a cosignature is not an integer')
  await expect(signed({ timeSeconds: 0.5 })).rejects.toThrow('the time of a cosignature is not an integer')
  await expect(signed({ root: Buffer.alloc(31) })).rejects.toThrow('has 31 bytes, not 32')
  const faulty = {
    ...keys,
    mlDsa44: { ...keys.mlDsa44, sign: (message: Buffer) => keys.mlDsa44.sign(message.subarray(1)) },
  }
  await expect(signCheckpoint(faulty, { ...checkpoint, timeSeconds: 1 })).rejects.toThrow('does not hold')
})

test('without keys of the log the error says how to make them and how to do without', () => {
  generateKeys({ dir, now })
  expect(() => readLogKeys(dir)).toThrow(
    `No ed25519 key of the evidence log in ${dir}/log. To make it: countersign keys generate --log --dir ${dir}. ` +
      'To run without the log: LOG=off.',
  )
  generateKeys({ dir: logKeyDir(dir), now, algorithms: ['ed25519'] })
  expect(() => readLogKeys(dir)).toThrow('No ml-dsa-44 key of the evidence log')
})

test('a signing key in the folder of the log is refused', () => {
  generateKeys({ dir: logKeyDir(dir), now, algorithms: ['ml-dsa-65'] })
  expect(() => readLogKeys(dir)).toThrow('holds a key of type ml-dsa-65; known are ed25519 and ml-dsa-44.')
})

test('no part of a private key can be printed', () => {
  generateMissingLogKeys({ dir, now })
  const printed = inspect(readLogKeys(dir), { depth: 9, showHidden: true, maxArrayLength: null })
  expect(printed).not.toContain('PRIVATE KEY')
  expect(printed).toContain('PUBLIC KEY')
})

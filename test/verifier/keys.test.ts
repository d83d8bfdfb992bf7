// Key sets as people save them: ours, a standard one, and those that must not be verified by.
import { createPublicKey, generateKeyPairSync, hash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { Unusable, verifyEvidence } from '../../src/formats/verifier/index.ts'
import { readKeySet } from '../../src/formats/verifier/keys.ts'
import { saved, type Saved, type Tampered } from './saved.ts'

let source: Saved
let other: Saved
beforeAll(async () => {
  source = await saved(['ed25519', 'ml-dsa-65'])
  other = await saved(['ed25519'])
})

const verified = (keySet: unknown) => verifyEvidence(JSON.stringify(source.record), keySet)
const entries = (): Tampered[] => structuredClone(source.keySet.keys) as Tampered[]

describe('evidence verifies by', () => {
  test.each<[string, () => unknown]>([
    ['the set as the service answers it', () => source.keySet],
    ['its text', () => JSON.stringify(source.keySet)],
    ['entries without a jwk', () => ({ keys: entries().map((entry) => ({ ...entry, jwk: undefined })) })],
    ['a standard JWKS', () => ({ keys: entries().map(({ jwk }) => jwk) })],
    ['a set with one key twice', () => ({ keys: [...entries(), ...entries()] })],
    ['a PEM with CRLF', () => ({ keys: entries().map(({ keyId, pem }) => ({ keyId, pem: crlf(pem) })) })],
    ['single keys, as GET /keys/{keyId} answers each', () => entries()],
    ['texts of several files', () => entries().map((entry) => JSON.stringify(entry))],
    ['a file that is a list', () => JSON.stringify([{ keys: entries().slice(1) }, entries()[0]])],
    ['a set with keys of other kinds', () => ({ keys: [aP256Jwk(), aP256Entry(), ...entries()] })],
  ])('%s', (_, keySet) => {
    expect(verified(keySet())).toMatchObject({ valid: true, keys: [{}, {}] })
  })
})

const crlf = (pem: string) => pem.replaceAll('\n', '\r\n')
const aP256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
const aP256Jwk = (kid = 'p256') => ({ ...aP256.export({ format: 'jwk' }), kid })
const aP256Entry = () => ({
  keyId: '20261121T010000Z-p256',
  algorithm: 'p256',
  use: 'sig',
  pem: aP256.export({ type: 'spki', format: 'pem' }),
})

test('a fingerprint is the SHA-256 of the SPKI, which other tools print too', () => {
  const { keys } = verified(source.keySet)
  for (const { keyId, fingerprint } of keys) {
    const pem = source.keySet.keys.find((key) => key.keyId === keyId)?.pem ?? ''
    const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' })
    expect(fingerprint).toBe(hash('sha256', spki, 'hex'))
  }
  expect(keys).toHaveLength(2)
})

test.each([
  ['two approvers', 'alice:1', 'bob:1'],
  ['an approver and the service', 'alice:1', '20261121T010000Z-ed25519'],
])('a set that gives one key to %s is unusable: one person would count twice', (_, one, another) => {
  const pem = entries().find(({ algorithm }) => algorithm === 'ed25519')?.pem
  const named = (keyId: string) => ({ keyId, pem })
  expect(() => readKeySet({ keys: [named(one), named(another)] })).toThrow(
    `The key set holds one key under the names '${one}' and '${another}': one of them is false.`,
  )
  expect(readKeySet({ keys: [named('alice:1'), named('alice:2'), named('dana:step-up')] }).size).toBe(3)
})

test('a name that another key took is an invalid signature, not a valid one', () => {
  const [theirs] = other.keySet.keys
  const keys = entries().map((entry) =>
    entry.algorithm === 'ed25519' ? { keyId: entry.keyId, pem: theirs?.pem } : entry,
  )
  expect(verified({ keys })).toMatchObject({ valid: false })
})

/** A set whose first entry is changed. */
const first = (change: (entry: Tampered) => unknown) => () => {
  const keys = entries()
  change(keys[0])
  return { keys }
}

describe('a key set is unusable with', () => {
  test.each<[string, () => unknown, string]>([
    ['text that is not JSON', () => 'keys', 'The key set is not JSON'],
    ['a duplicate key', () => '{"keys":[],"keys":[]}', 'duplicate key'],
    ['no list', () => ({}), 'has no list `keys`'],
    ['nothing', () => null, 'has no list `keys`'],
    ['an empty list', () => ({ keys: [] }), 'holds no Ed25519 or ML-DSA-65 key'],
    ['keys of other kinds only', () => ({ keys: [aP256Jwk()] }), 'holds no Ed25519 or ML-DSA-65 key'],
    ['an entry that is no object', () => ({ keys: ['x'] }), 'is not an object'],
    ['an entry without a key', first((entry) => (delete entry.pem, delete entry.jwk)), 'has neither'],
    ['an entry without a name', first((e) => (delete e.keyId, delete e.jwk.kid)), 'has no `keyId`'],
    ['two names for one entry', first((entry) => (entry.jwk.kid = 'x')), 'has two different names'],
    ['two keys of one name', () => ({ keys: [...entries(), sameName()] }), 'two different keys'],
    ['two files that contradict each other', () => [source.keySet, sameName()], 'two different keys'],
    ['a file of several that is none', () => [source.keySet, source.record], 'has no list `keys`'],
    ['a text of several that is not JSON', () => [source.keySet, 'keys'], 'The key set is not JSON'],
    ['a revokedAt that is null', first((entry) => (entry.revokedAt = null)), 'that is no time'],
    ['a revokedAt on no day', first((e) => (e.revokedAt = '2026-02-30T00:00:00Z')), 'that is no time'],
    ['a false algorithm', first((entry) => (entry.algorithm = 'ml-dsa-65')), 'is called "ml-dsa-65"'],
    ['a key of another kind', first((entry) => Object.assign(entry, disguised())), 'of another kind'],
    ['another pem than its jwk', first((entry) => (entry.pem = ofOther().pem)), 'holds different keys'],
    [
      'a jwk of another kind than its pem',
      first((entry) => (entry.jwk = aP256Jwk(entry.keyId))),
      'holds different keys',
    ],
    ['a false alg', first((entry) => (entry.jwk.alg = 'ES256')), "not Ed25519's"],
    ['key bytes cut short', first((entry) => (entry.jwk.x = entry.jwk.x.slice(0, 40))), 'has 30 bytes'],
    ['key bytes that are not base64url', first((entry) => (entry.jwk.x += '=')), 'not base64url'],
    ['a use that is not signing', first((entry) => (entry.use = 'enc')), "not 'sig'"],
    ['a private key', first((entry) => (entry.jwk.d = 'AA')), 'holds a private key'],
    ['a pem with something behind it', first((entry) => (entry.pem += 'x')), 'no public key'],
    ['a certificate', first((e) => (e.pem = e.pem.replaceAll('PUBLIC KEY', 'CERTIFICATE'))), 'no public key'],
    ['a pem cut short', first((entry) => (entry.pem = cutShort(entry.pem))), 'bytes; an ed25519 key has 32'],
  ])('%s', (_, keySet, message) => {
    expect(() => verified(keySet())).toThrow(Unusable)
    expect(() => verified(keySet())).toThrow(message)
  })
})

test('a key that one copy says was revoked is, since the earliest time that any says', () => {
  const [entry] = entries()
  const at = (revokedAt: string) => ({ ...entry, revokedAt })
  const [early, late] = [at('2026-11-21T01:00:00+01:00'), at('2026-11-21T00:30:00Z')]
  for (const copies of [
    [entry, early],
    [early, entry],
    [late, early],
    [early, late, entry],
  ])
    // prettier-ignore
    expect(readKeySet(copies).get(entry.keyId)?.revokedAt).toBe(early.revokedAt)
  expect(readKeySet([entry]).get(entry.keyId)?.revokedAt).toBeNull()
})

/** Another Ed25519 key. */
function ofOther(): { algorithm: string; pem: string; jwk?: undefined } {
  const [key] = other.keySet.keys
  return { algorithm: 'ed25519', pem: key?.pem ?? '' }
}

function disguised() {
  return { pem: aP256Entry().pem, jwk: undefined }
}

function cutShort(pem: string): string {
  const [head, body, ...tail] = pem.split('\n')
  return [head, body?.slice(0, -4), ...tail].join('\n')
}

function sameName() {
  return { ...ofOther(), keyId: entries()[0].keyId }
}

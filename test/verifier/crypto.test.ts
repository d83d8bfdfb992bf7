// The verifier's own cryptography against outside vectors and against the server's, with which it shares no code.
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as serverDsse from '../../src/core/signing/dsse.ts'
import * as serverEd25519 from '../../src/core/signing/ed25519.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { sign, verifySignature } from '../../src/core/signing/signature.ts'
import { nativeEd25519, SMALL_ORDER } from '../../src/cli/verify/native-ed25519.ts'
import { base64, base64url } from '../../src/formats/base64.ts'
import { cryptoOf, verifiers } from '../../src/formats/verifier/crypto.ts'
import { preAuthEncoding } from '../../src/formats/verifier/pre-auth-encoding.ts'
import type { SignedArtifact } from '../../src/formats/artifacts/evidence.ts'
import { readKeySet } from '../../src/formats/verifier/keys.ts'
import { openSteps } from '../pipeline/thread.ts'
import { publicKeyJson } from '../../src/core/signing/published.ts'
import { verifyCases } from '../signing/wycheproof.ts'
import { flipped } from './saved.ts'

describe.each([
  ['ed25519', 'ed25519_test.json'],
  ['ml-dsa-65', 'mldsa_65_verify_test.json'],
] as const)('Wycheproof, %s', (algorithm, file) => {
  const cases = verifyCases(file)
  test('every case verifies as its result says', () => {
    // Ours have an empty context: a signature with another one is not one of ours.
    const wrong = cases.filter((one) => verifies(algorithm, one) !== (one.valid && one.context === ''))
    expect(cases.length).toBeGreaterThan(50)
    expect(wrong.map(({ title }) => title)).toEqual([])
  })
})

/** A public key of another length never gets past the key set. */
function verifies(algorithm: 'ed25519' | 'ml-dsa-65', signed: Parameters<(typeof verifiers)['ed25519']>[0]) {
  if (signed.publicKey.length !== { ed25519: 32, 'ml-dsa-65': 1952 }[algorithm]) return false
  const isSigned = verifiers[algorithm](signed)
  // The command checks by OpenSSL first: it must say the same.
  if (algorithm === 'ed25519') expect(nativeEd25519(signed)).toBe(isSigned)
  return isSigned
}

test('what OpenSSL takes for R and we do not are the eight points of small order', () => {
  expect(SMALL_ORDER.size).toBe(8)
  for (const hex of SMALL_ORDER) expect(ed25519.Point.fromHex(hex).isSmallOrder()).toBe(true)
})

const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`)

describe('an Ed25519 signature that who holds the key made ambiguous fails here as at the server:', () => {
  const { Point } = ed25519
  const torsion = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', true)
  const secret = 123_456_789n

  function forged(r: bigint, addedToR: typeof torsion, addedToA: typeof torsion) {
    const message = Buffer.from('message')
    const R = Buffer.from(Point.BASE.multiplyUnsafe(r).add(addedToR).toBytes())
    const publicKey = Buffer.from(Point.BASE.multiply(secret).add(addedToA).toBytes())
    const k = number(sha512(Buffer.concat([R, publicKey, message]))) % Point.Fn.ORDER
    const S = Buffer.from(Point.Fn.toBytes((r + k * secret) % Point.Fn.ORDER))
    return { message, publicKey, signature: Buffer.concat([R, S]) }
  }

  test.each([
    ['nothing added', forged(5n, Point.ZERO, Point.ZERO), true],
    ['R of mixed order', forged(5n, torsion, Point.ZERO), false],
    ['a key of mixed order', forged(5n, Point.ZERO, torsion), false],
    ['R of small order', forged(0n, torsion, Point.ZERO), false],
    ['R the neutral element', forged(0n, Point.ZERO, Point.ZERO), false],
  ])('%s', (_, signed, valid) => {
    expect(verifiers.ed25519(signed)).toBe(valid)
    expect(serverEd25519.verify(signed)).toBe(valid)
  })
})

const artifacts = [
  'trust-record',
  'execution-authorization',
  'receipt',
  'refusal-record',
  'audit-event',
  'governance-change',
  'intent-transition',
  'provider-confirmation',
] as const satisfies SignedArtifact[]
const anArtifact = fc.constantFrom(...artifacts)
const aText = fc.string({ unit: 'grapheme' })

describe('the server and the verifier agree', () => {
  const { receiptKeys } = openSteps(['ed25519', 'ml-dsa-65'])
  const keySet = readKeySet({ keys: receiptKeys.map((key) => ({ ...publicKeyJson(key.public) })) })
  const crypto = cryptoOf(keySet)
  /** The verifier throws for what it can say more of than that it is false. */
  const holds = (...args: Parameters<typeof crypto.verifySignature>) => {
    try {
      return crypto.verifySignature(...args)
    } catch {
      return false
    }
  }

  test('on every hash and on every byte that is signed', () => {
    fc.assert(
      fc.property(anArtifact, aText, (artifact, text) => {
        expect(crypto.sha256Hex(text)).toBe(sha256Hex(text))
        const bytes = preAuthEncoding(artifact, text)
        expect(Buffer.from(bytes)).toEqual(serverDsse.preAuthEncoding(artifact, text))
      }),
    )
  })

  test('on every signature, changed or not, under any name', async () => {
    await fc.assert(
      fc.asyncProperty(anArtifact, anArtifact, aText, async (artifact, other, text) => {
        for (const key of receiptKeys) {
          const [signature] = await sign(artifact, text, [key])
          if (signature === undefined) throw new Error('no signature')
          const both = (...[as, of, carried]: [SignedArtifact, string, typeof signature]) => {
            const here = holds(as, of, carried)
            expect(here).toBe(verifySignature(as, of, carried, key.public))
            return here
          }
          expect(both(artifact, text, signature)).toBe(true)
          expect(both(other, text, signature)).toBe(other === artifact)
          expect(both(artifact, `${text} `, signature)).toBe(false)
          expect(both(artifact, text, { ...signature, value: flipped(signature.value) })).toBe(false)
          expect(both(artifact, text, { ...signature, value: `${signature.value}=` })).toBe(false)
          expect(both(artifact, text, { ...signature, value: '' })).toBe(false)
          // The service has every key that it published; a verifier does not know whether it was given them all.
          const unknown = { ...signature, keyId: `${signature.keyId} ` }
          expect(verifySignature(artifact, text, unknown, key.public)).toBe(false)
          expect(crypto.verifySignature(artifact, text, unknown)).toBeUndefined()
        }
      }),
      { numRuns: 15 },
    )
  })
})

describe('a key of a human and a key of the service never pass for each other', () => {
  const { receiptKeys } = openSteps(['ed25519'])
  const [key] = receiptKeys
  if (key === undefined) throw new Error('no key')
  const named = (keyId: string) => ({ keyId, pem: publicKeyJson(key.public).pem })
  // The same key under both names, which no key set that is read may hold: only the name decides.
  const crypto = cryptoOf(
    new Map(
      [named('alice:laptop'), named('20261121T010000Z-ed25519')].flatMap((one) => [...readKeySet(one)]),
    ),
  )
  const signed = async (artifact: SignedArtifact, keyId: string) => {
    const [signature] = await sign(artifact, 'text', [key])
    if (signature === undefined) throw new Error('no signature')
    return () => crypto.verifySignature(artifact, 'text', { ...signature, keyId })
  }

  // proves abuse: A weak key, or a key
  test.each(artifacts)('%s is by the service alone', async (artifact) => {
    expect((await signed(artifact, '20261121T010000Z-ed25519'))()).toBe(true)
    expect(await signed(artifact, 'alice:laptop')).toThrow(`signs as ${artifact}`)
  })

  // proves abuse: A weak key, or a key
  test.each(['approval', 'step-up'] as const)('%s is by a human alone', async (artifact) => {
    expect((await signed(artifact, 'alice:laptop'))()).toBe(true)
    expect(await signed(artifact, '20261121T010000Z-ed25519')).toThrow(`signs as ${artifact}`)
  })

  test('only a human has a key of a human', () => {
    expect(crypto.humanKey('alice:laptop')).toMatchObject({ revokedAt: null })
    expect(crypto.humanKey('20261121T010000Z-ed25519')).toBeUndefined()
    expect(crypto.humanKey('alice:phone')).toBeUndefined()
  })
})

describe('base64', () => {
  test('gives every value its one text, which alone is read', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const buffer = Buffer.from(bytes)
        expect(base64(buffer.toString('base64'))).toEqual(bytes)
        expect(base64url(buffer.toString('base64url'))).toEqual(bytes)
      }),
    )
  })

  test.each(['QQ', 'QQ=', 'QR==', 'QQ==\n', ' QQ==', 'QQ==QQ==', 'Q', '-_-_', 'QUI\u0000', 'é', '=', '===='])(
    '%j is none',
    (text) => expect(base64(text)).toBeUndefined(),
  )

  test.each(['QQ==', 'QR', 'Q', '+/+/', 'QQ\n', ' QQ', 'é'])('%j is no base64url', (text) => {
    expect(base64url(text)).toBeUndefined()
  })
})

import { createPrivateKey, createPublicKey } from 'node:crypto'
import { ml_dsa65 as noble } from '@noble/post-quantum/ml-dsa.js'
import { describe, expect, test } from 'vitest'
import { jwk, pkcs8Prefix, publicKeyBytes, sign, verify } from '../../src/core/signing/ml-dsa-65.ts'
import { verifyCases } from './wycheproof.ts'

const seed = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
const key = createPrivateKey({
  key: Buffer.concat([Buffer.from(pkcs8Prefix, 'hex'), seed]),
  format: 'der',
  type: 'pkcs8',
})
const message = Buffer.from('cross-check')

/** Throws where OpenSSL refuses the key itself. */
const publicKeyOf = (bytes: Buffer) => createPublicKey({ key: jwk(bytes), format: 'jwk' })

describe('OpenSSL and noble', () => {
  const pair = noble.keygen(seed)

  test('expand a seed to the same public key', () => {
    const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
    expect(spki.subarray(-publicKeyBytes).equals(pair.publicKey)).toBe(true)
  })

  test('accept each other’s signatures', async () => {
    const ours = await sign({ message, key })
    const theirs = Buffer.from(noble.sign(message, pair.secretKey))
    expect(noble.verify(ours, message, pair.publicKey)).toBe(true)
    expect(verify({ message, signature: theirs, publicKey: createPublicKey(key) })).toBe(true)
  })
})

test('signing is hedged: the same message has a different signature each time', async () => {
  const [first, second] = await Promise.all([sign({ message, key }), sign({ message, key })])
  expect(first).toHaveLength(3309)
  expect(first.equals(second)).toBe(false)
})

test('a signature of any other length is false, not an error', () => {
  for (const length of [0, 64, 3308, 3310])
    expect(verify({ message, signature: Buffer.alloc(length), publicKey: createPublicKey(key) })).toBe(false)
})

const cases = verifyCases('mldsa_65_verify_test.json')
describe('Wycheproof', () => {
  const pure = cases.filter(({ context }) => context === '')

  test('every case without a context verifies as its result says', () => {
    const verifies = (one: (typeof pure)[number]) => {
      try {
        return verify({ ...one, publicKey: publicKeyOf(one.publicKey) })
      } catch {
        return false
      }
    }
    expect(pure.length).toBeGreaterThan(0)
    expect(pure.filter((one) => verifies(one) !== one.valid).map(({ title }) => title)).toEqual([])
  })

  // Countersign signs with the empty context only (decisions §4), so these say nothing about it.
  for (const { title } of cases.filter(({ context }) => context !== '')) test.skip(`has a context: ${title}`)
})

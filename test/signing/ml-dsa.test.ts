import { createPrivateKey, createPublicKey } from 'node:crypto'
import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js'
import { describe, expect, test } from 'vitest'
import { mlDsa44, mlDsa65 } from '../../src/core/signing/ml-dsa.ts'

const seed = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
const message = Buffer.from('cross-check')

describe.each([
  { name: 'ML-DSA-44', ours: mlDsa44, noble: ml_dsa44, signatureBytes: 2420 },
  { name: 'ML-DSA-65', ours: mlDsa65, noble: ml_dsa65, signatureBytes: 3309 },
])('$name', ({ ours, noble, signatureBytes }) => {
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from(ours.pkcs8Prefix, 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const pair = noble.keygen(seed)
  const sign = ours.signer(key)

  test('OpenSSL and noble expand a seed to the same public key', () => {
    const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
    expect(spki.subarray(-ours.publicKeyBytes).equals(pair.publicKey)).toBe(true)
  })

  test('OpenSSL and noble accept each other’s signatures', async () => {
    expect(noble.verify(await sign(message), message, pair.publicKey)).toBe(true)
    const signature = Buffer.from(noble.sign(message, pair.secretKey))
    const publicKey = createPublicKey({ key: ours.jwk(Buffer.from(pair.publicKey)), format: 'jwk' })
    expect(ours.verify({ message, signature, publicKey })).toBe(true)
    expect(ours.verify({ message: Buffer.from('other'), signature, publicKey })).toBe(false)
  })

  test('signing is hedged: the same message has a different signature each time', async () => {
    const [first, second] = await Promise.all([sign(message), sign(message)])
    expect(first).toHaveLength(signatureBytes)
    expect(first.equals(second)).toBe(false)
  })

  test('a signature of any other length is false, not an error', () => {
    const publicKey = createPublicKey(key)
    for (const length of [0, 64, signatureBytes - 1, signatureBytes + 1])
      expect(ours.verify({ message, signature: Buffer.alloc(length), publicKey })).toBe(false)
  })
})

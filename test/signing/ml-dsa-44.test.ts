import { createPrivateKey, createPublicKey } from 'node:crypto'
import { ml_dsa44 as noble } from '@noble/post-quantum/ml-dsa.js'
import { expect, test } from 'vitest'
import { jwk, pkcs8Prefix, publicKeyBytes, sign, verify } from '../../src/core/signing/ml-dsa-44.ts'

const seed = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
const key = createPrivateKey({
  key: Buffer.concat([Buffer.from(pkcs8Prefix, 'hex'), seed]),
  format: 'der',
  type: 'pkcs8',
})
const message = Buffer.from('cross-check')
const pair = noble.keygen(seed)

test('OpenSSL and noble expand a seed to the same public key', () => {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  expect(spki.subarray(-publicKeyBytes).equals(pair.publicKey)).toBe(true)
})

test('OpenSSL and noble accept each other’s signatures', async () => {
  const ours = await sign({ message, key })
  expect(ours).toHaveLength(2420)
  expect(noble.verify(ours, message, pair.publicKey)).toBe(true)
  const theirs = Buffer.from(noble.sign(message, pair.secretKey))
  const publicKey = createPublicKey({ key: jwk(Buffer.from(pair.publicKey)), format: 'jwk' })
  expect(verify({ message, signature: theirs, publicKey })).toBe(true)
  expect(verify({ message: Buffer.from('other'), signature: theirs, publicKey })).toBe(false)
})

test('a signature of any other length is false, not an error', () => {
  for (const length of [0, 64, 2419, 2421])
    expect(verify({ message, signature: Buffer.alloc(length), publicKey: createPublicKey(key) })).toBe(false)
})

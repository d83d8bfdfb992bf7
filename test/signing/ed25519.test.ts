import { createPrivateKey, createPublicKey, sign as nodeSign, verify as nodeVerify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { pkcs8Prefix, secretKeyOf, sign, signer, verify } from '../../src/core/signing/ed25519.ts'
import { verifyCases } from './wycheproof.ts'

const hex = (text: string) => Buffer.from(text, 'hex')

describe('RFC 8032 §7.1', () => {
  const vectors = [
    {
      name: 'TEST 1',
      seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      message: '',
      signature:
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    },
    {
      name: 'TEST 2',
      seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      message: '72',
      signature:
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    },
    {
      name: 'TEST 3',
      seed: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
      publicKey: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      message: 'af82',
      signature:
        '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    },
  ]
  test.each(vectors)('$name signs to the published bytes and verifies', (vector) => {
    const message = hex(vector.message)
    const secretKey = secretKeyOf(hex(vector.seed))
    const signature = sign({ message, secretKey })
    expect(secretKey.subarray(32).toString('hex')).toBe(vector.publicKey)
    expect(signature.toString('hex')).toBe(vector.signature)
    expect(verify({ message, signature, publicKey: hex(vector.publicKey) })).toBe(true)
  })
})

const cases = verifyCases('ed25519_test.json')
test('every case of Wycheproof verifies as its result says', () => {
  const wrong = cases.filter((one) => verify(one) !== one.valid).map(({ title }) => title)
  expect(cases.length).toBeGreaterThan(0)
  expect(wrong).toEqual([])
})

describe('libsodium and OpenSSL', () => {
  const der = Buffer.concat([hex(pkcs8Prefix), Buffer.alloc(32, 7)])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })

  test('make the same signature and accept each other’s', () => {
    const message = Buffer.from('cross-check')
    const publicKey = secretKeyOf(Buffer.alloc(32, 7)).subarray(32)
    const ours = signer(key)(message)
    expect(ours).toEqual(nodeSign(null, message, key))
    expect(nodeVerify(null, message, createPublicKey(key), ours)).toBe(true)
    expect(verify({ message, signature: nodeSign(null, message, key), publicKey })).toBe(true)
  })

  test('a signature of any other length is false, not an error', () => {
    const publicKey = secretKeyOf(Buffer.alloc(32, 7)).subarray(32)
    for (const length of [0, 1, 63, 65, 3309])
      expect(verify({ message: Buffer.from('x'), signature: Buffer.alloc(length), publicKey })).toBe(false)
  })
})

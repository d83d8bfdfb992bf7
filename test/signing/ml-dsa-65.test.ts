import { createPublicKey } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { mlDsa65 } from '../../src/core/signing/ml-dsa.ts'
import { verifyCases } from './wycheproof.ts'

/** Throws where OpenSSL refuses the key itself. */
const publicKeyOf = (bytes: Buffer) => createPublicKey({ key: mlDsa65.jwk(bytes), format: 'jwk' })

const cases = verifyCases('mldsa_65_verify_test.json')
describe('Wycheproof', () => {
  const pure = cases.filter(({ context }) => context === '')

  test('every case without a context verifies as its result says', () => {
    const verifies = (one: (typeof pure)[number]) => {
      try {
        return mlDsa65.verify({ ...one, publicKey: publicKeyOf(one.publicKey) })
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

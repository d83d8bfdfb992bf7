import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { preAuthEncoding, type SignedKind } from '../../src/core/signing/dsse.ts'
import { generateKeys, readSigningKeys, type PublicKey } from '../../src/core/signing/keys.ts'
import { openSignatureMemo, sign, signEd25519, verifySignature } from '../../src/core/signing/signature.ts'

const artifacts: SignedKind[] = [
  'trust-record',
  'receipt',
  'execution-authorization',
  'refusal-record',
  'audit-event',
  'intent-transition',
  'provider-confirmation',
  'governance-change',
  'connector-release',
  'step-up',
  'approval',
]
const text = '{"amount":10,"receiptId":"é"}'

const dir = mkdtempSync(join(tmpdir(), 'countersign-signature-'))
afterAll(() => rmSync(dir, { recursive: true }))
generateKeys({ dir, now: new Date('2026-11-21T01:00:00Z') })
const retired = readSigningKeys(dir, []).ed25519
generateKeys({ dir, now: new Date('2026-11-21T02:00:00Z') })
const { ed25519: key, receipt } = readSigningKeys(dir, ['ed25519', 'ml-dsa-65'])

describe.each(receipt)('a signature by $public.algorithm', (signer) => {
  const { algorithm, keyId } = signer.public

  test('names its key and verifies', async () => {
    const [signature] = await sign('receipt', text, [signer])
    expect(signature).toMatchObject({ algorithm, keyId })
    expect(signature && verifySignature('receipt', text, signature, signer.public)).toBe(true)
  })

  test('verifies for no other artifact and no other text', async () => {
    const [signature] = await sign('receipt', text, [signer])
    const passes = (artifact: SignedKind, canonicalText: string) =>
      signature !== undefined && verifySignature(artifact, canonicalText, signature, signer.public)
    expect(artifacts.filter((artifact) => passes(artifact, text))).toEqual(['receipt'])
    for (const changed of ['', `${text} `, text.replace('10', '10.0'), text.normalize('NFD')])
      expect(passes('receipt', changed)).toBe(false)
  })

  test('is only what it claims to be', async () => {
    const [signature] = await sign('receipt', text, [signer])
    const passes = (claim: object) =>
      signature !== undefined && verifySignature('receipt', text, { ...signature, ...claim }, signer.public)
    expect(passes({})).toBe(true)
    for (const claim of ['ed25519', 'ml-dsa-65', 'Ed25519', 'none', undefined])
      expect(passes({ algorithm: claim })).toBe(claim === algorithm)
    for (const claim of [
      '',
      `${keyId} `,
      keyId.toLowerCase(),
      `../${keyId}`,
      retired.public.keyId,
      undefined,
    ])
      expect(passes({ keyId: claim })).toBe(false)
  })

  test('has one base64 text: every other spelling of its bytes fails', async () => {
    const [signature] = await sign('receipt', text, [signer])
    const value = signature?.value ?? ''
    const bytes = Buffer.from(value, 'base64')
    const passes = (spelling: unknown) =>
      verifySignature(
        'receipt',
        text,
        Object.assign({ algorithm, keyId, value }, { value: spelling }),
        signer.public,
      )
    expect(passes(value)).toBe(true)
    for (const spelling of [
      '',
      ` ${value}`,
      `${value}\n`,
      `${value}=`,
      `${value}AAAA`,
      bytes.toString('base64url'),
      bytes.toString('hex'),
      Buffer.concat([bytes, Buffer.of(0)]).toString('base64'),
      bytes.subarray(1).toString('base64'),
      // 64 and 3309 bytes: the last group of the first has unused bits, which another letter would set.
      ...(value.endsWith('==') ? [value.replace(/.==$/, 'B=='), value.slice(0, -1), value.slice(0, -2)] : []),
      null,
      7,
      [value],
    ])
      expect(passes(spelling), String(spelling).slice(0, 20)).toBe(false)
  })
})

test('the keys of a hybrid sign in their order, and no half passes for the other', async () => {
  const signatures = await sign('trust-record', text, receipt)
  const passing = signatures.map((signature) =>
    receipt.map((signer) => verifySignature('trust-record', text, signature, signer.public)),
  )
  expect(signatures.map(({ algorithm }) => algorithm)).toEqual(['ed25519', 'ml-dsa-65'])
  expect(passing).toEqual([
    [true, false],
    [false, true],
  ])
})

test('signing synchronously makes the same Ed25519 signature and refuses any other key', async () => {
  const mlDsa65 = receipt.find(({ public: { algorithm } }) => algorithm === 'ml-dsa-65') ?? key
  expect([signEd25519('receipt', text, key)]).toEqual(await sign('receipt', text, [key]))
  expect(() => signEd25519('receipt', text, mlDsa65)).toThrow('is not an Ed25519 key')
})

test('a retired key still verifies what it signed', () => {
  const signature = signEd25519('receipt', text, retired)
  expect(verifySignature('receipt', text, signature, retired.public)).toBe(true)
  expect(verifySignature('receipt', text, { ...signature, keyId: key.public.keyId }, key.public)).toBe(false)
})

test('what is verified is known for the same bytes, signature and key, and for nothing that differs in any of them', () => {
  const { value } = signEd25519('execution-authorization', text, key)
  const message = preAuthEncoding('execution-authorization', text)
  let asked = 0
  const publicKey: PublicKey = {
    ...key.public,
    verifies(...signed) {
      asked += 1
      return key.public.verifies(...signed)
    },
  }
  const verified = openSignatureMemo()
  const verifies = (changed: object) =>
    verified.verifies({ message, signature: value, publicKey, ...changed })
  expect([verifies({}), verifies({}), verifies({ message: Buffer.from(message) })]).toEqual([
    true,
    true,
    true,
  ])
  expect(asked).toBe(1)
  expect(verifies({ message: preAuthEncoding('receipt', text) })).toBe(false)
  expect(verifies({ message: preAuthEncoding('execution-authorization', `${text} `) })).toBe(false)
  expect(verifies({ publicKey: retired.public })).toBe(false)
  expect(verifies({ signature: `${value}=` })).toBe(false)
  expect(verifies({ signature: '' })).toBe(false)
  expect(verifies({})).toBe(true)
})

// Texts that are written from their parts are the canonical texts of what they say (RFC 8785), whatever the parts hold.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { positionText } from '../../src/formats/merkle/batch-head.ts'
import { signerText, type Signature } from '../../src/core/signing/signature.ts'
import { signedText } from '../../workers/execute/decide/authorization.ts'
import { sealText } from '../../workers/execute/seal.ts'
import { aTransaction } from '../transactions.ts'
import { sealedOf } from '../verifier/saved.ts'
import { openSteps } from './thread.ts'

/** Any text that JSON can hold: control characters, quotes, other planes. A lone surrogate is refused before (test/http/execute-bodies.test.ts). */
const text = fc.string({ unit: 'binary' }).filter((one) => one.isWellFormed())
/** Callers fill these; a blank one is refused. */
const filled = text.map((one) => `x${one}`)
const key = text.filter((name) => name !== '__proto__')

const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), text),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => Math.abs(one) < 2 ** 53),
    fc.array(tie('json')),
    fc.dictionary(key, tie('json'), { noNullPrototype: false }),
  ),
}))

const base64 = fc
  .uint8Array({ minLength: 32, maxLength: 64 })
  .map((bytes) => Buffer.from(bytes).toString('base64'))
const position = fc.record({
  index: fc.nat(),
  origin: text,
  path: fc.array(base64, { minLength: 1 }),
  size: fc.nat(),
})
const signature = fc.record(
  {
    algorithm: fc.constantFrom('ed25519', 'ed25519-batch', 'ml-dsa-65', 'ml-dsa-65-batch'),
    keyId: text,
    value: base64,
    batch: position,
  },
  { requiredKeys: ['algorithm', 'keyId', 'value'] },
) as fc.Arbitrary<Signature>

test('the position in a batch, and who signed', () => {
  fc.assert(
    fc.property(signature, ({ value, ...signer }) => {
      if (signer.batch !== undefined) expect(positionText(signer.batch)).toBe(canonicalize(signer.batch))
      expect(`{${signerText({ ...signer, value })}}`).toBe(canonicalize(signer))
    }),
  )
})

test('a signed authorization', () => {
  fc.assert(
    fc.property(signature, json, ({ value, ...signer }, payload) => {
      expect(signedText(canonicalize(payload), { ...signer, value })).toBe(
        canonicalize({ ...signer, payload, signature: value }),
      )
    }),
  )
})

test('a seal, of one signature or of several', () => {
  const hash = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => Buffer.from(bytes).toString('hex'))
  const time = fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  fc.assert(
    fc.property(
      fc.array(signature, { minLength: 1, maxLength: 3 }),
      time,
      hash,
      (signatures, signedAt, trustRecordHash) => {
        const several = signatures.length > 1 ? { signatures } : {}
        expect(sealText(signatures, { signedAt, hash: trustRecordHash })).toBe(
          canonicalize({ signature: { ...signatures[0]!, signedAt }, ...several, trustRecordHash }),
        )
      },
    ),
  )
})

test.each([[['ed25519']], [['ed25519', 'ml-dsa-65']]] as const)(
  'every text of an execution, sealed by %j, whatever the caller sends',
  async (algorithms) => {
    const steps = openSteps(algorithms)
    const transaction = fc
      .record({
        parameters: fc.dictionary(key, json, { noNullPrototype: false }),
        target: filled,
        name: filled,
      })
      .map(({ parameters, target, name }) =>
        aTransaction({
          intent: { parameters: { ...parameters, amount: 42 }, target },
          authority: { displayName: name },
          authorization: { purpose: name },
          metadata: { sourceSystem: name },
        }),
      )
    await fc.assert(
      fc.asyncProperty(fc.array(transaction, { minLength: 1, maxLength: 3 }), async (transactions) => {
        const sealed = await sealedOf(steps, transactions)
        expect(sealed).toHaveLength(transactions.length)
        for (const { record, authorization, decision, execution } of sealed) {
          const parts = [authorization.payload, authorization.signed.text, decision.text.text, execution.text]
          for (const one of [record.body, record.seal, ...parts])
            expect(one).toBe(canonicalize(JSON.parse(one) as Json))
        }
      }),
      { numRuns: 50 },
    )
  },
)

// The gate compares the authorizations of a batch with what its tree makes, and checks one of them whole before anything is claimed.
import { expect, test } from 'vitest'
import { Canonical } from '../../src/formats/json/canonical.ts'
import { openEvidenceFaults } from '../../src/core/threads/evidence-fault.ts'
import { openSignatureMemo } from '../../src/core/signing/signature.ts'
import { authorize, type Signed } from '../../workers/execute/decide/authorize.ts'
import { decide, type Concluded } from '../../workers/execute/decide/decide.ts'
import { gate } from '../../workers/execute/gate.ts'
import { validate, type Accepted } from '../../workers/execute/validate/validate.ts'
import { Finished } from '../../workers/in-flight.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { flipped } from '../verifier/saved.ts'
import { aRequest, openSteps } from './thread.ts'

const steps = openSteps()
const now = new Date('2026-11-21T01:00:00.000Z')

/** Authorizations of one batch, and a refusal between them. */
async function signed(batchSignatures = true): Promise<Signed[]> {
  const sent = [aTransaction(), aTransaction(), aRejectedTransaction(), aTransaction(), aTransaction()]
  const concluded = sent.map(
    (one) => decide(validate(aRequest(one), now.toISOString()) as Accepted, { ...steps, now }) as Concluded,
  )
  const tools = { ...steps, batchSignatures, signatureMemo: openSignatureMemo() }
  return (await authorize(concluded, tools)) as Signed[]
}

function withText(item: Signed, text: string): Signed {
  return { ...item, authorization: { ...item.authorization, signed: new Canonical(text) } }
}

/** @param sampled counts refusals too, which have no authorization to check */
function gated(items: readonly Signed[], sampled: number, evidenceFaults = openEvidenceFaults()) {
  const results = gate(items, { ...steps, now, evidenceFaults, pick: () => sampled })
  return results.map((one) =>
    one instanceof Finished ? JSON.stringify(one.answer.log?.['cause']) : one.outcome,
  )
}

const PASSED = ['approved', 'approved', 'refused', 'approved', 'approved']

test('a batch passes, whichever of it is checked whole', async () => {
  const items = await signed()
  for (const sampled of [0, 1, 2, 3]) expect(gated(items, sampled)).toEqual(PASSED)
})

test.each<[string, string, (item: Signed, other: Signed) => Signed]>([
  [
    'the authorization of another transaction',
    'AUTHORIZATION_TRANSACTION_MISMATCH',
    (item, { authorization }) => ({ ...item, authorization }),
  ],
  [
    'the signed text of another',
    'AUTHORIZATION_TRANSACTION_MISMATCH',
    (item, other) => withText(item, other.authorization.signed.text),
  ],
  [
    'another payload',
    'AUTHORIZATION_SIGNATURE_INVALID',
    (item) => {
      const { nonce, signed: text } = item.authorization
      return withText(item, text.text.replace(nonce, flipped(nonce)))
    },
  ],
  [
    'another position',
    'AUTHORIZATION_SIGNATURE_INVALID',
    (item) => withText(item, item.authorization.signed.text.replace('"index":3', '"index":2')),
  ],
  [
    'another signature',
    'AUTHORIZATION_SIGNATURE_INVALID',
    (item) => {
      const { signature, signed: text } = item.authorization
      return withText(item, text.text.replace(signature.value, flipped(signature.value)))
    },
  ],
  ['no JSON', 'Unexpected', (item) => withText(item, item.authorization.signed.text.slice(1))],
])('with %s one is refused alone where another is checked whole', async (_, cause, change) => {
  const items = await signed()
  const changed = items.with(4, change(items[4]!, items[0]!))
  for (const sampled of [0, 1, 2]) {
    const evidenceFaults = openEvidenceFaults()
    const results = gated(changed, sampled, evidenceFaults)
    expect(results.slice(0, 4)).toEqual(PASSED.slice(0, 4))
    expect(results[4]).toContain(cause)
    expect(evidenceFaults.current()).toBeUndefined()
  }
})

// proves fault: A mistake in the code that writes
test('where the one that is checked whole is refused, nothing of the batch is executed, and nothing after it', async () => {
  const items = await signed()
  const { nonce, signed: text } = items[1]!.authorization
  const changed = items.with(1, withText(items[1]!, text.text.replace(nonce, flipped(nonce))))
  const evidenceFaults = openEvidenceFaults()
  const refused = JSON.stringify(`that of ${items[1]!.transaction.businessTransactionId}`)
  expect(gated(changed, 1, evidenceFaults)).toEqual([
    refused,
    '"AUTHORIZATION_SIGNATURE_INVALID"',
    ...Array<string>(3).fill(refused),
  ])
  expect(evidenceFaults.current()).toEqual({ kind: 'not verified' })
  expect(gated(items, 0, evidenceFaults)).toEqual(Array<string>(5).fill(refused))
})

test('authorizations that are signed one by one are each checked whole', async () => {
  const alone = await signed(false)
  expect(gated(alone, 0)).toEqual(PASSED)
  const { nonce, signed: text } = alone[3]!.authorization
  const changed = alone.with(3, withText(alone[3]!, text.text.replace(nonce, flipped(nonce))))
  expect(gated(changed, 0)).toEqual(PASSED.with(3, '"AUTHORIZATION_SIGNATURE_INVALID"'))
})

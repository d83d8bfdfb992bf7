// The verify step compares the bytes of a batch with what its tree and its parts make, and verifies one record of it whole.
import { describe, expect, test } from 'vitest'
import { openEvidenceFaults } from '../../src/core/threads/evidence-fault.ts'
import { Canonical } from '../../src/formats/json/canonical.ts'
import type { PublicKey } from '../../src/core/signing/keys.ts'
import { openSignatureMemo, type SignatureMemo } from '../../src/core/signing/signature.ts'
import { authorize, type Authorized } from '../../workers/execute/decide/authorize.ts'
import { decide, type Concluded } from '../../workers/execute/decide/decide.ts'
import type { Decision } from '../../workers/execute/decide/decision.ts'
import { gate } from '../../workers/execute/gate.ts'
import { performOne, type Performed } from '../../workers/execute/perform.ts'
import { seal, type SealedExecution } from '../../workers/execute/seal.ts'
import { validate, type Accepted } from '../../workers/execute/validate/validate.ts'
import { verify, type VerifiedExecution } from '../../workers/execute/verify.ts'
import { stillGoing } from '../../workers/in-flight.ts'
import { aTransaction } from '../transactions.ts'
import { flipped, recordsOf } from '../verifier/saved.ts'
import { aRequest, openSteps, releasedAlone } from './thread.ts'

const steps = openSteps()

/** Counts what is verified by the key itself. */
function counting() {
  const counted: { key: string; message: string }[] = []
  const findKey = (keyId: string): PublicKey | undefined => {
    const key = steps.findKey(keyId)
    return (
      key && {
        ...key,
        verifies(message, signature) {
          counted.push({ key: keyId, message: message.toString().slice(0, 80) })
          return key.verifies(message, signature)
        },
      }
    )
  }
  return { counted, findKey }
}

/** Executions of one batch, sealed together. @param change of an execution before it is sealed */
async function sealed(
  count: number,
  { findKey = steps.findKey, change = (item: Performed, _all: readonly Performed[]): Performed => item } = {},
): Promise<{ executions: SealedExecution[]; signatureMemo: SignatureMemo }> {
  const now = new Date()
  const signatureMemo = openSignatureMemo()
  const accepted = Array.from(
    { length: count },
    () => validate(aRequest(aTransaction()), now.toISOString()) as Accepted,
  )
  const concluded = accepted.map((item) => decide(item, { ...steps, now }) as Concluded)
  const authorized = await authorize(concluded, { ...steps, signatureMemo: openSignatureMemo() })
  const gated = gate(authorized, { ...steps, findKey, now }) as Authorized[]
  const performed = await Promise.all(gated.map((item) => performOne(releasedAlone(item), steps)))
  const changed = performed.map((item) => change(item, performed))
  return { executions: stillGoing(await seal(changed, { ...steps, signatureMemo })), signatureMemo }
}

/** @param sampled the place of the record that is verified whole */
function verifications(
  executions: readonly SealedExecution[],
  signatureMemo: SignatureMemo,
  { findKey = steps.findKey, sampled = 0, evidenceFaults = openEvidenceFaults() } = {},
) {
  const tools = { ...steps, findKey, signatureMemo, evidenceFaults, pick: () => sampled }
  const verified = verify(executions, tools) as VerifiedExecution[]
  return verified.map(
    ({ verification }) => JSON.parse(verification.text) as { status: string; message: string },
  )
}

const repeated = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item)
const holds = { status: 'VERIFIED', message: 'Execution Trust Record verified successfully.' }
const fails = (problem: string) => ({ status: 'FAILED', message: expect.stringContaining(problem) as string })

test('of a single execution the gate verifies the authorization, and the verify step the record', async () => {
  const { counted, findKey } = counting()
  const { executions, signatureMemo } = await sealed(1, { findKey })
  expect(counted).toMatchObject([{ message: expect.stringContaining('execution-authorization') }])
  expect(verifications(executions, signatureMemo, { findKey })).toMatchObject([holds])
  expect(counted.slice(1)).toMatchObject([{ message: expect.stringContaining('trust-record') }])
})

test('of a batch each head is verified once, when it has been signed', async () => {
  const { counted, findKey } = counting()
  const { executions, signatureMemo } = await sealed(5, { findKey })
  expect(verifications(executions, signatureMemo, { findKey })).toMatchObject(repeated(5, holds))
  expect(counted).toEqual([])
})

test('executions whose signatures nobody has verified are verified whole', async () => {
  const { counted, findKey } = counting()
  const { executions } = await sealed(3)
  const unknown = executions.map((item) => ({ ...item, authorizationMemo: openSignatureMemo() }))
  expect(verifications(unknown, openSignatureMemo(), { findKey })).toMatchObject(repeated(3, holds))
  // The head of the records, and the authorization of the one that is verified whole.
  expect(counted).toHaveLength(2)
})

const SIGNATURE = 'The trust record signature is not valid'
const AUTHORIZATION = 'The execution authorization signature is not valid'

test.each([1, 4])(
  'in a batch of %s a record that holds another signature, or other bytes, fails',
  async (count) => {
    const { executions, signatureMemo } = await sealed(count)
    const last = count - 1
    const execution = executions[last] as SealedExecution
    const { signature, payload, batch } = JSON.parse(execution.authorization.signed.text) as {
      signature: string
      payload: { nonce: string }
      batch?: { origin: string; path: string[] }
    }
    expect(batch === undefined).toBe(count === 1)
    const written = [signature, payload.nonce, ...(batch === undefined ? [] : [...batch.path, batch.origin])]
    for (const text of written) {
      const body = execution.record.body.replace(text, flipped(text))
      const changed = executions.with(last, { ...execution, record: { ...execution.record, body } })
      expect(verifications(changed, signatureMemo)[last]).toMatchObject(fails(AUTHORIZATION))
    }
  },
)

describe('in a batch, wherever the record is that is verified whole, it fails alone', () => {
  const OTHERS = [0, 1, 3]
  const TOLD_BY_BYTES: readonly (readonly [
    string,
    string,
    (item: SealedExecution, other: SealedExecution) => SealedExecution,
  ])[] = [
    [
      'the seal of another record',
      SIGNATURE,
      (item, other) => ({ ...item, record: { ...item.record, seal: other.record.seal } }),
    ],
    [
      'another hash in the seal',
      'The trust record hash does not match',
      (item, other) => ({
        ...item,
        record: {
          ...item.record,
          seal: item.record.seal.replace(item.trustRecordHash, other.trustRecordHash),
        },
      }),
    ],
    [
      'other bytes',
      SIGNATURE,
      (item) => ({
        ...item,
        record: { ...item.record, body: item.record.body.replace('"overrides":[]', '"overrides":[0]') },
      }),
    ],
    [
      'another order of its members',
      '',
      (item) => {
        const body = JSON.parse(item.record.body) as { [name: string]: unknown }
        const reversed = Object.fromEntries(Object.entries(body).toReversed())
        return { ...item, record: { ...item.record, body: JSON.stringify(reversed) } }
      },
    ],
    [
      'white space in its seal',
      '',
      (item) => ({ ...item, record: { ...item.record, seal: item.record.seal.replace(',', ', ') } }),
    ],
  ]

  test.each(TOLD_BY_BYTES)('%s', async (_, problem, change) => {
    for (const sampled of OTHERS) {
      const { executions, signatureMemo } = await sealed(4)
      const changed = executions.with(2, change(executions[2]!, executions[sampled]!))
      const evidenceFaults = openEvidenceFaults()
      const found = verifications(changed, signatureMemo, { sampled, evidenceFaults })
      // A record that differs in notation alone gets the whole check, which parses the text first.
      expect(found[2]).toMatchObject(problem === '' ? holds : fails(problem))
      expect(found.toSpliced(2, 1)).toMatchObject(repeated(3, holds))
      expect(evidenceFaults.current()).toBeUndefined()
    }
  })

  const TOLD_BY_MEMBERS: readonly (readonly [
    string,
    string,
    (item: Performed, other: Performed) => Performed,
  ])[] = [
    [
      'the decision of another',
      'The execution authorization is not bound to this decision',
      (item, { decision }) => ({ ...item, decision }),
    ],
    [
      'the transaction of another',
      'The execution authorization is not bound to this transaction',
      (item, { transaction, canonical }) => ({ ...item, transaction, canonical }),
    ],
    [
      'the authorization of another',
      'The execution authorization is not bound to this transaction',
      (item, { authorization, permission }) => ({ ...item, authorization, permission }),
    ],
    [
      'another action in its execution',
      'The execution authorization is not bound to this transaction',
      (item) => ({
        ...item,
        transaction: {
          ...item.transaction,
          intent: { ...item.transaction.intent, action: 'sandbox:other' },
        },
      }),
    ],
  ]
  test.each(TOLD_BY_MEMBERS)('%s', async (_, problem, change) => {
    for (const sampled of OTHERS) {
      const { executions, signatureMemo } = await sealed(4, {
        change: (item, all) => (item === all[2] ? change(item, all[sampled]!) : item),
      })
      const found = verifications(executions, signatureMemo, { sampled })
      expect(found[2]).toMatchObject(fails(problem))
      expect(found.toSpliced(2, 1)).toMatchObject(repeated(3, holds))
    }
  })
})

// proves fault: A mistake in the code that writes
test('where the record that is verified whole fails, every other is verified whole too, and nothing more is admitted', async () => {
  const { executions, signatureMemo } = await sealed(4, {
    // As a template that writes a time as no reader does would have it, in all but one.
    change: (item, all) => (item === all[3] ? item : { ...item, decision: unreadable(item.decision) }),
  })
  for (const sampled of [0, 1, 2]) {
    const evidenceFaults = openEvidenceFaults()
    const found = verifications(executions, signatureMemo, { sampled, evidenceFaults })
    expect(found).toMatchObject([...repeated(3, fails('The verified signals')), holds])
    expect(evidenceFaults.current()).toEqual({ kind: 'not verified' })
    expect(evidenceFaults.businessTransactionId()).toBe(
      executions[sampled]?.transaction.businessTransactionId,
    )
  }
})

function unreadable(decision: Decision): Decision {
  return {
    ...decision,
    text: new Canonical(decision.text.text.replace('"verifiedSignals":{}', '"verifiedSignals":[]')),
  }
}

test('records that rest on verified state are verified whole, and are no sample', async () => {
  const { counted, findKey } = counting()
  const { executions } = await sealed(3, {
    change: (item) => ({ ...item, decision: { ...item.decision, verifiesState: true } }),
  })
  const unknown = executions.map((item) => ({ ...item, authorizationMemo: openSignatureMemo() }))
  const evidenceFaults = openEvidenceFaults()
  const options = { findKey, evidenceFaults }
  expect(verifications(unknown, openSignatureMemo(), options)).toMatchObject(repeated(3, holds))
  // The head of the records, and each authorization.
  expect(counted).toHaveLength(4)
  const [first] = unknown as [SealedExecution]
  const broken = {
    ...first,
    record: { ...first.record, seal: first.record.seal.replace('"value":"', '"value":"A') },
  }
  expect(verifications([broken], openSignatureMemo(), options)).toMatchObject([fails(SIGNATURE)])
  expect(evidenceFaults.current()).toBeUndefined()
})

test('the same transactions make the same bytes where clock, ids and nonces are the same', async () => {
  const transactions = Array.from({ length: 3 }, () => aTransaction())
  const made = () => {
    let drawn = 0
    const next = (digits: number) => String(++drawn).padStart(digits, '0')
    return recordsOf(
      {
        ...steps,
        clock: () => new Date('2026-11-21T01:00:00.000Z'),
        newId: () => `00000000-0000-4000-8000-${next(12)}`,
        newNonce: () => next(22),
        pick: () => 0,
      },
      transactions,
    )
  }
  expect(await made()).toEqual(await made())
  expect(await recordsOf(steps, transactions)).not.toEqual(await made())
})

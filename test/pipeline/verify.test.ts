// The verify step takes over from earlier steps the signatures that were verified, for the very same bytes and key.
import { released } from '../../workers/execute/claim.ts'
import { expect, test } from 'vitest'
import type { PublicKey } from '../../src/core/signing/keys.ts'
import { openSignatureMemo, type SignatureMemo } from '../../src/core/signing/signature.ts'
import { authorize, type Authorized } from '../../workers/execute/decide/authorize.ts'
import { decide, type Concluded } from '../../workers/execute/decide/decide.ts'
import { gate } from '../../workers/execute/gate.ts'
import { performOne } from '../../workers/execute/perform.ts'
import { seal, type SealedExecution } from '../../workers/execute/seal.ts'
import { validate, type Accepted } from '../../workers/execute/validate/validate.ts'
import { verify } from '../../workers/execute/verify.ts'
import { stillGoing } from '../../workers/in-flight.ts'
import { aTransaction } from '../transactions.ts'
import { flipped, recordsOf } from '../verifier/saved.ts'
import { aRequest, openSteps } from './thread.ts'

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

/** Executions of one batch, sealed together. */
async function sealed(
  count: number,
  { findKey = steps.findKey, together = openSignatureMemo() } = {},
): Promise<{ executions: SealedExecution[]; verified: SignatureMemo }> {
  const now = new Date()
  const accepted = Array.from(
    { length: count },
    () => validate(aRequest(aTransaction()), now.toISOString()) as Accepted,
  )
  const concluded = accepted.map((item) => decide(item, { ...steps, now }) as Concluded)
  const authorized = await authorize(concluded, { ...steps, signatureMemo: openSignatureMemo() })
  const gated = authorized.map((item) => gate(item, { ...steps, findKey, now }) as Authorized)
  const performed = await Promise.all(gated.map((item) => performOne(released(item), steps)))
  const executions = stillGoing(await seal(performed, { ...steps, signatureMemo: together }))
  return { executions, verified: together }
}

function statusOf(execution: SealedExecution, verified: SignatureMemo, findKey = steps.findKey) {
  const { text } = verify(execution, { ...steps, findKey, signatureMemo: verified }).verification
  return JSON.parse(text) as { status: string; message: string }
}

test('of a single execution the gate verifies the authorization, and the verify step the record', async () => {
  const { counted, findKey } = counting()
  const { executions, verified } = await sealed(1, { findKey })
  expect(counted).toMatchObject([{ message: expect.stringContaining('execution-authorization') }])
  for (const execution of executions)
    expect(statusOf(execution, verified, findKey)).toMatchObject({ status: 'VERIFIED' })
  expect(counted.slice(1)).toMatchObject([{ message: expect.stringContaining('trust-record') }])
})

test('of a batch each head is verified once, when it has been signed, and every path is walked', async () => {
  const { counted, findKey } = counting()
  const { executions, verified } = await sealed(5, { findKey })
  for (const execution of executions)
    expect(statusOf(execution, verified, findKey)).toMatchObject({ status: 'VERIFIED' })
  expect(counted).toEqual([])
})

test('an execution whose signatures nobody has verified is verified whole', async () => {
  const { counted, findKey } = counting()
  const { executions } = await sealed(3)
  const [execution] = executions as [SealedExecution]
  const unknown = { ...execution, authorizationMemo: openSignatureMemo() }
  expect(statusOf(unknown, openSignatureMemo(), findKey)).toMatchObject({ status: 'VERIFIED' })
  expect(counted).toHaveLength(2)
})

const authorizationFails = expect.stringContaining('The execution authorization signature is not valid')

test.each([1, 4])(
  'in a batch of %s a record that holds another signature, or other bytes, fails',
  async (count) => {
    const { executions, verified } = await sealed(count)
    const [execution] = executions as [SealedExecution]
    const { signature, payload, batch } = JSON.parse(execution.authorization.signed.text) as {
      signature: string
      payload: { nonce: string }
      batch?: { origin: string; path: string[] }
    }
    expect(batch === undefined).toBe(count === 1)
    const written = [signature, payload.nonce, ...(batch === undefined ? [] : [...batch.path, batch.origin])]
    for (const text of written) {
      const body = execution.record.body.replace(text, flipped(text))
      expect(statusOf({ ...execution, record: { ...execution.record, body } }, verified)).toMatchObject({
        status: 'FAILED',
        message: authorizationFails,
      })
    }
  },
)

test('a position of another artifact of the same batch stands for nothing', async () => {
  const { executions, verified } = await sealed(4)
  const [execution, other] = executions as [SealedExecution, SealedExecution]
  const record = { ...execution.record, seal: other.record.seal }
  expect(statusOf({ ...execution, record }, verified)).toMatchObject({
    status: 'FAILED',
    message: expect.stringContaining('The trust record signature is not valid'),
  })
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
      },
      transactions,
    )
  }
  expect(await made()).toEqual(await made())
  expect(await recordsOf(steps, transactions)).not.toEqual(await made())
})

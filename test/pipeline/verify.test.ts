// What the verify step takes over from the gate: the verification of one signature, for the very same bytes, signature and key.
import { expect, test } from 'vitest'
import type { SignedArtifact } from '../../src/core/verifier/evidence.ts'
import { decide, type Authorized } from '../../workers/execute/decide.ts'
import { gate } from '../../workers/execute/gate.ts'
import { performOne } from '../../workers/execute/perform.ts'
import { seal, type SealedExecution } from '../../workers/execute/seal.ts'
import { validate, type Accepted } from '../../workers/execute/validate.ts'
import { verify } from '../../workers/execute/verify.ts'
import { aTransaction } from '../transactions.ts'
import { aRequest, openSteps } from './thread.ts'

const steps = openSteps()

async function aSealedExecution(): Promise<SealedExecution> {
  const now = new Date()
  const accepted = validate(aRequest(aTransaction()), now.toISOString()) as Accepted
  const authorized = gate(decide(accepted, { ...steps, now }) as Authorized, { ...steps, now }) as Authorized
  return (await seal(await performOne(authorized), steps.signingKeys)) as SealedExecution
}

/** The verification, and what was left to the cryptography. */
function verified(execution: SealedExecution, findKey = steps.findKey) {
  const computed: SignedArtifact[] = []
  const crypto: typeof steps.crypto = {
    ...steps.crypto,
    verifySignature(artifact, ...rest) {
      computed.push(artifact)
      return steps.crypto.verifySignature(artifact, ...rest)
    },
  }
  const { text } = verify(execution, { crypto, findKey }).verification
  return { ...(JSON.parse(text) as { status: string; message: string }), computed }
}

const authorizationFails = expect.stringContaining('The execution authorization signature is not valid')

test('the signature that the gate has verified is not verified again, the record is', async () => {
  expect(verified(await aSealedExecution())).toMatchObject({ status: 'VERIFIED', computed: ['trust-record'] })
})

test('an execution that passed no gate is verified whole', async () => {
  const { verifiedSignature: _, ...execution } = await aSealedExecution()
  const computed = ['trust-record', 'execution-authorization']
  expect(verified(execution)).toMatchObject({ status: 'VERIFIED', computed })
})

test('a record that holds another signature, or other bytes under it, fails', async () => {
  const execution = await aSealedExecution()
  const { signature, payload } = JSON.parse(execution.authorization.text.text) as {
    signature: string
    payload: { nonce: string }
  }
  const others: [string, string][] = [
    [signature, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
    [payload.nonce, 'another nonce'],
  ]
  for (const [written, other] of others) {
    const body = execution.record.body.replace(written, other)
    expect(verified({ ...execution, record: { ...execution.record, body } })).toMatchObject({
      status: 'FAILED',
      message: authorizationFails,
      computed: ['trust-record', 'execution-authorization'],
    })
  }
})

test('the verification of another execution stands for nothing', async () => {
  const [execution, { verifiedSignature }] = [await aSealedExecution(), await aSealedExecution()]
  if (verifiedSignature === undefined) throw new Error('the gate has verified nothing')
  expect(verified({ ...execution, verifiedSignature }).computed).toContain('execution-authorization')
})

function replacedKey(keyId: string) {
  const key = steps.findKey(keyId)
  return key && { ...key }
}

test('under a key that was replaced meanwhile it is verified again', async () => {
  expect(verified(await aSealedExecution(), replacedKey).computed).toContain('execution-authorization')
})

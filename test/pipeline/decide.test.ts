// Deciding and gating: what is signed for an approved transaction, and what is refused before anything is stored.
import { beforeAll, describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { Failure } from '../../src/core/errors/errors.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { authorizeAlone, type Authorized, type Gateable } from '../../workers/execute/decide/authorize.ts'
import { decide, type Concluded, type Refused } from '../../workers/execute/decide/decide.ts'
import { gateAlone } from '../../workers/execute/gate.ts'
import { validate, type Accepted } from '../../workers/execute/validate/validate.ts'
import type { Policies } from '../../workers/policies.ts'
import type { SignedAuthorization } from '../../workers/gateway.ts'
import { aTransaction } from '../transactions.ts'
import { aRequest, openSteps, type Steps } from './thread.ts'

const now = new Date('2026-11-21T01:00:00.000Z')

let steps: Steps
beforeAll(() => {
  steps = openSteps()
})

function decided(transaction: object = aTransaction(), policies: Policies = steps.policies): Gateable {
  const accepted = validate(aRequest(transaction), now.toISOString()) as Accepted
  return authorizeAlone(decide(accepted, { ...steps, policies, now }) as Concluded, steps.key)
}

describe('approved', () => {
  test('the authorization is bound to the transaction, the decision, the policy as it stands and the caller', () => {
    const { authorization, decision, transaction } = decided() as Authorized
    const { intent, businessTransactionId, signals } = transaction
    const { action, target, parameters } = intent
    const content = steps.policies.find(transaction.policy)?.contentHash
    expect(JSON.parse(authorization.signed.text)).toMatchObject({
      payload: {
        version: 1,
        authorizationId: authorization.authorizationId,
        nonce: expect.stringMatching(/^[\w-]{22}$/) as string,
        decisionId: decision.decisionId,
        businessTransactionId,
        policyName: 'sandbox-echo',
        policyVersion: '1.0.0',
        policyContentHash: content,
        businessTransactionHash: sha256Hex(
          canonicalize({ businessTransactionId, action, target, parameters: parameters as Json }),
        ),
        signalsHash: sha256Hex(canonicalize(signals as Json)),
        callerId: 'tester',
        authorizedAt: '2026-11-21T01:00:00.000Z',
        expiresAt: '2026-11-21T01:02:00.000Z',
      },
      keyId: steps.key.public.keyId,
      algorithm: 'ed25519',
    })
  })

  test('no two share a nonce', () => {
    const nonces = Array.from({ length: 100 }, () => (decided() as Authorized).authorization.nonce)
    expect(new Set(nonces).size).toBe(100)
  })

  test('the gateway lets it through, and stops it when it was changed on the way or comes too late', () => {
    const authorized = decided() as Authorized
    expect(gateAlone(authorized, { ...steps, now })).toMatchObject(authorized)
    const late = gateAlone(authorized, { ...steps, now: new Date(now.getTime() + 120_000) })
    expect(late).toMatchObject({
      status: 500,
      message: 'Internal Server Error',
      cause: 'AUTHORIZATION_EXPIRED',
    })
    const { payload } = JSON.parse(authorized.authorization.signed.text) as SignedAuthorization
    const other = {
      ...authorized,
      transaction: { ...authorized.transaction, businessTransactionId: payload.nonce },
    }
    expect(gateAlone(other, { ...steps, now })).toMatchObject({ cause: 'AUTHORIZATION_TRANSACTION_MISMATCH' })
  })
})

describe('not approved', () => {
  test('a version that nobody has approved rejects everything, however its rules would decide', () => {
    const policies: Policies = {
      find: (reference) => {
        const version = steps.policies.find(reference)
        return version && { ...version, standing: 'LOADED' }
      },
    }
    const { outcome, failure, refusal } = decided(aTransaction(), policies) as Refused
    expect(outcome).toBe('refused')
    expect(failure).toMatchObject({
      status: 500,
      message: "Execution rejected: Policy 'sandbox-echo' version '1.0.0' is not approved.",
    })
    expect(JSON.parse(refusal.body)).toMatchObject({
      decision: { outcome: 'REJECTED', matchedRuleId: null, evaluatedRules: [] },
      mismatches: [],
    })
  })

  test.each<[string, object, number]>([
    ['an unknown policy', { policy: { name: 'nope' } }, 404],
    ['an unknown version', { policy: { version: '1.0' } }, 404],
    ['a policy that is a property of every object', { policy: { name: 'constructor' } }, 404],
  ])('%s is a %d without a refusal', (_, changes, status) => {
    const result = decided(aTransaction(changes))
    expect(result).toMatchObject({ outcome: 'unexecutable', failure: { status } })
    expect(gateAlone(result, { ...steps, now })).toBe(result)
    expect(result).not.toBeInstanceOf(Failure)
  })
})

// The step-up authorization at the edges of its times (decisions §7); what else it must not be: test/http/governance.test.ts.
import { sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { Failure } from '../../src/core/errors/errors.ts'
import { preAuthEncoding } from '../../src/core/signing/dsse.ts'
import { isStepUpAuthorization } from '../../src/formats/schemas/governance.ts'
import { checkStepUp, mismatchOfChange } from '../../workers/authority/step-up.ts'
import { aKeyPair, aStepUp } from '../authority.ts'

const human = aKeyPair()
const change = {
  kind: 'policy',
  changeId: 'b5c9ae3c-6e5b-4c55-a54a-6be0b2a8a2f0',
  changeHash: 'a'.repeat(64),
} as const
const NOW = Date.parse('2026-11-21T15:00:00.000Z')

const check = (given: unknown, now: Date) =>
  checkStepUp(given, {
    isShaped: isStepUpAuthorization,
    mismatch: (payload) => mismatchOfChange(payload, { change, action: 'approve' }),
    by: { stepUpPublicKey: human.publicKeyPem },
    now,
  })

/** Checks a step-up that is authorized and expires so many milliseconds from now; undefined: it holds. */
function saidOf(authorizedInMs: number, expiresInMs: number, now = NOW): string | undefined {
  const at = (ms: number) => new Date(NOW + ms).toISOString()
  const times = { authorizedAt: at(authorizedInMs), expiresAt: at(expiresInMs) }
  const checked = check(aStepUp(human, change, 'approve', times), new Date(now))
  return checked instanceof Failure ? checked.message : undefined
}

const said = (why: string) => `Step-up authorization is invalid: ${why}.`

describe('holds', () => {
  test.each([
    [0, 1],
    [0, 120_000],
    [-119_999, 1],
    [5_000, 125_000],
    [5_000, 5_001],
  ])('from %i ms to %i ms from now', (authorized, expires) => {
    expect(saidOf(authorized, expires)).toBeUndefined()
  })
})

describe('does not hold', () => {
  test.each([
    [-120_000, 0, 'it has expired'],
    [-60_000, -1, 'it has expired'],
    [0, 120_001, 'it is valid for more than 120 seconds'],
    [-119_999, 2, 'it is valid for more than 120 seconds'],
    [5_001, 60_000, 'its authorizedAt is in the future'],
    [0, 0, 'it expires before it was authorized'],
    [-1, -2, 'it expires before it was authorized'],
  ])('from %i ms to %i ms from now: %s', (authorized, expires, why) => {
    expect(saidOf(authorized, expires)).toBe(said(why))
  })

  // proves abuse: A step-up that is expired
  test('by a clock that cannot be read', () => {
    expect(saidOf(0, 1_000, Number.NaN)).toBe(said('its authorizedAt is in the future'))
  })
})

// proves abuse: Another human’s signature, a payload
test('what the same human signed as another artifact is no step-up', () => {
  const stepUp = aStepUp(human, change)
  const message = preAuthEncoding('approval', canonicalize(stepUp.payload))
  const foreign = { ...stepUp, signature: sign(null, message, human.privateKey).toString('base64') }
  expect(check(foreign, new Date())).toMatchObject({
    status: 403,
    message: said("its signature is not by the caller's step-up key"),
  })
})

// The step-up authorization of a human who resolves a change (decisions §7): this change, this action, this moment, this key.
import { canonicalize } from '../../src/core/json/canonical.ts'
import { failures, type Failure } from '../../src/core/errors.ts'
import { isStepUpAuthorization, type StepUpAuthorization } from '../../src/core/schemas/governance.ts'
import type { StepUpPasskey } from '../../src/core/callers.ts'
import type { ImpactReport } from '../../src/core/schemas/impact-report.ts'
import { humanSignatureProblem, readHumanKey } from '../../src/core/signing/human-key.ts'
import { isPasskeyAlgorithm } from '../../src/core/webauthn/assertion.ts'
import { instantMs } from '../../src/core/verifier/instant.ts'
import type { Change } from './change.ts'
import { impactProblem } from './impact.ts'

const LIFETIME_MAX_MS = 120_000
/** How far a human's clock may be ahead of ours. */
const CLOCK_TOLERANCE_MS = 5_000
/** Whatever keyId a step-up carries is informative: the key is that of the caller's own entry. */
const KEY_ID = 'step-up'

interface StepUpFor {
  readonly change: Pick<Change, 'kind' | 'changeId' | 'changeHash'>
  readonly action: 'approve' | 'reject'
  readonly impactReport?: ImpactReport | undefined
  /** PEM; undefined: the key that was called with has none. */
  readonly publicKeyPem: string | undefined
  readonly passkey?: StepUpPasskey | undefined
  readonly now: Date
}

/**
 * Checks a step-up, except whether its nonce is fresh, which only the database knows.
 * @param given the body's member, of any shape
 * @returns the authorization, or a 403 that says what is wrong; its times are checked last
 */
export function checkStepUp(given: unknown, due: StepUpFor): StepUpAuthorization | Failure {
  const why = isStepUpAuthorization(given) ? whatIsWrong(given, due) : 'it is missing or not of its shape'
  return why === undefined ? (given as StepUpAuthorization) : failures.stepUpInvalid(why)
}

function whatIsWrong(
  { payload, algorithm, signature, webauthn }: StepUpAuthorization,
  { change, action, impactReport: report, publicKeyPem, passkey, now }: StepUpFor,
): string | undefined {
  const byPasskey = isPasskeyAlgorithm(algorithm)
  const pem = byPasskey ? passkey?.publicKeyPem : publicKeyPem
  if (publicKeyPem === undefined && passkey === undefined) return 'the caller has no step-up key'
  if (payload.changeId !== change.changeId) return 'it is for another change'
  if (payload.changeHash !== change.changeHash) return 'its changeHash is not that of the change'
  if (payload.action !== action) return `it is not for the action ${action}`
  const unfit = impactProblem({ change, impactHash: payload.impactHash, report })
  if (unfit !== undefined) return unfit
  if (pem === undefined) return "its signature is not by the caller's step-up key"
  const signed = { algorithm, value: signature, webauthn }
  const key = readHumanKey(KEY_ID, pem, byPasskey ? passkey : undefined)
  const why = humanSignatureProblem('step-up', canonicalize(payload), signed, key)
  if (why !== undefined)
    return `its signature is not by the caller's step-up key${byPasskey ? `: ${why}` : ''}`

  const authorizedAt = instantMs(payload.authorizedAt)
  const expiresAt = instantMs(payload.expiresAt)
  // Written so that a time that cannot be read refuses: every comparison with NaN is false.
  if (!(authorizedAt <= now.getTime() + CLOCK_TOLERANCE_MS)) return 'its authorizedAt is in the future'
  if (!(authorizedAt < expiresAt)) return 'it expires before it was authorized'
  if (!(expiresAt - authorizedAt <= LIFETIME_MAX_MS)) return 'it is valid for more than 120 seconds'
  if (!(now.getTime() < expiresAt)) return 'it has expired'
  return undefined
}

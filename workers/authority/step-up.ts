// The step-up authorization of a human (decisions §7 and §13): for this change or act, this moment, this key.
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import type {
  EndpointStepUp,
  ProposalStepUp,
  ResolutionStepUp,
  StepUpAuthorization,
} from '../../src/formats/schemas/governance.ts'
import type { ImpactReport } from '../../src/formats/schemas/impact-report.ts'
import { humanSignatureProblem, readHumanKey } from '../../src/core/signing/human-key.ts'
import { isPasskeyAlgorithm } from '../../src/formats/webauthn/assertion.ts'
import { instantMs } from '../../src/formats/artifacts/instant.ts'
import type { ScopedCaller } from '../in-flight.ts'
import type { Change } from './change.ts'
import { impactProblem } from './impact.ts'

const LIFETIME_MAX_MS = 120_000
/** How far a human's clock may be ahead of ours. */
const CLOCK_TOLERANCE_MS = 5_000
/** The keyId in a step-up is only informative: the key is that of the caller's own entry. */
const KEY_ID = 'step-up'

type AnyStepUp = StepUpAuthorization | ProposalStepUp | EndpointStepUp | ResolutionStepUp

/** The step-up keys of the key that was called with. */
type StepUpKeys = Pick<ScopedCaller, 'stepUpPublicKey' | 'stepUpPasskey'>

/**
 * Checks a step-up, except whether its nonce is fresh, which only the database knows.
 * @param given the body's member, of any shape
 * @param due.isShaped whether it has the required shape
 * @param due.mismatch why its payload is for something else than this act; undefined: it is for this act
 * @returns the authorization, or a 403 that says what is wrong; its times are checked last
 */
export function checkStepUp<StepUp extends AnyStepUp>(
  given: unknown,
  due: {
    readonly isShaped: (given: unknown) => given is StepUp
    readonly mismatch: (payload: StepUp['payload']) => string | undefined
    readonly by: StepUpKeys
    readonly now: Date
  },
): StepUp | Failure {
  if (!due.isShaped(given)) return failures.stepUpInvalid('it is missing or not of its shape')
  const why = keysMissing(due.by) ?? due.mismatch(given.payload) ?? whatIsWrong(given, due)
  return why === undefined ? given : failures.stepUpInvalid(why)
}

/** @returns the end of a sentence that begins with the step-up; undefined: it is for this change and this action */
export function mismatchOfChange(
  { changeId, changeHash, action, impactHash }: StepUpAuthorization['payload'],
  due: {
    readonly change: Pick<Change, 'kind' | 'changeId' | 'changeHash'>
    readonly action: 'approve' | 'reject'
    readonly impactReport?: ImpactReport | undefined
  },
): string | undefined {
  if (changeId !== due.change.changeId) return 'it is for another change'
  if (changeHash !== due.change.changeHash) return 'its changeHash is not that of the change'
  if (action !== due.action) return `it is not for the action ${due.action}`
  return impactProblem({ change: due.change, impactHash, report: due.impactReport })
}

function keysMissing({ stepUpPublicKey, stepUpPasskey }: StepUpKeys): string | undefined {
  return stepUpPublicKey === undefined && stepUpPasskey === undefined
    ? 'the caller has no step-up key'
    : undefined
}

function whatIsWrong(
  { payload, algorithm, signature, webauthn }: AnyStepUp,
  { by: { stepUpPublicKey, stepUpPasskey }, now }: { readonly by: StepUpKeys; readonly now: Date },
): string | undefined {
  const byPasskey = isPasskeyAlgorithm(algorithm)
  const pem = byPasskey ? stepUpPasskey?.publicKeyPem : stepUpPublicKey
  if (pem === undefined) return "its signature is not by the caller's step-up key"
  const signed = { algorithm, value: signature, webauthn }
  const key = readHumanKey(KEY_ID, pem, byPasskey ? stepUpPasskey : undefined)
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

// The checks of a human's step-up within other evidence (decisions §7).
import { canonicalize, type Json } from '../json/canonical.ts'
import { isMembers, type Members } from '../json/members.ts'
import { members, string, type CheckCrypto, type Crypto } from './evidence.ts'
import { instantMs } from './instant.ts'
import { requireHumanAlgorithm } from './signatures.ts'

const LIFETIME_MAX_MS = 120_000

interface SteppedUp {
  /** The step-up, of any shape. */
  readonly stepUp: Json | undefined
  /** The callerId of the human. */
  readonly by: Json | undefined
  /** Time of its use, ISO 8601; undefined: no member states it, and the time of signing is taken. */
  readonly at: Json | undefined
  /** The members of its payload that state its purpose. */
  readonly due: Members
}

/**
 * Whether a step-up is for this act, in time, and signed by a given key of this human. Without such a key its signature is not
 * checked, and `missingStepUpKeyOf` names the key.
 * @throws when a member is not of its type
 */
export function isSteppedUp({ stepUp, by, at, due }: SteppedUp, crypto: CheckCrypto): boolean {
  const { payload, keyId, algorithm, signature, webauthn } = members(stepUp)
  const { version, nonce, authorizedAt, expiresAt, ...rest } = members(payload)
  const [from, to] = [instantMs(string(authorizedAt)), instantMs(string(expiresAt))]
  const usedMs = at === undefined ? from : instantMs(string(at))
  const isBound =
    version === 1 &&
    string(nonce) !== '' &&
    Object.entries(due).every(([name, value]) => string(rest[name]) === value) &&
    from < to &&
    to - from <= LIFETIME_MAX_MS &&
    usedMs < to
  const carried = { algorithm: string(algorithm), keyId: string(keyId), value: string(signature), webauthn }
  if (!isBound) return false
  requireHumanAlgorithm(carried.algorithm)
  const known = stepUpKeys({ stepUp, by }, crypto)
  return (
    known.length === 0 ||
    known.some((id) => {
      const revokedAt = crypto.humanKey(id)?.revokedAt ?? null
      return (
        (revokedAt === null || usedMs < instantMs(revokedAt)) &&
        crypto.verifySignature('step-up', canonicalize(payload as Json), { ...carried, keyId: id })
      )
    })
  )
}

type Signer = Pick<SteppedUp, 'stepUp' | 'by'>

/** The given keys that may have signed the step-up. Its keyId is only informative, so there are two names. */
function stepUpKeys({ stepUp, by }: Signer, crypto: Pick<Crypto, 'humanKey'>): string[] {
  if (typeof by !== 'string') return []
  const keyId = isMembers(stepUp) ? stepUp['keyId'] : undefined
  const names = new Set(['step-up', ...(typeof keyId === 'string' ? [keyId] : [])])
  return Array.from(names, (name) => `${by}:${name}`).filter((id) => crypto.humanKey(id) !== undefined)
}

/** The id of the key that would be needed to check the step-up, if no such key is given. */
export function missingStepUpKeyOf(signer: Signer, crypto: Pick<Crypto, 'humanKey'>): string | undefined {
  const { stepUp, by } = signer
  if (stepUp === undefined || typeof by !== 'string') return undefined
  return stepUpKeys(signer, crypto).length > 0 ? undefined : `${by}:step-up`
}

/** The note on a step-up whose signature could not be checked. */
export function noteOnStepUp(due: string | undefined): string[] {
  return due === undefined
    ? []
    : [`The signature of the step-up authorization was not checked: no key ${JSON.stringify(due)} is given.`]
}

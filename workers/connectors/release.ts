// The signed release that an external connector receives: what to do, once, on whose authority, until when (decisions §8).
import { Canonical, canonicalize } from '../../src/core/json/canonical.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import type { Order } from './connector.ts'

/** After the call has timed out, a release that is still on its way must soon be worth nothing. */
const GRACE_MS = 2000

interface ReleaseFor {
  readonly connectorId: string
  /** Origin of the endpoint: a receiver takes no release that is meant for another. */
  readonly audience: string
  readonly timeoutMs: number
  readonly key: SigningKey
  readonly now: Date
}

/** @returns canonical text of `{algorithm, keyId, signature, release}`; the signature is over the canonical bytes of `release` */
export function signRelease(
  order: Order,
  { connectorId, audience, timeoutMs, key, now }: ReleaseFor,
): string {
  const { businessTransactionId, authorizationId, action, target, parametersText, policy, approvedBy } = order
  const release = canonicalize({
    version: 1,
    connectorId,
    audience,
    businessTransactionId,
    authorizationId,
    capability: action,
    target,
    parameters: parametersText,
    policy: { name: policy.name, version: policy.version, contentHash: policy.contentHash },
    approvedBy,
    issuedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + timeoutMs + GRACE_MS).toISOString(),
  })
  const { algorithm, keyId, value: signature } = signEd25519('connector-release', release, key)
  return canonicalize({ algorithm, keyId, signature, release: new Canonical(release) })
}

// Signed texts for an external connector: the release, which states the action, its authority and its expiry, and counts once (decisions §8); and
// the question about the outcome of a release (docs/handbook/executions.md).
import type { SignedKind } from '../../src/core/signing/dsse.ts'
import { Canonical, canonicalize } from '../../src/formats/json/canonical.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import type { Order } from './connector.ts'

/** After the call has timed out, a release that is still on its way must soon be invalid. */
const GRACE_MS = 2000

interface SignedFor {
  readonly connectorId: string
  /** Origin of the endpoint: a receiver takes no release that is meant for another. */
  readonly audience: string
  readonly timeoutMs: number
  readonly key: SigningKey
  readonly now: Date
}

/**
 * Signs a release. It expires with its authorization at the latest, so that no connector takes it once that is known to have expired.
 * @returns canonical text of `{algorithm, keyId, signature, release}`; the signature is over the canonical bytes of `release`
 */
export function signRelease(order: Order, { connectorId, audience, timeoutMs, key, now }: SignedFor): string {
  const { businessTransactionId, authorizationId, action, target, parametersText, policy, approvedBy } = order
  const expiresAtMs = Math.min(expiryMs(now, timeoutMs), Date.parse(order.authorizedUntil))
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
    expiresAt: new Date(expiresAtMs).toISOString(),
  })
  return signed('connector-release', 'release', { text: release, key })
}

/** The subject of a question. */
export interface AskedAbout {
  readonly businessTransactionId: string
  readonly authorizationId: string
  readonly capability: string
}

/** @returns canonical text of `{algorithm, keyId, signature, question}`; the signature is over the canonical bytes of `question` */
export function signQuestion(
  { businessTransactionId, authorizationId, capability }: AskedAbout,
  { connectorId, audience, timeoutMs, key, now }: SignedFor,
): string {
  const question = canonicalize({
    version: 1,
    connectorId,
    audience,
    businessTransactionId,
    authorizationId,
    capability,
    issuedAt: now.toISOString(),
    expiresAt: new Date(expiryMs(now, timeoutMs)).toISOString(),
  })
  return signed('connector-question', 'question', { text: question, key })
}

const expiryMs = (now: Date, timeoutMs: number) => now.getTime() + timeoutMs + GRACE_MS

function signed(
  artifact: SignedKind,
  member: 'release' | 'question',
  { text, key }: { text: string; key: SigningKey },
): string {
  const { algorithm, keyId, value: signature } = signEd25519(artifact, text, key)
  return canonicalize({ algorithm, keyId, signature, [member]: new Canonical(text) })
}

// The execution authorization of an approved decision: bound to one transaction, usable once, and signed (decisions §4).
import { newAuthorizationId } from '../../../src/formats/authorization-id.ts'
import { Canonical, canonicalize } from '../../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../../src/store/sha256.ts'
import type { SigningKey } from '../../../src/core/signing/keys.ts'
import {
  signEd25519,
  signerText,
  signTogether,
  type Signature,
  type SignTogether,
} from '../../../src/core/signing/signature.ts'
import { businessTransactionHash } from '../../gateway.ts'
import type { Fresh } from '../../fresh.ts'
import type { Accepted } from '../validate/validate.ts'

const LIFETIME_MS = 120_000

export interface UnsignedAuthorization {
  readonly authorizationId: string
  /** ISO 8601. */
  readonly expiresAt: string
  readonly nonce: string
  /** Canonical text that is to be signed. */
  readonly payload: string
}

export interface Authorization extends UnsignedAuthorization {
  /** `{payload, keyId, algorithm, signature}` and, if signed by batch, `batch`: the text that the gateway gets and the record holds. */
  readonly signed: Canonical
  readonly signature: Signature
}

/** The action of an authorization: the transaction's own or, for verified state, the reading of it. */
interface AuthorizedAction {
  readonly action: string
  readonly target: string
  readonly parameters: Canonical
}

/**
 * Binds an authorization to a transaction and its decision. Its `authorizationId` is the service's own; `authorization.authorizationId` of a
 * transaction is the caller's reference to something else.
 */
export function draftAuthorization(
  accepted: Accepted,
  {
    decision,
    action = { ...accepted.transaction.intent, parameters: accepted.canonical.parameters },
    now,
    newId,
    newNonce,
  }: Pick<Fresh, 'newId' | 'newNonce'> & {
    decision: { readonly decisionId: string; readonly policyContentHash: string }
    action?: AuthorizedAction
    now: Date
  },
): UnsignedAuthorization {
  const { transaction, canonical } = accepted
  const { callerId, authentication } = accepted.request.caller
  const authorizationId = newAuthorizationId(transaction.businessTransactionId, newId())
  const nonce = newNonce()
  const expiresAt = new Date(now.getTime() + LIFETIME_MS).toISOString()
  // In the order of the canonical text, which is then the engine's own (`canonicalize`).
  const payload = canonicalize({
    authorizationId,
    authorizedAt: now.toISOString(),
    businessTransactionHash: businessTransactionHash(
      { businessTransactionId: transaction.businessTransactionId, intent: action },
      action.parameters,
    ),
    businessTransactionId: transaction.businessTransactionId,
    ...(authentication === undefined ? {} : { callerAuthentication: authentication }),
    callerId,
    decisionId: decision.decisionId,
    expiresAt,
    nonce,
    policyContentHash: decision.policyContentHash,
    policyName: transaction.policy.name,
    policyVersion: transaction.policy.version,
    signalsHash: sha256Hex(canonical.signals.text),
    version: 1,
  })
  return { authorizationId, expiresAt, nonce, payload }
}

/** Signs authorizations, by one signature if there are several. */
export async function signAuthorizations(
  unsigned: readonly UnsignedAuthorization[],
  { key, ...together }: SignTogether & { readonly key: SigningKey },
): Promise<Authorization[]> {
  const payloads = unsigned.map(({ payload }) => payload)
  const signatures = await signTogether('execution-authorization', payloads, [key], together)
  return unsigned.map((one, i) => signedBy(one, signatures[i]?.[0] as Signature))
}

/** Signs one authorization individually. */
export function signAuthorization(unsigned: UnsignedAuthorization, key: SigningKey): Authorization {
  return signedBy(unsigned, signEd25519('execution-authorization', unsigned.payload, key))
}

function signedBy(unsigned: UnsignedAuthorization, signature: Signature): Authorization {
  return { ...unsigned, signed: new Canonical(signedText(unsigned.payload, signature)), signature }
}

/**
 * Writes a signed authorization: its canonical text.
 * @param payload canonical
 */
export function signedText(payload: string, signature: Signature): string {
  return `{${signerText(signature)},"payload":${payload},"signature":"${signature.value}"}`
}

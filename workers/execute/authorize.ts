// The execution authorization of an approved decision: signed, bound to one transaction, usable once (decisions §4).
import { randomBytes, randomUUID } from 'node:crypto'
import { Canonical, canonicalize, type Json } from '../../src/canonical.ts'
import { sha256Hex } from '../../src/signing/sha256.ts'
import type { SigningKey } from '../../src/signing/keys.ts'
import { signEd25519 } from '../../src/signing/signature.ts'
import type { Accepted } from './validate.ts'

const LIFETIME_MS = 120_000

export interface Authorization {
  readonly authorizationId: string
  readonly nonce: string
  /** Canonical text of `{payload, keyId, algorithm, signature}`: what the gateway is handed and the record holds. */
  readonly text: Canonical
}

/** What is authorized: the transaction's own action or, for verified state, the reading of it. */
interface AuthorizedAction {
  readonly action: string
  readonly target: string
  readonly parameters: Canonical
}

export function authorize(
  accepted: Accepted,
  {
    decision,
    action = { ...accepted.transaction.intent, parameters: accepted.canonical.parameters },
    key,
    now,
  }: {
    decision: { readonly decisionId: string; readonly policyContentHash: string }
    action?: AuthorizedAction
    key: SigningKey
    now: Date
  },
): Authorization {
  const { transaction, canonical } = accepted
  const authorizationId = randomUUID()
  const nonce = randomBytes(16).toString('base64url')
  const payload = canonicalize({
    version: 1,
    authorizationId,
    nonce,
    decisionId: decision.decisionId,
    businessTransactionId: transaction.businessTransactionId,
    policyName: transaction.policy.name,
    policyVersion: transaction.policy.version,
    policyContentHash: decision.policyContentHash,
    businessTransactionHash: businessTransactionHash(
      { businessTransactionId: transaction.businessTransactionId, intent: action },
      action.parameters,
    ),
    signalsHash: sha256Hex(canonical.signals.text),
    callerId: accepted.request.caller.callerId,
    authorizedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + LIFETIME_MS).toISOString(),
  })
  const { value: signature, keyId, algorithm } = signEd25519('execution-authorization', payload, key)
  const text = canonicalize({ payload: new Canonical(payload), keyId, algorithm, signature })
  return { authorizationId, nonce, text: new Canonical(text) }
}

/** What an authorization is bound to: SHA-256 of the canonical `{businessTransactionId, action, target, parameters}`. */
export function businessTransactionHash(
  transaction: { businessTransactionId: string; intent: { action: string; target: string } },
  parameters: Json,
): string {
  const { businessTransactionId, intent } = transaction
  return sha256Hex(
    canonicalize({ businessTransactionId, action: intent.action, target: intent.target, parameters }),
  )
}

// The execution gateway: nothing reaches a connector but through an authorization that passes these checks, once (decisions §8). The pipeline's
// stage `gate` calls `checkAuthorization`; `passGateway` checks and releases in one, for code that calls a connector without the pipeline.
import type { Pool } from 'pg'
import { canonicalize, type Json } from '../src/formats/json/canonical.ts'
import { actionText } from '../src/formats/action-text.ts'
import type { PublicKey } from '../src/core/signing/keys.ts'
import type { BatchPosition } from '../src/formats/merkle/batch-head.ts'
import { verifySignature, type Signature, type SignatureMemo } from '../src/core/signing/signature.ts'
import { holdPlace } from '../src/store/tables/business-transactions.ts'
import { releaseBatches } from '../src/store/tables/released-batches.ts'
import { classify } from '../src/store/postgres/sql-errors.ts'
import { inTransaction } from '../src/store/postgres/transaction.ts'
import { instantMs } from '../src/formats/artifacts/instant.ts'
import { sha256Hex } from '../src/store/sha256.ts'

const LIFETIME_MAX_MS = 300_000

/** A signed execution authorization, parsed. */
export interface SignedAuthorization {
  readonly payload: {
    readonly version: number
    readonly nonce: string
    readonly businessTransactionId: string
    readonly businessTransactionHash: string
    readonly authorizedAt: string
    readonly expiresAt: string
    readonly [member: string]: Json
  }
  readonly keyId: string
  readonly algorithm: Signature['algorithm']
  readonly signature: string
  /** Its position in its batch, if it was signed with others. */
  readonly batch?: BatchPosition
}

interface AuthorizedTransaction {
  readonly businessTransactionId: string
  readonly intent: { readonly action: string; readonly target: string }
}

export type GatewayRefusal =
  | 'AUTHORIZATION_VERSION_UNSUPPORTED'
  | 'AUTHORIZATION_SIGNATURE_INVALID'
  | 'AUTHORIZATION_EXPIRED'
  | 'AUTHORIZATION_NOT_YET_VALID'
  | 'AUTHORIZATION_LIFETIME_EXCEEDED'
  | 'AUTHORIZATION_TRANSACTION_MISMATCH'
  | 'NONCE_ALREADY_CONSUMED'

export interface CheckWith {
  readonly transaction: AuthorizedTransaction
  /** The transaction's parameters, canonical or to be canonicalized. */
  readonly parameters: Json
  readonly findKey: (keyId: string) => PublicKey | undefined
  readonly now: Date
  /** Shared by a batch of authorizations: the one signature of its Merkle tree's head is verified once. */
  readonly signatureMemo?: SignatureMemo
}

/**
 * Everything that can be checked without the database, in the order of decisions §8.
 *
 * @returns why it is refused; undefined where it passes
 */
export function checkAuthorization(
  { payload, signature, ...by }: SignedAuthorization,
  { findKey, signatureMemo, ...check }: CheckWith,
): GatewayRefusal | undefined {
  return checkPayload(payload, {
    ...check,
    isSigned() {
      // Authorizations are always Ed25519 (decisions §4): another published key signs something else.
      const key = findKey(by.keyId)
      if (key?.algorithm !== 'ed25519') return false
      const signed = { ...by, value: signature }
      return verifySignature('execution-authorization', canonicalize(payload), signed, key, signatureMemo)
    },
  })
}

interface CheckPayloadWith extends Pick<CheckWith, 'transaction' | 'parameters' | 'now'> {
  readonly isSigned: () => boolean
}

/** The same checks of an authorization whose payload has been read, and whose signature other code verifies. */
export function checkPayload(
  payload: SignedAuthorization['payload'],
  { transaction, parameters, now, isSigned }: CheckPayloadWith,
): GatewayRefusal | undefined {
  if (payload.version !== 1) return 'AUTHORIZATION_VERSION_UNSUPPORTED'
  if (!isSigned()) return 'AUTHORIZATION_SIGNATURE_INVALID'
  const authorizedAt = instantMs(payload.authorizedAt)
  const expiresAt = instantMs(payload.expiresAt)
  // Written so that a time that cannot be read refuses: every comparison with NaN is false.
  if (!(now.getTime() < expiresAt)) return 'AUTHORIZATION_EXPIRED'
  if (!(authorizedAt <= now.getTime())) return 'AUTHORIZATION_NOT_YET_VALID'
  if (!(expiresAt - authorizedAt <= LIFETIME_MAX_MS)) return 'AUTHORIZATION_LIFETIME_EXCEEDED'
  if (
    payload.businessTransactionId !== transaction.businessTransactionId ||
    payload.businessTransactionHash !== businessTransactionHash(transaction, parameters)
  ) {
    return 'AUTHORIZATION_TRANSACTION_MISMATCH'
  }
  return undefined
}

/** Hashes the action that an authorization is bound to: SHA-256 of the canonical `{businessTransactionId, action, target, parameters}`. */
export function businessTransactionHash(transaction: AuthorizedTransaction, parameters: Json): string {
  const { businessTransactionId, intent } = transaction
  return sha256Hex(
    actionText(businessTransactionId, { action: intent.action, parameters, target: intent.target }),
  )
}

/**
 * The component that interface §7 promises to a direct caller: checks an authorization, then consumes its nonce. The pipeline takes these two
 * steps apart, because one transaction consumes the nonces of a batch (decisions §8): `gate` and `claim` call the same functions.
 *
 * @param pool as `openPool` makes it: with a stricter isolation level, all but one of several concurrent calls would end with an error
 * @param inDoubtAfterMs how long after the release the intent is in doubt
 * @returns undefined where it is released: the connector may be called once
 */
export async function passGateway(
  authorization: SignedAuthorization,
  { pool, inDoubtAfterMs, ...check }: CheckWith & { pool: Pool; inDoubtAfterMs: number },
): Promise<GatewayRefusal | undefined> {
  const checked = checkAuthorization(authorization, check)
  if (checked !== undefined) return checked
  const { businessTransactionId: id } = authorization.payload
  try {
    await inTransaction(pool, async (tx) => {
      // Its row stays for good, so the nonce stays consumed: without a transaction nobody can say how it ended.
      await tx.run([...holdPlace(id), ...releaseBatches([{ batch: id, ids: [id], inDoubtAfterMs }])])
    })
    return undefined
  } catch (error) {
    if (classify(error).kind === 'taken') return 'NONCE_ALREADY_CONSUMED'
    throw error
  }
}

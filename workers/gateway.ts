// The execution gateway: nothing reaches a connector but through an authorization that passes here, once (decisions §8).
import type { Pool } from 'pg'
import { canonicalize, type Json } from '../src/core/json/canonical.ts'
import type { Algorithm, PublicKey } from '../src/core/signing/keys.ts'
import { verifySignature, type VerifiedSignature } from '../src/core/signing/signature.ts'
import { releaseIntents } from '../src/core/tables/execution-intents.ts'
import { isTaken } from '../src/core/tables/sql.ts'
import { inTransaction } from '../src/core/tables/transaction.ts'
import { instantMs } from '../src/core/verifier/instant.ts'
import { businessTransactionHash } from './execute/authorize.ts'

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
  readonly algorithm: Algorithm
  readonly signature: string
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
}

/**
 * Everything that can be checked without the database, in the order of decisions §8.
 *
 * @returns why it is refused; where it passes, the verification of its signature, so that nobody has to repeat it on the same bytes
 */
export function checkAuthorization(
  { payload, keyId, algorithm, signature }: SignedAuthorization,
  { transaction, parameters, findKey, now }: CheckWith,
): GatewayRefusal | VerifiedSignature {
  if (payload.version !== 1) return 'AUTHORIZATION_VERSION_UNSUPPORTED'
  // Authorizations are always Ed25519 (decisions §4): another published key signs something else.
  const key = algorithm === 'ed25519' ? findKey(keyId) : undefined
  if (key === undefined) return 'AUTHORIZATION_SIGNATURE_INVALID'
  const verified: VerifiedSignature = {
    artifact: 'execution-authorization',
    canonicalText: canonicalize(payload),
    signature: { algorithm, keyId, value: signature },
    publicKey: key,
  }
  if (!verifySignature(verified.artifact, verified.canonicalText, verified.signature, key))
    return 'AUTHORIZATION_SIGNATURE_INVALID'
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
  return verified
}

/**
 * The gateway for one direct caller (interface §7): checks the authorization, then consumes its nonce. The pipeline does the same in
 * two steps, because it works on batches and its nonces are consumed by the transaction that claims the ids (decisions §8): `gate`
 * calls `checkAuthorization`, `admit` calls `releaseIntents`.
 *
 * @param inDoubtAfterMs how long after the release the intent is in doubt
 * @returns undefined where it is released: the connector may be called once
 */
export async function passGateway(
  authorization: SignedAuthorization,
  { pool, inDoubtAfterMs, ...check }: CheckWith & { pool: Pool; inDoubtAfterMs: number },
): Promise<GatewayRefusal | undefined> {
  const checked = checkAuthorization(authorization, check)
  if (typeof checked === 'string') return checked
  const { businessTransactionId, nonce } = authorization.payload
  try {
    const intent = { businessTransactionId, nonce, inDoubtAfterMs }
    await inTransaction(pool, (transaction) => transaction.run(releaseIntents([intent])))
    return undefined
  } catch (error) {
    if (isTaken(error)) return 'NONCE_ALREADY_CONSUMED'
    throw error
  }
}

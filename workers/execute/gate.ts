// Third stage: the gateway's checks of each authorization, before its nonce is consumed by `claim` (decisions §8).
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import { revokedSigner } from '../../src/core/signing/revocation.ts'
import type { ThreadContext } from '../context.ts'
import {
  checkAuthorization,
  type CheckWith,
  type GatewayRefusal,
  type SignedAuthorization,
} from '../gateway.ts'
import type { Authorization } from './decide/authorization.ts'
import type { Claimable } from './decide/authorize.ts'

export function gate(
  claimable: Claimable,
  {
    findKey,
    key,
    receiptKeys,
    now,
  }: Pick<ThreadContext, 'findKey' | 'key' | 'receiptKeys'> & { readonly now: Date },
): Claimable | Failure {
  // Refusals too: what this thread would sign of them counts nowhere.
  const revoked = revokedSigner(
    [key, ...receiptKeys].map((signer) => signer.public),
    findKey,
  )
  if (revoked !== undefined) return failures.signingKeyRevoked(revoked)
  if (claimable.outcome !== 'approved') return claimable
  const checked = checkSigned(claimable.authorization, {
    transaction: claimable.transaction,
    parameters: claimable.canonical.parameters,
    findKey,
    now,
    signatureMemo: claimable.authorizationMemo,
  })
  return checked === undefined ? claimable : failures.internal(checked)
}

/** Checks the bytes of an authorization, which are what the record will hold. */
export function checkSigned(
  { signed }: Pick<Authorization, 'signed'>,
  check: CheckWith,
): GatewayRefusal | undefined {
  return checkAuthorization(JSON.parse(signed.text) as SignedAuthorization, check)
}

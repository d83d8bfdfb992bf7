// Third stage: the gateway's checks of each authorization, before its nonce is consumed by `admit` (decisions §8).
import { failures, type Failure } from '../../src/core/errors.ts'
import type { PublicKey } from '../../src/core/signing/keys.ts'
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
  { findKey, now }: { findKey: (keyId: string) => PublicKey | undefined; now: Date },
): Claimable | Failure {
  if (claimable.outcome !== 'authorized') return claimable
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

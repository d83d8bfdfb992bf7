// Third step: the gateway's checks of each authorization, before its nonce is consumed by `admit` (decisions §8).
import { failures, type Failure } from '../../src/core/errors.ts'
import type { PublicKey } from '../../src/core/signing/keys.ts'
import {
  checkAuthorization,
  type CheckWith,
  type GatewayRefusal,
  type SignedAuthorization,
} from '../gateway.ts'
import type { Authorization } from './authorization.ts'
import type { Decided } from './authorize.ts'

export function gate(
  decided: Decided,
  { findKey, now }: { findKey: (keyId: string) => PublicKey | undefined; now: Date },
): Decided | Failure {
  if (decided.outcome !== 'authorized') return decided
  const checked = checkText(decided.authorization, {
    transaction: decided.transaction,
    parameters: decided.canonical.parameters,
    findKey,
    now,
    verified: decided.verified,
  })
  return checked === undefined ? decided : failures.internal(checked)
}

/** Checks the text of an authorization, which is what the record will hold. */
export function checkText(
  { text }: Pick<Authorization, 'text'>,
  check: CheckWith,
): GatewayRefusal | undefined {
  return checkAuthorization(JSON.parse(text.text) as SignedAuthorization, check)
}

// Third step: the gateway's checks of each authorization, before its nonce is consumed by `admit` (decisions §8).
import { failures, type Failure } from '../../src/core/errors.ts'
import type { PublicKey } from '../../src/core/signing/keys.ts'
import type { VerifiedSignature } from '../../src/core/signing/signature.ts'
import {
  checkAuthorization,
  type CheckWith,
  type GatewayRefusal,
  type SignedAuthorization,
} from '../gateway.ts'
import type { Authorization } from './authorize.ts'
import type { Decided } from './decide.ts'

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
  })
  return typeof checked === 'string' ? failures.internal(checked) : { ...decided, verifiedSignature: checked }
}

/** Checks the text of an authorization, which is what the record will hold. */
export function checkText(
  { text }: Pick<Authorization, 'text'>,
  check: CheckWith,
): GatewayRefusal | VerifiedSignature {
  return checkAuthorization(JSON.parse(text.text) as SignedAuthorization, check)
}

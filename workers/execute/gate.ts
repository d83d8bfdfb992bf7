// Third step: the gateway's checks of the authorization it is handed, before its nonce is consumed by `admit` (decisions §8).
import { failures, type Failure } from '../../src/core/errors.ts'
import type { PublicKey } from '../../src/core/signing/keys.ts'
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
  const refusal = gatewayRefusal(decided.authorization, {
    transaction: decided.transaction,
    parameters: decided.canonical.parameters,
    findKey,
    now,
  })
  return refusal === undefined ? decided : failures.internal(refusal)
}

/** Of an authorization as it will be handed on: its text. Undefined: it passes. */
export function gatewayRefusal(
  { text }: Pick<Authorization, 'text'>,
  check: CheckWith,
): GatewayRefusal | undefined {
  return checkAuthorization(JSON.parse(text.text) as SignedAuthorization, check)
}

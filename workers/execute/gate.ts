// Third step: the gateway's checks of the authorization it is handed, before its nonce is consumed by `admit` (decisions §8).
import { failures, type Failure } from '../../src/errors.ts'
import type { PublicKey } from '../../src/signing/keys.ts'
import { checkAuthorization, type SignedAuthorization } from '../gateway.ts'
import type { Decided } from './decide.ts'

export function gate(
  decided: Decided,
  { findKey, now }: { findKey: (keyId: string) => PublicKey | undefined; now: Date },
): Decided | Failure {
  if (decided.outcome !== 'authorized') return decided
  const authorization = JSON.parse(decided.authorization.text.text) as SignedAuthorization
  const refusal = checkAuthorization(authorization, {
    transaction: decided.transaction,
    parameters: decided.canonical.parameters,
    findKey,
    now,
  })
  return refusal === undefined ? decided : failures.internal(refusal)
}

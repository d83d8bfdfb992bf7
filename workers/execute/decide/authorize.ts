// Ends the second stage: the authorizations of all that were approved, signed by one signature (decisions §4, §12).
import type { SigningKey } from '../../../src/core/signing/keys.ts'
import {
  openSignatureMemo,
  type SignTogether,
  type SignatureMemo,
} from '../../../src/core/signing/signature.ts'
import type { SignedAuthorization } from '../../gateway.ts'
import { signAuthorization, signAuthorizations, type Authorization } from './authorization.ts'
import type { Approved, Concluded, Refused, Unexecutable } from './decide.ts'

/** Approved, with its authorization signed. The gate checks that. */
export interface Signed extends Approved {
  readonly authorization: Authorization
  /** Knows the signature of the authorization once the gate has verified it. */
  readonly authorizationMemo: SignatureMemo
}

/** The gate has passed its authorization. `claim` releases it. */
export interface Authorized extends Signed {
  /** The payload of the authorization, as the gate has read it. */
  readonly permission: SignedAuthorization['payload']
}

/** The products that the gate takes. */
export type Gateable = Signed | Refused | Unexecutable

/** The products that the claim takes: refused and unexecutable executions are claimed too. */
export type Claimable = Authorized | Refused | Unexecutable

/** Signs the authorizations of a batch together. @returns in the order of `concluded` */
export async function authorize(
  concluded: readonly Concluded[],
  tools: SignTogether & { readonly key: SigningKey },
): Promise<Gateable[]> {
  const { signatureMemo: authorizationMemo } = tools
  const approved = concluded.filter((item) => item.outcome === 'approved')
  const signed = await signAuthorizations(
    approved.map(({ unsignedAuthorization }) => unsignedAuthorization),
    tools,
  )
  const authorizations = signed.values()
  return concluded.map((item) =>
    item.outcome === 'approved'
      ? { ...item, authorization: authorizations.next().value as Authorization, authorizationMemo }
      : item,
  )
}

/** Signs the authorization of an execution that is in no batch. */
export function authorizeAlone(concluded: Concluded, key: SigningKey): Gateable {
  if (concluded.outcome !== 'approved') return concluded
  const authorization = signAuthorization(concluded.unsignedAuthorization, key)
  return { ...concluded, authorization, authorizationMemo: openSignatureMemo() }
}

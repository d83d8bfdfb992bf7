// Ends the second stage: the authorizations of all that were approved, signed by one signature (decisions §4, §12).
import type { SigningKey } from '../../../src/core/signing/keys.ts'
import {
  openSignatureMemo,
  type SignTogether,
  type SignatureMemo,
} from '../../../src/core/signing/signature.ts'
import { signAuthorization, signAuthorizations, type Authorization } from './authorization.ts'
import type { Approved, Concluded, Refused, Unexecutable } from './decide.ts'

/** Approved, with its authorization signed. `admit` releases it. */
export interface Authorized extends Omit<Approved, 'outcome' | 'authorization'> {
  readonly outcome: 'authorized'
  readonly authorization: Authorization
  /** Knows the signature of the authorization once the gate has verified it. */
  readonly authorizationMemo: SignatureMemo
}

/** What the gate and the claim take: refused and unexecutable executions are claimed too. */
export type Claimable = Authorized | Refused | Unexecutable

/** Signs the authorizations of a batch together. @returns in the order of `concluded` */
export async function authorize(
  concluded: readonly Concluded[],
  tools: SignTogether & { readonly key: SigningKey },
): Promise<Claimable[]> {
  const { signatureMemo } = tools
  const approved = concluded.filter((item) => item.outcome === 'approved')
  const signed = await signAuthorizations(
    approved.map(({ authorization }) => authorization),
    tools,
  )
  const authorizations = new Map(approved.map((item, i) => [item, signed[i] as Authorization]))
  return concluded.map((item) =>
    item.outcome === 'approved'
      ? authorized(item, authorizations.get(item) as Authorization, signatureMemo)
      : item,
  )
}

/** Signs the authorization of an execution that is in no batch. */
export function authorizeAlone(concluded: Concluded, key: SigningKey): Claimable {
  if (concluded.outcome !== 'approved') return concluded
  return authorized(concluded, signAuthorization(concluded.authorization, key), openSignatureMemo())
}

function authorized(
  item: Approved,
  authorization: Authorization,
  authorizationMemo: SignatureMemo,
): Authorized {
  return { ...item, outcome: 'authorized', authorization, authorizationMemo }
}

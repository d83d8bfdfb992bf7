// How a caller by token proved who it is, as the signed authorization of its execution says it (docs/handbook/callers.md). Browser-safe.

/** By an access token of RFC 9068, by one that is bound to a key (RFC 9449), or by a JWT-SVID of SPIFFE. */
export const authenticationMethods = ['access-token', 'dpop', 'jwt-svid'] as const
export type AuthenticationMethod = (typeof authenticationMethods)[number]

/** Whether an issuer issues JWT-SVIDs of SPIFFE, and not access tokens of RFC 9068. */
export function isTrustDomain(issuer: string): boolean {
  return issuer.startsWith('spiffe://')
}

/**
 * The start of the callerId of every caller of an issuer: no caller with a key may have such a name. A `#` cannot be part of an issuer, so
 * the names of two issuers never meet.
 */
export function namesOf({ issuer }: { readonly issuer: string }): string {
  return isTrustDomain(issuer) ? `${issuer}/` : `${issuer}#`
}

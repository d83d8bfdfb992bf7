// How a caller by token was authenticated, as the signed authorization of its execution states (docs/handbook/callers.md). Browser-safe.

/** An access token of RFC 9068, an access token that is bound to a key (RFC 9449), or a JWT-SVID of SPIFFE. */
export const authenticationMethods = ['access-token', 'dpop', 'jwt-svid'] as const
export type AuthenticationMethod = (typeof authenticationMethods)[number]

/** Whether an issuer issues JWT-SVIDs of SPIFFE rather than access tokens of RFC 9068. */
export function isTrustDomain(issuer: string): boolean {
  return issuer.startsWith('spiffe://')
}

/**
 * The prefix of the callerId of every caller of an issuer; no caller with a key may have such a name. A `#` cannot be part of an issuer, so
 * the names of two issuers never coincide.
 */
export function namesOf({ issuer }: { readonly issuer: string }): string {
  return isTrustDomain(issuer) ? `${issuer}/` : `${issuer}#`
}

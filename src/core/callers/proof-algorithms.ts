/** By which proofs of possession (RFC 9449) may be signed: by a key pair alone. */
export const proofAlgorithms = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const

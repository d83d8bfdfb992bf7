/** Algorithms that may sign proofs of possession (RFC 9449): only those with a key pair. */
export const proofAlgorithms = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const

// Public signing keys (interface §2.7).
import { Type } from 'typebox'
import { Instant, NonEmptyText, Text } from './primitives.ts'
import { Algorithm } from './signature.ts'

const Jwk = Type.Object(
  {
    kty: Type.Enum(['OKP', 'AKP']),
    kid: NonEmptyText,
    alg: NonEmptyText,
    use: Type.Enum(['sig']),
    crv: Type.Optional(Type.Enum(['Ed25519'])),
    x: Type.Optional(Text),
    pub: Type.Optional(Text),
  },
  { description: 'OKP for Ed25519 (RFC 8037), AKP for ML-DSA-65 (RFC 9964)' },
)

export const PublicSigningKey = Type.Object({
  keyId: NonEmptyText,
  algorithm: Algorithm,
  use: Type.Enum(['sig']),
  pem: Type.String({ description: 'PEM SPKI public key (RFC 7468)' }),
  jwk: Type.Optional(Jwk),
  /** Only approvers' keys have it (decisions §4); they are in no key set. */
  revokedAt: Type.Optional(
    Type.String({ ...Instant, description: 'since when an approver’s key counts no more' }),
  ),
})

export const KeySet = Type.Object({ keys: Type.Array(PublicSigningKey) })

// Public signing keys (interface §2.7).
import { Type } from 'typebox'
import { Instant, NonEmptyText, Text } from './primitives.ts'
import { Algorithm } from './signature.ts'

const use = Type.Enum(['sig'])
const jwkMembers = {
  kty: Type.Enum(['OKP', 'AKP', 'EC']),
  kid: NonEmptyText,
  alg: NonEmptyText,
  crv: Type.Optional(Type.Enum(['Ed25519', 'P-256'])),
  x: Type.Optional(Text),
  y: Type.Optional(Text),
  pub: Type.Optional(Text),
}
const Jwk = Type.Object(
  { ...jwkMembers, use },
  {
    description:
      'OKP for Ed25519 (RFC 8037), AKP for ML-DSA-65 (RFC 9964), EC for passkeys of P-256 (RFC 7518)',
  },
)

export const PublicSigningKey = Type.Object({
  keyId: NonEmptyText,
  algorithm: Type.Union([Algorithm, Type.Enum(['es256'])], {
    description: 'one of ed25519, ml-dsa-65, es256; es256 only of a passkey',
  }),
  use,
  pem: Type.String({ description: 'PEM SPKI public key (RFC 7468)' }),
  jwk: Type.Optional(Jwk),
  /** In the set of the service's keys alone, so that a reader of RFC 7517 finds each key. */
  ...Type.Partial(Type.Object(jwkMembers)).properties,
  passkey: Type.Optional(
    Type.Object(
      { rpId: NonEmptyText, origins: Type.Array(NonEmptyText), backupEligible: Type.Boolean() },
      { description: 'only of an approver’s key that is a passkey: where it signs' },
    ),
  ),
  revokedAt: Type.Optional(
    Type.String({
      ...Instant,
      description:
        'since when the key counts no more: a key of the service verifies what says that it was signed before, an approver’s what was used before',
    }),
  ),
})
export type PublicSigningKey = Type.Static<typeof PublicSigningKey>

export const KeySet = Type.Object({ keys: Type.Array(PublicSigningKey) })

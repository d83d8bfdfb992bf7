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
    description: 'one of ed25519, ml-dsa-65, es256; es256 for passkeys only',
  }),
  use,
  pem: Type.String({ description: 'PEM SPKI public key (RFC 7468)' }),
  jwk: Type.Optional(Jwk),
  /** Only in the set of the service's keys, so that a reader of RFC 7517 finds each key. */
  ...Type.Partial(Type.Object(jwkMembers)).properties,
  passkey: Type.Optional(
    Type.Object(
      { rpId: NonEmptyText, origins: Type.Array(NonEmptyText), backupEligible: Type.Boolean() },
      { description: 'for an approver’s passkey: the site where it signs' },
    ),
  ),
  revokedAt: Type.Optional(
    Type.String({
      ...Instant,
      description:
        'the time of the revocation: a key of the service still verifies signatures with an earlier time, an approver’s key approvals that were used earlier',
    }),
  ),
})
export type PublicSigningKey = Type.Static<typeof PublicSigningKey>

export const KeySet = Type.Object({ keys: Type.Array(PublicSigningKey) })

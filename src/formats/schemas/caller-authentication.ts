// How a caller by token was authenticated: a member of the signed authorization (docs/design-notes.md "Callers by token").
import { Type } from 'typebox'
import { authenticationMethods } from '../people/caller-authentication.ts'
import { NonEmptyText, Sha256 } from './primitives.ts'

export const CallerAuthentication = Type.Object(
  {
    method: Type.Enum([...authenticationMethods]),
    issuer: NonEmptyText,
    subject: Type.String({ ...NonEmptyText, description: "the token's `sub`" }),
    actor: Type.Optional(
      Type.String({
        ...NonEmptyText,
        description:
          'who used the token for the subject: the `sub` of its `act`, or its `client_id`; left out where that is the subject',
      }),
    ),
    tokenHash: Type.String({ ...Sha256, description: 'SHA-256 of the token, in hexadecimal' }),
    keyThumbprint: Type.Optional(
      Type.String({
        pattern: '^[\\w-]{43}$',
        description: 'RFC 7638, of the key that the token is bound to; there where method is dpop',
      }),
    ),
  },
  { description: 'left out where the caller was authenticated by an API key, or not at all' },
)
export type CallerAuthentication = Type.Static<typeof CallerAuthentication>

// Error bodies (interface §2.8, §7): the envelope, and the body of POST /policies/validate (§4.4).
import { Type } from 'typebox'
import { NonEmptyText } from './primitives.ts'

export const ErrorBody = Type.Object(
  {
    error: NonEmptyText,
    code: Type.Optional(
      Type.String({ pattern: '^[A-Z_]+$', description: 'branch on the status first, then on this' }),
    ),
  },
  { description: 'The body of every failure; `error` is for people, never to be parsed.' },
)

export const PolicyValidity = Type.Object({ valid: Type.Boolean(), errors: Type.Array(NonEmptyText) })

export const PolicyVersion = Type.Object({ policyId: NonEmptyText, policyVersion: NonEmptyText })

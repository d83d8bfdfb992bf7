// Caller identity (interface §2.6).
import { Type } from 'typebox'
import { NonEmptyText } from './primitives.ts'

export const CallerIdentity = Type.Object({
  callerId: NonEmptyText,
  allowedPrincipalIds: Type.Array(NonEmptyText),
  allowedCapabilities: Type.Array(NonEmptyText, { description: 'as configured; `*` means all' }),
  unrestrictedCapabilities: Type.Boolean(),
})

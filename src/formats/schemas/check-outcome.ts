// One check of evidence, as POST /refusal/verify and POST /audit/verify return it (decisions §9, §12).
import { Type } from 'typebox'
import { NonEmptyText } from './primitives.ts'

export const CheckOutcome = Type.Object({
  name: NonEmptyText,
  valid: Type.Boolean(),
  problem: Type.Optional(NonEmptyText),
})

// A payment provider's signed statement about an execution, as a rule read its delivery, beside the transaction.
import { Type } from 'typebox'
import { Instant, NonEmptyText, Sha256, Uuid } from './primitives.ts'
import { Signature } from './signature.ts'

export const said = ['executed', 'not_executed', 'pending'] as const
export type Said = (typeof said)[number]

export const ProviderConfirmation = Type.Object({
  confirmationId: Uuid,
  provider: NonEmptyText,
  eventId: Type.String({ pattern: '\\S', description: "the provider's id of its delivery" }),
  deliveryHash: Sha256,
  ruleId: NonEmptyText,
  rulesHash: Sha256,
  businessTransactionId: Uuid,
  says: Type.Enum([...said]),
  comparisons: Type.Array(Type.Object({ expression: NonEmptyText, holds: Type.Boolean() })),
  receivedAt: Instant,
})
export type ProviderConfirmation = Type.Static<typeof ProviderConfirmation>

export const ProviderConfirmationWithSignature = Type.Object({
  confirmation: ProviderConfirmation,
  signature: Signature,
})

export const ProviderConfirmationPage = Type.Object({
  confirmations: Type.Array(ProviderConfirmationWithSignature),
})

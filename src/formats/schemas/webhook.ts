// Deliveries of providers (interface §6): their body, which is described but not checked, the answer, and the form of a stored delivery.
import { Type } from 'typebox'
import { AnyKey } from './business-transaction.ts'
import { deliveryOutcomes } from './webhook-outcomes.ts'
import { Instant, NonEmptyText, Sha256, Text, Uuid } from './primitives.ts'

/** "The full payload is stored as received and is not validated against a schema": any bytes are accepted. */
export const WebhookDelivery = Type.Unknown({
  description:
    'The provider’s envelope as sent; only `event`, `payload.payment.entity.id` and `payload.refund.entity.id` are read.',
})

export const WebhookReceipt = Type.Object({
  status: Type.Enum(['accepted', 'acknowledged'], {
    description: '`accepted`: new, and stored. `acknowledged`: received before; nothing is stored or done.',
  }),
})

const listed = {
  webhookEventId: Uuid,
  provider: NonEmptyText,
  eventId: Type.String({ pattern: '\\S', description: 'the provider’s id of the delivery' }),
  bodySha256: Sha256,
  bodyBytes: Type.Integer({ minimum: 0, description: 'bytes; 0 where the body was emptied' }),
  receivedAt: Instant,
  processedAt: Type.Optional(Instant),
  outcome: Type.Optional(
    Type.Enum([...deliveryOutcomes], {
      description: 'the result of processing; absent until the delivery is processed',
    }),
  ),
  ruleId: Type.Optional(NonEmptyText),
  businessTransactionId: Type.Optional(Uuid),
  detail: Type.Optional(
    Type.String({ description: 'a sentence: the reason of the outcome, or what processing waits for' }),
  ),
  reruns: Type.Integer({
    minimum: 0,
    description: 'how many times the delivery was processed again on request',
  }),
}

export const WebhookEvent = Type.Object(listed)
export type WebhookEvent = Type.Static<typeof WebhookEvent>

export const WebhookEventPage = Type.Object({ events: Type.Array(WebhookEvent) })

export const WebhookEventWithBody = Type.Object({
  ...listed,
  headers: Type.Record(AnyKey, Text, {
    description: 'names in lower case; without credentials and the signature, 8 KiB at most',
  }),
  bodyEncoding: Type.Enum(['text', 'base64'], {
    description: 'base64: the body is no UTF-8, or has control characters other than tabs and line ends',
  }),
  body: Type.String({ description: 'as it was received' }),
})
export type WebhookEventWithBody = Type.Static<typeof WebhookEventWithBody>

// Deliveries of providers (interface §6): what is described is not checked, and what is answered.
import { Type } from 'typebox'

/** "The full payload is stored as received and is not validated against a schema": any bytes are taken. */
export const WebhookDelivery = Type.Unknown({
  description:
    'The provider’s envelope as sent, of which only `event`, `payload.payment.entity.id` and `payload.refund.entity.id` are read.',
})

export const WebhookReceipt = Type.Object({
  status: Type.Enum(['accepted', 'acknowledged'], {
    description: '`accepted`: new, and stored. `acknowledged`: received before; nothing is stored or done.',
  }),
})

// Deliveries of providers (interface §6, decisions §10).
import { Type } from 'typebox'
import { WebhookDelivery, WebhookReceipt } from '../../../core/schemas/webhook.ts'
import type { Operation } from '../operation.ts'

/** What a payment provider sends; the bytes are signed, so a signature of the document could only be of one notation. */
const captured = {
  entity: 'event',
  event: 'payment.captured',
  contains: ['payment'],
  payload: {
    payment: { entity: { id: 'pay_DESlfW9H8K9uqM', entity: 'payment', amount: 100, currency: 'INR' } },
  },
  created_at: 1567674606,
}

export const webhooks = {
  'POST /webhooks/{provider}': {
    operationId: 'receiveWebhook',
    tag: 'Webhooks',
    summary: 'Take a delivery of a provider',
    description: `For providers, not for clients of this service. There for each provider that has a \`<PROVIDER>_WEBHOOK_SECRET\`; the
others are 404 \`Not Found\`. Two headers are named after the provider, with \`-\` for \`_\`: \`X-<Provider>-Signature\`, the lowercase hex of the
HMAC-SHA256 of the body's bytes under that secret, which is the authentication; and \`X-<Provider>-Event-Id\`, 1 to 255 printable ASCII
characters. Up to 1,000,000 bytes of any kind are taken, and stored as they are. A delivery whose event id or whose very bytes were
received before is acknowledged and not stored again. Anything but a 200 asks for the same delivery again.`,
    params: {
      provider: {
        schema: Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }),
        description: 'The provider, in lower case.',
        example: 'razorpay',
      },
    },
    body: { schema: WebhookDelivery, example: captured, anyBytes: true },
    answers: {
      200: {
        description: 'The delivery is stored, or was before.',
        schema: WebhookReceipt,
        example: { status: 'accepted' },
      },
    },
    failures: ['pathNotFound', 'missingSignature', 'invalidSignature', 'missingEventId', 'invalidField'],
    readsDatabase: true,
  },
} as const satisfies Record<string, Operation>

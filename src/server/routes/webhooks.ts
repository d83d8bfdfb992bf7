// Deliveries of providers (interface §6, decisions §10). The signature is the authentication, so the route is open. A valid delivery
// has no rate limit, because a slowed-down provider sends the same delivery again; an invalid one is charged to its address.
import { Type } from 'typebox'
import type { Config } from '../../core/config/config.ts'
import { failures, type Failure } from '../../core/errors/errors.ts'
import { WebhookDelivery, WebhookReceipt } from '../../formats/schemas/webhook.ts'
import { PROVIDER } from '../../formats/schemas/webhook-rules.ts'
import { missingHeaderText, schemeOf } from '../../core/webhooks/providers.ts'
import { storedHeaders } from '../../core/webhooks/stored-headers.ts'
import { NOBODY, type PathParams } from '../../core/threads/thread-messages.ts'
import type { Head } from '../http/listen/listener.ts'
import { post, type Route } from '../route.ts'

/** An example of a payment provider's event. It carries no signature, since a signature is valid for a single byte sequence. */
const captured = {
  entity: 'event',
  event: 'payment.captured',
  contains: ['payment'],
  payload: {
    payment: { entity: { id: 'pay_DESlfW9H8K9uqM', entity: 'payment', amount: 100, currency: 'INR' } },
  },
  created_at: 1567674606,
}

export const webhooks = [
  {
    ...post,
    path: '/webhooks/{provider}',
    open: true,
    cost: 'compute',
    // Replaces MAX_BODY_BYTES, which limits the bodies of our callers (decisions §1).
    bodyBytesMax: 1_000_000,
    operationId: 'receiveWebhook',
    tag: 'Webhooks',
    summary: 'Receive a webhook delivery from a provider',
    description: `For providers, not for clients of this service. There for each provider that has a \`<PROVIDER>_WEBHOOK_SECRET\`; the
others are 404 \`Not Found\`. The scheme of the provider defines the signature and the place of the event id,
\`<PROVIDER>_WEBHOOK_SCHEME\`. By default two headers are named after the provider, with \`-\` for \`_\`: \`X-<Provider>-Signature\`, the
lowercase hex of the HMAC-SHA256 of the body's bytes under that secret, which is the authentication; and \`X-<Provider>-Event-Id\`. An event
id has 1 to 255 printable ASCII characters. Up to 1,000,000 bytes of any kind are taken, and stored as they are. A delivery whose event id
or whose very bytes were received before is acknowledged and not stored again. Anything but a 200 asks for the same delivery again.`,
    params: {
      provider: {
        schema: Type.String({ pattern: PROVIDER }),
        description: 'The provider, in lower case.',
        example: 'razorpay',
      },
    },
    body: { schema: WebhookDelivery, example: captured, anyBytes: true },
    answers: {
      200: {
        description: 'The delivery is stored, now or earlier.',
        schema: WebhookReceipt,
        example: { status: 'accepted' },
      },
    },
    failures: ['pathNotFound', 'missingSignature', 'invalidSignature', 'missingEventId', 'invalidField'],
    readsDatabase: true,
    mounted: ({ provider = '' }, { webhookProviders }) => Object.hasOwn(webhookProviders, provider),
    fromHead: deliveryHead,
    handle: ({ body, client, params }, { dispatcher }) =>
      dispatcher.submit({ operation: 'receive-webhook', client, callerIndex: NOBODY, body, params }),
  },
] as const satisfies readonly Route[]

/**
 * Reads the headers that the thread needs. Refuses values that cannot be a signature, such as several different ones, before the body is
 * read. Checks the signature first, because not every scheme signs the event id.
 */
function deliveryHead(
  { provider = '' }: PathParams,
  head: Pick<Head, 'header' | 'headers'>,
  { webhookProviders }: Config,
): PathParams | Failure {
  const configured = webhookProviders[provider]
  if (configured === undefined) return failures.pathNotFound()
  const scheme = schemeOf(configured)
  const names = scheme.signatureHeaders(provider)
  const [signature = '', other] = new Set(names.flatMap((name) => head.header(name) || []))
  if (signature === '')
    return failures.missingSignature(
      provider,
      missingHeaderText(provider, configured.scheme, (name) => head.header(name) !== undefined),
    )
  if (other !== undefined)
    return failures.invalidSignature(provider, `the headers ${names.join(' and ')} differ`)
  if (!scheme.looksSigned(signature))
    return failures.invalidSignature(
      provider,
      `${names[0]} must be ${scheme.signatureForm}, as scheme ${configured.scheme} has it`,
    )
  const first = scheme.headers(provider)
  return { provider, signature, headers: storedHeaders(head.headers, { signatures: names, first }) }
}

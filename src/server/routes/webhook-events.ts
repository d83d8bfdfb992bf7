// The stored deliveries of providers: the outcome of each, and the route that processes one again (decisions §10, §12).
import { Type } from 'typebox'
import { readableOwner } from '../../formats/people/caller.ts'
import { failures } from '../../core/errors/errors.ts'
import { NoMembers } from '../../formats/schemas/execution-intent.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { WebhookEvent, WebhookEventPage, WebhookEventWithBody } from '../../formats/schemas/webhook.ts'
import { PROVIDER } from '../../formats/schemas/webhook-rules.ts'
import { listWebhookEvents, readWebhookEvent } from '../../store/tables/webhook-events.ts'
import { deliveryOutcomes } from '../../formats/schemas/webhook-outcomes.ts'
import { shownDelivery, shownWithBody } from '../../core/webhooks/shown.ts'
import { timeRange } from '../openapi/parameters.ts'
import { list } from './list.ts'
import { get, json, humanPost, type Route } from '../route.ts'
import { onThread } from './on-thread.ts'

/** Deliveries that the examples of the routes name: a processed one to read, and one to process again. */
export const deliveryExamples = {
  shown: '2f1c9c3e-54d2-4a53-9d0a-6f4d8b1c7e20',
  toProcess: '7d9a1b52-0c4e-4f9b-8a6d-3e5f2c1b0a94',
} as const

const waiting = {
  webhookEventId: deliveryExamples.toProcess,
  provider: 'razorpay',
  eventId: 'evt_EXAMPLE',
  bodySha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  bodyBytes: 2,
  receivedAt: '2026-11-21T14:28:03.967Z',
  reruns: 1,
}
const processed = {
  ...waiting,
  webhookEventId: deliveryExamples.shown,
  processedAt: '2026-11-21T14:28:04.412Z',
  outcome: 'no-match',
  detail: 'No rule matches.',
  reruns: 0,
}
const id = (example: string) => ({
  id: { schema: Type.String({ minLength: 1 }), description: 'A webhookEventId.', example },
})

export const webhookEvents = [
  list({
    ...get,
    path: '/webhook-events',
    operationId: 'listWebhookEvents',
    tag: 'Webhooks',
    summary: 'Webhook deliveries and their outcomes',
    description: `For humans and auditors. With \`provider\` or \`outcome\` a page searches 10,000 deliveries: it may hold fewer than \`pageSize\`, or none,
and still have a \`Link\`. Only the last page has no \`Link\`.`,
    everybodys: true,
    filters: {
      provider: {
        schema: Type.String({ pattern: PROVIDER }),
        description: 'Only deliveries of this provider.',
        mustBe: 'a provider’s name in lower case',
      },
      outcome: {
        schema: Type.Enum([...deliveryOutcomes]),
        description: 'Only deliveries with this outcome.',
      },
      ...timeRange,
    },
    schema: WebhookEventPage,
    member: 'events',
    example: [waiting, processed],
    read: (range, asked, { pool }) => listWebhookEvents(pool, range, asked),
    textOf: (delivery) => JSON.stringify(shownDelivery(delivery)),
  }),
  {
    ...get,
    path: '/webhook-events/{id}',
    operationId: 'getWebhookEvent',
    tag: 'Webhooks',
    summary: 'A delivery with its headers and its body',
    description: 'For humans and auditors. The body is returned byte for byte, as the provider signed it.',
    params: id(deliveryExamples.shown),
    answers: {
      200: {
        description: 'The delivery, with its headers and body as received.',
        schema: WebhookEventWithBody,
        example: {
          ...processed,
          headers: { 'x-razorpay-event-id': 'evt_EXAMPLE' },
          bodyEncoding: 'text',
          body: '{}',
        },
      },
    },
    failures: ['nonHumanCaller', 'webhookEventNotFound', 'overloaded'],
    readsDatabase: true,
    async handle({ params: { id: key }, caller }, { pool }) {
      if (readableOwner(caller) !== null) return failures.nonHumanCaller()
      const found = isUuid(key) ? await readWebhookEvent(pool, key) : null
      if (found === null) return failures.webhookEventNotFound()
      return json(shownWithBody(found))
    },
  },
  {
    ...humanPost,
    path: '/webhook-events/{id}/process',
    operationId: 'processWebhookEvent',
    tag: 'Webhooks',
    summary: 'Process a delivery again with the rules in effect now',
    description: `After a rule has changed, or when processing has failed for good. What it said before stays: confirmations are never taken back, and
an intent that is closed stays closed.`,
    params: id(deliveryExamples.toProcess),
    body: { schema: NoMembers, example: {} },
    answers: {
      200: { description: 'The delivery waits for its job.', schema: WebhookEvent, example: waiting },
    },
    failures: ['invalidField', 'webhookEventNotFound', 'conflict'],
    readsDatabase: true,
    handle: onThread('process-webhook-again'),
  },
] as const satisfies readonly Route[]

// A stored delivery as the interface returns it: `WebhookEvent` and `WebhookEventWithBody` in src/formats/schemas/webhook.ts.
import { isUtf8 } from 'node:buffer'
import type { ListedDelivery, ShownDelivery } from '../../store/tables/webhook-events.ts'

/** @returns members of `WebhookEvent`; members without a value yet are left out */
export function shownDelivery(delivery: ListedDelivery) {
  const { eventKey, receivedAt, processedAt, outcome, ruleId, businessTransactionId, detail } = delivery
  const { provider, eventId, bodySha256, bodyBytes, reruns } = delivery
  return {
    webhookEventId: eventKey,
    provider,
    eventId,
    bodySha256,
    bodyBytes,
    receivedAt,
    ...(processedAt === null ? {} : { processedAt }),
    ...(outcome === null ? {} : { outcome }),
    ...(ruleId === null ? {} : { ruleId }),
    ...(businessTransactionId === null ? {} : { businessTransactionId }),
    ...(detail === null ? {} : { detail }),
    reruns,
  }
}

/** @returns members of `WebhookEventWithBody` */
export function shownWithBody(delivery: ShownDelivery) {
  const headers = JSON.parse(delivery.headers) as Record<string, string>
  return { ...shownDelivery(delivery), headers, ...shownBody(delivery.body) }
}

/** Control characters in a stranger's text must not control the terminal that prints it. */
function shownBody(body: Buffer): { bodyEncoding: 'text' | 'base64'; body: string } {
  const text = isUtf8(body) ? body.toString() : undefined
  // oxlint-disable-next-line no-control-regex -- which it is about
  if (text === undefined || /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/.test(text))
    return { bodyEncoding: 'base64', body: body.toString('base64') }
  return { bodyEncoding: 'text', body: text }
}

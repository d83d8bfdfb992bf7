// Stories of a provider's deliveries (interface §6): new, repeated, replayed, forged.
import { createHmac, randomUUID } from 'node:crypto'
import { checker } from '../authority.ts'
import type { Call } from '../calls.ts'
import { PROVIDER, WEBHOOK_SECRET } from '../service.ts'
import { must, one, rarely, told, type Story } from './story.ts'

const route = 'POST /webhooks/{provider}'

function aDelivery(id: string = randomUUID(), eventId = `evt_${randomUUID()}`): Call {
  const body = `{"entity":"event", "event":"payment.captured","payload":{"payment":{"entity":{"id":"pay_${id}"}}}}`
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')
  const headers = { 'X-Razorpay-Signature': signature, 'X-Razorpay-Event-Id': eventId }
  return { params: { provider: PROVIDER }, key: null, body, headers }
}

export const deliveryStories: readonly Story[] = [
  one(10, route, () => aDelivery(), 'delivers what is new'),
  told('delivers again, and under another id', 1, async ({ call }) => {
    const id = randomUUID()
    const first = aDelivery(id)
    const statuses: unknown[] = []
    for (const delivery of [first, first, aDelivery(id)])
      statuses.push((await call(route, delivery)).json()['status'])
    const said = statuses.join()
    must(said === 'accepted,acknowledged,acknowledged', `a delivery three times: ${said}`)
  }),
  told('reads deliveries', 0.5, async ({ call, auditor: key }) => {
    const { json } = await call('GET /webhook-events', { key, query: '?provider=razorpay&pageSize=50' })
    const [first] = json()['events'] as { webhookEventId: string }[]
    if (first !== undefined)
      await call('GET /webhook-events/{id}', { key, params: { id: first.webhookEventId } })
  }),
  rarely('has a delivery processed again', 10, async ({ call }) => {
    await call(route, aDelivery())
    const { key } = checker
    const { json } = await call('GET /webhook-events', { key, query: '?provider=razorpay&pageSize=1' })
    const [newest] = json()['events'] as [{ webhookEventId: string }]
    // 409: the delivery waits to be processed for the first time.
    const again = { key, params: { id: newest.webhookEventId }, body: {}, expect: [200, 409] }
    await call('POST /webhook-events/{id}/process', again)
  }),
  one(
    0.5,
    route,
    () => ({ ...aDelivery(), body: '{"event":"payment.forged"}', expect: 401 }),
    'forges a delivery',
  ),
  one(0.5, route, () => ({ ...aDelivery(randomUUID(), ''), expect: 400 }), 'delivers without an id'),
]

// Stories of a provider's deliveries (interface §6): new, repeated, replayed, forged.
import { createHmac, randomUUID } from 'node:crypto'
import { checker } from '../authority.ts'
import type { Call } from '../calls.ts'
import { PROVIDER, WEBHOOK_SECRET } from '../service.ts'
import { must, type Story } from './story.ts'

const route = 'POST /webhooks/{provider}'

function aDelivery(id: string = randomUUID(), eventId = `evt_${randomUUID()}`): Call {
  const body = `{"entity":"event", "event":"payment.captured","payload":{"payment":{"entity":{"id":"pay_${id}"}}}}`
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')
  const headers = { 'X-Razorpay-Signature': signature, 'X-Razorpay-Event-Id': eventId }
  return { params: { provider: PROVIDER }, key: null, body, headers }
}

const delivers = (name: string, weight: number, delivery: () => Call): Story => ({
  name,
  weight,
  tell: ({ client }) => client.call(route, delivery()),
})

export const deliveryStories: readonly Story[] = [
  delivers('delivers what is new', 10, aDelivery),
  {
    name: 'delivers again, and under another id',
    weight: 1,
    async tell({ client }) {
      const id = randomUUID()
      const first = aDelivery(id)
      const statuses: unknown[] = []
      for (const delivery of [first, first, aDelivery(id)])
        statuses.push((await client.call(route, delivery)).json()['status'])
      const said = statuses.join()
      must(said === 'accepted,acknowledged,acknowledged', `a delivery three times: ${said}`)
    },
  },
  {
    name: 'reads deliveries',
    weight: 0.5,
    async tell({ client, auditor: key }) {
      const query = '?provider=razorpay&pageSize=50'
      const { json } = await client.call('GET /webhook-events', { key, query })
      const [first] = json()['events'] as { webhookEventId: string }[]
      if (first !== undefined)
        await client.call('GET /webhook-events/{id}', { key, params: { id: first.webhookEventId } })
    },
  },
  {
    name: 'has a delivery processed again',
    everySeconds: 10,
    async tell({ client }) {
      await client.call(route, aDelivery())
      const { key } = checker
      const query = '?provider=razorpay&pageSize=1'
      const { json } = await client.call('GET /webhook-events', { key, query })
      const [newest] = json()['events'] as [{ webhookEventId: string }]
      // 409: it waits to be processed for the first time.
      const again = { key, params: { id: newest.webhookEventId }, body: {}, expect: [200, 409] }
      await client.call('POST /webhook-events/{id}/process', again)
    },
  },
  delivers('forges a delivery', 0.5, () => ({
    ...aDelivery(),
    body: '{"event":"payment.forged"}',
    expect: 401,
  })),
  delivers('delivers without an id', 0.5, () => ({ ...aDelivery(randomUUID(), ''), expect: 400 })),
]

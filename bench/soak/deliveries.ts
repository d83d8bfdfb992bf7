// Stories of a provider's deliveries (interface §6): new, repeated, replayed, forged.
import { createHmac, randomUUID } from 'node:crypto'
import { PROVIDER, WEBHOOK_SECRET } from '../service.ts'
import type { Call } from './client.ts'
import { must, type Story } from './story.ts'

const route = 'POST /webhooks/{provider}'

function aDelivery(id: string = randomUUID(), eventId = `evt_${randomUUID()}`): Call {
  const body = `{"entity":"event", "event":"payment.captured","payload":{"payment":{"entity":{"id":"pay_${id}"}}}}`
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')
  const headers = { 'X-Razorpay-Signature': signature, 'X-Razorpay-Event-Id': eventId }
  return { params: { provider: PROVIDER }, body, headers }
}

export const deliveryStories: readonly Story[] = [
  {
    name: 'delivers what is new',
    routes: [route],
    pace: { weight: 10 },
    tell: ({ client }) => client.call(route, aDelivery()),
  },
  {
    name: 'delivers again, and under another id',
    routes: [route],
    pace: { weight: 1 },
    async tell({ client }) {
      const id = randomUUID()
      const first = aDelivery(id)
      const replies = [
        await client.call(route, first),
        await client.call(route, first),
        await client.call(route, aDelivery(id)),
      ]
      const statuses = replies.map(({ json }) => String(json()['status'])).join()
      must(statuses === 'accepted,acknowledged,acknowledged', `a delivery three times: ${statuses}`)
    },
  },
  {
    name: 'forges a delivery',
    routes: [route],
    pace: { weight: 0.5 },
    tell: ({ client }) =>
      client.call(route, { ...aDelivery(), body: '{"event":"payment.forged"}', expect: 401 }),
  },
  {
    name: 'delivers without an id',
    routes: [route],
    pace: { weight: 0.5 },
    tell: ({ client }) => client.call(route, { ...aDelivery(randomUUID(), ''), expect: 400 }),
  },
]

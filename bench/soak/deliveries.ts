// Stories of a provider's deliveries (interface §6): new, repeated, replayed, forged.
import { createHmac, randomUUID } from 'node:crypto'
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
      must(
        statuses.join() === 'accepted,acknowledged,acknowledged',
        `a delivery three times: ${statuses.join()}`,
      )
    },
  },
  delivers('forges a delivery', 0.5, () => ({
    ...aDelivery(),
    body: '{"event":"payment.forged"}',
    expect: 401,
  })),
  delivers('delivers without an id', 0.5, () => ({ ...aDelivery(randomUUID(), ''), expect: 400 })),
]

// A small payment provider with a journal of its own: takes the releases of the capability `razorpay:payout`, pays each once, and tells the
// service by a signed delivery, as Razorpay does. With `--drop` it loses the connection before it answers, so that only the delivery tells.
//   npx node examples/payouts/provider.ts --service http://127.0.0.1:3000 --secret <RAZORPAY_WEBHOOK_SECRET> --journal mine/payouts.journal
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  fetchServiceKeys,
  openJournal,
  receive,
  type Release,
} from '../../clients/typescript/src/receiver/index.ts'

const CAPABILITY = 'razorpay:payout'
/** A provider tries again until it is told 200: the service stores each delivery once. */
const RETRY_MS = 500

const { values } = parseArgs({
  options: {
    service: { type: 'string', default: 'http://127.0.0.1:3000' },
    secret: { type: 'string' },
    port: { type: 'string', default: '0' },
    journal: { type: 'string', default: 'payouts.journal' },
    drop: { type: 'boolean', default: false },
    // Deliveries are kept until a line comes from the standard input.
    hold: { type: 'boolean', default: false },
  },
})
const { service, secret = '', drop } = values
if (secret === '') throw new Error('--secret is missing: that of RAZORPAY_WEBHOOK_SECRET.')

const mayDeliver = values.hold ? once(createInterface({ input: process.stdin }), 'line') : undefined

/** Here the money moves. The kit calls it once for each release. */
function pay(release: Release): unknown {
  const payout = `pout_${createHash('sha256').update(release.authorizationId).digest('hex').slice(0, 14)}`
  console.log(`paid ${payout}`)
  void tell(release, payout)
  return { payout }
}

/** Posts the delivery until it is taken. The rules of webhooks/razorpay.yaml find the transaction by the note. */
async function tell({ businessTransactionId, parameters }: Release, payout: string): Promise<void> {
  const entity = {
    id: payout,
    entity: 'payout',
    amount: parameters['amount'],
    currency: parameters['currency'],
    notes: { business_transaction_id: businessTransactionId },
    status: 'processed',
  }
  const body = JSON.stringify({
    entity: 'event',
    event: 'payout.processed',
    contains: ['payout'],
    payload: { payout: { entity } },
    created_at: Math.floor(Date.now() / 1000),
  })
  const headers = {
    'Content-Type': 'application/json',
    'X-Razorpay-Signature': createHmac('sha256', secret).update(body).digest('hex'),
    'X-Razorpay-Event-Id': `evt_${payout}`,
  }
  await mayDeliver
  for (;;) {
    const answer = await fetch(`${service}/webhooks/razorpay`, { method: 'POST', headers, body }).catch(
      () => undefined,
    )
    if (answer?.status === 200) return console.log(`delivered evt_${payout}`)
    await delay(RETRY_MS)
  }
}

const server = createServer((request, response) => void serve(request, response))
await new Promise<void>((resolve) => server.listen(Number(values.port), '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const receiver = receive({
  keys: await fetchServiceKeys(service),
  capabilities: [CAPABILITY],
  journal: openJournal(values.journal),
  audience: origin,
  act: pay,
})

/** A server of our own in place of the kit's, which would answer every release. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', headers } = request
  const question = headers['countersign-question']
  const { status, body } = await receiver.answer({
    method,
    question: typeof question === 'string' ? question : undefined,
    body: await buffer(request),
  })
  // The payout is made, and nobody hears of it here.
  if (drop && method === 'POST' && status === 200) request.socket.destroy()
  else response.writeHead(status, { 'Content-Type': 'application/json' }).end(body)
}
console.log(`listening on ${origin} for ${CAPABILITY}`)

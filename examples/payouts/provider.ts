// A small payment provider with a journal of its own: takes the releases of the capability `razorpay:payout`, pays each once, and tells the
// service by a signed delivery, as Razorpay does. With `--drop` it loses the connection before it answers, so that only the delivery tells.
//   npx node examples/payouts/provider.ts --service http://127.0.0.1:3000 --secret <RAZORPAY_WEBHOOK_SECRET> --journal mine/payouts.journal
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openJournal } from '../external-receiver/journal.ts'
import { answerQuestion } from '../external-receiver/question.ts'
import { fetchKeys, verifyRelease, type Release } from '../external-receiver/release.ts'

const CAPABILITY = 'razorpay:payout'
const BODY_BYTES_MAX = 1024 * 1024
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
const keys = await fetchKeys(service)
const journal = openJournal(values.journal)
let origin = ''

/** Pays what the release says, once. On disk before the money moves and with its answer before anybody is told. */
function pay(release: Release): unknown {
  const { authorizationId, businessTransactionId, capability } = release
  const before = journal.find(authorizationId)
  if (before?.answer !== undefined) return before.answer
  if (before !== undefined) throw new Error('It was begun before and its outcome is unknown.')
  journal.begin(authorizationId)
  // Here the money moves.
  const payout = `pout_${createHash('sha256').update(authorizationId).digest('hex').slice(0, 14)}`
  const answer = {
    businessTransactionId,
    capability,
    success: true,
    result: { payout },
    executedAt: new Date().toISOString(),
  }
  journal.end(authorizationId, answer)
  console.log(`paid ${payout}`)
  void tell(release, payout)
  return answer
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

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function answerTo(request: IncomingMessage): Promise<{ status: number; body: unknown; paid: boolean }> {
  const given = { keys, capability: CAPABILITY, origin, now: new Date() }
  if (request.method === 'GET') return { ...answerQuestion(request, { ...given, journal }), paid: false }
  const body = await readBody(request)
  if (body === undefined) return { status: 413, body: { error: 'Too large.' }, paid: false }
  const verified = verifyRelease(body, given)
  if ('refused' in verified)
    return { status: verified.status, body: { error: verified.refused }, paid: false }
  return { status: 200, body: pay(verified.release), paid: true }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  try {
    const { status, body, paid } = await answerTo(request)
    // The payout is made, and nobody hears of it here.
    if (paid && drop) request.socket.destroy()
    else response.writeHead(status, headers).end(JSON.stringify(body))
  } catch (error) {
    console.error(error)
    response.writeHead(500, headers).end('{"error":"The outcome is unknown."}')
  }
}

const server = createServer((request, response) => void serve(request, response))
await new Promise<void>((resolve) => server.listen(Number(values.port), '127.0.0.1', resolve))
origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
console.log(`listening on ${origin} for ${CAPABILITY}`)

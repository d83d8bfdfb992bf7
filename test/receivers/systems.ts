// The systems behind the ready receivers, a program of its own with a journal of its own: an API within a house, and the part of Stripe's that its
// library calls here. An answer can be cut at any byte, after the effect.
//   node test/receivers/systems.ts <journal>   with IPC: {cutAt} for the next answer to a request that has an effect
import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const [journal = ''] = process.argv.slice(2)
let cutAt: number | undefined
let made = 0

interface Answer {
  readonly status: number
  readonly body: object
}

/** The effect, which nothing takes back. */
function act(what: string): string {
  made++
  appendFileSync(journal, `${what}\n`)
  return `${made}`
}

/** By the key that the caller chose; the house does not look at it before it acts: what acts twice is seen in the journal. */
const ofHouse = new Map<string, object>()

function house(method: string, url: URL, body: string): Answer {
  const key = url.pathname.split('/').at(-1) ?? ''
  if (method === 'GET') {
    const found = ofHouse.get(key)
    return found === undefined ? { status: 404, body: { error: 'none' } } : { status: 200, body: found }
  }
  const asked = JSON.parse(body) as { order: string; amount: number }
  if (asked.order === 'closed') return { status: 422, body: { error: 'The order is closed.' } }
  if (asked.order === 'odd') return { status: 418, body: {} }
  const done = { number: act(key), order: asked.order, amount: asked.amount, secret: 'not to be kept' }
  ofHouse.set(key, done)
  return { status: 201, body: done }
}

interface Object_ {
  readonly id: string
  readonly object: string
  readonly status: string
  readonly created: number
  readonly metadata: Readonly<Record<string, string>>
}
const ofStripe: Object_[] = []
const answers = new Map<string, Answer>()

function stripe(request: IncomingMessage, url: URL, body: string): Answer {
  if (request.headers.authorization !== 'Bearer sk_test_here')
    return { status: 401, body: { error: { type: 'invalid_request_error', message: 'No such key.' } } }
  const kind = url.pathname.replace('/v1/', '')
  if (request.method === 'GET') {
    const since = Number(url.searchParams.get('created[gte]'))
    const data = ofStripe.filter((one) => one.object === kind && one.created >= since).toReversed()
    return { status: 200, body: { object: 'list', url: url.pathname, has_more: false, data } }
  }
  const key = String(request.headers['idempotency-key'])
  const before = answers.get(key)
  if (before !== undefined) return before
  const asked = new URLSearchParams(body)
  const amount = Number(asked.get('amount'))
  if (amount === 0)
    return { status: 400, body: { error: { type: 'invalid_request_error', message: 'Invalid integer: 0' } } }
  const metadata = Object.fromEntries(
    [...asked].flatMap(([name, value]) => {
      const [, member] = /^metadata\[(\w+)\]$/.exec(name) ?? []
      return member === undefined ? [] : [[member, value]]
    }),
  )
  const declined = amount === 402
  const one: Object_ = {
    id: `${kind.slice(0, 2)}_${act(key)}`,
    object: kind,
    status: declined ? 'failed' : 'succeeded',
    created: Math.floor(Date.now() / 1000),
    metadata,
  }
  ofStripe.push(one)
  const answer = { status: 200, body: one }
  answers.set(key, answer)
  return answer
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const url = new URL(request.url ?? '/', 'http://systems')
  const { status, body: said } = url.pathname.startsWith('/v1/')
    ? stripe(request, url, body)
    : house(request.method ?? '', url, body)
  const bytes = JSON.stringify(said)
  const whole = `HTTP/1.1 ${status} Said\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\nConnection: close\r\n\r\n${bytes}`
  const cut = request.method === 'POST' ? cutAt : undefined
  if (request.method === 'POST') cutAt = undefined
  response.socket?.end(whole.slice(0, cut), () => cut !== undefined && response.socket?.destroy())
}

process.on('message', (message: { cutAt: number }) => {
  cutAt = message.cutAt
  process.send?.({ cutAt })
})
const server = createServer((request, response) => void serve(request, response))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))

// A client that wants to stop others: a process of its own, so that it takes no time from whoever measures.
// It reads an Attack as JSON, runs until it is ended, and then prints how often each status was answered, as JSON.
import { createHmac } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Attack {
  readonly port: number
  /** The address that it comes from, on this machine; 127.0.0.1 where it is left out. What is spent of one address is not spent of another. */
  readonly from?: string
  readonly connections: number
  /** Each connection sends them in turn, the next one when it has the reply. */
  readonly requests: readonly AttackRequest[]
  /** Announces the body and never sends it. */
  readonly withhold?: true
  /** Each request is a delivery of its own of a provider with this secret: `%` in the body is a number. */
  readonly signs?: { readonly header: string; readonly secret: string }
}

interface AttackRequest {
  /** POST where it is left out. */
  readonly method?: 'GET' | 'HEAD' | 'POST'
  readonly path: string
  /** Whole header lines beside Host and Content-Length. */
  readonly headers: readonly string[]
  readonly body?: string
}

const {
  port,
  from = '127.0.0.1',
  connections,
  requests,
  withhold,
  signs,
} = JSON.parse(await text(process.stdin)) as Attack
let sent = 0

function textOf({ method = 'POST', path, headers, body }: AttackRequest): string {
  const payload = signs === undefined ? body : body?.replace('%', String(++sent))
  const host = headers.some((line) => line.startsWith('Host:')) ? [] : ['Host: 127.0.0.1']
  const head = [
    `${method} ${path} HTTP/1.1`,
    ...host,
    ...(payload === undefined ? [] : [`Content-Length: ${Buffer.byteLength(payload)}`]),
    ...headers,
    ...(signs === undefined || payload === undefined
      ? []
      : [
          `X-${signs.header}-Signature: ${createHmac('sha256', signs.secret).update(payload).digest('hex')}`,
          `X-${signs.header}-Event-Id: evt_${sent}`,
        ]),
    '\r\n',
  ].join('\r\n')
  return withhold || payload === undefined ? head : head + payload
}

const statuses: Record<string, number> = {}
let connected = 0
let isUnderWay = false

/** Told when the attack has begun to bite: its first request is answered, or all that it withholds is announced. */
function beUnderWay(): void {
  if (!isUnderWay) process.stdout.write('ready\n')
  isUnderWay = true
}

function open(): void {
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress: from })
  socket.setNoDelay(true)
  let asked = 0
  const current = () => requests[asked % requests.length]!
  socket.on('connect', () => {
    socket.write(textOf(current()))
    if (withhold && ++connected === connections) beUnderWay()
  })
  let head = ''
  /** Bytes of the reply's body that are still to come; undefined while its head is read. */
  let bodyLeft: number | undefined
  socket.on('data', (chunk: Buffer) => {
    let rest: Buffer = chunk
    while (rest.length > 0) {
      if (bodyLeft === undefined) {
        const before = head.length
        head += rest.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end === -1) return
        const hasBody = current().method !== 'HEAD' && !/^HTTP\/1.1 (204|304)/.test(head)
        bodyLeft = hasBody ? Number(/^content-length: (\d+)/im.exec(head.slice(0, end))?.[1] ?? 0) : 0
        rest = rest.subarray(end + 4 - before)
      }
      const taken = Math.min(bodyLeft, rest.length)
      bodyLeft -= taken
      rest = rest.subarray(taken)
      if (bodyLeft > 0) return
      const status = head.slice(9, 12)
      statuses[status] = (statuses[status] ?? 0) + 1
      head = ''
      bodyLeft = undefined
      asked++
      // Withheld, the next head would only be taken for the body.
      if (withhold) continue
      beUnderWay()
      socket.write(textOf(current()))
    }
  })
  socket.on('error', () => undefined)
  socket.on('close', () => setTimeout(open, withhold ? 1_000 : 10))
}

for (let i = 0; i < connections; i++) open()
process.once('SIGTERM', () => {
  process.stdout.write(JSON.stringify(statuses), () => process.exit(0))
})

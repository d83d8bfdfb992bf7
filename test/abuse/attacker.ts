// A client that wants to stop others: a process of its own, so that it takes no time from whoever measures.
// Started with an Attack as JSON; runs until it is ended, and then prints how often each status was answered, as JSON.
import { createHmac } from 'node:crypto'
import { connect, type Socket } from 'node:net'

export interface Attack {
  readonly port: number
  readonly path: string
  readonly connections: number
  /** Whole header lines beside Host and Content-Length. */
  readonly headers: readonly string[]
  readonly body: string
  /** Announces the body and never sends it. */
  readonly withhold?: true
  /** Each request is a delivery of its own of a provider with this secret: `%` in the body is a number. */
  readonly signs?: { readonly header: string; readonly secret: string }
}

const attack = JSON.parse(process.argv[2] ?? '') as Attack
let sent = 0

function requestOf({ path, headers, body, withhold, signs }: Attack): string {
  const text = signs === undefined ? body : body.replace('%', String(++sent))
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...headers,
    ...(signs === undefined
      ? []
      : [
          `X-${signs.header}-Signature: ${createHmac('sha256', signs.secret).update(text).digest('hex')}`,
          `X-${signs.header}-Event-Id: evt_${sent}`,
        ]),
    '\r\n',
  ].join('\r\n')
  return withhold ? head : head + text
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
  const socket: Socket = connect(attack.port, '127.0.0.1')
  socket.setNoDelay(true)
  let reply = ''
  socket.on('connect', () => {
    socket.write(requestOf(attack))
    if (attack.withhold && ++connected === attack.connections) beUnderWay()
  })
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    reply += chunk
    for (;;) {
      const end = reply.indexOf('\r\n\r\n')
      if (end === -1) return
      const bytes = Number(/^content-length: (\d+)/im.exec(reply.slice(0, end))?.[1] ?? 0)
      if (reply.length < end + 4 + bytes) return
      const status = reply.slice(9, 12)
      statuses[status] = (statuses[status] ?? 0) + 1
      reply = reply.slice(end + 4 + bytes)
      if (!attack.withhold) beUnderWay()
      // Withheld, the next head would only be taken for the body.
      if (!attack.withhold) socket.write(requestOf(attack))
    }
  })
  socket.on('error', () => undefined)
  socket.on('close', () => setTimeout(open, attack.withhold ? 1_000 : 10))
}

for (let i = 0; i < attack.connections; i++) open()
process.once('SIGTERM', () => {
  process.stdout.write(JSON.stringify(statuses), () => process.exit(0))
})

// A server on loopback whose every byte a test decides: connectors are called against it as against the real thing.
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import { certificate, certificateKey } from './certificate.ts'

export interface Received {
  readonly line: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Loopback {
  readonly port: number
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** Every whole request, in order. */
  readonly requests: Received[]
  /** How many connections came. */
  readonly connections: () => number
}

/** Answers one request: text is written and the connection ended; a function has the socket to itself. */
export type Answer = string | Buffer | ((socket: Socket, request: Received) => void)

/**
 * Serves until the test has finished.
 * @param options.tls serves receiver.test with the self-signed certificate
 */
export async function serve(answer: Answer, { tls = false } = {}): Promise<Loopback> {
  const requests: Received[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const onSocket = (socket: Socket) => {
    let text = ''
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const request = wholeRequest(text)
      if (request === undefined) return
      text = ''
      requests.push(request)
      if (typeof answer === 'function') answer(socket, request)
      else socket.end(answer)
    })
  }
  const server = tls
    ? createTlsServer({ cert: certificate, key: certificateKey }, onSocket)
    : createServer(onSocket)
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { port, origin: `http://127.0.0.1:${port}`, requests, connections: () => connections }
}

/** An answer as it stands on the wire. */
export function http(
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): Buffer {
  const given = { 'Content-Length': String(Buffer.byteLength(body)), Connection: 'close', ...headers }
  const lines = Object.entries(given)
  const head = [`HTTP/1.1 ${status} X`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  )
  return Buffer.concat([Buffer.from(head), Buffer.from(body)])
}

export function json(status: number, body: unknown): Buffer {
  return http(status, JSON.stringify(body), { 'Content-Type': 'application/json' })
}

/** A port of loopback where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function wholeRequest(text: string): Received | undefined {
  const [head, body] = text.split(/\r\n\r\n(.*)/s)
  if (head === undefined || body === undefined) return undefined
  const [line = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((each) => [each.replace(/:.*/s, '').toLowerCase(), each.replace(/^[^:]*: ?/, '')]),
  )
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined
  return { line, headers, body: Buffer.from(body, 'latin1').toString('utf8') }
}

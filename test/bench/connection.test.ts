// A connection of each load generator: what it takes for the end of a reply decides what is measured.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openAutocannon } from '../../bench/autocannon.ts'
import { NO_REPLY, openConnections, type Connection, type Reply } from '../../bench/connection.ts'
import type { Message } from '../../bench/request.ts'
import { certificate, certificateKey } from '../connectors/certificate.ts'
import { until } from '../service.ts'

const generators = { own: openConnections, autocannon: openAutocannon }

const message: Message = {
  method: 'GET',
  path: '/',
  headers: ['X-Name', 'value'],
  body: undefined,
  id: '',
}
const asked = ({ send }: Connection) => new Promise<Reply>((resolve) => send(message, resolve))

const statuses = async (ask: () => Promise<Reply>, count: number) => {
  const all: number[] = []
  while (all.length < count) all.push((await ask()).status)
  return all
}

describe.each(['own', 'autocannon'] as const)('%s', (generator) => {
  async function open(url: string) {
    const { connections, close } = await generators[generator](url, 1)
    onTestFinished(close)
    return () => asked(connections[0]!)
  }

  /** A server that writes these pieces for each request, each when the one before has left, and may end the connection then. */
  async function aServer(pieces: readonly string[], { ends = false } = {}) {
    const requests: string[] = []
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('data', (chunk: Buffer) => {
        requests.push(chunk.toString())
        const write = ([piece, ...rest]: readonly string[]) => {
          if (piece !== undefined) socket.write(piece, () => setImmediate(() => write(rest)))
          else if (ends) socket.end()
        }
        write(pieces)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const ask = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    return { ask, requests, sockets }
  }

  test.each([
    ['in one piece', ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}']],
    ['cut within its head and its body', ['HTTP/1.1 2', '00 OK\r\ncontent-length: 2\r', '\n\r\n{', '}']],
    ['without a body', ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n']],
    ['in chunks', ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n']],
    [
      'in chunks that look like an end and are cut',
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '7\r\n\r\n0\r\n\r\n\r\n', '0\r\n', '\r\n'],
    ],
  ])('a reply %s is one reply, and the connection goes on', async (_how, pieces) => {
    const { ask, requests, sockets } = await aServer(pieces)
    expect(await statuses(ask, 3)).toEqual([200, 200, 200])
    expect(requests).toHaveLength(3)
    expect(sockets.size).toBe(1)
  })

  test('a reply that says that the connection ends is followed by another connection', async () => {
    const { ask, sockets } = await aServer([
      'HTTP/1.1 409 No\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx',
    ])
    expect(await statuses(ask, 2)).toEqual([409, 409])
    expect(sockets.size).toBe(2)
  })

  test.runIf(generator === 'own')('a reply without a length ends with its connection', async () => {
    const { ask } = await aServer(['HTTP/1.1 503 No\r\n\r\nsome', ' text'], { ends: true })
    expect(await ask()).toMatchObject({ status: 503, text: 'some text' })
  })

  test.each([
    ['no reply', []],
    ['half a reply', ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhalf']],
    ['half a head', ['HTTP/1.1 200 OK\r\nContent-Le']],
  ])('%s and the end of the connection is 0, never a status, each time', async (_what, pieces) => {
    const { ask, requests, sockets } = await aServer(pieces, { ends: true })
    expect(await ask()).toEqual(NO_REPLY)
    expect(await ask()).toEqual(NO_REPLY)
    await until(() => requests.length === 2, 'the requests')
    expect(sockets.size).toBe(2)
  })

  test('an error says what it says, and how long to wait', async () => {
    const said = 'x'.repeat(1000)
    const { ask } = await aServer([
      `HTTP/1.1 429 No\r\nretry-after: 7\r\nContent-Length: 1000\r\n\r\n${said.slice(300)}`,
      said.slice(0, 300),
    ])
    expect(await ask()).toEqual({ status: 429, retryAfterSeconds: 7, text: said.slice(0, 500) })
  })

  test('it is open before it is used', async () => {
    const { ask, requests, sockets } = await aServer(['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'])
    await until(() => sockets.size === 1, 'the connection')
    expect(requests).toEqual([])
    expect(await ask()).toMatchObject({ status: 200 })
    expect(sockets.size).toBe(1)
    expect(requests).toEqual([expect.stringMatching(/^GET \/ HTTP\/1\.1\r\n[^]*X-Name: value\r\n/)])
  })

  test('one that cannot be opened beforehand is no error, and answers nothing', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const ask = await open(`http://127.0.0.1:${port}`)
    expect(await ask()).toEqual(NO_REPLY)
  })

  test('a server that does not prove its name is told nothing', async () => {
    const requests: unknown[] = []
    const server = createTlsServer({ key: certificateKey, cert: certificate }, (socket) => {
      socket.on('error', () => socket.destroy()).on('data', (chunk) => requests.push(chunk))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const ask = await open(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect(await ask()).toEqual(NO_REPLY)
    expect(requests).toEqual([])
  })
})

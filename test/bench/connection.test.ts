// A connection of each load generator: what it takes for the end of a reply decides what is measured.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openAutocannon } from '../../bench/autocannon.ts'
import { NO_REPLY, openConnections, type Reply } from '../../bench/connection.ts'
import type { Message } from '../../bench/request.ts'
import { certificate, certificateKey } from '../connectors/certificate.ts'
import { until } from '../service.ts'

const message: Message = { method: 'GET', path: '/', headers: ['X-Name', 'value'], body: undefined, id: '' }

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe.each([
  ['own', openConnections],
  ['autocannon', openAutocannon],
] as const)('%s', (_name, generator) => {
  async function open(url: string) {
    const { connections, close } = await generator(url, 1)
    onTestFinished(close)
    return () => new Promise<Reply>((resolve) => connections[0]!.send(message, resolve))
  }

  /** A server that writes these pieces for each request, each when the one before has left, and may end the connection then. */
  async function aServer(pieces: readonly string[], { ends = false } = {}) {
    const requests: string[] = []
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => socket.destroy()))
      socket.on('data', (chunk: Buffer) => {
        requests.push(chunk.toString())
        const write = ([piece, ...rest]: readonly string[]) => {
          if (piece !== undefined) socket.write(piece, () => setImmediate(() => write(rest)))
          else if (ends) socket.end()
        }
        write(pieces)
      })
    })
    const ask = await open(`http://127.0.0.1:${await listening(server)}`)
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    return { ask, requests, sockets }
  }

  test.each([
    ['cut within its head and its body', ['HTTP/1.1 2', '00 OK\r\ncontent-length: 2\r', '\n\r\n{', '}']],
    ['without a body', ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n']],
    [
      'in chunks that look like an end and are cut',
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '7\r\n\r\n0\r\n\r\n\r\n', '0\r\n', '\r\n'],
    ],
  ])('a reply %s is one reply, on the connection that was open before', async (_how, pieces) => {
    const { ask, requests, sockets } = await aServer(pieces)
    await until(() => sockets.size === 1, 'the connection')
    for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(200)
    expect(requests).toHaveLength(3)
    expect(requests[0]).toMatch(/^GET \/ HTTP\/1\.1\r\n[^]*X-Name: value\r\n/)
    expect(sockets.size).toBe(1)
  })

  test('a reply that says that the connection ends is followed by another connection', async () => {
    const head = 'HTTP/1.1 409 No\r\nConnection: close\r\nContent-Length: 1\r\n\r\n'
    const { ask, sockets } = await aServer([`${head}x`])
    expect([(await ask()).status, (await ask()).status]).toEqual([409, 409])
    expect(sockets.size).toBe(2)
  })

  test.each([
    ['no reply', []],
    ['half a reply', ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhalf']],
    ['half a head', ['HTTP/1.1 200 OK\r\nContent-Le']],
  ])('%s and the end of the connection is 0, never a status, each time', async (_what, pieces) => {
    const { ask, requests } = await aServer(pieces, { ends: true })
    expect([await ask(), await ask()]).toEqual([NO_REPLY, NO_REPLY])
    await until(() => requests.length === 2, 'the requests')
  })

  test('an error says what it says, and how long to wait', async () => {
    const said = 'x'.repeat(1000)
    const head = 'HTTP/1.1 429 No\r\nretry-after: 7\r\nContent-Length: 1000\r\n\r\n'
    const { ask } = await aServer([head + said.slice(300), said.slice(0, 300)])
    expect(await ask()).toEqual({ status: 429, retryAfterSeconds: 7, text: said.slice(0, 500) })
  })

  test('a server that is gone answers nothing, and one that does not prove its name is told nothing', async () => {
    const gone = createServer()
    const port = await listening(gone)
    gone.close()
    expect(await (await open(`http://127.0.0.1:${port}`))()).toEqual(NO_REPLY)
    const requests: unknown[] = []
    const tls = createTlsServer({ key: certificateKey, cert: certificate }, (socket) => {
      socket.on('error', () => socket.destroy()).on('data', (chunk) => requests.push(chunk))
    })
    expect(await (await open(`https://127.0.0.1:${await listening(tls)}`))()).toEqual(NO_REPLY)
    expect(requests).toEqual([])
  })
})

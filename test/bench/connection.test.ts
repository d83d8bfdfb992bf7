// A connection of the load generator: what it takes for the end of a reply decides what is measured.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection, type Connection } from '../../bench/connection.ts'
import { until } from '../service.ts'

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
  const connection = await openConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    connection.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { ask: () => asked(connection), requests, sockets }
}

const message = { method: 'GET', path: '/', headers: ['X-Name', 'value'], body: undefined, id: '' }
const asked = ({ send }: Connection) => new Promise<number>((resolve) => send(message, resolve))

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
  for (let sent = 1; sent <= 3; sent++) {
    expect(await ask()).toBe(200)
    expect(requests).toHaveLength(sent)
  }
  expect(sockets.size).toBe(1)
})

test('a reply that says that the connection ends is followed by another connection', async () => {
  const { ask, sockets } = await aServer([
    'HTTP/1.1 409 No\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx',
  ])
  expect([await ask(), await ask()]).toEqual([409, 409])
  expect(sockets.size).toBe(2)
})

test('a reply without a length ends with its connection', async () => {
  const { ask } = await aServer(['HTTP/1.1 503 No\r\n\r\nsome', ' text'], { ends: true })
  expect(await ask()).toBe(503)
})

test.each([
  ['no reply', []],
  ['half a reply', ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhalf']],
])('%s and the end of the connection is 0, never a status', async (_what, pieces) => {
  const { ask, requests } = await aServer(pieces, { ends: true })
  expect(await ask()).toBe(0)
  await until(() => requests.length === 1, 'the request')
})

test('it is open before it is used', async () => {
  const { ask, requests, sockets } = await aServer(['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'])
  await until(() => sockets.size === 1, 'the connection')
  expect(requests).toEqual([])
  expect(await ask()).toBe(200)
  expect(sockets.size).toBe(1)
  expect(requests).toEqual([expect.stringMatching(/^GET \/ HTTP\/1\.1\r\n[^]*X-Name: value\r\n/)])
})

test('one that cannot be opened beforehand is no error, and answers nothing', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const connection = await openConnection(`http://127.0.0.1:${port}`)
  onTestFinished(() => connection.close())
  expect(await asked(connection)).toBe(0)
})

// Clients of HTTP/1.0: old proxies, health checks and load tools. node:http serves them; uWebSockets.js cannot.
import { afterEach, describe, expect, test } from 'vitest'
import { answers, open, until } from './listen-client.ts'
import { openFrontEnd, servers, type TestFrontEnd } from './listen-front-end.ts'

let frontEnd: TestFrontEnd
afterEach(() => frontEnd.close())

/** Everything that comes back until the service closes the connection. */
async function exchange(...parts: string[]): Promise<string> {
  const client = await open(frontEnd.port)
  await client.send(...parts)
  await until(client.isClosed, client.received)
  return client.received()
}

async function ask(...parts: string[]): Promise<string> {
  frontEnd = await openFrontEnd('node:http')
  return exchange(...parts)
}

const post = (path: string, body: string, ...lines: string[]): string =>
  `POST ${path} HTTP/1.0\r\nContent-Length: ${body.length}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`

describe('node:http', () => {
  // proves abuse: A proxy or a health check speaks
  test.for([
    ['GET', 'GET /a HTTP/1.0\r\n\r\n', 'GET /a'],
    ['a Host', 'GET /a HTTP/1.0\r\nHost: x\r\n\r\n', 'GET /a'],
    ['a wish to keep the connection', 'GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', 'GET /a'],
    ['a body', post('/echo', 'body'), 'body'],
    ['a body and a wish to keep the connection', post('/echo', 'body', 'Connection: Keep-Alive'), 'body'],
    ['a POST without a Content-Length', 'POST /echo HTTP/1.0\r\n\r\n', ''],
    ['bytes without a Content-Length', 'POST /echo HTTP/1.0\r\n\r\nbody', ''],
    ['an expectation, which gets no 100', post('/echo', 'body', 'Expect: 100-continue'), 'body'],
    ['a refused body', post('/refused', 'body'), 'refused'],
  ] as const)('%s: one reply, then the connection closes', async ([, bytes, body]) => {
    const found = answers(await ask(bytes))
    expect(found).toMatchObject([{ headers: { connection: 'close' }, body }])
    expect(frontEnd.seen).toHaveLength(1)
  })

  test('a HEAD has the headers of its reply and no body', async () => {
    const received = await ask('HEAD /a HTTP/1.0\r\n\r\n')
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*content-length: 7\r\n[^]*\r\n\r\n$/i)
  })

  test('a body that comes byte by byte is whole', async () => {
    const bytes = post('/echo', 'body')
    expect(answers(await ask(...bytes.split('')))).toMatchObject([{ status: 200, body: 'body' }])
  })

  test('a reply that streams comes without chunks and ends with the connection', async () => {
    const received = await ask('GET /streamed HTTP/1.0\r\n\r\n')
    const [head = '', body] = received.split('\r\n\r\n')
    expect(head).not.toMatch(/transfer-encoding|content-length/i)
    expect(body).toBe('first,second')
  })

  test('nothing pipelined behind it is run, of either version', async () => {
    const received = await ask(
      post('/echo', 'body') + 'GET /b HTTP/1.0\r\n\r\nGET /c HTTP/1.1\r\nHost: x\r\n\r\n',
    )
    expect(answers(received)).toMatchObject([{ status: 200, body: 'body' }])
    expect(frontEnd.seen).toEqual(['POST /echo'])
  })

  test('behind a request of HTTP/1.1 it is answered in its turn and ends the connection', async () => {
    const received = await ask(
      'GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.0\r\n\r\nGET /c HTTP/1.1\r\nHost: x\r\n\r\n',
    )
    expect(answers(received).map(({ body }) => body)).toEqual(['GET /a', 'GET /b'])
  })
})

describe.runIf(servers.includes('uWebSockets.js'))('uWebSockets.js', () => {
  // proves abuse: A proxy or a health check speaks
  test.for([
    ['a GET', 'GET /a HTTP/1.0\r\n\r\n'],
    ['a POST', post('/echo', 'body')],
  ] as const)('%s of HTTP/1.0 is 505, is not run, and is told', async ([, bytes]) => {
    const dropped: string[] = []
    frontEnd = await openFrontEnd('uWebSockets.js', {
      timeouts: { headMs: 100, requestMs: 10_000, idleMs: 10_000, stalledMs: 10_000 },
      onDropped: (why, address) => dropped.push(`${why} ${address}`),
    })
    expect(await exchange(bytes)).toMatch(/^HTTP\/1\.1 505 /)
    // A connection with a request is none of them.
    for (let i = 0; dropped.length === 0; i++)
      await exchange(`GET /${i} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(dropped).toEqual(['unread 127.0.0.1'])
    expect(frontEnd.seen.filter((request) => !/^GET \/\d+$/.test(request))).toEqual([])
  })
})

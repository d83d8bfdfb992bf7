// Heads that two parsers could read differently, over every listener (abuse.md, RFC 9112 §11.2).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { guard, headBytesMax } from '../../src/server/http/listen/guard.ts'
import { answers, open, until } from './listen-client.ts'
import { openFrontEnd, servers, type TestFrontEnd } from './listen-front-end.ts'
import type { DropReason, Head } from '../../src/server/http/listen/index.ts'

const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`
const withHeaders = (...lines: string[]): string =>
  `POST /echo HTTP/1.1\r\nHost: x\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
const length = smuggled.length

/** Written as they stand; what follows the head could be taken for a body or for a request. */
const ambiguous: Record<string, string> = {
  'two different Content-Length': withHeaders('Content-Length: 0', `Content-Length: ${length}`) + smuggled,
  'two equal Content-Length': withHeaders('Content-Length: 0', 'content-length: 0') + smuggled,
  'a list in Content-Length': withHeaders('Content-Length: 0, 0') + smuggled,
  'an empty Content-Length': withHeaders('Content-Length:') + smuggled,
  'a blank Content-Length': withHeaders('Content-Length: \t ') + smuggled,
  'a positive Content-Length': withHeaders('Content-Length: +0') + smuggled,
  'a negative Content-Length': withHeaders('Content-Length: -0') + smuggled,
  'a hexadecimal Content-Length': withHeaders('Content-Length: 0x0') + smuggled,
  'a fractional Content-Length': withHeaders('Content-Length: 0.0') + smuggled,
  'a Content-Length beyond 2^64': withHeaders(`Content-Length: ${2n ** 64n}`) + smuggled,
  'a Content-Length beyond 2^53': withHeaders(`Content-Length: ${2n ** 53n + 1n}`) + smuggled,
  'a folded Content-Length': withHeaders('Content-Length:', ' 0') + smuggled,
  'a space before the colon': withHeaders('Content-Length : 0') + smuggled,
  'Transfer-Encoding: chunked': withHeaders('Transfer-Encoding: chunked') + chunked,
  'Transfer-Encoding beside Content-Length':
    withHeaders('Content-Length: 4', 'Transfer-Encoding: chunked') + chunked,
  'Transfer-Encoding before Content-Length':
    withHeaders('Transfer-Encoding: chunked', 'Content-Length: 4') + chunked,
  'Transfer-Encoding: xchunked': withHeaders('Transfer-Encoding: xchunked') + smuggled,
  'Transfer-Encoding: chunked, identity': withHeaders('Transfer-Encoding: chunked, identity') + smuggled,
  'Transfer-Encoding: identity': withHeaders('Transfer-Encoding: identity') + smuggled,
  'an empty Transfer-Encoding': withHeaders('Transfer-Encoding:') + smuggled,
  'tRANSFER-eNCODING: CHUNKED': withHeaders('tRANSFER-eNCODING: CHUNKED') + chunked,
  'a tab in Transfer-Encoding': withHeaders('Transfer-Encoding:\tchunked') + chunked,
  'a space before the colon of Transfer-Encoding': withHeaders('Transfer-Encoding : chunked') + chunked,
  'a folded Transfer-Encoding': withHeaders('Transfer-Encoding:', ' chunked') + chunked,
  'a vertical tab in Transfer-Encoding': withHeaders('Transfer-Encoding: \x0bchunked') + chunked,
  'a second Transfer-Encoding':
    withHeaders('Transfer-Encoding: identity', 'Transfer-Encoding: chunked') + chunked,
  'Transfer-Encoding beside an expectation':
    withHeaders('Expect: 100-continue', 'Transfer-Encoding: chunked') + chunked + smuggled,
  'Transfer-Encoding beside an unknown expectation':
    withHeaders('Expect: foo', 'Transfer-Encoding: chunked') + chunked + smuggled,
  'garbage for a chunk': `${withHeaders('Transfer-Encoding: chunked')}zz\r\n${smuggled}`,
  'a Transfer-Encoding behind a hundred headers':
    withHeaders(...Array.from({ length: 2_100 }, (_, i) => `${i % 10}:`), 'Transfer-Encoding: chunked') +
    chunked,
  'a bare line feed': withHeaders(`X-A: a\nContent-Length: ${length}`) + smuggled,
  'bare line feeds only': withHeaders().replaceAll('\r\n', '\n') + smuggled,
  'a bare carriage return': withHeaders(`X-A: a\rContent-Length: ${length}`) + smuggled,
  'a NUL in a value': withHeaders('X-A: a\0b') + smuggled,
  'a NUL in a name': withHeaders('X\0A: b') + smuggled,
  'a line without a colon': withHeaders('Content-Length') + smuggled,
  'a name that is no token': withHeaders('X(A): b') + smuggled,
  'no Host': 'POST /echo HTTP/1.1\r\nX-A: b\r\n\r\n' + smuggled,
  'two Hosts': withHeaders('Host: y') + smuggled,
  'HTTP/1.0 with Transfer-Encoding':
    withHeaders('Transfer-Encoding: chunked').replace('1.1', '1.0') + chunked,
  'HTTP/1.0 with two Hosts': withHeaders('Host: y').replace('1.1', '1.0') + smuggled,
  'HTTP/0.9': 'GET /a\r\n\r\n',
  'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an unknown version': withHeaders().replace('1.1', '1.2') + smuggled,
  'a lower-case method': withHeaders().replace('POST', 'post') + smuggled,
  'a method that is no token': withHeaders().replace('POST', 'P(T') + smuggled,
  'no method': withHeaders().replace('POST', '') + smuggled,
  'an absolute target': withHeaders().replace('/echo', 'http://x/echo') + smuggled,
  'an asterisk target': withHeaders().replace('/echo', '*') + smuggled,
  'a CONNECT': 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n' + smuggled,
  'a control character in the target': withHeaders().replace('/echo', '/e\x01cho') + smuggled,
  'a head over 16 KB': withHeaders(`X-A: ${'x'.repeat(headBytesMax)}`) + smuggled,
  'over a hundred headers': withHeaders(...Array.from({ length: 101 }, (_, i) => `X-${i}: x`)) + smuggled,
  'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
}

/** One reply, whole, in the form of every error, and nothing behind it. */
function expectRefusal(received: string): void {
  const [answer, ...further] = answers(received)
  expect(further).toEqual([])
  expect([400, 408, 411, 431, 505]).toContain(answer?.status)
  expect(answer?.headers).toEqual({
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'content-length': String(answer?.body.length),
    connection: 'close',
    date: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
  })
  expect(JSON.parse(answer?.body ?? '')).toEqual({ error: expect.stringMatching(/^[A-Z].*\.$/) })
  expect(received.endsWith(answer?.body ?? '-')).toBe(true)
}

describe.each(servers)('%s', (server) => {
  let frontEnd: TestFrontEnd
  beforeAll(async () => {
    frontEnd = await openFrontEnd(server)
  })
  beforeEach(() => void frontEnd.seen.splice(0))
  afterAll(() => frontEnd.close())

  test.for(Object.entries(ambiguous))('%s never reaches the front end', async ([name, bytes]) => {
    const inOneSegment = await open(frontEnd.port)
    const headEnd = bytes.search(/\r?\n\r?\n/) + 4
    const afterTheHead = await open(frontEnd.port)
    await inOneSegment.send(bytes)
    await afterTheHead.send(bytes.slice(0, headEnd), bytes.slice(headEnd))
    for (const client of [inOneSegment, afterTheHead]) {
      // Here uWebSockets.js waits for the rest of the line, until the timeout or the end of the stream.
      if (name === 'a bare carriage return') client.socket.end()
      await until(client.isClosed, client.received)
      // uWebSockets.js sends a 100 ahead of a refusal.
      expect(answers(client.received()).every(({ status }) => status === 100 || status >= 400)).toBe(true)
      if (server === 'node:http' && name !== 'a CONNECT') expectRefusal(client.received())
    }
    expect(frontEnd.seen).toEqual([])
  })

  test.for([
    ['transfer-encoding', 411, withHeaders('Transfer-Encoding: chunked') + chunked],
    ['host', 400, 'POST /echo HTTP/1.1\r\nX-A: b\r\n\r\n'],
    ['target', 400, withHeaders().replace('/echo', 'http://x/echo')],
    ['target', 400, 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['http-version', 505, withHeaders().replace('1.1', '1.2')],
    ['http-version', 505, withHeaders().replace('1.1', '2.0')],
    ['http-version', 505, 'GET /a\r\n\r\n'],
    ['http-version', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ] as const)(
    'a refused head is told once, with its peer, and answered with a sentence: %s %i',
    async ([reason, status, bytes]) => {
      const dropped: string[] = []
      const other = await openFrontEnd(server, {
        timeouts: { headMs: 100, requestMs: 10_000, idleMs: 10_000, stalledMs: 10_000 },
        onDropped: (why, address) => dropped.push(`${why} ${address}`),
      })
      const client = await open(other.port)
      await client.send(bytes)
      await until(client.isClosed, client.received)
      const [answer, ...further] = answers(client.received())
      expect(further).toEqual([])
      if (dropped.length === 0) {
        // uWebSockets.js has answered by itself. It is noticed with a later connection, once the time for a head is over.
        expect(server).toBe('uWebSockets.js')
        await until(
          () => {
            void open(other.port).then(({ socket }) => socket.destroy())
            return dropped.length > 0
          },
          () => dropped,
        )
        expect(dropped[0]).toBe('unread 127.0.0.1')
      } else {
        expect(dropped).toEqual([`${reason} 127.0.0.1`])
        expect(answer).toMatchObject({ status, headers: { connection: 'close' } })
        expect(JSON.parse(answer?.body ?? '')).toEqual({ error: expect.stringMatching(/^[A-Z].*\.$/) })
      }
      expect(other.seen).toEqual([])
      await other.close()
    },
  )

  // uWebSockets.js writes a bare reply of its own for these, or closes the connection.
  test.runIf(server === 'node:http').for([
    ['transfer-encoding', 411, withHeaders('Content-Length: 4', 'Transfer-Encoding: chunked') + chunked],
    ['content-length', 400, withHeaders('Transfer-Encoding: chunked', 'Content-Length: 4') + chunked],
    ['content-length', 400, withHeaders('Content-Length: 4', 'Content-Length: 4')],
    ['content-length', 400, withHeaders('Content-Length: 4x')],
    ['size', 431, withHeaders(`X-A: ${'x'.repeat(headBytesMax)}`)],
    ['size', 431, `GET /${'x'.repeat(headBytesMax)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['syntax', 400, 'hello\r\n\r\n'],
    ['syntax', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['syntax', 400, withHeaders('Content-Length')],
    ['slow', 408, ''],
    ['slow', 408, 'GET /a HTTP/1.1\r\nHost'],
  ] as const)(
    'what the parser of node refuses is told and answered likewise: %s %i',
    async ([reason, status, bytes]) => {
      const dropped: string[] = []
      const other = await openFrontEnd(server, {
        timeouts: { headMs: 100, requestMs: 10_000, idleMs: 10_000, stalledMs: 10_000 },
        onDropped: (why, address) => dropped.push(`${why} ${address}`),
      })
      const client = await open(other.port)
      await client.send(bytes)
      await until(client.isClosed, client.received)
      expect(dropped).toEqual([`${reason} 127.0.0.1`])
      expect(answers(client.received())[0]?.status).toBe(status)
      expectRefusal(client.received())
      await other.close()
    },
  )

  test.runIf(server === 'node:http')(
    'a head that ends too early is answered, and nothing behind a request that runs',
    async () => {
      const dropped: string[] = []
      const other = await openFrontEnd(server, { onDropped: (why) => dropped.push(why) })
      const early = await open(other.port)
      early.socket.end('GET /a HTTP/1.1\r\nHost')
      await until(early.isClosed, early.received)
      expectRefusal(early.received())
      const running = await open(other.port)
      await running.send('GET /later HTTP/1.1\r\nHost: x\r\n\r\nno request\r\n\r\n')
      await until(running.isClosed, running.received)
      expect(running.received()).toBe('')
      expect(dropped).toEqual(['syntax'])
      await other.close()
    },
  )

  test('a CONNECT is dropped without a reply', async () => {
    const dropped: string[] = []
    const other = await openFrontEnd(server, { onDropped: (why) => dropped.push(why) })
    const client = await open(other.port)
    await client.send('CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n')
    await until(client.isClosed, client.received)
    if (server === 'node:http') expect([client.received(), dropped]).toEqual(['', ['target']])
    await other.close()
  })

  test('a refusal comes after the replies to the requests before it', async () => {
    const other = await openFrontEnd(server)
    const client = await open(other.port)
    await client.send(
      'GET /a HTTP/1.1\r\nHost: x\r\n\r\n' + withHeaders('Transfer-Encoding: chunked') + chunked,
    )
    await until(client.isClosed, client.received)
    expect(answers(client.received()).map(({ status }) => status)).toEqual([200, 411])
    expect(other.seen).toEqual(['GET /a'])
    await other.close()
  })

  test.for([
    ['a second request', 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['leading zeros in Content-Length', `${withHeaders('Content-Length: 0004')}body`],
    ['blanks around Content-Length', `${withHeaders('Content-Length: \t4 \t')}body`],
  ] as const)('%s is nothing to refuse', async ([, bytes]) => {
    const other = await openFrontEnd(server)
    const client = await open(other.port)
    await client.send(bytes + bytes)
    await until(() => answers(client.received()).length === 2, client.received)
    client.socket.destroy()
    await other.close()
  })
})

const raw = {
  httpVersion: '1.1',
  method: 'POST',
  path: '/',
  query: '',
  headers: [['host', 'x']] as [string, string][],
  remoteAddress: () => '::ffff:192.0.2.1',
}

function head(...headers: [string, string][]): Head {
  const passed = guard({ ...raw, headers: [...raw.headers, ...headers] })
  if (typeof passed === 'string') throw new Error(`dropped for its ${passed}`)
  return passed
}

describe('guard', () => {
  test('reads the length, all values of a repeated header, and the peer as IPv4', () => {
    const passed = head(['x-a', '1'], ['content-length', '12'], ['x-a', '2'])
    expect(passed.bodyBytes).toBe(12)
    expect(passed.remoteAddress()).toBe('192.0.2.1')
    expect(passed.header('x-a')).toBe('1, 2')
    expect(passed.header('x-b')).toBeUndefined()
    expect(head().bodyBytes).toBe(0)
  })

  test('hands over a head without accessors, which would keep it in memory until a full collection', () => {
    const members = Object.values(Object.getOwnPropertyDescriptors(head()))
    expect(members).toHaveLength(8)
    expect(members.filter((member) => 'get' in member)).toEqual([])
  })

  test.each<[DropReason, Partial<typeof raw>]>([
    ['method', { method: 'post' }],
    ['target', { path: '*' }],
    ['host', { headers: [] }],
    ['content-length', { headers: [['content-length', '+1']] }],
    ['transfer-encoding', { headers: [['transfer-encoding', 'chunked']] }],
    ['http-version', { httpVersion: '0.9' }],
    ['http-version', { httpVersion: '2.0' }],
  ])('says that it drops a connection for its %s', (reason, changed) => {
    expect(guard({ ...raw, ...changed })).toBe(reason)
  })

  test('lets HTTP/1.0 pass without a Host, and not with two', () => {
    const old = { ...raw, httpVersion: '1.0' }
    expect(guard({ ...old, headers: [] })).toMatchObject({ httpVersion: '1.0', bodyBytes: 0 })
    expect(guard({ ...old, headers: [...raw.headers, ...raw.headers] })).toBe('host')
  })

  test('lets a hundred headers of 16 KB pass, and nothing over either', () => {
    const hundred = Array.from({ length: 99 }, (): [string, string] => ['n', ''])
    expect(head(...hundred)).toBeDefined()
    expect(() => head(...hundred, ['n', ''])).toThrow('size')
    const overhead = 'POST/'.length + 'host: x\r\n'.length + 'n: \r\n'.length
    expect(head(['n', 'x'.repeat(headBytesMax - overhead)])).toBeDefined()
    expect(() => head(['n', 'x'.repeat(headBytesMax - overhead + 1)])).toThrow('size')
  })
})

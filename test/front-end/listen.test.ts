// Requests and replies over every listener: docs/design-notes.md "Limits of the listeners" asks for the same tests over both.
import { Agent, request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test } from 'vitest'
import { listen, type Head } from '../../src/server/http/listen/index.ts'
import { bounds } from '../../src/server/http/gates/index.ts'
import { answers, open, until, type Connection } from './listen-client.ts'
import { answered, openFrontEnd, servers, type TestFrontEnd } from './listen-front-end.ts'

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
const post = (path: string, body: string, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`

const bodies = (connection: Connection): string[] => answers(connection.received()).map(({ body }) => body)
const untilReplies = (connection: Connection, count: number): Promise<void> =>
  until(() => answers(connection.received()).length >= count, connection.received)
const untilWaiting = (frontEnd: TestFrontEnd): Promise<void> =>
  until(
    () => frontEnd.waiting.length === 1,
    () => frontEnd.seen,
  )
const untilClosed = (connection: Connection): Promise<void> => until(connection.isClosed, connection.received)

describe.each(servers)('%s', (server) => {
  const opened: { close(): unknown }[] = []
  const aFrontEnd = async (options: Parameters<typeof openFrontEnd>[1] = {}): Promise<TestFrontEnd> => {
    const frontEnd = await openFrontEnd(server, options)
    opened.push(frontEnd)
    return frontEnd
  }
  const connectTo = async (frontEnd: TestFrontEnd, host?: string): Promise<Connection> => {
    const connection = await open(frontEnd.port, host)
    opened.push({ close: () => connection.socket.destroy() })
    return connection
  }
  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close()
  })

  test('hands over the head and sends the reply with its length and date', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    await client.send(get('/a%20b?c=1&d', 'X-Note: first\r\nx-note: second\r\n'))
    await untilReplies(client, 1)
    expect(frontEnd.seen).toEqual(['GET /a%20b?c=1&d'])
    expect(frontEnd.latest).toEqual({ bodyBytes: 0, remoteAddress: '127.0.0.1', note: 'first, second' })
    const [reply] = answers(client.received())
    expect(reply?.status).toBe(200)
    expect(reply?.body).toBe('GET /a%20b')
    expect(reply?.headers['content-length']).toBe('10')
    expect(Date.parse(reply?.headers['date'] ?? '')).toBeGreaterThan(0)
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  const streaming = async (texts: () => AsyncIterable<string>): Promise<[Connection, () => number]> => {
    let sent = 0
    const listener = await listen({
      host: '127.0.0.1',
      port: 0,
      server,
      onRequest: () =>
        answered({ status: 200, headers: {}, body: '', texts: texts(), sent: () => void sent++ }),
    })
    opened.push(listener)
    const client = await open(listener.port)
    opened.push({ close: () => client.socket.destroy() })
    return [client, () => sent]
  }

  describe('a reply that streams', () => {
    test('arrives in chunks, ends, and leaves the connection to the next', async () => {
      const [client, sent] = await streaming(async function* () {
        yield 'é'
        yield 'b'.repeat(200_000)
      })
      for (const count of [1, 2]) {
        await client.send(get('/'))
        await until(
          () => sent() === count && client.received().split('\r\n0\r\n\r\n').length === count + 1,
          sent,
        )
      }
      const [head = '', rest = ''] = client.received().split('\r\n\r\n', 2)
      expect(head.toLowerCase()).toContain('transfer-encoding: chunked')
      expect(head.toLowerCase()).not.toContain('content-length')
      expect(rest).toMatch(/^2\r\n\xc3\xa9\r\n/)
      expect(client.isClosed()).toBe(false)
    })

    test('has no length for who asks for its head', async () => {
      const [client, sent] = await streaming(async function* () {
        yield 'a'
      })
      await client.send(get('/').replace('GET', 'HEAD'))
      await until(() => sent() === 1 && client.received().endsWith('\r\n\r\n'), sent)
      expect(client.received()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(client.received().toLowerCase()).not.toContain('content-length')
    })

    test('that cannot go on is cut without its end', async () => {
      const [client, sent] = await streaming(async function* () {
        yield 'first'
        throw new Error('the database is gone')
      })
      await client.send(get('/'))
      await untilClosed(client)
      expect(sent()).toBe(1)
      expect(client.received()).not.toContain('\r\n0\r\n\r\n')
    })

    // proves abuse: Exports that are asked for and
    test('waits for a client that does not read, and ends with one that goes away', async () => {
      let made = 0
      let ended = false
      const [client, sent] = await streaming(async function* () {
        try {
          for (;;) {
            made++
            yield 'x'.repeat(1024 * 1024)
          }
        } finally {
          ended = true
        }
      })
      client.socket.pause()
      await client.send(get('/'))
      let before = -1
      // Bytes that fit into the buffers of both sockets are taken; then nothing more is made.
      for (let same = 0; same < 20; same = made === before ? same + 1 : 0) {
        before = made
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      expect(made).toBeLessThan(64)
      client.socket.destroy()
      await until(
        () => ended && sent() === 1,
        () => [made, ended, sent()],
      )
    })
  })

  test('forgets a request that is answered, while its connection waits for the next', async () => {
    const heads: WeakRef<Head>[] = []
    const listener = await listen({
      host: '127.0.0.1',
      port: 0,
      server,
      onRequest(taken) {
        heads.push(new WeakRef(taken))
        return {
          body: 'read',
          async reply(reading) {
            const body = await reading
            return body && { status: 200, headers: {}, body }
          },
        }
      },
    })
    opened.push(listener)
    const client = await open(listener.port)
    opened.push({ close: () => client.socket.destroy() })
    await client.send(post('/', 'body'))
    await untilReplies(client, 1)
    expect(heads).toHaveLength(1)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await until(() => {
      collect()
      return heads[0]?.deref() === undefined
    }, String)
    expect(client.isClosed()).toBe(false)
  })

  test('takes bodies of no, one and many segments, byte for byte', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    const sent = ['', 'x', 'ÿ\0\r\n'.repeat(25_000)]
    for (const body of sent) await client.send(post('/echo', body))
    await untilReplies(client, sent.length)
    expect(bodies(client)).toEqual(sent)
  })

  test('a body whose turn has not come is left with its client, and whole when it has', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    const large = 'x'.repeat(64 * 1024 * 1024)
    void client.send(post('/turn', large) + get('/a'))
    await until(() => frontEnd.waiting.length === 1, client.received)
    const witness = await connectTo(frontEnd)
    await witness.send(post('/echo', 'x'.repeat(1024 * 1024)))
    await untilReplies(witness, 1)
    expect(client.socket.writableLength).toBeGreaterThan(large.length / 4)
    expect(client.received()).toBe('')
    frontEnd.waiting[0]!()
    await untilReplies(client, 2)
    expect(bodies(client)).toEqual([String(large.length), 'GET /a'])
  })

  test.each(['', 'a part'])(
    'a client that goes away before its turn is forgotten, having sent "%s"',
    async (part) => {
      const frontEnd = await aFrontEnd()
      const client = await connectTo(frontEnd)
      await client.send(`POST /turn HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n`, part)
      await until(() => frontEnd.waiting.length === 1, client.received)
      client.socket.destroy()
      frontEnd.waiting[0]!()
      await until(() => frontEnd.aborted.length === 1, client.received)
      expect(frontEnd.aborted).toEqual([99])
    },
  )

  test('a refusal before the turn of a body leaves its connection to the next request', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    await client.send(post('/turn-refused', 'no') + get('/a'))
    await untilReplies(client, 2)
    expect(bodies(client)).toEqual(['refused', 'GET /a'])
    frontEnd.waiting[0]!()
    await client.send(post('/turn-refused', get('/smuggled').repeat(20_000)) + get('/b'))
    await untilReplies(client, 4)
    expect(bodies(client).slice(2)).toEqual(['refused', 'GET /b'])
    expect(frontEnd.seen).not.toContain('GET /smuggled')
  })

  test('reads a request that is split at any byte', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    const whole = post('/echo', '{"a":1}')
    for (let at = 1; at < whole.length; at++) {
      await client.send(whole.slice(0, at), whole.slice(at))
      await untilReplies(client, at)
    }
    await client.send(...whole.split(''))
    await untilReplies(client, whole.length)
    expect(new Set(bodies(client))).toEqual(new Set(['{"a":1}']))
    expect(frontEnd.seen).toHaveLength(whole.length)
  })

  test('a HEAD request gets the headers of its reply and no body', async () => {
    const client = await connectTo(await aFrontEnd())
    await client.send(get('/a').replace('GET', 'HEAD') + get('/b').replace('GET', 'HEAD'))
    await until(() => answers(client.received(), true).length === 2, client.received)
    expect(answers(client.received(), true).map(({ headers }) => headers['content-length'])).toEqual([
      '7',
      '7',
    ])
    expect(client.received()).toMatch(/\r\n\r\n$/)
  })

  test('a 304 carries no Content-Length', async () => {
    const client = await connectTo(await aFrontEnd())
    await client.send(get('/unchanged') + get('/a'))
    await untilReplies(client, 2)
    const [unchanged, next] = answers(client.received())
    expect(unchanged?.headers).toMatchObject({ etag: '"1"' })
    expect(unchanged?.headers).not.toHaveProperty('content-length')
    expect(next?.body).toBe('GET /a')
  })

  test('requests pipelined behind refused ones are answered in order, and a refused body is never run as a request', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    await client.send(
      post('/refused', get('/smuggled')) + post('/echo', 'one') + post('/refused', 'no') + get('/a'),
    )
    await untilReplies(client, 4)
    expect(bodies(client)).toEqual(['refused', 'one', 'refused', 'GET /a'])
    const split = post('/refused', get('/smuggled'))
    await client.send(split.slice(0, split.indexOf('GET')), get('/smuggled'), get('/b'))
    await untilReplies(client, 6)
    expect(bodies(client).slice(4)).toEqual(['refused', 'GET /b'])
    expect(frontEnd.seen).not.toContain('GET /smuggled')
  })

  test('a closing reply waits for the unwanted body, so that no reset overtakes it', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    const sent = post('/refused-closing', get('/smuggled').repeat(20_000))
    await client.send(sent.slice(0, -1))
    const witness = await connectTo(frontEnd)
    await witness.send(get('/a'))
    await untilReplies(witness, 1)
    expect(client.received()).toBe('')
    await client.send(sent.slice(-1))
    await untilClosed(client)
    expect(client.wasReset()).toBe(false)
    const [reply] = answers(client.received())
    expect(reply).toMatchObject({ status: 413, body: 'refused', headers: { connection: 'close' } })
    expect(client.received().match(/connection:/gi)).toHaveLength(1)
    expect(frontEnd.seen).toEqual(['POST /refused-closing', 'GET /a'])
  })

  test('nothing pipelined behind a closing reply is run', async () => {
    const frontEnd = await aFrontEnd()
    for (const closing of [
      get('/a', 'Connection: close\r\n'),
      get('/a', 'Connection: TE, Close\r\n'),
      get('/refused-closing'),
      post('/refused-closing', 'body'),
      post('/echo', 'body', 'Connection: close\r\n'),
    ]) {
      const client = await connectTo(frontEnd)
      await client.send(closing + get('/behind'))
      await untilClosed(client)
    }
    expect(frontEnd.seen).toHaveLength(5)
    expect(frontEnd.seen).not.toContain('GET /behind')
  })

  test('a refused body too long to throw away ends the connection', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    await client.send(`POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 ** 40}\r\n\r\n`)
    await untilClosed(client)
    expect(answers(client.received())).toMatchObject([{ status: 401, headers: { connection: 'close' } }])
  })

  test('a request pipelined behind one still unanswered never gets the wrong reply', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    await client.send(post('/wait', 'first'), get('/second'))
    await until(() => client.isClosed() || frontEnd.seen.length === 2, client.received)
    for (const answer of frontEnd.waiting) answer()
    await until(() => client.isClosed() || answers(client.received()).length === 2, client.received)
    expect(bodies(client)).toEqual(client.isClosed() ? [] : ['first', 'GET /second'])
  })

  // proves abuse: Thousands of requests pipelined
  test('a connection with more requests unanswered than it may have is dropped, and no more of them are run', async () => {
    const dropped: unknown[] = []
    const frontEnd = await aFrontEnd({ onDropped: (reason) => dropped.push(reason) })
    const client = await connectTo(frontEnd)
    for (let round = 0; round < 3; round++) {
      await client.send(get('/a').repeat(server === 'node:http' ? bounds.pipelined : 1))
      await untilReplies(client, (round + 1) * (server === 'node:http' ? bounds.pipelined : 1))
    }
    const seen = frontEnd.seen.length
    await client.send(get('/later').repeat(1_000))
    await untilClosed(client)
    expect(frontEnd.seen.length - seen).toBeLessThanOrEqual(bounds.pipelined)
    // uWebSockets.js closes it by itself.
    expect(dropped).toEqual(server === 'node:http' ? ['pipelined'] : [])
  })

  test('replies that come later find their connection', async () => {
    const frontEnd = await aFrontEnd()
    const clients = await Promise.all(Array.from({ length: 20 }, () => connectTo(frontEnd)))
    await Promise.all(
      clients.map((client, i) => client.send(i % 2 === 0 ? post('/wait', String(i)) : get('/later'))),
    )
    await until(
      () => frontEnd.waiting.length === clients.length,
      () => frontEnd.waiting.length,
    )
    for (const answer of frontEnd.waiting) answer()
    for (const client of clients) await untilReplies(client, 1)
    expect(clients.map(bodies)).toEqual(clients.map((_, i) => [i % 2 === 0 ? String(i) : 'later']))
  })

  test('Expect: 100-continue is told to go on', async () => {
    const client = await connectTo(await aFrontEnd())
    await client.send(post('/echo', 'body', 'Expect: 100-continue\r\n').slice(0, -4))
    await until(() => client.received() === 'HTTP/1.1 100 Continue\r\n\r\n', client.received)
    await client.send('body')
    await untilReplies(client, 2)
    expect(bodies(client)).toEqual(['', 'body'])
  })

  test('Expect: 100-continue is told to go on when its turn has come', async ({ skip }) => {
    skip(server === 'uWebSockets.js', 'it answers `Expect` by itself')
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    await client.send(post('/turn', 'body', 'Expect: 100-continue\r\n').slice(0, -4))
    await until(() => frontEnd.waiting.length === 1, client.received)
    expect(client.received()).toBe('')
    frontEnd.waiting[0]!()
    await until(() => client.received() === 'HTTP/1.1 100 Continue\r\n\r\n', client.received)
    await client.send('body')
    await untilReplies(client, 2)
    expect(bodies(client)).toEqual(['', '4'])
  })

  test.for(['/refused', '/refused-closing'])(
    'Expect: 100-continue answered by %s ends there',
    async (path) => {
      const frontEnd = await aFrontEnd()
      const client = await connectTo(frontEnd)
      await client.send(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 34\r\nExpect: 100-continue\r\n\r\n`,
      )
      await untilClosed(client)
      expect(client.received()).toMatch(/\r\nConnection: close\r\n[^]*refused$/i)
    },
  )

  test('any other expectation is ignored, not told that it failed', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    await client.send(post('/echo', 'body', 'Expect: foo\r\n') + get('/a', 'Expect: foo\r\n') + get('/b'))
    await untilReplies(client, 3)
    expect(bodies(client)).toEqual(['body', 'GET /a', 'GET /b'])
    expect(frontEnd.seen).toEqual(['POST /echo', 'GET /a', 'GET /b'])
  })

  test('an answer that comes later to an unwanted body leaves the connection to the next request', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    for (const round of [1, 2]) {
      await client.send(post('/later', get('/smuggled')))
      await untilWaiting(frontEnd)
      frontEnd.waiting.pop()?.()
      await untilReplies(client, 2 * round - 1)
      await client.send(get('/next'))
      await untilReplies(client, 2 * round)
    }
    expect(bodies(client)).toEqual(['later', 'GET /next', 'later', 'GET /next'])
    expect(client.received()).not.toMatch(/connection: close/i)
    expect(frontEnd.seen).toEqual(['POST /later', 'GET /next', 'POST /later', 'GET /next'])
  })

  test('an answer does not wait for the end of an unwanted body, whose rest is no request', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    const refused = post('/later', get('/smuggled').repeat(20_000))
    await client.send(refused.slice(0, -1))
    await untilWaiting(frontEnd)
    frontEnd.waiting.pop()?.()
    await untilReplies(client, 1)
    await client.send(refused.slice(-1) + get('/behind'))
    await untilReplies(client, 2)
    expect(bodies(client)).toEqual(['later', 'GET /behind'])
    expect(frontEnd.seen).toEqual(['POST /later', 'GET /behind'])
  })

  test('a request pipelined behind an unwanted body that is still unanswered never gets the wrong reply', async () => {
    const frontEnd = await aFrontEnd()
    const client = await connectTo(frontEnd)
    await client.send(post('/later', get('/smuggled')) + get('/behind'))
    await until(() => client.isClosed() || frontEnd.seen.length === 2, client.received)
    for (const answer of frontEnd.waiting) answer()
    await until(() => client.isClosed() || answers(client.received()).length === 2, client.received)
    expect(bodies(client)).toEqual(server === 'node:http' ? ['later', 'GET /behind'] : [])
    expect(frontEnd.seen).not.toContain('GET /smuggled')
  })

  test.for([
    ['a client that will close', '/later', 'Connection: close\r\n'],
    ['a reply that will close', '/later-closing', ''],
  ] as const)(
    'an answer that comes later to an unwanted body waits for it also from %s',
    async ([, path, more]) => {
      const frontEnd = await aFrontEnd()
      const client = await connectTo(frontEnd)
      const sent = post(path, get('/smuggled').repeat(20_000), more)
      await client.send(sent.slice(0, -1))
      await untilWaiting(frontEnd)
      frontEnd.waiting.pop()?.()
      await client.send(sent.slice(-1))
      await untilClosed(client)
      expect(client.wasReset()).toBe(false)
      expect(bodies(client)).toEqual(['later'])
      expect(frontEnd.seen).toEqual([`POST ${path}`])
    },
  )

  test('nothing pipelined behind a reply that is to close is run while that reply is awaited', async () => {
    const frontEnd = await aFrontEnd()
    const asking = await connectTo(frontEnd)
    await asking.send(post('/later', 'body', 'Expect: foo\r\n') + get('/behind'))
    const kept = await connectTo(frontEnd)
    await kept.send(get('/a'))
    await untilReplies(kept, 1)
    await frontEnd.stopAccepting()
    await kept.send(post('/wait', 'body') + get('/behind'))
    await until(
      () => frontEnd.waiting.length === 2,
      () => frontEnd.seen,
    )
    for (const answer of frontEnd.waiting) answer()
    for (const client of [asking, kept]) await untilClosed(client)
    expect(frontEnd.seen).toEqual(['POST /later', 'GET /a', 'POST /wait'])
  })

  // proves fault: A client goes away in the middle
  test('of a reply that comes after its client has gone it is told once that it is out', async () => {
    const frontEnd = await aFrontEnd()
    const body = 'x'.repeat(1_000)
    const inTheMiddle = post('/later', body).slice(0, -400)
    for (const [sent, count] of [
      [get('/later'), 1],
      [post('/later', body), 1],
      [inTheMiddle, 1],
      [inTheMiddle.replace('\r\n', '\r\nConnection: close\r\n'), 1],
      ...(server === 'node:http' ? [[get('/later') + post('/later', body), 2] as const] : []),
    ] as const) {
      for (const answeredFirst of [true, false]) {
        const [toldBefore, begun] = [frontEnd.sent, frontEnd.seen.length]
        const client = await connectTo(frontEnd)
        await client.send(sent)
        await until(
          () => frontEnd.seen.length === begun + count,
          () => frontEnd.seen,
        )
        if (answeredFirst) for (const answer of frontEnd.waiting.splice(0)) answer()
        client.socket.resetAndDestroy()
        await untilClosed(client)
        const witness = await connectTo(frontEnd)
        await witness.send(get('/a'))
        await untilReplies(witness, 1)
        for (const answer of frontEnd.waiting.splice(0)) answer()
        await until(
          () => frontEnd.sent >= toldBefore + count,
          () => [sent.slice(0, 40), count, answeredFirst, frontEnd.sent - toldBefore],
        )
        expect(frontEnd.sent).toBe(toldBefore + count)
      }
    }
    await frontEnd.close()
    expect(frontEnd.aborted).toEqual([])
  })

  // proves fault: A client goes away in the middle
  test('a client that goes away in mid-body gives its bytes back once', async () => {
    const frontEnd = await aFrontEnd()
    for (const how of ['resetAndDestroy', 'destroy'] as const) {
      const client = await connectTo(frontEnd)
      await client.send(post('/echo', 'x'.repeat(1_000)).slice(0, -400))
      await until(
        () => frontEnd.latest.bodyBytes === 1_000,
        () => frontEnd.seen,
      )
      client.socket[how]()
    }
    await until(
      () => frontEnd.aborted.length === 2,
      () => frontEnd.aborted,
    )
    for (const path of ['/refused', '/refused-closing']) {
      const refused = await connectTo(frontEnd)
      await refused.send(post(path, 'x'.repeat(1_000)).slice(0, -400))
      await until(
        () => frontEnd.seen.at(-1) === `POST ${path}`,
        () => frontEnd.seen,
      )
      refused.socket.destroy()
    }
    const whole = await connectTo(frontEnd)
    await whole.send(post('/echo', 'x'.repeat(1_000)))
    await untilReplies(whole, 1)
    whole.socket.destroy()
    await frontEnd.close()
    expect(frontEnd.aborted).toEqual([1_000, 1_000])
  })

  test('a reply to a client that has gone is dropped', async () => {
    const frontEnd = await aFrontEnd()
    for (const sent of [post('/wait', 'body'), get('/later')]) {
      const client = await connectTo(frontEnd)
      await client.send(sent)
      const count = frontEnd.waiting.length
      await until(
        () => frontEnd.waiting.length > count || frontEnd.waiting.length === frontEnd.seen.length,
        () => frontEnd.seen,
      )
      client.socket.resetAndDestroy()
      await untilClosed(client)
    }
    const witness = await connectTo(frontEnd)
    await witness.send(get('/a'))
    await untilReplies(witness, 1)
    for (const answer of frontEnd.waiting) answer()
    await witness.send(get('/b'))
    await untilReplies(witness, 2)
    expect(bodies(witness)).toEqual(['GET /a', 'GET /b'])
    expect(frontEnd.aborted).toEqual([])
  })

  // proves fault: A slow head, a slow
  test('a slow head, a slow body and an idle connection are ended', async () => {
    const frontEnd = await aFrontEnd({
      timeouts: { headMs: 100, requestMs: 200, idleMs: 100, stalledMs: 10_000 },
    })
    const silent = await connectTo(frontEnd)
    const head = await connectTo(frontEnd)
    await head.send('POST /echo HTTP/1.1\r\nHost: x\r\n')
    const body = await connectTo(frontEnd)
    await body.send(post('/echo', 'body').slice(0, -1))
    const idle = await connectTo(frontEnd)
    await idle.send(get('/a'))
    for (const client of [silent, head, body, idle]) await untilClosed(client)
    expect(frontEnd.aborted).toEqual([4])
    expect(frontEnd.seen.toSorted()).toEqual(['GET /a', 'POST /echo'])
  })

  test.for([4_096, 15_000])('%i bytes of headers are read, in one segment or several', async (bytes) => {
    const client = await connectTo(await aFrontEnd())
    const long = get('/a', `X-Long: ${'x'.repeat(bytes)}\r\n`)
    await client.send(long)
    await client.send(long.slice(0, 20), long.slice(20, 3_000), long.slice(3_000))
    await untilReplies(client, 2)
    expect(bodies(client)).toEqual(['GET /a', 'GET /a'])
  })

  test('a thousand connections are kept and served', async () => {
    const frontEnd = await aFrontEnd()
    const agent = new Agent({ keepAlive: true })
    opened.push({ close: () => agent.destroy() })
    const echo = (i: number): Promise<string> =>
      new Promise((resolve, reject) => {
        const sent = request({ agent, port: frontEnd.port, host: '127.0.0.1', path: '/wait', method: 'POST' })
        sent.on('error', reject).on('response', (reply) => {
          let body = ''
          reply.on('data', (chunk: Buffer) => (body += chunk.toString())).on('end', () => resolve(body))
        })
        sent.end(String(i))
      })
    for (const round of [1, 2]) {
      const replies = Array.from({ length: 1_024 }, (_, i) => echo(i))
      await until(
        () => frontEnd.waiting.length === 1_024,
        () => frontEnd.waiting.length,
      )
      for (const answer of frontEnd.waiting.splice(0)) answer()
      expect(await Promise.all(replies), `round ${round}`).toEqual(
        Array.from({ length: 1_024 }, (_, i) => String(i)),
      )
    }
  })

  test('stopAccepting finishes open requests, closes their connections and takes no new one', async () => {
    const frontEnd = await aFrontEnd()
    const busy = await connectTo(frontEnd)
    await busy.send(post('/wait', 'last'))
    const halfway = await connectTo(frontEnd)
    await halfway.send(post('/echo', 'body').slice(0, -1))
    const idle = await connectTo(frontEnd)
    await idle.send(get('/a'))
    await untilReplies(idle, 1)
    expect(frontEnd.seen).toHaveLength(3)
    await Promise.all([frontEnd.stopAccepting(), frontEnd.stopAccepting()])
    await expect(open(frontEnd.port)).rejects.toBeDefined()
    for (const answer of frontEnd.waiting) answer()
    await halfway.send('y')
    for (const client of [busy, halfway]) {
      await untilClosed(client)
      expect(answers(client.received())).toMatchObject([{ status: 200, headers: { connection: 'close' } }])
    }
    // An idle connection is answered once more: its request may have been on its way already.
    await idle.send(get('/b'))
    await untilClosed(idle)
    expect(answers(idle.received()).slice(1)).toMatchObject([{ headers: { connection: 'close' } }])
    await frontEnd.drained()
  })

  test('stopAccepting answers the connections that only wait to be accepted', async () => {
    const frontEnd = await aFrontEnd()
    // Connected by the kernel within this turn, in which nothing can be accepted.
    const clients = Array.from({ length: 10 }, () => open(frontEnd.port))
    const stopped = frontEnd.stopAccepting()
    for (const client of await Promise.all(clients)) {
      await client.send(get('/a'))
      await untilClosed(client)
      expect(client.wasReset()).toBe(false)
      expect(answers(client.received())).toMatchObject([{ status: 200, headers: { connection: 'close' } }])
    }
    await stopped
    await expect(open(frontEnd.port)).rejects.toBeDefined()
  })

  test('close ends what is left and gives back the bytes of bodies under way', async () => {
    const frontEnd = await aFrontEnd()
    const clients = [await connectTo(frontEnd), await connectTo(frontEnd), await connectTo(frontEnd)] as const
    await clients[0].send(post('/wait', 'body'))
    await clients[1].send(post('/echo', 'body').slice(0, -1))
    await until(
      () => frontEnd.seen.length === 2,
      () => frontEnd.seen,
    )
    await frontEnd.close()
    for (const client of clients) await untilClosed(client)
    for (const answer of frontEnd.waiting) answer()
    expect(frontEnd.aborted).toEqual([4])
  })

  test('a port in use and a host that is not ours are refused by name', async () => {
    const frontEnd = await aFrontEnd()
    await expect(openFrontEnd(server, { port: frontEnd.port })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${frontEnd.port}`,
    )
    await expect(openFrontEnd(server, { host: '203.0.113.1' })).rejects.toThrow(
      'cannot listen on 203.0.113.1:0',
    )
  })

  const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === '::1'),
  )
  test.runIf(hasIpv6)('the peer is named alike whatever address was listened on', async () => {
    const frontEnd = await aFrontEnd({ host: '::' })
    for (const host of ['127.0.0.1', '::1']) {
      const client = await connectTo(frontEnd, host)
      await client.send(get('/a'))
      await untilReplies(client, 1)
      expect(frontEnd.latest.remoteAddress).toBe(host)
    }
  })
})

test.skipIf(servers.includes('uWebSockets.js'))(
  'uWebSockets.js is not replaced where it was asked for',
  async () => {
    await expect(openFrontEnd('uWebSockets.js')).rejects.toThrow(
      'uWebSockets.js does not load on this machine',
    )
  },
)

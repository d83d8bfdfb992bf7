// One HTTP exchange: at most once, bounded in bytes and time, and never vague about whether it was sent (decisions §8).
import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ANSWER_BYTES_MAX, call, type HttpCall } from '../../src/core/outbound/call.ts'
import { KeptConnection } from '../../src/core/outbound/kept.ts'
import { certificate } from './certificate.ts'
import { closedPort, http, serve, type Answer } from './loopback.ts'

const SOON_MS = 301

const to = (url: string, members: Partial<HttpCall> = {}): HttpCall => ({
  method: 'POST',
  url,
  headers: {},
  body: '{}',
  reach: 'any',
  timeoutMs: 10_000,
  ...members,
})

/** How a call of a server that answers so ends; it must have been asked exactly once. */
async function callOf(answer: Answer, members: Partial<HttpCall> = {}) {
  const server = await serve(answer)
  const outcome = await call(to(`${server.origin}/`, members))
  expect([server.connections(), server.requests.length]).toEqual([1, 1])
  return outcome
}

function aKeptConnection(): KeptConnection {
  const kept = new KeptConnection()
  onTestFinished(() => kept.destroy())
  return kept
}

const endless: Answer = (socket) => {
  socket.write('HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n')
  const more = () => {
    while (socket.writable && socket.write(`1000\r\n${'x'.repeat(4096)}\r\n`));
  }
  socket.on('drain', more)
  more()
}
/** Writes one byte whenever the last one is through: always alive, never done. */
const dripping =
  (start: string): Answer =>
  (socket) => {
    socket.write(start)
    const drip = setInterval(() => (socket.writable ? socket.write('x') : clearInterval(drip)), 5)
  }

const notSent = (reason: string) => ({
  kind: 'not-sent',
  reason: `the endpoint was not reached: ${reason}`,
})
const notFound = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }))
const silent = () => new Promise<never>(() => undefined)
const local = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
const moved = () => Promise.resolve([{ address: '127.0.0.2', family: 4 }])

describe('a request', () => {
  test('goes out as given, over a connection of its own each time', async () => {
    const server = await serve(http(200, 'ok'))
    const request = to(`${server.origin}/a?b=c`, {
      method: 'PATCH',
      headers: { 'x-y': 'z' },
      body: '{"ü":1}',
    })
    expect(await call(request)).toMatchObject({ kind: 'answered', status: 200, body: Buffer.from('ok') })
    await call(request)
    expect(server.connections()).toBe(2)
    expect(server.requests[0]).toMatchObject({
      line: 'PATCH /a?b=c HTTP/1.1',
      headers: {
        host: `127.0.0.1:${server.port}`,
        'accept-encoding': 'identity',
        'content-length': '8',
        connection: 'close',
        'x-y': 'z',
      },
      body: '{"ü":1}',
    })
  })

  test('of many to one endpoint shares a connection, where the address rule holds for each', async () => {
    const kept = aKeptConnection()
    const server = await serve((socket) => socket.write(http(200, 'ok', { Connection: 'keep-alive' })))
    const host = `http://name.test:${server.port}/`
    for (const body of ['1', '2', '3'])
      expect(await call(to(host, { body }), { lookup: local, kept })).toMatchObject({
        kind: 'answered',
        status: 200,
      })
    expect([server.connections(), server.requests.map(({ body }) => body)]).toEqual([1, ['1', '2', '3']])
    // The name leads elsewhere now: to an address that may not be called, and back.
    expect(await call(to(host, { reach: 'public' }), { lookup: local, kept })).toEqual(
      notSent('its address is not public (ADDRESS_REFUSED)'),
    )
    expect((await call(to(host), { lookup: moved, kept })).kind).toBe('not-sent')
    expect((await call(to(host), { lookup: local, kept })).kind).toBe('answered')
    expect(server.connections()).toBe(2)
  })

  test('takes a new connection where the answer over the kept one was not whole', async () => {
    const kept = aKeptConnection()
    const alive = http(200, 'ok', { Connection: 'keep-alive' })
    const answers = [alive, http(200, 'ok', { 'Content-Length': '3' })]
    const server = await serve((socket) => {
      const answer = answers.shift() ?? alive
      if (answer === alive) socket.write(answer)
      else socket.end(answer)
    })
    const kinds = []
    for (let i = 0; i < 4; i++) kinds.push((await call(to(`${server.origin}/`), { kept })).kind)
    expect([kinds, server.connections()]).toEqual([['answered', 'lost', 'answered', 'answered'], 2])
  })

  // proves abuse: Redirects
  test('follows no redirect', async () => {
    const elsewhere = await serve(http(200))
    for (const status of [301, 302, 303, 307, 308])
      expect(await callOf(http(status, '', { Location: `${elsewhere.origin}/` }))).toMatchObject({ status })
    expect(elsewhere.connections()).toBe(0)
  })

  // proves abuse: A compression bomb
  test('decompresses nothing: an endless text in a few bytes stays these few bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000))
    const outcome = await callOf(http(200, bomb, { 'Content-Encoding': 'gzip' }))
    expect(outcome).toMatchObject({ kind: 'answered', body: bomb })
  })

  test('passes over interim answers', async () => {
    const interim = Buffer.concat([Buffer.from('HTTP/1.1 103 X\r\n\r\n'), http(200, 'ok')])
    expect(await callOf(interim)).toMatchObject({ kind: 'answered', status: 200 })
  })

  test('takes an answer of exactly the limit', async () => {
    const outcome = await callOf(http(200, 'x'.repeat(ANSWER_BYTES_MAX)))
    expect(outcome.kind === 'answered' && outcome.body.byteLength).toBe(ANSWER_BYTES_MAX)
  })
})

describe('an answer that is not whole counts as lost', () => {
  test.each<[string, Answer, RegExp]>([
    // proves abuse: Answers that are too large
    ['larger than the limit', http(200, 'x'.repeat(ANSWER_BYTES_MAX + 1)), /larger than 65536 bytes/],
    // proves abuse: Answers that are too large
    ['without an end', endless, /larger than 65536 bytes/],
    ['shorter than it says', http(200, 'ok', { 'Content-Length': '3' }), /aborted/],
    [
      'an unfinished chunk',
      Buffer.from('HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'),
      /aborted/,
    ],
    ['a head larger than the limit', http(200, '', { 'X-Y': 'x'.repeat(17_000) }), /overflow/i],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', /parse error/i],
    [
      'two lengths',
      Buffer.from('HTTP/1.1 200 X\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'),
      /parse error/i,
    ],
    [
      'another protocol',
      http(101, '', { Upgrade: 'websocket', Connection: 'Upgrade' }),
      /changes the protocol/,
    ],
    ['a close', (socket) => socket.end(), /hang up/],
    ['a reset', (socket) => socket.resetAndDestroy(), /ECONNRESET/],
  ])('%s', async (_, answer, cause) => {
    const outcome = await callOf(answer)
    expect(outcome).toMatchObject({ kind: 'lost', cause: expect.stringMatching(cause) as string })
  })

  test.each<[string, Answer]>([
    ['a head that drips', dripping('HTTP/1.1 200 X\r\nX-Y: ')],
    // proves abuse: Answers that are too large
    ['a body that drips', dripping('HTTP/1.1 200 X\r\nContent-Length: 60000\r\n\r\n')],
    // proves abuse: Answers that are too large
    ['no answer', () => undefined],
    ['a head without its body', (socket) => socket.write('HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n')],
  ])('%s, when the time is over', async (_, answer) => {
    const started = performance.now()
    const outcome = await callOf(answer, { timeoutMs: SOON_MS })
    expect(outcome).toEqual({ kind: 'lost', cause: `no whole answer within ${SOON_MS} ms` })
    expect(performance.now() - started).toBeLessThan(30_000)
  })

  test('and so does a connection that is reset while the request is still being sent', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const outcome = await call(to(`http://127.0.0.1:${port}/`, { body: 'x'.repeat(5_000_000) }))
    server.close()
    expect(outcome).toMatchObject({ kind: 'lost' })
  })

  test('when the caller stops waiting', async () => {
    const stop = new AbortController()
    const outcome = await callOf(() => stop.abort(), { signal: stop.signal })
    expect(outcome).toMatchObject({ kind: 'lost' })
  })
})

describe('a request is certainly not sent', () => {
  test('where nobody listens', async () => {
    expect(await call(to(`http://127.0.0.1:${await closedPort()}/`))).toEqual(notSent('ECONNREFUSED'))
  })

  test('to a name that does not resolve', async () => {
    expect(await call(to('https://receiver.test/'), { lookup: notFound })).toEqual(
      notSent('its name does not resolve (ENOTFOUND)'),
    )
  })

  test('to a name whose server keeps silent', async () => {
    const outcome = await call(to('https://receiver.test/', { timeoutMs: SOON_MS }), { lookup: silent })
    expect(outcome).toEqual(notSent('its name did not resolve in time'))
  })

  test('when the caller had stopped waiting before', async () => {
    const server = await serve(http(200))
    const outcome = await call(to(server.origin, { signal: AbortSignal.abort() }))
    expect([outcome.kind, server.requests]).toEqual(['not-sent', []])
  })

  // proves abuse: An endpoint inside (SSRF): decimal
  test('to an address that is not public, where it has to be', async () => {
    const server = await serve(http(200))
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433'])
      expect(await call(to(`http://${host}:${server.port}/`, { reach: 'public' }))).toEqual(
        notSent('its address is not public (ADDRESS_REFUSED)'),
      )
    expect(server.connections()).toBe(0)
  })

  // proves abuse: DNS rebinding: a name that was public
  test('to a name that was public when it was checked, and points inside when it is called', async () => {
    const server = await serve(http(200))
    let lookups = 0
    // The first is a public address of a network that nobody has; with it the answers change from public to private.
    const answers = [
      { address: '2a0f:ffff:ffff::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ]
    const lookup = () => Promise.resolve(answers.slice(lookups, ++lookups))
    const request = to(`http://receiver.test:${server.port}/`, { reach: 'public', timeoutMs: 2 * SOON_MS })

    expect(await call(request, { lookup })).toMatchObject({ kind: 'not-sent' })
    expect(lookups).toBe(1) // what was checked is what was connected to: nobody asked again
    expect(await call(request, { lookup })).toEqual(notSent('its address is not public (ADDRESS_REFUSED)'))
    expect([lookups, server.connections()]).toEqual([2, 0])
  })
})

describe('over TLS', () => {
  // proves abuse: A certificate of another name
  test('the connection goes to the looked-up address, and the certificate must be of the name', async () => {
    const server = await serve(http(200, 'ok'), { tls: true })
    const named = (name: string) =>
      call(to(`https://${name}:${server.port}/`), { lookup: local, ca: certificate })
    expect(await named('receiver.test')).toMatchObject({ kind: 'answered', status: 200 })
    expect(server.requests[0]?.headers['host']).toBe(`receiver.test:${server.port}`)
    expect(await named('other.test')).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID') as string,
    })
    expect(await named('127.0.0.1')).toMatchObject({ kind: 'not-sent' })
    expect(server.requests).toHaveLength(1)
  })

  // proves abuse: A certificate of another name
  test('an authority that nobody trusts is refused before a byte of the request', async () => {
    const server = await serve(http(200), { tls: true })
    const outcome = await call(to(`https://receiver.test:${server.port}/`), { lookup: local })
    expect(outcome).toMatchObject({
      kind: 'not-sent',
      reason: expect.stringContaining('SELF_SIGNED') as string,
    })
    expect(server.requests).toEqual([])
  })

  test('a server that does not speak it, or never ends the handshake, was sent nothing', async () => {
    const plain = await serve(http(400))
    const raw = createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 400 X\r\n\r\n'))
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve))
    const { port } = raw.address() as { port: number }
    const outcomes = [
      await call(to(`https://receiver.test:${port}/`), { lookup: local }),
      await call(to(`https://receiver.test:${plain.port}/`, { timeoutMs: SOON_MS }), { lookup: local }),
    ]
    raw.close()
    expect(outcomes.map(({ kind }) => kind)).toEqual(['not-sent', 'not-sent'])
    expect(plain.requests).toEqual([])
  })
})

// nginx and HAProxy in front of the service: with the files of deploy/, and as they are by default.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestDatabase } from '../database.ts'
import { until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'
import {
  ask,
  haproxyServers,
  isInstalled,
  recommendedHaproxy,
  recommendedNginx,
  startCutter,
  startHaproxy,
  startNginx,
  type Program,
  type Proxy,
} from './proxies.ts'

const installed = (['nginx', 'haproxy'] as const).filter(isInstalled)
test.runIf(process.env['CI'] === 'true')('nginx and HAProxy are installed', () => {
  expect(installed).toEqual(['nginx', 'haproxy'])
})
const describeWith = (program: Program) => describe.skipIf(!installed.includes(program))

let service: TestService
let database: TestDatabase
withService((made) => ({ service, database } = made), { env: { TRUST_PROXY_HOPS: '1' } })
const target = () => Number(new URL(service.url).port)
const bearer = () => ({ Authorization: `Bearer ${service.key}` })
const isUws = () =>
  service.lines().some(({ msg, server }) => msg === 'listening' && server === 'uWebSockets.js')

const executionsOf = async (id: string): Promise<number> => {
  const { rowCount } = await database.pool.query(
    'SELECT FROM trust_records WHERE business_transaction_id = $1',
    [id],
  )
  return rowCount ?? 0
}

const events = async (): Promise<string> => {
  const { rows } = await database.pool.query<{ body: string }>('SELECT body FROM audit_events')
  return rows.map(({ body }) => body).join('\n')
}

const advice = () => service.lines().filter(({ msg }) => String(msg).includes('proxy_http_version 1.1'))

/** By what the proxy makes of a body that comes in chunks. */
function worksBehind(proxyOf: () => Proxy, chunked: 200 | 411): void {
  const call = (path: string, options: Parameters<typeof ask>[2] = {}) =>
    ask(proxyOf().port, path, { ...options, headers: { ...bearer(), ...options.headers } })

  test('executions are recorded, duplicates are 409, and records are read', async () => {
    const transactions = Array.from({ length: 20 }, () => aTransaction())
    const executed = await Promise.all(
      transactions.map((transaction) => call('/execute', { body: JSON.stringify(transaction) })),
    )
    expect(new Set(executed.map(({ status }) => status))).toEqual(new Set([200]))
    const [first] = transactions
    expect((await call('/execute', { body: JSON.stringify(first) })).status).toBe(409)
    const read = await call(`/trust-records/${first?.businessTransactionId}`)
    expect(read).toMatchObject({
      status: 200,
      text: (await service.get(`/trust-records/${first?.businessTransactionId}`)).text,
    })
  })

  test('bodies of every size up to the limit come whole, and larger ones are 413', async () => {
    for (const bytes of [1, 20_000, 90_000]) {
      const body = JSON.stringify(aTransaction()) + ' '.repeat(bytes)
      expect((await call('/execute', { body })).status).toBe(200)
    }
    expect((await call('/execute', { body: 'x'.repeat(200_000) })).status).toBe(413)
  })

  test('large replies and exports that stream come whole', async () => {
    const document = await service.get('/openapi.json', { headers: { 'Accept-Encoding': 'identity' } })
    expect((await call('/openapi.json')).text).toBe(document.text)
    const accept = { headers: { Accept: 'application/x-ndjson' } }
    const exported = await service.get('/trust-records', accept)
    expect(exported.text).toContain('"exportEnd"')
    expect((await call('/trust-records', accept)).text).toBe(exported.text)
  })

  test(`a body in chunks is ${chunked}`, async () => {
    const text = JSON.stringify(aTransaction())
    const told = await call('/execute', { body: [text.slice(0, 100), text.slice(100)] })
    expect(told.status).toBe(chunked)
    if (chunked === 411)
      expect(JSON.parse(told.text)).toEqual({ error: expect.stringContaining('Content-Length') })
  })

  test('health, a missing key and an unknown path are answered by the service', async () => {
    // Right after the tests before it, a service on a slow machine may say that it is overloaded.
    await until(async () => (await ask(proxyOf().port, '/ready')).status === 200, 'the service to be ready')
    for (const [path, status] of [
      ['/health', 200],
      ['/ready', 200],
      ['/nowhere', 404],
    ] as const)
      expect(await ask(proxyOf().port, path)).toMatchObject({
        status,
        headers: { 'x-request-id': expect.any(String) },
      })
    expect((await ask(proxyOf().port, '/callers/me')).status).toBe(401)
    expect((await ask(proxyOf().port, '/health', { method: 'HEAD' })).status).toBe(200)
  })
}

/** The client's address is the one that the proxy saw, whatever the client says. */
function forwardsAddresses(proxyOf: () => Proxy, from: string): void {
  test('the service sees the address of the client, not the one that it claims', async () => {
    const headers = { Authorization: 'Bearer csk_unknown', 'X-Forwarded-For': '203.0.113.9' }
    expect((await ask(proxyOf().port, '/callers/me', { headers, from })).status).toBe(401)
    await until(async () => (await events()).includes(`"clientAddress":"${from}"`), 'the event')
    expect(await events()).not.toContain('203.0.113.9')
  })
}

/** The first try is cut when its reply begins. The proxy is told to send such a request again. */
async function expectOneEffect(startProxy: (cutter: number) => Promise<Proxy>): Promise<void> {
  const cutter = await startCutter(target())
  const proxy = await startProxy(cutter.port)
  const transaction = aTransaction()
  const told = await ask(proxy.port, '/execute', { body: JSON.stringify(transaction), headers: bearer() })
  expect(cutter.cuts()).toBe(1)
  expect(told.status).toBe(409)
  expect(told.headers['location']).toBe(`/trust-records/${transaction.businessTransactionId}`)
  expect(await executionsOf(transaction.businessTransactionId)).toBe(1)
  await proxy.stop()
  cutter.close()
}

describeWith('nginx')('nginx', () => {
  describe('with deploy/nginx.conf', () => {
    let proxy: Proxy
    beforeAll(async () => {
      proxy = await startNginx(recommendedNginx(target()))
    })
    afterAll(() => proxy.stop())
    worksBehind(() => proxy, 200)
    forwardsAddresses(() => proxy, '127.0.0.2')

    test('a service that is away is a 502 of nginx, which has neither a code nor an X-Request-Id', async () => {
      const nobody = await startCutter(target())
      nobody.close()
      const alone = await startNginx(recommendedNginx(nobody.port))
      const { status, headers, text } = await ask(alone.port, '/execute', { body: '{}' })
      expect([status, headers['x-request-id'], text.startsWith('<html>')]).toEqual([502, undefined, true])
      await alone.stop()
    })
  })

  describe('as it is by default, in HTTP/1.0', () => {
    let proxy: Proxy
    beforeAll(async () => {
      proxy = await startNginx(
        (port) =>
          `server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${target()}; } }`,
      )
    })
    afterAll(() => proxy.stop())

    test('executions, large replies and health are served over node:http; uWebSockets.js says 505', async () => {
      const transaction = JSON.stringify(aTransaction())
      const executed = await ask(proxy.port, '/execute', { body: transaction, headers: bearer() })
      const health = await ask(proxy.port, '/health')
      const document = await ask(proxy.port, '/openapi.json')
      expect([executed.status, health.status, document.status]).toEqual(
        isUws() ? [505, 505, 505] : [200, 200, 200],
      )
      if (!isUws()) expect(JSON.parse(document.text)).toMatchObject({ openapi: '3.1.0' })
      const accept = { Accept: 'application/x-ndjson' }
      const exported = await ask(proxy.port, '/trust-records', { headers: { ...bearer(), ...accept } })
      const whole = await service.get('/trust-records', { headers: accept })
      if (!isUws()) expect(exported.text).toBe(whole.text)
      const chunked = await ask(proxy.port, '/execute', { body: ['{', '}'], headers: bearer() })
      expect(chunked.status).toBe(isUws() ? 505 : 400)
    })
  })

  // proves abuse: A proxy sends a POST again
  test('sends a POST again where it is told to: one effect', async () => {
    await expectOneEffect((cutter) =>
      startNginx(
        (port) => `upstream two { server 127.0.0.1:${cutter}; server 127.0.0.1:${target()} backup; }
server { listen 127.0.0.1:${port}; location / {
  proxy_pass http://two; proxy_http_version 1.1; proxy_next_upstream error timeout non_idempotent; } }`,
      ),
    )
  })
})

describeWith('haproxy')('HAProxy', () => {
  describe('with deploy/haproxy.cfg', () => {
    let proxy: Proxy
    beforeAll(async () => {
      proxy = await startHaproxy(recommendedHaproxy(target()))
    })
    afterAll(() => proxy.stop())
    worksBehind(() => proxy, 411)
    forwardsAddresses(() => proxy, '127.0.0.3')

    test('finds the service up', async () => {
      await until(async () => (await haproxyServers(proxy)).join() === 'UP L7OK 200', 'the check')
    })
  })

  test('its check in HTTP/1.0 finds the service up over node:http, and down over uWebSockets.js', async () => {
    const proxy = await startHaproxy(
      (port, folder) => `global
    stats socket ${folder}/stats
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
listen all
    bind 127.0.0.1:${port}
    option httpchk GET /health
    server one 127.0.0.1:${target()} check inter 100ms
`,
    )
    const expected = isUws() ? 'DOWN L7STS 505' : 'UP L7OK 200'
    await until(async () => (await haproxyServers(proxy)).join() === expected, 'the check')
    await proxy.stop()
  })

  // proves abuse: A proxy sends a POST again
  test('sends a POST again where it is told to: one effect', async () => {
    await expectOneEffect((cutter) =>
      startHaproxy(
        (port) => `defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    retries 3
    option redispatch 1
    balance roundrobin
    retry-on all-retryable-errors
listen all
    bind 127.0.0.1:${port}
    server one 127.0.0.1:${cutter}
    server two 127.0.0.1:${target()}
`,
      ),
    )
  })
})

describe('a connection without a request that the server reads', () => {
  test('is a warning once, which says how to configure proxies', async () => {
    if (isUws()) return
    for (let i = 0; i < 3; i++) {
      const socket = connect(target(), '127.0.0.1').resume()
      socket.end('GET / HTTP/1.2\r\nHost: x\r\n\r\n')
      await new Promise((resolve) => socket.once('close', resolve))
    }
    await until(() => advice().length > 0, 'the warning')
    expect(advice()).toMatchObject([{ level: 40, reason: 'http-version', address: '127.0.0.1' }])
  })
})

// Rate limits over HTTP (interface §8, decisions §1): who shares which budget, and what a refused request leaves behind.
import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { rowsOf, type TestDatabase } from '../database.ts'
import { open } from '../front-end/listen-client.ts'
import { aCaller, reply, startService, until, type CallOptions, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const EXECUTE = 3
const HEALTH = 4
const PUBLIC = 2

const acme = aCaller('acme', { allowedPrincipalIds: ['tester'] })
const acmeRotated = aCaller('acme', { allowedPrincipalIds: ['tester'] })
const clumsy = aCaller('clumsy')

let database: TestDatabase
/** Believes one hop of X-Forwarded-For; the other believes none. */
let behindProxy: TestService
let direct: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  const options = {
    callers: [acme.entry, acmeRotated.entry, clumsy.entry],
    env: {
      RATE_LIMIT_EXECUTE_PER_MINUTE: String(EXECUTE),
      RATE_LIMIT_HEALTH_PER_MINUTE: String(HEALTH),
      RATE_LIMIT_PUBLIC_PER_MINUTE: String(PUBLIC),
    },
  }
  behindProxy = await start({ ...options, env: { ...options.env, TRUST_PROXY_HOPS: '1' } })
  direct = await start(options)
})

const refused = {
  status: 429,
  body: { error: 'Rate limit exceeded. Try again later.', code: 'RATE_LIMITED' },
}

const post = (path: string, caller: CallOptions, body: unknown = aTransaction()) =>
  direct.post(path, body, caller)

test('refused bodies, sent whole or withheld, take nothing of the in-flight budget for long', async () => {
  const flooding = aCaller('flooding', { allowedPrincipalIds: ['tester'] })
  const small = await startService({
    databaseUrl: database.url,
    callers: [flooding.entry],
    // A client may announce two bodies at a time.
    env: { RATE_LIMIT_EXECUTE_PER_MINUTE: '1', QUEUE_REQUESTS_MAX: '8' },
  })
  onTestFinished(async () => void (await small.stop()))
  expect((await small.post('/execute', aTransaction(), flooding)).status).toBe(200)
  for (let i = 0; i < 20; i++)
    expect((await small.post('/execute', aTransaction(), flooding)).status, `request ${i}`).toBe(429)
  const port = Number(new URL(small.url).port)
  for (let i = 0; i < 10; i++) {
    const client = await open(port)
    const head = `Host: x\r\nAuthorization: Bearer ${flooding.key}\r\nContent-Length: 100`
    await client.send(`POST /execute HTTP/1.1\r\n${head}\r\n\r\n`)
    await until(() => client.received().includes('\r\n\r\n'), 'a reply to a withheld body')
    expect(client.received().slice(0, 12), `withheld ${i}`).toBe('HTTP/1.1 429')
    client.socket.destroy()
  }
  // On another route nothing else refuses before the budget does.
  expect((await small.post('/verify', { businessTransactionId: randomUUID() }, flooding)).status).toBe(404)
})

describe('POST /execute 429 rateLimited', () => {
  // proves §4.2 POST /execute: Rate limited; §7 429 · `RATE_LIMITED` · `Rate; §8 Execute limit · POST; §8 A request over a limit
  test('a caller has one budget for both routes and all its keys, counted down in the headers', async () => {
    const requests = [
      ['/execute', acme, 200],
      ['/transactions', acme, 201],
      ['/execute', acmeRotated, 200],
    ] as const
    for (const [i, [path, caller, status]] of requests.entries()) {
      const answer = await post(path, caller)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('ratelimit-policy')).toBe(`"execute";q=${EXECUTE};w=60`)
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"execute";r=${EXECUTE - 1 - i};t=\\d+$`))
      expect(answer.headers.get('retry-after')).toBeNull()
    }
    for (const path of ['/execute', '/transactions']) {
      for (const caller of [acme, acmeRotated]) {
        const answer = await post(path, caller)
        expect(reply(answer)).toEqual(refused)
        expect(answer.headers.get('ratelimit')).toMatch(/^"execute";r=0;t=\d+$/)
        const retryAfter = Number(answer.headers.get('retry-after'))
        expect(retryAfter).toBeGreaterThanOrEqual(1)
        expect(retryAfter).toBeLessThanOrEqual(60 / EXECUTE)
      }
    }
  })

  // proves §7 A rejected request of the rate
  test('a refused request is not looked into, stores nothing and leaves its id unused', async () => {
    const before = await rowsOf(database)
    const transaction = aTransaction()
    for (const body of [transaction, '{', '', { businessTransactionId: 'x' }])
      expect(reply(await post('/execute', acme, body))).toEqual(refused)
    expect(await rowsOf(database)).toEqual(before)
    expect((await post('/execute', {}, transaction)).status).toBe(200)
  })

  // proves §4.2 POST /execute: Rate limited; §8 Execute limit · POST
  test('another caller has a budget of its own; bad bodies count, requests without a key do not', async () => {
    for (let i = 0; i < EXECUTE * 2; i++) expect((await post('/execute', { key: null })).status).toBe(401)
    for (let i = 0; i < EXECUTE; i++) expect((await post('/execute', clumsy, '{')).status).toBe(400)
    expect(reply(await post('/execute', clumsy))).toEqual(refused)
  })

  test('a body over the limit of bytes is 413 before it counts', async () => {
    const answer = await post('/execute', acme, 'x'.repeat(200_000))
    expect(answer.status).toBe(413)
    expect(answer.headers.get('ratelimit')).toBeNull()
  })

  test('reading is not limited', async () => {
    for (let i = 0; i < 20; i++) expect((await direct.get('/transactions', acme)).status).toBe(200)
  })
})

const from = (forwardedFor: string) => ({ key: null, headers: { 'X-Forwarded-For': forwardedFor } })

describe('GET /health 429 rateLimited', () => {
  // proves §7 429 · `RATE_LIMITED` · `Rate; §8 Health limit · GET; §8 A request over a limit
  test('GET /health and GET /ready share a budget for each client address, which the nearest proxy tells', async () => {
    for (let i = 0; i < HEALTH; i++) {
      const answer = await behindProxy.get(i % 2 ? '/ready' : '/health', from(`9.9.9.${i}, 198.51.100.1`))
      expect(answer.status).toBe(200)
      expect(answer.headers.get('ratelimit-policy')).toBe(`"health";q=${HEALTH};w=60`)
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"health";r=${HEALTH - 1 - i};`))
    }
    for (const path of ['/health', '/ready']) {
      const answer = await behindProxy.get(path, from('7.7.7.7, 198.51.100.1'))
      expect(reply(answer)).toEqual(refused)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
    expect((await behindProxy.get('/health', from('198.51.100.2'))).status).toBe(200)
  })

  // proves §8 Health limit · GET
  test('a key changes nothing: it is the address that counts', async () => {
    expect(
      (await behindProxy.get('/health', { headers: { 'X-Forwarded-For': '198.51.100.1' } })).status,
    ).toBe(429)
  })

  test('all addresses of one IPv6 /64 are one client', async () => {
    const statuses = []
    for (let i = 0; i <= HEALTH; i++)
      statuses.push((await behindProxy.get('/health', from(`2001:db8::${i}`))).status)
    expect(statuses).toEqual([...Array<number>(HEALTH).fill(200), 429])
  })

  test('where no proxy is ours X-Forwarded-For is not believed', async () => {
    const statuses = []
    for (let i = 0; i <= HEALTH; i++)
      statuses.push((await direct.get('/health', from(`198.51.100.${i}`))).status)
    expect(statuses).toEqual([...Array<number>(HEALTH).fill(200), 429])
  })
})

describe('GET /keys/{keyId} 429 rateLimited', () => {
  test('the other open routes share a third budget', async () => {
    const client = from('203.0.113.5')
    const paths = ['/.well-known/jwks.json', '/keys/unknown', '/keys/unknown', '/.well-known/jwks.json']
    const answers = []
    for (const path of paths) answers.push(await behindProxy.get(path, client))
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 429, 429])
    expect(reply(answers[2]!)).toEqual(refused)
    expect(answers[0]?.headers.get('ratelimit-policy')).toMatch(
      new RegExp(`^"public";q=${PUBLIC};w=60, "compute";`),
    )
    expect((await behindProxy.get('/health', client)).status).toBe(200)
  })
})

test('what is no route carries no RateLimit fields', async () => {
  const { headers } = await direct.get('/no-such-path')
  expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null])
})

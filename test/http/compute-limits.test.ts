// Budgets of thread time (decisions §12 "fairness"): who is charged for what, and what a client over its budget is told.
import { createHmac, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { changePaths } from '../../src/formats/change-paths.ts'
import { routes } from '../../src/server/routes/index.ts'
import type { Route } from '../../src/server/route.ts'
import { answers, open } from '../front-end/listen-client.ts'
import { servers } from '../front-end/listen-front-end.ts'
import { examplePath } from '../openapi/example-path.ts'
import { aCaller, reply, until, type Called, type CallOptions, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const COMPUTE_MS = 50
const SECRET = 'a-secret-of-many-characters'

const busy = aCaller('busy')
const other = aCaller('other', { allowedPrincipalIds: ['tester'] })
const reader = aCaller('reader')
const lister = aCaller('lister')
const asking = aCaller('asking')
const loopers = [1, 2, 3].map((i) => aCaller(`looper-${i}`))
const auditing = aCaller('auditing', { readAll: true })
const human = aCaller('human', { credentialHolderType: 'USER' })

let service: TestService

withService((made) => ({ service } = made), {
  callers: [busy, other, reader, lister, asking, ...loopers, auditing, human].map(({ entry }) => entry),
  env: {
    RATE_LIMIT_COMPUTE_MS_PER_MINUTE: String(COMPUTE_MS),
    TRUST_PROXY_HOPS: '1',
    ACME_WEBHOOK_SECRET: SECRET,
  },
})

const refused = {
  status: 429,
  body: { error: 'Rate limit exceeded. Try again later.', code: 'RATE_LIMITED' },
}

/** JSON that costs a thread milliseconds. */
function heavy(): object {
  return {
    ...aTransaction(),
    signals: Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`s${i}`, 1])),
  }
}

/** Posts until the budget is used up. Returns the refusal, and how many were answered before it. */
async function spend(
  path: string,
  body: unknown,
  call: CallOptions,
): Promise<{ last: Called; answered: number }> {
  for (let answered = 0; answered < 1_000; answered++) {
    const last = await service.post(path, body, call)
    if (last.status === 429) return { last, answered }
    expect(last.status).toBeLessThan(500)
  }
  throw new Error('the budget is never used up')
}

/** Posts to `path` while the budget that `spending` uses up is used up. It recovers meanwhile, so it is spent again where it has. */
async function whenSpent(spending: string, path: string, call: CallOptions): Promise<Called> {
  for (let tries = 0; tries < 20; tries++) {
    await spend(spending, heavy(), call)
    const answer = await service.post(path, {}, call)
    if (answer.status === 429) return answer
  }
  throw new Error(`${path} is answered though the budget is used up`)
}

const from = (forwardedFor: string): CallOptions => ({
  key: null,
  headers: { 'X-Forwarded-For': forwardedFor },
})

describe('POST /sandbox/evaluate 429 rateLimited', () => {
  // proves abuse: Four connections of a key
  test('a caller that has used up its thread time waits; others, and its own executions, do not', async () => {
    const { last, answered } = await spend('/sandbox/evaluate', heavy(), busy)
    expect(reply(last)).toEqual(refused)
    expect(answered).toBeGreaterThan(0)
    expect(last.headers.get('ratelimit-policy')).toBe(`"compute";q=${COMPUTE_MS};w=60`)
    expect(last.headers.get('ratelimit')).toMatch(/^"compute";r=0;t=\d+$/)
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    for (const path of [
      '/verify',
      '/receipt',
      '/replay',
      '/approvals',
      '/approval-requests',
      '/sandbox/policies/simulate',
    ])
      expect(reply(await whenSpent('/sandbox/evaluate', path, busy)), path).toEqual(refused)
    expect((await service.post('/sandbox/evaluate', aTransaction(), other)).status).toBe(200)
    const executed = await service.post(
      '/execute',
      aTransaction({ authority: { principalId: 'busy' } }),
      busy,
    )
    expect(executed.status).toBe(200)
    expect(executed.headers.get('ratelimit-policy')).toMatch(/^"execute";/)
  })

  // proves abuse: Four connections of a key
  test('what waits for a thread when the budget is used up is refused too, not only what comes later', async () => {
    const caller = { key: service.key }
    const flood = await Promise.all(
      Array.from({ length: 60 }, () => service.post('/sandbox/evaluate', heavy(), caller)),
    )
    const statuses = flood.map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    // Sixty of these take a thread many times the budget.
    expect(statuses.filter((status) => status === 200).length).toBeLessThan(60)
    const late = flood.find(({ status }) => status === 429)
    expect(late && reply(late)).toEqual(refused)
    const lines = () =>
      service.lines().filter((line) => line['status'] === 429 && line['caller'] === 'tester')
    const refusals = statuses.filter((status) => status === 429).length
    await until(() => lines().length >= refusals, 'their log lines')
    expect(lines().filter(({ code }) => code !== 'RATE_LIMITED')).toEqual([])
  })
})

describe('POST /sandbox/policies/check 429 rateLimited', () => {
  test('a human who has simulated much waits before a text is checked', async () => {
    expect(reply(await whenSpent('/sandbox/evaluate', '/sandbox/policies/check', human))).toEqual(refused)
  })
})

describe('POST /policies/{name}/{version}/pending-changes 429 rateLimited', () => {
  test('governing has a budget of its own: a human who has simulated much can still revoke', async () => {
    await spend('/sandbox/evaluate', heavy(), human)
    const proposed = await service.post('/approvers/changes', {}, human)
    expect(proposed.status).toBe(400)
    expect(proposed.headers.get('ratelimit-policy')).toBe(`"administration";q=${COMPUTE_MS};w=60`)
  })

  test('it is used up by what humans propose, on all routes that decide', async () => {
    expect(reply((await spend('/approvers/changes', heavy(), human)).last)).toEqual(refused)
    const id = randomUUID()
    for (const path of [
      '/policies/sandbox-echo/9.0.0/pending-changes',
      ...Object.values(changePaths).filter((changes) => changes !== changePaths.policy),
      ...Object.values(changePaths).flatMap((changes) => [
        `${changes}/${id}/approve`,
        `${changes}/${id}/reject`,
      ]),
      `/event-endpoints/${id}/secret`,
      `/event-endpoints/${id}/redeliver`,
      `/webhook-events/${id}/process`,
      `/execution-intents/${id}/finalize`,
      `/execution-intents/${id}/resolve`,
      `/approval-requests/${id}/decline`,
      `/approval-requests/${id}/notes`,
      `/approval-requests/${id}/withdraw`,
    ])
      expect(reply(await whenSpent('/approvers/changes', path, human)), path).toEqual(refused)
  })
})

describe('POST /webhooks/{provider} 429 rateLimited', () => {
  test('an address pays for deliveries whose signature does not verify; one that verifies elsewhere is taken', async () => {
    const delivery = {
      ...from('198.51.100.9'),
      headers: { 'X-Forwarded-For': '198.51.100.9', 'X-Acme-Signature': 'a'.repeat(64) },
    }
    expect(reply((await spend('/webhooks/acme', 'x'.repeat(990_000), delivery)).last)).toEqual(refused)
    const body = '{"event":"payment.captured"}'
    const signature = createHmac('sha256', SECRET).update(body).digest('hex')
    const headers = {
      'X-Forwarded-For': '198.51.100.10',
      'X-Acme-Signature': signature,
      'X-Acme-Event-Id': randomUUID(),
    }
    expect((await service.post('/webhooks/acme', body, { key: null, headers })).status).toBe(200)
  })
})

describe('a large body, 429 rateLimited', () => {
  // proves abuse: Bodies as large as a route takes
  test('is not read from an address that has nothing left to pay for it', async ({ skip }) => {
    skip(servers.includes('uWebSockets.js'), 'uWebSockets.js answers `Expect` by itself')
    const address = '198.51.100.30'
    const headers = { 'X-Forwarded-For': address, 'X-Acme-Signature': 'a'.repeat(64) }
    await spend('/webhooks/acme', 'x'.repeat(990_000), { key: null, headers })
    const client = await open(Number(new URL(service.url).port))
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    await client.send(
      `POST /webhooks/acme HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 990000\r\n${lines.join('')}\r\n`,
    )
    await until(() => client.received().includes('\r\n\r\n'), 'a reply')
    expect(client.received().slice(0, 12)).toBe('HTTP/1.1 429')
    client.socket.destroy()
  })
})

describe('large bodies of one address', () => {
  // proves abuse: Bodies as large as a route takes
  test('are read one after the other with a pause, and one that is withheld holds up no other', async () => {
    const address = '198.51.100.31'
    const body = JSON.stringify({ event: 'payment.captured', filler: 'x'.repeat(990_000) })
    const headers = () => ({
      'X-Forwarded-For': address,
      'X-Acme-Signature': createHmac('sha256', SECRET).update(body).digest('hex'),
      'X-Acme-Event-Id': randomUUID(),
    })
    const withheld = await open(Number(new URL(service.url).port))
    await withheld.send(
      `POST /webhooks/acme HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nX-Acme-Signature: ${'a'.repeat(64)}\r\nContent-Length: 990000\r\n\r\n`,
    )
    const startedMs = performance.now()
    const delivered = await Promise.all(
      Array.from({ length: 5 }, () =>
        service.post('/webhooks/acme', body, { key: null, headers: headers() }),
      ),
    )
    expect(delivered.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    // Each of the five waits 94 ms for the one before; a timer may be a millisecond early.
    expect(performance.now() - startedMs).toBeGreaterThan(4 * 93)
    withheld.socket.destroy()
  })
})

/** The first reply on a new connection, and whether it is the last one there. */
async function answerTo(...sent: string[]) {
  const client = await open(Number(new URL(service.url).port))
  await client.send(...sent)
  await until(() => answers(client.received()).length > 0, 'a reply')
  client.socket.destroy()
  const { status: answered, headers: had } = answers(client.received())[0]!
  return { status: answered, closes: had['connection'] === 'close' }
}

// proves abuse: Bodies of 1 MB that are refused
describe('a large body that nobody wants', () => {
  let addresses = 0
  test.each([
    ['an invalid key', 'POST /execute', 401, 'Authorization: Bearer csk_of_nobody'],
    ['no key', 'POST /transactions', 401],
    ['no such path', 'POST /nowhere', 404],
    ['another method', 'POST /health', 405],
    ['a route without a body', 'GET /health', 200],
    ['a delivery without its signature', 'POST /webhooks/acme', 401],
    ['more than a route takes', 'POST /refusal/verify', 413],
  ] as const)(
    'is thrown away while its address can pay for it, and then not even read: %s',
    async (...row) => {
      const [, target, status, ...headers] = row
      const head = [
        `${target} HTTP/1.1`,
        'Host: x',
        `X-Forwarded-For: 203.0.113.${++addresses}`,
        'Content-Length: 990000',
        ...headers,
        '\r\n',
      ].join('\r\n')
      expect(await answerTo(head, 'x'.repeat(990_000))).toEqual({ status, closes: status === 413 })
      expect(await answerTo(head)).toEqual({ status, closes: true })
    },
  )
})

describe('POST /refusal/verify 429 rateLimited', () => {
  // proves abuse: Sixteen connections of one address
  test('a client address has a fifth of what a caller has, shared by the open routes', async () => {
    const { last } = await spend('/refusal/verify', heavy(), from('198.51.100.1'))
    expect(reply(last)).toEqual(refused)
    expect(last.headers.get('ratelimit-policy')).toMatch(
      new RegExp(`^"public";q=\\d+;w=60, "compute";q=${COMPUTE_MS / 5};w=60$`),
    )
    const elsewhere = await whenSpent('/refusal/verify', '/audit/verify', from('198.51.100.1'))
    expect(reply(elsewhere)).toEqual(refused)
    expect((await service.post('/audit/verify', {}, from('198.51.100.2'))).status).not.toBe(429)
  })
})

describe('POST /log/completeness 429 rateLimited', () => {
  test('a caller has what it lists proven within its budget', async () => {
    // Whether the log holds anything of this caller by now makes no difference: each question is paid for.
    const stream = await service.post('/log/completeness', { stream: { caller: 'lister' } }, lister)
    expect(stream.headers.get('ratelimit-policy')).toBe(`"compute";q=${COMPUTE_MS};w=60`)
    const { last, answered } = await spend('/log/completeness', heavy(), lister)
    expect(reply(last)).toEqual(refused)
    expect(answered).toBeGreaterThan(0)
  })
})

describe('what is asked and taken back', () => {
  // proves abuse: Requests for approval, and
  test.each([
    ['/approval-requests', 'compute'],
    [`/approval-requests/${randomUUID()}/withdraw`, 'administration'],
  ])('%s is charged to the %s budget of its caller, whatever comes of it', async (path, budget) => {
    const { last, answered } = await spend(path, heavy(), asking)
    expect(reply(last)).toEqual(refused)
    expect(answered).toBeGreaterThan(0)
    expect(last.headers.get('ratelimit-policy')).toBe(`"${budget}";q=${COMPUTE_MS};w=60`)
  })
})

/** Rows that anybody with a key may read; a row for humans and auditors answers others 403 and costs them nothing. */
const readsOf = (cost: Route['cost']) =>
  routes.filter((route) => route.method === 'GET' && route.cost === cost && route.limit === undefined)

describe('GET 429 rateLimited', () => {
  test('each page is charged to who reads it', async () => {
    const first = await service.get('/transactions?pageSize=1', { key: other.key })
    expect(first.headers.get('ratelimit-policy')).toBe(`"compute";q=${COMPUTE_MS};w=60`)
  })

  // proves abuse: A caller loops a list
  test.each([
    ['compute', reader],
    ['administration', auditing],
  ] as const)(
    'every row of the table whose cost is %s is refused once that is used up',
    async (cost, caller) => {
      const paths = readsOf(cost).map(examplePath)
      expect(paths.length).toBeGreaterThan(10)
      const limited = new Set<string>()
      for (let i = 0; i < 1_000 && limited.size < paths.length; i++)
        for (const path of paths) {
          const { status } = await service.get(path, caller)
          if (status === 429) limited.add(path)
        }
      expect([...limited].toSorted()).toEqual(paths.toSorted())
    },
  )

  test.each([
    ['GET', '/policies'],
    ['GET', `/transactions/${randomUUID()}`],
    ['POST', '/policies/validate'],
  ])('%s %s alone uses the budget up, whatever it answers', async (method, path) => {
    const caller = loopers.shift()!
    const send = () => (method === 'GET' ? service.get(path, caller) : service.post(path, {}, caller))
    let answered = 0
    while ((await send()).status !== 429) expect(++answered).toBeLessThan(1_000)
    expect(answered).toBeGreaterThanOrEqual(COMPUTE_MS - 1)
  })
})

/** Milliseconds of the compute budget that a reply says are left. */
const left = ({ headers }: Called) => Number(/"compute";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])

describe('a document that is the same for everybody, 429 rateLimited', () => {
  const bundle = '/documentation/swagger-ui-bundle.js'
  const plain = { 'Accept-Encoding': 'identity' }

  // proves abuse: 48 connections of one address
  test('what is sent of it is charged to its address; a HEAD and a 304 cost nothing', async () => {
    const { headers } = from('198.51.100.20')
    const options = { key: null, headers: { ...headers, ...plain } }
    for (let i = 0; i < 20; i++) {
      expect(left(await service.get(bundle, { ...options, method: 'HEAD' }))).toBe(COMPUTE_MS / 5)
      const unchanged = await service.get(bundle, {
        ...options,
        headers: { ...options.headers, 'If-None-Match': '*' },
      })
      expect([unchanged.status, left(unchanged)]).toEqual([304, COMPUTE_MS / 5])
    }
    await service.get(bundle, options)
    // 1.7 MB at 5 ms each MiB.
    expect(left(await service.get(bundle, options))).toBeLessThanOrEqual(COMPUTE_MS / 5 - 8)
    const last = await service.get(bundle, options)
    expect(reply(last)).toEqual(refused)
    expect((await service.get(bundle, { key: null, headers: from('198.51.100.21').headers! })).status).toBe(
      200,
    )
  })
})

// The audit (decisions §9): what is refused becomes a signed event that stands before the refusal is answered, GET /audit/events
// shows it, POST /audit/verify and the offline verifier confirm it; and no flood and no absent database keeps a caller waiting.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { createDatabase, rowsOf, type TestDatabase } from '../database.ts'
import { forEach } from '../load.ts'
import { openDatabaseProxy } from '../proxy.ts'
import { aCaller, reply, startService, until, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const limited = aCaller('limited', { allowedPrincipalIds: ['alice'], allowedCapabilities: ['vendor:pay'] })
const human = aCaller('human', { credentialHolderType: 'USER' })
const auditor = aCaller('auditor', { readAll: true })

interface Signed {
  readonly event: Record<string, unknown> & {
    eventId: string
    type: string
    occurredAt: string
    detail?: { clientAddress?: string; count?: number; unwrittenBefore?: number }
  }
  readonly signature: Record<string, string>
}

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [limited, human, auditor].map(({ entry }) => entry),
  env: { TRUST_PROXY_HOPS: '1' },
})

let addresses = 0
/** Each request comes from an address of its own: what one is refused within a minute is gathered. */
const fromNewAddress = () => ({ 'X-Forwarded-For': `2001:db8:${(++addresses).toString(16)}::1` })

async function events(query = '', { key }: { key: string } = human, at = service): Promise<Signed[]> {
  const { status, body } = await at.get(`/audit/events${query}`, { key })
  expect(status).toBe(200)
  return body.events as Signed[]
}

/** The events that a request adds, read with the very next one. */
async function added(request: () => Promise<Called>): Promise<{ answer: Called; fresh: Signed[] }> {
  const before = new Set((await events('?pageSize=100')).map(({ event }) => event.eventId))
  const answer = await request()
  const fresh = (await events('?pageSize=100')).filter(({ event }) => !before.has(event.eventId))
  return { answer, fresh }
}

const execute = (body: unknown, key: string | null) =>
  service.post('/execute', body, { key, headers: fromNewAddress() })

const about = {
  eventId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
  occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
  severity: 'WARNING',
}
const outOfScope = { ...about, route: 'POST /execute', callerId: 'limited', detail: { count: 1 } }
const nobody = {
  ...about,
  type: 'caller.rejected',
  reason: 'authentication required',
  detail: { clientAddress: expect.stringMatching(/^2001:db8:[0-9a-f]+:0::\/64$/) as string, count: 1 },
}

describe('GET /audit/events 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify; §5 POST /audit/verify
  test.each<[string, number, () => Promise<Called>, object]>([
    ['an unknown key', 401, () => execute('{', makeRawKey()), { ...nobody, route: 'POST /execute' }],
    [
      'no key',
      401,
      () => service.get('/', { key: null, headers: fromNewAddress() }),
      { ...nobody, route: 'GET /' },
    ],
    [
      'a path with an id',
      401,
      () => service.get(`/trust-records/${randomUUID()}`, { key: 'x', headers: fromNewAddress() }),
      { ...nobody, route: 'GET /trust-records/{id}' },
    ],
    [
      'a capability out of scope',
      403,
      () => execute(aTransaction({ authority: { principalId: 'alice' } }), limited.key),
      {
        ...outOfScope,
        type: 'caller.capability_denied',
        reason: 'Caller is not permitted to invoke this capability.',
        capability: 'sandbox:echo',
        principalId: 'alice',
      },
    ],
    [
      'a principal out of scope',
      403,
      () => execute(aTransaction({ authority: { principalId: 'bob' } }), limited.key),
      {
        ...outOfScope,
        type: 'caller.principal_denied',
        reason: 'Caller is not permitted to assert this authority.principalId.',
        capability: 'sandbox:echo',
        principalId: 'bob',
      },
    ],
    [
      'a route for humans',
      403,
      () => service.get('/audit/events', limited),
      {
        ...about,
        route: 'GET /audit/events',
        callerId: 'limited',
        type: 'caller.non_human_denied',
        reason:
          'This action requires a caller credential provisioned as a verified human (credentialHolderType: USER).',
        detail: { count: 1 },
      },
    ],
  ])('%s: the event is there when the %i is, signed and whole', async (_title, status, request, event) => {
    const { answer, fresh } = await added(request)
    expect(answer.status).toBe(status)
    expect(fresh).toEqual([
      {
        event,
        signature: {
          algorithm: 'ed25519',
          keyId: expect.any(String),
          value: expect.any(String),
          signedAt: expect.any(String),
        },
      },
    ])
    expect(reply(await service.post('/audit/verify', fresh[0], { key: null }))).toEqual({
      status: 200,
      body: { valid: true, checks: [{ name: 'event signature', valid: true }] },
    })
    for (const member of ['trustRecordId', 'reason', 'bundle', 'constructor']) {
      const joined = `{${JSON.stringify(member)}:{},${JSON.stringify(fresh[0]).slice(1)}`
      const told = await service.post('/audit/verify', joined, { key: null })
      expect([told.status, told.body.valid], member).toEqual([200, false])
    }
    const [signed] = fresh
    const marked = { ...signed, signature: { ...signed?.signature, approvedBy: 'the board' } }
    const told = await service.post('/audit/verify', marked, { key: null })
    expect(told.body).toMatchObject({ valid: false, checks: [{ valid: true }, { name: 'members' }] })
    const keySet = (await service.get('/.well-known/jwks.json', { key: null })).text
    expect(verifyEvidence(JSON.stringify(fresh[0]), keySet)).toMatchObject({
      artifact: 'audit-event',
      subject: fresh[0]?.event.eventId,
      valid: true,
    })
  })

  test('what is refused for another reason, or not at all, adds none', async () => {
    const quiet = [
      () => execute(aTransaction(), service.key),
      () => execute('{', limited.key),
      () => service.get('/no-such-path', { key: null }),
      () => service.get('/execute', { key: null }),
      () => service.get(`/trust-records/${randomUUID()}`),
      () => service.post('/audit/verify', {}, { key: 'x' }),
    ]
    for (const request of quiet) expect((await added(request)).fresh).toEqual([])
  })

  test('no key that was tried stands anywhere', async () => {
    const key = makeRawKey()
    await execute(aTransaction(), key)
    await service.get('/', { key: null, headers: { Authorization: `Basic ${key}`, ...fromNewAddress() } })
    await service.get(`/transactions?key=${key}`, { key, headers: fromNewAddress() })
    const { rows } = await database.pool.query<{ row: string }>(
      'SELECT (a.*)::text AS row FROM audit_events AS a',
    )
    expect(rows.length).toBeGreaterThan(2)
    expect(rows.filter(({ row }) => row.includes(key))).toEqual([])
    expect(service.output()).not.toContain(key)
  })

  test('of a text of 90 kB its beginning is kept', async () => {
    const { answer, fresh } = await added(() =>
      execute(aTransaction({ authority: { principalId: 'é'.repeat(45_000) } }), limited.key),
    )
    expect(answer.status).toBe(403)
    expect(fresh.map(({ event }) => event['principalId'])).toEqual([`${'é'.repeat(256)}…`])
    expect((await service.post('/audit/verify', fresh[0])).body).toMatchObject({ valid: true })
  })

  test('pages, newest first; type, since and until choose', async () => {
    const all = await events('?pageSize=100')
    expect(all.length).toBeGreaterThan(6)
    const times = all.map(({ event }) => event.occurredAt)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(await events()).toEqual(all.slice(0, 25))
    expect(await events('?page=2&pageSize=3')).toEqual(all.slice(3, 6))
    expect(await events('?page=1000000')).toEqual([])

    const rejected = all.filter(({ event }) => event.type === 'caller.rejected')
    expect(await events('?type=caller.rejected&pageSize=100')).toEqual(rejected)
    expect(rejected.length).toBeGreaterThan(1)
    const [since, until_] = [times.at(-2) ?? '', times[1] ?? '']
    const within = all.filter(({ event }) => event.occurredAt >= since && event.occurredAt < until_)
    expect(await events(`?pageSize=100&since=${since}&until=${until_}`)).toEqual(within)
    expect(await events(`?type=rate_limited&since=${since}&until=${until_}`)).toEqual(
      within.filter(({ event }) => event.type === 'rate_limited'),
    )
    for (const beyond of [
      'until=2001-01-01T00:00:00Z',
      'since=9999-12-31T23:59:59-23:59',
      'until=0000-01-01T00:00:00Z',
    ])
      expect(await events(`?${beyond}`)).toEqual([])
  })

  test('an auditor reads what a human does', async () => {
    expect(await events('?type=caller.rejected', auditor)).toEqual(await events('?type=caller.rejected'))
  })
})

describe('GET /audit/events 403 nonHumanCaller', () => {
  // proves §7 403 · `NON_HUMAN_CALLER_DENIED` · a non-human
  test('before the query is looked at', async () => {
    expect(reply(await service.get('/audit/events?page=x'))).toEqual({
      status: 403,
      body: {
        error:
          'This action requires a caller credential provisioned as a verified human (credentialHolderType: USER).',
        code: 'NON_HUMAN_CALLER_DENIED',
      },
    })
  })
})

const refused = (error: string) => ({ status: 400, body: { error } })

describe('GET /audit/events 400 invalidQuery', () => {
  test.each([
    ['since=x', 'since must be an RFC 3339 timestamp.'],
    ['until=2026-02-30T00:00:00Z', 'until must be an RFC 3339 timestamp.'],
    ['since=2026-05-02T00:00:00Z&until=2026-05-01T00:00:00Z', 'since must not be after until.'],
    ['since=x&until=x&type=x', 'since must be an RFC 3339 timestamp.'],
  ])('%s', async (query, error) => {
    expect(reply(await service.get(`/audit/events?${query}`, human))).toEqual(refused(error))
  })

  test.each(['', 'x', 'caller', 'caller.rejected%20', '%00'])('type=%s', async (type) => {
    const { status, body } = await service.get(`/audit/events?type=${type}`, human)
    expect([status, body.error]).toEqual([
      400,
      expect.stringMatching(/^type must be one of .*caller\.rejected,/),
    ])
  })
})

describe('GET /audit/events 400 invalidPage', () => {
  test('page=0', async () => {
    expect(reply(await service.get('/audit/events?page=0&pageSize=0', human))).toEqual(
      refused('page must be a whole number, 1 or more.'),
    )
  })
})

describe('GET /audit/events 400 invalidPageSize', () => {
  test('pageSize=101', async () => {
    expect(reply(await service.get('/audit/events?pageSize=101', human))).toEqual(
      refused('pageSize must be a whole number from 1 to 100.'),
    )
  })
})

const anEvent = async (): Promise<Signed> =>
  (await events('?type=caller.principal_denied&pageSize=1'))[0] as Signed

describe('POST /audit/verify 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test.each<[string, (signed: Signed, other: Signed) => object]>([
    ['eventId', ({ event }) => ({ event: { ...event, eventId: randomUUID() } })],
    ['type', ({ event }) => ({ event: { ...event, type: 'caller.rejected' } })],
    ['occurredAt', ({ event }) => ({ event: { ...event, occurredAt: '2001-01-01T00:00:00.000Z' } })],
    ['callerId', ({ event }) => ({ event: { ...event, callerId: 'alice' } })],
    ['principalId', ({ event: { principalId: _gone, ...event } }) => ({ event })],
    ['a member more', ({ event }) => ({ event: { ...event, more: 1 } })],
    ['another signature', (_, { signature }) => ({ signature })],
    ['a key that nobody knows', ({ signature }) => ({ signature: { ...signature, keyId: 'mine' } })],
    ['another algorithm', ({ signature }) => ({ signature: { ...signature, algorithm: 'ml-dsa-65' } })],
  ])('%s changed: not valid', async (_title, change) => {
    const signed = await anEvent()
    const [other] = await events('?type=caller.rejected&pageSize=1')
    const answer = await service.post(
      '/audit/verify',
      { ...signed, ...change(signed, other as Signed) },
      { key: null },
    )
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ valid: false, checks: [{ name: 'event signature', valid: false }] })
    expect((await service.post('/audit/verify', signed, { key: null })).body).toMatchObject({ valid: true })
  })

  test('one that was changed in the database is not valid as it is listed', async () => {
    await execute(aTransaction({ authority: { principalId: 'changed' } }), limited.key)
    await database.pool.query(`UPDATE audit_events SET body = replace(body, '"changed"', '"harmless"')`)
    const signed = await anEvent()
    expect(signed.event['principalId']).toBe('harmless')
    expect((await service.post('/audit/verify', signed)).body).toMatchObject({ valid: false })
  })
})

describe('POST /audit/verify 200, of any JSON object', () => {
  test.each<[string, object | ((signed: Signed) => object)]>([
    ['nothing', {}],
    ['no signature', { event: {} }],
    ['empty ones', { event: {}, signature: {} }],
    ['an event that is a number', { event: 5, signature: {} }],
    ['a signature that is null', { event: {}, signature: null }],
    ['no event', ({ signature }) => ({ signature })],
    [
      'an event without its eventId',
      ({ event: { eventId: _gone, ...event }, signature }) => ({ event, signature }),
    ],
    [
      'a keyId that is an object',
      ({ event, signature }) => ({ event, signature: { ...signature, keyId: {} } }),
    ],
  ])('%s: not valid, and says which check failed', async (_title, body) => {
    const given = typeof body === 'function' ? body(await anEvent()) : body
    expect(reply(await service.post('/audit/verify', given, { key: null }))).toEqual({
      status: 200,
      body: {
        valid: false,
        checks: [
          {
            name: 'event signature',
            valid: false,
            problem: expect.stringContaining('The audit event signature is not valid') as string,
          },
        ],
      },
    })
  })
})

describe('POST /audit/verify 400 invalidEvidence', () => {
  test.each(['[]', '[{}]', 'null', '5', '"x"', 'true'])('%s', async (body) => {
    expect(reply(await service.post('/audit/verify', body, { key: null }))).toEqual(
      refused('the body must be an object.'),
    )
  })
})

describe('POST /audit/verify 400 malformedJson', () => {
  test('what is no JSON', async () => {
    expect(reply(await service.post('/audit/verify', '{', { key: null }))).toEqual(
      refused('Malformed JSON body.'),
    )
  })
})

describe('a flood', () => {
  // proves fault: A flood of bad keys
  // proves abuse: Invented keys in a loop
  test.each([
    [
      'bad keys on every route, from one IPv4 address',
      (i: number) => [['/', '/version', '/callers/me'][i % 3]!, '192.0.2.1', `csk_${i}`],
    ],
    ['no keys, from addresses of one /64', (i: number) => ['/', `2001:db8::${i.toString(16)}`, null]],
  ] as const)('of %s is one event at once, and one that counts the others', async (_title, requestOf) => {
    const flooded = await createDatabase()
    const target = await startService({
      databaseUrl: flooded.url,
      callers: [human.entry],
      env: { TRUST_PROXY_HOPS: '1' },
    })
    const startedAt = performance.now()
    const statuses: number[] = []
    await forEach(Array(3_000).keys(), async (i) => {
      const [path, address, key] = requestOf(i) as [string, string, string | null]
      statuses.push((await target.get(path, { key, headers: { 'X-Forwarded-For': address } })).status)
    })
    expect(statuses).toEqual(Array(3_000).fill(401))
    await target.get('/', { key: 'csk_bad', headers: { 'X-Forwarded-For': '192.0.2.2' } })
    // Events that are being gathered when it stops are written then.
    expect(await target.stop()).toBe(0)
    const minutes = Math.floor((performance.now() - startedAt) / 60_000)
    const stored = await flooded.pool.query<{ detail: Record<string, unknown> }>(
      `SELECT body::json -> 'detail' AS detail FROM audit_events ORDER BY occurred_at`,
    )
    const details = stored.rows.map(({ detail }) => detail)
    const other = details.filter(({ clientAddress }) => clientAddress === '192.0.2.2')
    expect(other).toEqual([{ clientAddress: '192.0.2.2', count: 1 }])
    const counts = details.filter((one) => !other.includes(one)).map(({ count }) => Number(count))
    expect(counts[0]).toBe(1)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3_000)
    expect(counts.length).toBeLessThanOrEqual(2 + minutes)
    await flooded.drop()
  })

  test('of deliveries that nobody signed is one event for a provider, address and minute', async () => {
    const flooded = await createDatabase()
    const target = await startService({
      databaseUrl: flooded.url,
      env: { ACME_WEBHOOK_SECRET: 'x'.repeat(32), OTHER_WEBHOOK_SECRET: 'y'.repeat(32) },
    })
    for (let i = 0; i < 20; i++)
      for (const provider of ['acme', 'other'])
        expect((await target.post(`/webhooks/${provider}`, `${i}`, { key: null })).status).toBe(401)
    expect(await target.stop()).toBe(0)
    const { rows } = await flooded.pool.query<{ provider: string; counts: number[] }>(
      `SELECT body::json #>> '{detail,provider}' AS provider, array_agg((body::json #>> '{detail,count}')::integer ORDER BY occurred_at) AS counts
       FROM audit_events WHERE type = 'webhook.rejected' GROUP BY 1 ORDER BY 1`,
    )
    expect(rows).toEqual(['acme', 'other'].map((provider) => ({ provider, counts: [1, 19] })))
    await flooded.drop()
  })

  // proves abuse: A key, with or without a capability, is denied in a loop
  test('of what one key may not do is one event for each thing that it is denied, and the count of the others', async () => {
    const flooded = await createDatabase()
    const target = await startService({ databaseUrl: flooded.url, callers: [limited.entry, human.entry] })
    const nobodys = aTransaction({ authority: { principalId: 'bob' } })
    for (let i = 0; i < 20; i++) {
      const routes = ['/audit/events', '/approvals', '/caller-keys']
      expect((await target.get(routes[i % 3]!, limited)).status).toBe(403)
      expect((await target.post('/approval-requests', { transaction: nobodys }, limited)).status).toBe(403)
    }
    expect(await target.stop()).toBe(0)
    const { rows } = await flooded.pool.query<{ type: string; counts: number[] }>(
      `SELECT type, array_agg((body::json #>> '{detail,count}')::integer ORDER BY occurred_at) AS counts
       FROM audit_events GROUP BY 1 ORDER BY 1`,
    )
    expect(rows).toEqual(
      ['caller.non_human_denied', 'caller.principal_denied'].map((type) => ({ type, counts: [1, 19] })),
    )
    await flooded.drop()
  })

  test('over a rate limit is written once for a caller', async () => {
    const target = await startService({
      databaseUrl: database.url,
      callers: [human.entry, limited.entry],
      env: { RATE_LIMIT_EXECUTE_PER_MINUTE: '1' },
    })
    for (const { key } of [target, limited])
      for (let i = 0; i < 5; i++)
        await target.post(i % 2 ? '/execute' : '/transactions', aTransaction(), { key })
    const written = await events('?type=rate_limited', human, target)
    expect(written.map(({ event }) => [event['callerId'], event['severity'], event['reason']])).toEqual([
      ['limited', 'INFO', 'Rate limit exceeded. Try again later.'],
      ['tester', 'INFO', 'Rate limit exceeded. Try again later.'],
    ])
    expect(await target.stop()).toBe(0)
  })
})

const ofVerification = async () =>
  (await events('?type=caller.rejected&pageSize=100')).filter(
    ({ event }) => event['route'] === 'GET /verification/{id}',
  )

describe('without a database', () => {
  // proves fault: The database is away when a request
  test('a refusal is answered within two seconds, and its event is stored once the database is back', async () => {
    const proxy = await openDatabaseProxy(database.url)
    const target = await startService({
      databaseUrl: proxy.url,
      callers: [human.entry],
      env: { TRUST_PROXY_HOPS: '1' },
    })
    await proxy.cut()
    const tried = Array.from({ length: 5 }, () => randomUUID())
    const startedAt = performance.now()
    const answers = await Promise.all(
      tried.map((route) =>
        target.get(`/verification/${route}`, {
          key: 'csk_bad',
          headers: fromNewAddress(),
        }),
      ),
    )
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(401))
    await proxy.mend()
    await until(async () => (await ofVerification()).length >= 5, 'the events to be stored')
    const stored = await ofVerification()
    expect(stored).toHaveLength(5)
    expect(await target.stop()).toBe(0)
    await proxy.cut()
  })

  // proves fault: SIGTERM right after a burst
  test('a stop waits for it as long as it may, and logs what is lost', async () => {
    const proxy = await openDatabaseProxy(database.url)
    const target = await startService({
      databaseUrl: proxy.url,
      env: { SHUTDOWN_TIMEOUT_MS: '700' },
    })
    await proxy.cut()
    expect((await target.get('/version', { key: 'csk_lost' })).status).toBe(401)
    expect(await target.stop()).toBe(0)
    const lost = target.lines().filter(({ msg }) => msg === 'audit event lost')
    expect(lost).toMatchObject([{ event: { type: 'caller.rejected', route: 'GET /version' } }])
  })
})

describe('a clean stop', () => {
  // proves fault: SIGTERM right after a burst
  test('right after a burst loses none of its events', async () => {
    const target = await startService({ databaseUrl: database.url, callers: [limited.entry] })
    const principals = Array.from({ length: 200 }, () => randomUUID())
    const answers = Promise.allSettled(
      principals.map((principalId) =>
        target.post('/execute', aTransaction({ authority: { principalId } }), limited),
      ),
    )
    await until(() => target.lines().some(({ msg }) => msg === 'request'), 'the first one to be answered')
    expect(await target.stop()).toBe(0)
    const answered = (await answers).flatMap((one, i) =>
      one.status === 'fulfilled' && one.value.status === 403 ? [principals[i]] : [],
    )
    expect(answered.length).toBeGreaterThan(0)
    const { rows } = await database.pool.query<{ principal: string }>(
      `SELECT body::json ->> 'principalId' AS principal FROM audit_events`,
    )
    const stored = new Set(rows.map(({ principal }) => principal))
    expect(answered.filter((principal) => !stored.has(principal ?? ''))).toEqual([])
    expect(await rowsOf(database, randomUUID())).toMatchObject({ trust_records: 0 })
  })
})

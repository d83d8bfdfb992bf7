// The system routes of interface §4.1, keys aside.
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import type { TestDatabase } from '../database.ts'
import { aCaller, reply, startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const scoped = aCaller('acme', {
  allowedPrincipalIds: ['alice', 'bob'],
  allowedCapabilities: ['vendor:pay', 'sandbox:echo'],
  credentialHolderType: 'USER',
  readAll: true,
})
const bare = aCaller('bare', { allowedCapabilities: undefined })

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [scoped.entry, bare.entry],
  env: { BUILD_VERSION: '2026.11.21+abc123' },
})

describe('GET / 200', () => {
  // proves §4.1 GET / · none
  test('names the service', async () => {
    expect(reply(await service.get('/'))).toEqual({
      status: 200,
      body: { name: 'countersign', status: 'UP' },
    })
  })
})

/** Chromium sends this from its address bar. */
const BROWSER =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7'

const getAs = (accept: string | undefined, key?: string) =>
  fetch(service.url, {
    headers: {
      ...(accept === undefined ? {} : { Accept: accept }),
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    },
  })

describe('GET / in a notation that the client prefers', () => {
  const pages = ['/documentation', '/reference', '/handbook', '/verifier']
  test.each([
    ['without a key', undefined, 401],
    ['with one', 'known', 200],
  ])('a browser %s gets links to the pages, under the status of the contract', async (_, key, status) => {
    const answer = await getAs(BROWSER, key && service.key)
    const html = await answer.text()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
    expect(answer.headers.get('vary')).toBe('Accept')
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer realm="countersign"' : null)
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; /)
    for (const path of pages) expect(html).toContain(`<a href="${path}">`)
    for (const [, path = ''] of html.matchAll(/<a href="([^"]*)"/g))
      expect([path, (await service.get(path, { key: null })).status]).toEqual([path, 200])
  })

  test.each([
    undefined,
    '*/*',
    'application/json',
    'text/*',
    'application/json, text/html',
    'text/html;q=0.5, application/json',
    'text/html;q=0, */*;q=0',
    'text/html;q=x',
  ])('a client that accepts %s gets JSON', async (accept) => {
    const answers = [await getAs(accept), await getAs(accept, service.key)]
    expect(answers.map(({ headers }) => [headers.get('content-type'), headers.get('vary')])).toEqual(
      answers.map(() => ['application/json', 'Accept']),
    )
    expect(await Promise.all(answers.map(async (answer) => [answer.status, await answer.json()]))).toEqual([
      [401, { error: 'authentication required' }],
      [200, { name: 'countersign', status: 'UP' }],
    ])
  })

  test('no other route has a page in place of its JSON', async () => {
    const answer = await fetch(`${service.url}/version`, { headers: { Accept: BROWSER } })
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([
      401,
      'application/json',
      null,
    ])
  })
})

describe('GET /version 200', () => {
  // proves §4.1 GET /version · none
  test('tells BUILD_VERSION and the version of the API', async () => {
    const body = { name: 'countersign', version: '2026.11.21+abc123', api: 'v1' }
    expect(reply(await service.get('/version'))).toEqual({ status: 200, body })
  })

  test('tells the version of the package where no BUILD_VERSION is given', async () => {
    const plain = await startService({ databaseUrl: database.url })
    expect((await plain.get('/version')).body).toMatchObject({ version: packageJson.version })
    expect(await plain.stop()).toBe(0)
  })
})

const me = async (key: string) => reply(await service.get('/callers/me', { key }))

describe('GET /callers/me 200', () => {
  // proves §4.1 GET /callers/me · none; §5 Each key resolves to a `callerId`
  test('tells the effective scope, and nothing else of the entry', async () => {
    expect(await me(scoped.key)).toEqual({
      status: 200,
      body: {
        callerId: 'acme',
        allowedPrincipalIds: ['alice', 'bob'],
        allowedCapabilities: ['vendor:pay', 'sandbox:echo'],
        unrestrictedCapabilities: false,
      },
    })
  })

  // proves §4.1 GET /callers/me · none
  test('tells the defaults of what the entry leaves out', async () => {
    expect(await me(bare.key)).toEqual({
      status: 200,
      body: {
        callerId: 'bare',
        allowedPrincipalIds: ['bare'],
        allowedCapabilities: [],
        unrestrictedCapabilities: false,
      },
    })
  })

  test('tells capabilities as configured, * included', async () => {
    expect((await me(service.key)).body).toMatchObject({
      allowedCapabilities: ['*'],
      unrestrictedCapabilities: true,
    })
  })
})

describe('GET /health 200', () => {
  // proves §4.1 GET /health · none; §5 GET /health
  test('is UP, without a key', async () => {
    expect(reply(await service.get('/health', { key: null }))).toEqual({
      status: 200,
      body: { status: 'UP' },
    })
  })
})

describe('GET /ready 200', () => {
  // proves §4.1 GET /ready · none; §5 GET /ready
  test('is READY, without a key', async () => {
    const body = { status: 'READY', authDisabled: false }
    expect(await ready()).toEqual({ status: 200, body })
  })
})

/** Reads what it says when it keeps up: a machine that stood still for a second makes it say for two that it does not. */
const ready = () =>
  until(async () => {
    const answer = reply(await service.get('/ready', { key: null }))
    return JSON.stringify(answer.body).includes('event loop is late') ? undefined : answer
  }, 'an instance that keeps up')

function notReady(why: string) {
  const reason = `The database cannot be used: ${why}.`
  return { status: 503, body: { status: 'NOT_READY', reason, error: reason, authDisabled: false } }
}

describe('GET /ready 503 NOT_READY', () => {
  // proves §4.1 GET /health · none; §4.1 GET /ready · none; §7 503 · none · `status`
  test('while there is no execution-intents table; GET /health is not concerned', async () => {
    await database.pool.query('ALTER TABLE released_batches RENAME TO elsewhere')
    expect(await ready()).toEqual(notReady('its execution-intents table is missing'))
    expect((await service.get('/health')).status).toBe(200)
    await database.pool.query('ALTER TABLE elsewhere RENAME TO released_batches')
    expect((await ready()).status).toBe(200)
  })

  // proves §4.1 GET /health · none; §4.1 GET /ready · none; §7 503 · none · `status`
  test('while there is no database, and again READY with one', async () => {
    await database.drop()
    expect(await ready()).toEqual(notReady('there is no such database'))
    expect((await service.get('/health')).status).toBe(200)
    await database.recreate()
    expect((await ready()).status).toBe(200)
    expect((await service.post('/execute', aTransaction())).status).toBe(200)
  })

  test('while executions wait for a thread longer than two seconds, and again READY when they do not', async () => {
    const slow = await startService({ databaseUrl: database.url, env: { WORKER_THREADS: '1' } })
    const client = new Client({ connectionString: database.url })
    await client.connect()
    await client.query('BEGIN; LOCK TABLE business_transactions')
    // More than the batches that a thread takes: what is left waits for it.
    const note = 'x'.repeat(15_000)
    const executions = Array.from({ length: 80 }, () =>
      slow.post('/execute', aTransaction({ intent: { parameters: { amount: 42, note } } })),
    )
    const overloaded = await until(async () => {
      const answer = await slow.get('/ready')
      return answer.status === 503 ? answer : undefined
    }, 'an instance that is not ready')
    expect(overloaded.body).toMatchObject({
      status: 'NOT_READY',
      reason: 'The service is overloaded: executions wait more than 2 seconds for a thread.',
    })
    await client.end()
    await Promise.all(executions)
    expect((await slow.get('/ready')).status).toBe(200)
    expect(await slow.stop()).toBe(0)
  })
})

// The front end before every route: 404, 405, 401 and 413, in the order of decisions §3, and the headers of §11.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { routes } from '../../src/server/routes/index.ts'
import { aHuman } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { env } from '../webhooks.ts'
import { withService } from '../with-service.ts'

const BODY_BYTES_MAX = 102_400
const human = aHuman('human')

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), { env, callers: [human.entry] })

/** Only a witness of other logs has these. */
const mountedHere = routes.filter(({ path }) => !path.startsWith('/log/witness/'))

/** Every route with an id where it has a parameter, and which paths are its own. */
const requests = mountedHere.map(({ method, path, open, mounted, tail, params }) => ({
  method,
  fits: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{.*?\}/g, tail ? '.+' : '[^/]+')}$`),
  path: path.replaceAll(/\{(.*?)\}/g, (_, name: string) =>
    mounted ? params![name]!.example : '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  ),
  /** A 401 of its own: what is missing is no key. */
  signed: path.startsWith('/webhooks/'),
  open: open === true,
}))
const call = (method: string, path: string, options = {}) => service.get(path, { ...options, method })

describe('404 pathNotFound', () => {
  test.each([
    '/nothing',
    '/execute/',
    '//execute',
    '/Execute',
    '/transactions/a/b',
    '/keys/',
    '/keys/%zz',
    '/keys/a%2',
    '/%65xecute',
    '/.well-known',
    '/constructor',
    '/execute;a=b',
  ])('%s, also without a key', async (path) => {
    const notFound = { status: 404, body: { error: 'Not Found' } }
    expect(reply(await service.get(path))).toEqual(notFound)
    expect(reply(await service.get(path, { key: null }))).toEqual(notFound)
  })
})

describe('405 methodNotAllowed', () => {
  test.each([...new Set(requests.map(({ path }) => path))])(
    '%s tells the methods it has, also without a key',
    async (path) => {
      // A path may fit several rows: a literal one beside one with a parameter.
      const methods = new Set<string>(
        requests.filter(({ fits }) => fits.test(path)).map(({ method }) => method),
      )
      if (methods.has('GET')) methods.add('HEAD')
      const allowed = [...methods]
      for (const method of ['DELETE', 'PUT', 'PATCH', 'OPTIONS', 'GET', 'POST']) {
        if (allowed.includes(method)) continue
        const refused = await call(method, path, { key: null })
        expect(reply(refused)).toEqual({ status: 405, body: { error: 'Method Not Allowed' } })
        expect(refused.headers.get('allow')?.split(', ').toSorted()).toEqual(allowed.toSorted())
      }
    },
  )
})

describe('400 invalidQuery', () => {
  const withQuery = mountedHere.flatMap(({ method, path, query, params = {} }) =>
    query === undefined
      ? []
      : [
          {
            method,
            path: path.replaceAll(/\{(.*?)\}/g, (_, name: string) => params[name]!.example),
            names: Object.keys(query),
          },
        ],
  )

  test.each(withQuery)('$method $path refuses a query parameter that it does not have', async (route) => {
    const { method, path, names } = route
    const refused = await call(method, `${path}?${names[0]}=x&${names[0]}s=x`, { key: human.key })
    expect(reply(refused)).toEqual({
      status: 400,
      body: {
        error: `"${names[0]}s" is no query parameter of this path, which takes ${names.join(', ')}.`,
      },
    })
  })

  test.each(withQuery)(
    '$method $path refuses a parameter that is there twice',
    async ({ method, path, names }) => {
      const refused = await call(method, `${path}?${names[0]}=x&${names[0]}=x`, { key: human.key })
      expect(reply(refused)).toEqual({
        status: 400,
        body: { error: `${names[0]} is there twice in the query.` },
      })
    },
  )

  test('a path without query parameters reads none: a link may have got some on its way', async () => {
    expect(await service.get('/health?utm_source=mail')).toMatchObject({ status: 200 })
  })

  test('a long name is cut, and a strange one quoted', async () => {
    const long = await service.get(`/transactions?${'x'.repeat(500)}=1`)
    expect((long.body as { error: string }).error).toMatch(/^"x{60}…" is no query parameter/)
    const strange = await service.get('/transactions?%0A%22=1')
    expect((strange.body as { error: string }).error).toMatch(/^"\\n\\"" is no query parameter/)
  })
})

/** Reads the parts of a refusal for want of a key. */
const attempt = async (method: string, path: string, authorization?: string) => {
  const headers = authorization === undefined ? {} : { authorization }
  const answer = await call(method, path, { key: null, headers })
  return { status: answer.status, text: answer.text, challenge: answer.headers.get('www-authenticate') }
}

describe('401 authenticationRequired', () => {
  const refused = {
    status: 401,
    text: '{"error":"authentication required"}',
    challenge: 'Bearer realm="countersign"',
  }
  const guarded = requests.filter(({ open }) => !open)
  // proves §4 Every route requires a bearer; §4.1 GET / · none; §5 Send `Authorization: Bearer <API_KEY>`
  // proves §5 A missing, malformed or unknown; §7 401 · none · `authentication
  test.each(guarded)('$method $path needs a key', async ({ method, path }) => {
    expect(await attempt(method, path)).toEqual(refused)
  })

  // proves §5 A missing, malformed or unknown
  test.each([
    ['an unknown key', () => `Bearer csk_${'A'.repeat(43)}`],
    ['a key cut short', () => `Bearer ${service.key.slice(0, -1)}`],
    ['a key with something behind', () => `Bearer ${service.key}A`],
    ['two keys', () => `Bearer ${service.key} ${service.key}`],
    ['a key in other letter case', () => `Bearer ${service.key.toUpperCase()}`],
    ['no key', () => 'Bearer'],
    ['an empty key', () => 'Bearer '],
    ['a key without its scheme', () => service.key],
    ['another scheme', () => `Basic ${Buffer.from(`tester:${service.key}`).toString('base64')}`],
    ['the scheme glued to the key', () => `Bearer${service.key}`],
    ['a quoted key', () => `Bearer "${service.key}"`],
    ['a list', () => `Bearer x, Bearer ${service.key}`],
  ])('%s', async (_title, authorization) => {
    expect(await attempt('GET', '/', authorization())).toEqual(refused)
  })

  // proves §5 Send `Authorization: Bearer <API_KEY>`
  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('%s names the scheme', async (scheme) => {
    expect(await attempt('GET', '/', `${scheme} ${service.key}`)).toMatchObject({ status: 200 })
  })

  test('two header lines, whichever of them is good: another reader may take the other', async () => {
    const good = `Bearer ${service.key}`
    for (const lines of [
      [good, 'Bearer x'],
      ['Bearer x', good],
    ]) {
      const request = httpGet(service.url, { headers: { Authorization: lines } })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      expect(response.resume().statusCode).toBe(401)
    }
  })

  // proves §5 A missing, malformed or unknown
  test('comes before anything that the body could be refused for', async () => {
    for (const body of ['', '{', ' '.repeat(BODY_BYTES_MAX + 1)])
      expect((await service.post('/execute', body, { key: null })).status).toBe(401)
  })

  // proves §5 Open routes (no credential); §5 Whether GET /reference and GET
  test.each(requests.filter(({ open, signed }) => open && !signed))(
    'not $method $path: an open route takes any key or none',
    async ({ method, path }) => {
      const statuses = [
        await attempt(method, path),
        await attempt(method, path, 'Bearer x'),
        await attempt(method, path, `Bearer ${service.key}`),
      ]
      expect(new Set(statuses.map(({ status }) => status)).size).toBe(1)
      expect(statuses[0]?.status).not.toBe(401)
    },
  )
})

/** A good body of so many bytes. */
const filled = (bytes: number) => {
  const text = JSON.stringify(aTransaction())
  return text + ' '.repeat(bytes - text.length)
}

describe('413 payloadTooLarge', () => {
  // proves §8 Maximum request body size
  test.each(['/execute', '/transactions'])('POST %s over MAX_BODY_BYTES', async (path) => {
    const refused = await service.post(path, filled(BODY_BYTES_MAX + 1))
    expect(reply(refused)).toEqual({ status: 413, body: { error: 'Payload too large.' } })
  })

  test('ten times over, and the next request is served', async () => {
    expect((await service.post('/execute', filled(BODY_BYTES_MAX * 10))).status).toBe(413)
    expect((await service.get('/health')).status).toBe(200)
  })

  // proves §8 Maximum request body size
  test('not at MAX_BODY_BYTES', async () => {
    expect((await service.post('/execute', filled(BODY_BYTES_MAX))).status).toBe(200)
  })

  test('stores nothing', async () => {
    const { rows } = await database.pool.query(
      'SELECT count(*)::integer AS transactions FROM business_transactions',
    )
    expect(rows).toEqual([{ transactions: 1 }])
  })
})

describe('every reply', () => {
  const examples = [
    ['GET', '/', 200],
    ['GET', '/health', 200],
    ['GET', '/nothing', 404],
    ['POST', '/execute', 400],
    ['PUT', '/execute', 405],
  ] as const

  test.each(examples)('of %s %s is JSON that no browser sniffs', async (method, path, status) => {
    const { headers, status: seen, body } = await call(method, path)
    expect(seen).toBe(status)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(body).toBeTypeOf('object')
  })

  test.each([
    'e3f0d9a2-6f0b-4b57-9c34-90f6a1d9a0c1',
    '01932b5e-7e6c-7000-8000-000000000000',
    'E3F0D9A2-6F0B-4B57-9C34-90F6A1D9A0C1',
  ])('carries the request id %s that came with the request', async (id) => {
    for (const [method, path] of examples)
      expect(
        (await call(method, path, { headers: { 'X-Request-Id': id } })).headers.get('x-request-id'),
      ).toBe(id)
  })

  test.each(['', 'x', '{"a":1}', `${randomUUID()}0`, `${randomUUID()} `.repeat(2), '../../etc'])(
    'carries a fresh request id where "%s" came',
    async (id) => {
      const { headers } = await service.get('/', { headers: { 'X-Request-Id': id } })
      expect(headers.get('x-request-id')).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
      expect(headers.get('x-request-id')).not.toBe(id)
    },
  )

  test('to HEAD is that to GET without its body', async () => {
    for (const path of ['/', '/nothing', '/.well-known/jwks.json']) {
      const [get, head] = [await service.get(path), await call('HEAD', path)]
      expect([head.status, head.text]).toEqual([get.status, ''])
      for (const name of ['content-type', 'content-length', 'etag', 'x-content-type-options'])
        expect(head.headers.get(name)).toBe(get.headers.get(name))
    }
  })

  test('leaves one log line, which names its request and who called but not what was asked of it', async () => {
    const id = randomUUID()
    await service.get('/transactions?page=1&callerId=hunter2', { headers: { 'X-Request-Id': id } })
    const line = await until(() => service.lines().find(({ requestId }) => requestId === id), 'the log line')
    expect(line).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      msg: 'request',
      requestId: id,
      method: 'GET',
      path: '/transactions',
      status: 200,
      ms: expect.any(Number),
      caller: 'tester',
    })
    expect(service.lines().filter(({ requestId }) => requestId === id)).toHaveLength(1)
    expect(service.output()).not.toContain('hunter2')
  })
})

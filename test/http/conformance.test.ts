// Statements of the contract that span routes (interface §4.2, §5, §7, §8) and that no route's own tests prove: docs/conformance.md.
import { hash, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { routes } from '../../src/server/routes/index.ts'
import { rowsOf, type TestDatabase } from '../database.ts'
import { addPolicy } from '../policies.ts'
import { aCaller, reply, startService, type Called, type TestService } from '../service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

/** Approves an action that no connector carries out. */
const payer = { name: 'payer', version: '1.0.0' }
const limited = aCaller('limited', { allowedPrincipalIds: ['tester'], allowedCapabilities: ['vendor:pay'] })

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [limited.entry],
  addPolicies: (folder) => addPolicy(folder, { ...payer, capability: 'vendor:pay' }),
})

const aPayment = (changes: object = {}) =>
  aTransaction({ policy: payer, intent: { action: 'vendor:pay' }, ...changes })
const runtimeError = (error: string) => ({ status: 500, body: { error, code: 'RUNTIME_ERROR' } })

describe.each([
  { path: '/execute', success: 200 },
  { path: '/transactions', success: 201 },
])('POST $path', ({ path, success }) => {
  const post = (body: unknown, key: string | null = service.key) => service.post(path, body, { key })

  // proves §4.2 POST /execute: Order of checks; §4.2 POST /transactions: Runs the same; §7 404 · none · `Policy
  // proves §7 500 · `RUNTIME_ERROR` · `Execution; §7 500 · varies · see
  test('checks the key, the id, the body, the policy, its outcome and the connector, in this order', async () => {
    // Each has one fault less than the one before; only those of the last three are looked at by the policy or later.
    const authorityId = randomUUID()
    const faults = {
      policy: { name: 'unknown' },
      signals: { approved: false },
      authorization: { authorityId },
    }
    const all = { ...aPayment(faults), businessTransactionId: 'x' }
    expect((await post(all, 'csk_unknown')).status).toBe(401)
    expect(reply(await post(all))).toEqual({
      status: 400,
      body: { error: 'businessTransactionId must be a valid UUID.' },
    })
    const badBody = aPayment(faults)
    expect(reply(await post(badBody))).toEqual({
      status: 400,
      body: { error: 'authorization.authorityId must match authority.authorityId.' },
    })
    expect(await rowsOf(database, badBody.businessTransactionId)).toMatchObject({ business_transactions: 0 })
    const { authorization: _mended, ...stillBad } = faults
    expect(reply(await post(aPayment(stillBad)))).toEqual({
      status: 404,
      body: { error: "Policy 'unknown' version '1.0.0' was not found." },
    })
    expect(reply(await post(aPayment({ signals: { approved: false } })))).toEqual(
      runtimeError('Execution rejected: No rule matched.'),
    )
    expect(reply(await post(aPayment()))).toEqual(
      runtimeError('No connector registered for action: vendor:pay.'),
    )
    expect((await post(aTransaction())).status).toBe(success)
  })

  // proves §5 A missing, malformed or unknown; §5 Authentication proves only that a request
  test('a rejected caller is told so by its key, a rejected transaction by its policy: neither helps the other', async () => {
    const good = aTransaction()
    expect((await post(good, null)).status).toBe(401)
    expect(await rowsOf(database, good.businessTransactionId)).toMatchObject({ business_transactions: 0 })
    expect(reply(await post(aRejectedTransaction()))).toEqual(
      runtimeError('Execution rejected: Amount above 1000.'),
    )
  })
})

/** The list of interface §5, item 2, each with a request that an unknown caller gets an answer to. */
const openRoutes: [method: 'GET' | 'POST', path: string, status: number][] = [
  ['GET', '/health', 200],
  ['GET', '/ready', 200],
  ['GET', '/openapi.yaml', 200],
  ['GET', '/documentation', 200],
  ['GET', '/api-manifest.json', 200],
  ['POST', '/refusal/verify', 200],
  ['POST', '/audit/verify', 200],
  ['GET', '/keys/{keyId}', 404],
  ['GET', '/.well-known/jwks.json', 200],
]
/** Open by decisions §2, §4 and §5, where the contract is silent; and the deliveries of §6, whose signature is their authentication. */
const openByDecision =
  /^(GET \/(openapi\.json|reference|handbook|signer|verifier(\/countersign-verify\.mjs)?|(documentation|reference)\/\{asset\}|handbook\/\{page\})|GET \/\.well-known\/(countersign-log|approver-keys\.json)|GET \/log\/(checkpoint|consistency|witness\/\{originHash\}\/checkpoint)|POST \/log\/witness\/add-checkpoint|POST \/webhooks\/\{provider\})$/

describe('without a key', () => {
  // proves §4.6 POST /refusal/verify and POST; §5 Open routes (no credential); §5 GET /health; §5 GET /ready
  // proves §5 GET /openapi.yaml; §5 GET /documentation; §5 GET /api-manifest.json; §5 POST /refusal/verify; §5 POST /audit/verify
  // proves §5 GET /keys/{keyId}; §5 GET /.well-known/jwks.json
  test.each(openRoutes)('%s %s is answered', async (method, path, status) => {
    const body = method === 'POST' ? { body: '{}' } : {}
    const response = await fetch(service.url + path.replace('{keyId}', 'unknown'), { method, ...body })
    expect(response.status).toBe(status)
  })

  // proves §4 Every route requires a bearer; §5 Open routes (no credential)
  test('nothing else of the route table is, but for documents that decisions open', () => {
    const open = routes.filter((route) => route.open === true).map(({ method, path }) => `${method} ${path}`)
    const listed = openRoutes.map(([method, path]) => `${method} ${path}`)
    expect(open).toEqual(expect.arrayContaining(listed))
    expect(open.filter((route) => !listed.includes(route) && !openByDecision.test(route))).toEqual([])
  })
})

// proves §4.1 GET /openapi.yaml · none
test('the OpenAPI document is self-contained: every reference leads into the document itself', async () => {
  const { text, body } = await service.get('/openapi.json', { key: null })
  const references = Array.from(text.matchAll(/"\$ref":"([^"]*)"/g), ([, reference = '']) => reference)
  expect(references.length).toBeGreaterThan(50)
  for (const reference of new Set(references)) {
    const [root, ...path] = reference.split('/')
    expect(root).toBe('#')
    const names = path.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    expect(names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], body)).toBeTypeOf(
      'object',
    )
  }
})

// proves §5 Keys are issued by an operator
test('no route issues, lists, changes or removes a caller key', async () => {
  for (const path of ['/keys', '/callers', '/callers/keys', '/callers/tester', '/api-keys'])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      expect([path, (await service.get(path, { method })).status]).toEqual([path, 404])
  for (const path of ['/callers/me', '/keys/unknown'])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect([path, (await service.get(path, { method })).status]).toEqual([path, 405])
})

/** Failures of every kind that one service can be brought to. */
const failing = async (): Promise<Called[]> => {
  const id = randomUUID()
  const taken = aTransaction()
  await service.post('/execute', taken)
  const bodies = [
    '{',
    {},
    { ...aTransaction(), metadata: null },
    taken,
    aPayment(),
    aTransaction({ policy: { name: 'unknown' } }),
    aRejectedTransaction(),
    aMismatchedTransaction(),
    aTransaction({ authorization: { authorityId: id } }),
    'x'.repeat(200_000),
  ]
  const gets = ['/nothing', '/transactions?page=0', '/keys/unknown', '/audit/events']
  const reads = ['/transactions', '/trust-records', '/verification', '/receipt/latest', '/refusal']
  return Promise.all([
    ...bodies.map((body) => service.post('/execute', body)),
    ...['/verify', '/receipt', '/replay'].flatMap((path) =>
      ['{', {}, { businessTransactionId: id }].map((body) => service.post(path, body)),
    ),
    ...[...gets, ...reads.map((path) => `${path}/${id}`)].map((path) => service.get(path)),
    service.get('/', { key: null }),
    service.get('/execute'),
    service.post('/execute', aTransaction(), { key: limited.key }),
    service.post('/refusal/verify', []),
  ])
}

describe('a failure', () => {
  // proves §7 Every non-2xx response is `{error
  test('is an object of a plain text and, where there is one, a code', async () => {
    const answers = await failing()
    const statuses = new Set(answers.map(({ status }) => status))
    expect(statuses).toEqual(new Set([400, 401, 403, 404, 405, 409, 413, 500]))
    for (const { status, headers, body } of answers) {
      expect(headers.get('content-type')).toBe('application/json')
      const { error, code, ...more } = body as Record<string, unknown>
      expect([status, more]).toEqual([status, {}])
      expect(error).toEqual(expect.stringMatching(/./))
      if (code !== undefined) expect(code).toEqual(expect.stringMatching(/^[A-Z_]+$/))
    }
  })

  // proves §7 A `code` string is added
  test('has a code only where it came from the run of a transaction or from the row that names one', async () => {
    const coded = (await failing()).map(({ status, body }) => `${body.code ?? 'none'} ${status}`)
    expect(new Set(coded)).toEqual(
      new Set([
        'none 400',
        'none 401',
        'none 403',
        'NON_HUMAN_CALLER_DENIED 403',
        'POLICY_DENIED 403',
        'none 404',
        'VERIFICATION_FAILED 404',
        'none 405',
        'none 409',
        'none 413',
        'none 500',
        'RUNTIME_ERROR 500',
      ]),
    )
  })

  // proves §7 Branch on HTTP status
  test('keeps its status and code where its text varies', async () => {
    const [other, differing] = [aTransaction({ signals: { approved: false } }), aMismatchedTransaction()]
    const pairs = [
      [aRejectedTransaction(), other],
      [aMismatchedTransaction(), { ...differing, signals: { approved: true, amount: 43 } }],
    ]
    for (const pair of pairs) {
      const [one, two] = await Promise.all(pair.map((body) => service.post('/execute', body)))
      expect(one?.body.code).toEqual(expect.any(String))
      expect([one?.status, one?.body.code]).toEqual([two?.status, two?.body.code])
      expect(one?.body.error).not.toBe(two?.body.error)
    }
  })
})

/** RFC 9562 §5.5, as a caller would derive one from its own key. */
function uuidV5(namespace: string, name: string): string {
  const bytes = Buffer.concat([Buffer.from(namespace.replaceAll('-', ''), 'hex'), Buffer.from(name)])
  const hex = hash('sha1', bytes, 'hex')
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`
}

const postWith = (idempotencyKey: string, body: unknown) =>
  service.post('/execute', body, { headers: { 'Idempotency-Key': idempotencyKey } })

describe('idempotency', () => {
  // proves §4.2 POST /execute: A duplicate; §7 Idempotency Callers should derive the id
  test('an id derived from a key of the caller is answered 409 when it comes again, and leads to the first result', async () => {
    const invoice = `invoice ${randomUUID()}`
    const id = () => uuidV5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', invoice)
    const first = await service.post('/execute', aTransaction({ businessTransactionId: id() }))
    expect(first.status).toBe(200)
    const again = await service.post('/execute', aTransaction({ businessTransactionId: id() }))
    expect(again.status).toBe(409)
    expect((await service.get(again.headers.get('location') ?? '')).body).toEqual(first.body)
    expect((await service.get(`/transactions/${id()}`)).body).toEqual(first.body.transaction)
  })

  // proves §7 Idempotency There is no `Idempotency-Key`
  test('an Idempotency-Key means nothing: one id with two is a duplicate, two ids with one are both executed', async () => {
    const [one, other] = [aTransaction(), aTransaction()]
    const first = await postWith('a', one)
    const second = await postWith('a', other)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body.businessTransactionId).toBe(other.businessTransactionId)
    for (const key of ['a', 'b']) expect((await postWith(key, one)).status).toBe(409)
  })

  // proves §7 Idempotency There is no opt-out
  test('no header, query or member of the body lets an id be used again', async () => {
    const transaction = aTransaction()
    expect((await service.post('/execute', transaction)).status).toBe(200)
    for (const name of ['force', 'overwrite', 'retry', 'allowDuplicate', 'idempotent']) {
      const headers = { [`X-${name}`]: 'true', Prefer: name, 'Cache-Control': 'no-cache' }
      const body = { ...transaction, [name]: true, metadata: { ...transaction.metadata, [name]: true } }
      expect((await service.post(`/execute?${name}=true`, body, { headers })).status).toBe(409)
    }
    expect(await rowsOf(database, transaction.businessTransactionId)).toMatchObject({ trust_records: 1 })
  })
})

const statuses = async (requests: Promise<Called>[]) =>
  (await Promise.all(requests)).map(({ status }) => status).toSorted((a, b) => a - b)

// proves §8 By default the counters
test('without DATABASE_URL each process counts for itself: two let twice the number through', async () => {
  const env = { RATE_LIMIT_EXECUTE_PER_MINUTE: '2', RATE_LIMIT_HEALTH_PER_MINUTE: '2' }
  const one = await startService({ env })
  const other = await startService({ env, key: one.key })
  for (const each of [one, other]) {
    const executed = [0, 1, 2].map(() => each.post('/execute', aTransaction()))
    expect(await statuses(executed)).toEqual([200, 200, 429])
    const healthy = [0, 1, 2].map(() => each.get('/health'))
    expect(await statuses(healthy)).toEqual([200, 200, 429])
  }
  expect([await one.stop(), await other.stop()]).toEqual([0, 0])
})

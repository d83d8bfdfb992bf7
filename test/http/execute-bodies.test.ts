// Bad bodies of every kind, all at once and mixed with good ones: each gets its documented answer (decisions §3), none stops the
// process or its neighbours in the batch.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { badTransactions, changed, nestedObjects } from '../bad-transactions.ts'
import { rowsOf, type TestDatabase } from '../database.ts'
import { reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made))

type Body = string | Uint8Array

/** The text of a good transaction with the parameter `x` spelled as given. */
const withParameter = (spelled: string) =>
  JSON.stringify(aTransaction({ intent: { parameters: { amount: 42, x: '$' } } })).replace(
    '"$"',
    () => spelled,
  )
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
/** The parameters of a transaction stand at depth 3. */
const ALLOWED_DEPTH = 64 - 3

const malformed: [title: string, body: Body][] = [
  ['nothing', ''],
  ['no JSON', 'businessTransactionId=1'],
  ['half of a body', JSON.stringify(aTransaction()).slice(0, 500)],
  ['two bodies', JSON.stringify(aTransaction()).repeat(2)],
  ['a BOM', `\ufeff${JSON.stringify(aTransaction())}`],
  ['UTF-16', Buffer.from(JSON.stringify(aTransaction()), 'utf16le')],
  ['invalid UTF-8', Buffer.from(withParameter('"\u00ff"'), 'latin1')],
  ['overlong UTF-8', Buffer.from(withParameter('"\u00c0\u00af"'), 'latin1')],
  ['a surrogate in UTF-8', Buffer.from(withParameter('"\u00ed\u00a0\u0080"'), 'latin1')],
  ['a lone surrogate', withParameter('"\\ud800"')],
  ['a lone surrogate in a key', withParameter('{"\\udc00":1}')],
  [
    'a duplicate id',
    JSON.stringify(aTransaction()).replace('{', `{"businessTransactionId":"${randomUUID()}",`),
  ],
  ['a duplicate key below', withParameter('{"a":1,"a":1}')],
  ['a duplicate key in another spelling', withParameter('{"a":1,"\\u0061":1}')],
  [
    'a duplicate key among fields that are dropped',
    JSON.stringify(aTransaction()).replace('{', '{"z":1,"z":2,'),
  ],
  ['__proto__', withParameter('{"__proto__":{"amount":1}}')],
  ['__proto__ in another spelling', withParameter('{"\\u005f\\u005fproto__":1}')],
  ['__proto__ at the top', JSON.stringify(aTransaction()).replace('{', '{"__proto__":{},')],
  ['a number that overflows', withParameter('1e400')],
  ['a number that would be read as 0', withParameter('1e-400')],
  ['depth 65', withParameter(nested(ALLOWED_DEPTH + 1))],
  ['depth 10,000', withParameter(nested(10_000))],
  ['100,000 brackets', '['.repeat(100_000)],
]

const good: [title: string, body: Body][] = [
  ['an untouched one', JSON.stringify(aTransaction())],
  ['every way to write 0', withParameter('[0,-0,0e5,0.000e-999]')],
  ['depth 64', withParameter(nested(ALLOWED_DEPTH))],
  ['100 KB of one string', withParameter(JSON.stringify('x'.repeat(100_000)))],
  ['100 KB of one key', withParameter(JSON.stringify({ ['k'.repeat(100_000)]: 1 }))],
  ['100 KB of quotes', withParameter(JSON.stringify('"'.repeat(50_000)))],
  ['100 KB of NUL', withParameter(JSON.stringify('\0'.repeat(16_000)))],
  [
    '9,000 parameters',
    withParameter(JSON.stringify(Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [i, 1])))),
  ],
  [
    'NUL in every text',
    JSON.stringify(
      aTransaction({
        metadata: { sourceSystem: '\0' },
        authority: { displayName: 'a\0b' },
        authorization: { purpose: '\0\0' },
        intent: { target: 'a\0', parameters: { amount: 42, '\0': '\0' } },
        policy: { schemaVersion: '\0' },
      }),
    ),
  ],
  [
    'parameters named as objects are born with',
    withParameter('{"constructor":1,"toString":null,"hasOwnProperty":{"valueOf":[]}}'),
  ],
  [
    'signals named so',
    JSON.stringify(aTransaction({ signals: { constructor: true, toString: 1, valueOf: false } })),
  ],
  ['text of every plane', withParameter(JSON.stringify('\u007f\u0080\u2028\u2029\ufffe\uffff😀\u{10ffff}'))],
  ['lots of white space', JSON.stringify(aTransaction(), null, 10).replaceAll('\n', '\r\n\t ')],
  ['numbers at the edges', withParameter('[9007199254740991,-9007199254740991,5e-324,0.1,-0,1.0,1E2]')],
]

// proves §4.2 POST /execute: Order of checks; §7 500 · none · `Internal
test('each gets its documented answer while a good one beside each is executed', async () => {
  const bad = badTransactions()
  const expected = [
    ...bad.map(({ title, body, status, error }) => ({ title, body, status, answer: { error } })),
    ...malformed.map(([title, body]) => ({
      title,
      body,
      status: 400,
      answer: { error: 'Malformed JSON body.' },
    })),
    ...good.map(([title, body]) => ({ title, body, status: 200, answer: undefined })),
  ]
  const neighbours = expected.map(() => service.post('/execute', aTransaction()))
  const seen = await Promise.all(
    expected.map(async ({ title, body, answer }) => {
      const called = await service.post('/execute', body)
      return { title, status: called.status, answer: answer && (called.body as unknown) }
    }),
  )
  expect(seen).toEqual(expected.map(({ title, status, answer }) => ({ title, status, answer })))
  const statuses = (await Promise.all(neighbours)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200]))

  const executed = expected.length + good.length
  expect(await rowsOf(database)).toEqual({
    business_transactions: executed,
    execution_intents: executed,
    trust_records: executed,
    verifications: executed,
    receipts: executed,
    refusal_records: 0,
  })
  expect((await service.get('/ready')).status).toBe(200)
})

describe('POST /execute 400 malformedJson', () => {
  test('the log line says what is wrong, and repeats nothing of the body', async () => {
    const { headers, body } = await service.post('/execute', '{"token":"hunter2","token":"hunter2"}')
    expect(body).toEqual({ error: 'Malformed JSON body.' })
    const line = await logLine(headers)
    expect(line).toMatchObject({ status: 400, cause: 'duplicate key', level: 30 })
    expect(service.output()).not.toContain('hunter2')
  })
})

describe('POST /execute 400 invalidBusinessTransactionId', () => {
  const refused = { status: 400, body: { error: 'businessTransactionId must be a valid UUID.' } }

  // proves §4.2 POST /transactions: Runs the same; §7 400 · none · `businessTransactionId must
  test.each(['/execute', '/transactions'])('POST %s: version 7, nil, text, nothing', async (path) => {
    const ids = [
      '01932b5e-7e6c-7000-8000-000000000000',
      '00000000-0000-0000-0000-000000000000',
      'x',
      undefined,
    ]
    for (const id of ids) {
      const answer = await service.post(path, changed('businessTransactionId', id))
      expect(reply(answer)).toEqual(refused)
      expect(answer.headers.get('link')).toBe('</sandbox/evaluate>; rel="help"')
    }
  })

  test.each(['[]', '{}', '"text"', '5', 'null', 'true'])('%s has none', async (body) => {
    expect(reply(await service.post('/execute', body))).toEqual(refused)
  })
})

describe('POST /execute 400 invalidTransaction', () => {
  // proves §7 400 · none · `authorization.authorityId
  test.each(['/execute', '/transactions'])('POST %s: the chain of ids must hold', async (path) => {
    const answer = await service.post(path, changed('authorization.authorityId', randomUUID()))
    expect(reply(answer)).toEqual({
      status: 400,
      body: { error: 'authorization.authorityId must match authority.authorityId.' },
    })
    expect(answer.headers.get('link')).toBe('</sandbox/evaluate>; rel="help"')
  })

  test('a number beyond 2^53 is refused by its path', async () => {
    for (const number of ['9007199254740992', '9007199254740993', '1e300']) {
      expect(reply(await service.post('/execute', withParameter(`[{"deep":${number}}]`)))).toEqual({
        status: 400,
        body: { error: 'intent.parameters.x[0].deep must be a safe integer.' },
      })
    }
  })
})

describe('POST /execute 500 missingObject', () => {
  // proves §7 500 · none · `Internal
  test.each(nestedObjects)('without %s; the log line names it', async (name) => {
    const answer = await service.post('/transactions', changed(name, undefined))
    expect(reply(answer)).toEqual({ status: 500, body: { error: 'Internal Server Error' } })
    expect(answer.headers.get('link')).toBe('</sandbox/evaluate>; rel="help"')
    expect(await logLine(answer.headers)).toMatchObject({
      level: 50,
      status: 500,
      cause: `missing nested object: ${name}`,
    })
  })
})

// proves §4.2 POST /execute: Request: BusinessTransaction
test('what is stored is what was sent, but for what the service assigns', async () => {
  const sent = aTransaction()
  const upper = JSON.stringify({
    ...sent,
    status: ['x'],
    createdAt: 5,
    extra: 1,
    policy: { ...sent.policy, extra: 1 },
  })
    .replaceAll(/"[0-9a-f-]{36}"/g, (id) => id.toUpperCase())
    .replace('"amount":42', '"amount":42.0,"zero":-0')
  const { body } = await service.post('/execute', upper)
  expect(body.transaction).toEqual({
    ...sent,
    metadata: { ...sent.metadata, submittedBy: 'tester' },
    intent: { ...sent.intent, parameters: { amount: 42, zero: 0 } },
    status: 'RECEIVED',
    createdAt: expect.any(String),
  })
  const { text } = await service.get(`/transactions/${sent.businessTransactionId}`)
  expect(text).toContain('"parameters":{"amount":42,"zero":0}')
})

async function logLine(headers: Headers): Promise<Record<string, unknown>> {
  const id = headers.get('x-request-id')
  return until(() => service.lines().find(({ requestId }) => requestId === id), 'the log line')
}

// Reading back what a caller submitted (interface §4.2, §4.3, decisions §2 "owner-scoped", §5 paging).
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/server/routes/index.ts'
import { aCaller, reply, type Called, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const PAGES = 30
/** Immutable, or with an ETag of what has been added: a browser may keep it and ask whether it is still that. */
const EVIDENCE = ['/trust-records/{id}', '/receipt/latest/{id}', '/execution-intents/{id}']

const alice = aCaller('alice', { allowedPrincipalIds: ['tester'] })
const aliceRotated = aCaller('alice', { allowedPrincipalIds: ['tester'] })
const bob = aCaller('bob')
const human = aCaller('human', { credentialHolderType: 'USER' })
const auditor = aCaller('auditor', { readAll: true })

let service: TestService
/** The two that alice submitted: one executed, one rejected. */
let record: { businessTransactionId: string; transaction: { createdAt: string } }
let rejectedId: string

withService((made) => ({ service } = made), {
  callers: [alice, aliceRotated, bob, human, auditor].map(({ entry }) => entry),
})

beforeAll(async () => {
  // Text that fits into Latin-1 and is not ASCII: a listener may write a string of it in another encoding than UTF-8.
  const transaction = aTransaction({ intent: { target: 'Zürich' } })
  record = (await service.post('/execute', transaction, alice)).body
  const rejected = aRejectedTransaction()
  await service.post('/execute', rejected, alice)
  rejectedId = rejected.businessTransactionId
  for (let i = 0; i < PAGES; i++)
    await service.post('/execute', aTransaction({ intent: { target: String(i) } }))
})

const get = (path: string, { key }: { key: string }) => service.get(path, { key })

describe('what needs a key is kept by no cache', () => {
  const keyed = routes.filter((route) => !('open' in route))

  test.each(keyed.map(({ method, path }) => [method, path] as const))(
    '%s %s: private, no-store; and so is its refusal',
    async (method, path) => {
      const at = path.replace('{kind}', 'receipt').replaceAll(/\{\w+\}/g, record.businessTransactionId)
      for (const key of [human.key, null]) {
        const body = method === 'POST' ? '{}' : undefined
        const { status, headers } = await (body === undefined
          ? service.get(at, { key })
          : service.post(at, body, { key }))
        const isEvidence = status === 200 && EVIDENCE.includes(path)
        expect(headers.get('cache-control'), String(status)).toBe(
          isEvidence ? 'private, no-cache' : 'private, no-store',
        )
      }
    },
  )

  test('an open route says itself what may be kept', async () => {
    const { headers } = await service.get('/health', { key: null })
    expect(headers.get('cache-control')).toBeNull()
  })
})

describe('GET /transactions/{id} 200', () => {
  // proves §4.2 GET /transactions/{id}: Response 200
  test('answers the transaction as stored', async () => {
    const id = record.businessTransactionId
    expect(reply(await get(`/transactions/${id}`, alice))).toEqual({ status: 200, body: record.transaction })
    expect(reply(await get(`/transactions/${id.toUpperCase()}`, alice)).body).toEqual(record.transaction)
  })

  test('also of one that was rejected', async () => {
    const { status, body } = await get(`/transactions/${rejectedId}`, alice)
    expect([status, body.status]).toEqual([200, 'RECEIVED'])
  })
})

describe('GET /trust-records/{id} 200', () => {
  // proves §4.3 GET /trust-records/{id} · path
  test('answers the record that POST /execute answered', async () => {
    const { status, body, headers } = await get(`/trust-records/${record.businessTransactionId}`, alice)
    expect({ status, body }).toEqual({ status: 200, body: record })
    expect(headers.get('cache-control')).toBe('private, no-cache')
  })
})

describe('GET /trust-records/{id} 304', () => {
  test('answers a client that has the record, and only where it may see it', async () => {
    const path = `/trust-records/${record.businessTransactionId}`
    const etag = (await get(path, alice)).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/)
    const again = (key: string) => service.get(path, { key, headers: { 'If-None-Match': etag } })
    expect([(await again(alice.key)).status, (await again(alice.key)).text]).toEqual([304, ''])
    expect((await again(bob.key)).status).toBe(404)
  })
})

describe('GET /refusal/{businessTransactionId} 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('answers the Refusal Record, whole', async () => {
    const { status, body } = await get(`/refusal/${rejectedId}`, alice)
    expect(status).toBe(200)
    expect(body).toEqual({
      refusalRecordId: expect.any(String),
      businessTransactionId: rejectedId,
      decision: expect.objectContaining({
        outcome: 'REJECTED',
        reason: 'Amount above 1000.',
        matchedRuleId: 'too-large',
        evaluatedRules: ['too-large'],
      }),
      evaluatedIntent: expect.objectContaining({ action: 'sandbox:echo', parameters: { amount: 2000 } }),
      mismatches: [],
      submittedBy: 'alice',
      createdAt: expect.any(String),
      refusalRecordHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      signature: {
        algorithm: 'ed25519',
        keyId: expect.any(String),
        value: expect.any(String),
        signedAt: expect.any(String),
      },
    })
  })

  test('names each mismatch of a denied transaction', async () => {
    const denied = aTransaction({ intent: { parameters: { amount: 7 } } })
    await service.post('/execute', denied)
    const { body } = await service.get(`/refusal/${denied.businessTransactionId}`)
    expect(body.mismatches).toEqual([
      { signal: 'amount', declared: 42, verified: 7, source: 'intent.parameters.amount' },
    ])
  })
})

/** All that one reply can be told from another by, but for when it was sent and under which id. */
const seen = ({ status, text, headers }: Called) => {
  const stable = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
  return { status, text, headers: Object.fromEntries(stable) }
}

describe.each([
  ['GET /transactions/{id} 404 transactionNotFound', '/transactions', 'Business Transaction not found.'],
  ['GET /trust-records/{id} 404 trustRecordNotFound', '/trust-records', 'Execution Trust Record not found.'],
  ['GET /refusal/{businessTransactionId} 404 refusalNotFound', '/refusal', 'Refusal Record not found.'],
])('%s', (_title, path, error) => {
  const id = () => (path === '/refusal' ? rejectedId : record.businessTransactionId)

  // proves §4.2 GET /transactions/{id}: Response 200; §4.3 GET /trust-records/{id} · path; §7 404 · none · `Business
  // proves §7 404 · none · `Execution
  test.each([
    randomUUID(),
    '00000000-0000-0000-0000-000000000000',
    'x',
    "'; DROP TABLE receipts; --",
    '\0',
    '../execute',
  ])('%j is no id of any', async (unknown) => {
    expect(reply(await service.get(`${path}/${encodeURIComponent(unknown)}`))).toEqual({
      status: 404,
      body: { error },
    })
  })

  test('what another caller submitted is answered as what nobody did, byte for byte', async () => {
    const foreign = await get(`${path}/${id()}`, bob)
    expect(seen(foreign)).toEqual(seen(await get(`${path}/${randomUUID()}`, bob)))
    expect(foreign.status).toBe(404)
  })

  test('a second key of the caller, a human and an auditor do see it', async () => {
    for (const reader of [aliceRotated, human, auditor])
      expect((await get(`${path}/${id()}`, reader)).status).toBe(200)
  })
})

describe('GET /trust-records/{id} 404 trustRecordNotFound', () => {
  test('of a transaction that was not executed', async () => {
    expect((await get(`/trust-records/${rejectedId}`, alice)).status).toBe(404)
    expect((await get(`/refusal/${record.businessTransactionId}`, alice)).status).toBe(404)
  })
})

describe('GET /transactions 200', () => {
  type Listed = {
    businessTransactionId: string
    createdAt: string
    metadata: { submittedBy: string }
    intent: { target: string }
  }
  const list = async (query: string, key = service.key) => {
    const { status, body } = await service.get(`/transactions${query}`, { key })
    expect(status).toBe(200)
    return body as Listed[]
  }

  // proves §4.2 GET /transactions: Response 200; §8 Default and maximum values
  test('answers 25 a page unless told otherwise, newest first', async () => {
    const page = await list('')
    expect(page).toHaveLength(25)
    const times = page.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  // proves §4.2 GET /transactions: Query: `page`
  test('every transaction stands on exactly one page', async () => {
    const pages = await Promise.all([1, 2, 3, 4, 5].map((page) => list(`?page=${page}&pageSize=7`)))
    expect(pages.map((page) => page.length)).toEqual([7, 7, 7, 7, 3])
    const ids = pages.flat().map(({ businessTransactionId }) => businessTransactionId)
    expect(new Set(ids).size).toBe(PAGES + 1)
    expect(ids).toEqual(
      (await list('?pageSize=100')).map(({ businessTransactionId }) => businessTransactionId),
    )
  })

  // proves §4.2 GET /transactions: Response 200
  test('pages are full of the own: those of others neither show nor leave gaps', async () => {
    const own = await list('?pageSize=2', alice.key)
    expect(own.map(({ businessTransactionId }) => businessTransactionId)).toEqual([
      rejectedId,
      record.businessTransactionId,
    ])
    expect(await list('', bob.key)).toEqual([])
  })

  test.each([
    ['a human', human],
    ['an auditor', auditor],
  ])('%s sees those of all', async (_title, { key }) => {
    const submitters = (await list('?pageSize=100', key)).map(({ metadata }) => metadata.submittedBy)
    expect(new Set(submitters)).toEqual(new Set(['alice', 'tester']))
  })

  test('whoever sees those of all may ask for one caller’s; another caller gets nothing of them', async () => {
    const ofAlice = await list('?pageSize=100&callerId=alice', auditor.key)
    expect(new Set(ofAlice.map(({ metadata }) => metadata.submittedBy))).toEqual(new Set(['alice']))
    expect(await list('?pageSize=100&callerId=alice', alice.key)).toEqual(ofAlice)
    expect(await list('?callerId=alice')).toEqual([])
    const records = await service.get('/trust-records?callerId=alice', auditor)
    expect(records.body).toMatchObject([{ businessTransactionId: record.businessTransactionId }])
    expect((await service.get('/trust-records?callerId=alice')).body).toEqual([])
  })

  // proves §8 Default and maximum values
  test('a page past the end is empty, also the last that may be asked for', async () => {
    expect(await list('?page=100')).toEqual([])
    expect(await list('?page=1000000&pageSize=100')).toEqual([])
  })
})

describe('GET /transactions 400 invalidPage', () => {
  // proves §4.2 GET /transactions: Query: `page`; §8 Default and maximum values
  test.each(['0', '-1', '1.5', '1e3', ' 1', 'x', '', '0x1', '1000001', '99999999999999999999', '1%00'])(
    'page=%s',
    async (page) => {
      expect(reply(await service.get(`/transactions?page=${page}&pageSize=0`))).toEqual({
        status: 400,
        body: { error: 'page must be a whole number, 1 or more.' },
      })
    },
  )
})

describe('GET /transactions 400 invalidPageSize', () => {
  // proves §4.2 GET /transactions: Query: `page`; §8 Default and maximum values
  test.each(['0', '101', '-1', '2.5', 'x', '', '1000000000000'])('pageSize=%s', async (pageSize) => {
    expect(reply(await service.get(`/transactions?pageSize=${pageSize}`))).toEqual({
      status: 400,
      body: { error: 'pageSize must be a whole number from 1 to 100.' },
    })
  })
})

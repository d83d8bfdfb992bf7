// POST /receipt and GET /receipt/latest/{id} (interface §2.4, §3, §4.3): a new signed receipt where the latest verification is
// VERIFIED, and still true. What fails to verify gets none: test/http/verify.test.ts.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { withSharedSignatures } from '../../src/store/tables/batch-signatures.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { rowsOf, type TestDatabase } from '../database.ts'
import { aCaller, reply, startService, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const bob = aCaller('bob')
const human = aCaller('human', { credentialHolderType: 'USER' })
const auditor = aCaller('auditor', { readAll: true })

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [bob, human, auditor].map(({ entry }) => entry),
})

const receipt = (businessTransactionId: unknown, options = {}) =>
  service.post('/receipt', { businessTransactionId }, options)

interface Recorded {
  readonly businessTransactionId: string
  readonly trustRecordHash: string
  readonly verifications: readonly { readonly verificationId: string }[]
  readonly receipts: readonly object[]
}

async function aRecord(at: TestService = service): Promise<Recorded> {
  const { status, body } = await at.post('/execute', aTransaction())
  expect(status).toBe(200)
  return body
}

/** As somebody does who has the text and the published keys, and nothing else of the service. */
async function expectValid(text: string, at: TestService = service): Promise<void> {
  const keySet = (await at.get('/.well-known/jwks.json', { key: null })).text
  const { checks, valid } = verifyEvidence(text, keySet)
  expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([])
  expect(valid).toBe(true)
}

/** Twenty requests at once: twenty rows with the ordinals that follow the first one's. */
async function expectTwentyAppended(at: TestService, path: '/verify' | '/receipt'): Promise<void> {
  const { businessTransactionId: id } = await aRecord(at)
  const table = path === '/verify' ? 'verifications' : 'receipts'
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => at.post(path, { businessTransactionId: id })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  const { rows } = await database.pool.query<{ ordinal: number; body: string }>(
    `SELECT ordinal, body FROM ${table} WHERE business_transaction_id = $1 ORDER BY ordinal`,
    [id],
  )
  expect(rows.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 21 }, (_, i) => i + 1))
  const stored = await withSharedSignatures(
    database.pool,
    rows.slice(1).map(({ body }) => body),
  )
  expect(stored.toSorted()).toEqual(answers.map(({ text }) => text).toSorted())
  expect(new Set(answers.map(({ text }) => text)).size).toBe(20)
  await expectValid((await at.get(`/trust-records/${id}`)).text, at)
}

describe('POST /receipt 200', () => {
  // proves §4.3 POST /receipt · `{businessTransactionId
  test('answers a new receipt of the latest verification, which verifies with the published keys', async () => {
    const record = await aRecord()
    const id = record.businessTransactionId
    const verification = (await service.post('/verify', { businessTransactionId: id })).body
    const { status, body, text } = await receipt(id.toUpperCase())
    expect(status).toBe(200)
    expect(body).toEqual({
      receiptId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      businessTransactionId: id,
      verificationId: verification.verificationId,
      trustRecordHash: record.trustRecordHash,
      receiptHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      issuedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      algorithm: 'ed25519',
      keyId: expect.any(String),
      transparency: {
        log: expect.stringMatching(/^countersign-[0-9a-f]{8}\/log\/1$/),
        by: new Date(Date.parse(body.issuedAt) + 60_000).toISOString(),
      },
      signature: expect.stringMatching(/^[A-Za-z0-9+/]{86}==$/),
    })
    await expectValid(text)
    const whole = await service.get(`/trust-records/${id}`)
    expect(whole.body.receipts).toEqual([...record.receipts, body])
    await expectValid(whole.text)
  })

  test('a human and an auditor get one of what another submitted', async () => {
    const { businessTransactionId: id } = await aRecord()
    for (const reader of [human, auditor]) expect((await receipt(id, reader)).status).toBe(200)
    expect(await rowsOf(database, id)).toMatchObject({ receipts: 3 })
  })

  test('twenty at once are twenty receipts, every one of them stored, without a gap', async () => {
    await expectTwentyAppended(service, '/receipt')
  })

  test('receipts and verifications of one record at once: every receipt is of a verification that stands', async () => {
    const { businessTransactionId: id } = await aRecord()
    const paths = Array.from({ length: 24 }, (_, i) => (i % 2 ? '/verify' : '/receipt'))
    const answers = await Promise.all(paths.map((path) => service.post(path, { businessTransactionId: id })))
    expect(answers.map(({ status }) => status)).toEqual(Array(24).fill(200))
    const { text, body } = await service.get(`/trust-records/${id}`)
    const { verifications, receipts } = body as { verifications: Named[]; receipts: Named[] }
    type Named = { verificationId: string }
    expect([verifications.length, receipts.length]).toEqual([13, 13])
    const known = verifications.map(({ verificationId }) => verificationId)
    expect(receipts.filter(({ verificationId }) => !known.includes(verificationId))).toEqual([])
    await expectValid(text)
  })
})

describe('POST /receipt 200', () => {
  let hybrid: TestService

  beforeAll(async () => {
    hybrid = await startService({
      databaseUrl: database.url,
      env: { RECEIPT_ALGORITHMS: 'ed25519,ml-dsa-65' },
    })
    return async () => {
      expect(await hybrid.stop()).toBe(0)
    }
  })

  test('hybrid: carries a signature of each algorithm, and does not verify with one of them stripped', async () => {
    const { businessTransactionId: id } = await aRecord(hybrid)
    expect((await hybrid.post('/verify', { businessTransactionId: id })).body).toMatchObject({
      status: 'VERIFIED',
    })
    const { text, body } = await hybrid.post('/receipt', { businessTransactionId: id })
    expect(body).toMatchObject({
      algorithm: 'ed25519',
      requiredAlgorithms: ['ed25519', 'ml-dsa-65'],
      signatures: [{ algorithm: 'ed25519', value: body.signature }, { algorithm: 'ml-dsa-65' }],
    })
    await expectValid(text, hybrid)
    const keySet = (await hybrid.get('/.well-known/jwks.json', { key: null })).text
    const stripped = { ...body, signatures: body.signatures.slice(0, 1) }
    expect(verifyEvidence(JSON.stringify(stripped), keySet).valid).toBe(false)
  })

  test.each(['/verify', '/receipt'] as const)(
    'hybrid: twenty POST %s at once are all stored',
    async (path) => {
      await expectTwentyAppended(hybrid, path)
    },
  )
})

const refused = {
  status: 409,
  body: {
    error: 'The Execution Trust Record must be verified before a receipt is generated.',
    code: 'RECEIPT_GENERATION_FAILED',
  },
}

/** @param change SQL over the verification's text, `body` */
async function setLatest(id: string, change: string): Promise<void> {
  const appended = await database.pool.query(
    `UPDATE appended_verifications SET body = ${change} WHERE business_transaction_id = $1
      AND ordinal = (SELECT max(ordinal) FROM verifications WHERE business_transaction_id = $1)`,
    [id],
  )
  if (appended.rowCount === 1) return
  await database.pool.query(
    `UPDATE execution_evidence SET verification = (SELECT ${change} FROM (SELECT verification AS body) AS v)
      WHERE business_transaction_id = $1`,
    [id],
  )
}

describe('POST /receipt 409 receiptNotVerified', () => {
  // proves §4.3 POST /receipt · `{businessTransactionId; §7 409 · `RECEIPT_GENERATION_FAILED` · message
  test('a record that no verification stands for', async () => {
    const { businessTransactionId: id } = await aRecord()
    await database.pool.query(
      'UPDATE execution_evidence SET verification = NULL WHERE business_transaction_id = $1',
      [id],
    )
    expect(reply(await receipt(id))).toEqual(refused)
    expect(await rowsOf(database, id)).toMatchObject({ receipts: 1, verifications: 0 })
  })

  test('a FAILED verification that was made VERIFIED in the database yields none', async () => {
    const { businessTransactionId: id } = await aRecord()
    await database.pool.query(
      `UPDATE execution_evidence SET body = replace(body, '"amount":42', '"amount":43') WHERE business_transaction_id = $1`,
      [id],
    )
    expect((await service.post('/verify', { businessTransactionId: id })).body.status).toBe('FAILED')
    await setLatest(id, `replace(body, '"FAILED"', '"VERIFIED"')`)
    expect((await service.get(`/verification/${id}`)).body.status).toBe('VERIFIED')
    expect(reply(await receipt(id))).toEqual(refused)
    expect(await rowsOf(database, id)).toMatchObject({ receipts: 1 })
  })

  test('a VERIFIED verification that was made FAILED in the database yields none', async () => {
    const { businessTransactionId: id } = await aRecord()
    await setLatest(id, `replace(body, '"VERIFIED"', '"FAILED"')`)
    expect(reply(await receipt(id))).toEqual(refused)
  })

  test('a verification of other bytes than those that stand now yields none', async () => {
    const { businessTransactionId: id, trustRecordHash } = await aRecord()
    await setLatest(id, `replace(body, '${trustRecordHash}', '${'0'.repeat(64)}')`)
    expect(reply(await receipt(id))).toEqual(refused)
  })

  test('one that gets none keeps none beside it from its own', async () => {
    const records = await Promise.all(Array.from({ length: 6 }, () => aRecord()))
    await setLatest(records[0]?.businessTransactionId ?? '', `replace(body, '"VERIFIED"', '"FAILED"')`)
    const answers = await Promise.all(records.map((one) => receipt(one.businessTransactionId)))
    expect(answers.map(({ status }) => status)).toEqual([409, 200, 200, 200, 200, 200])
  })
})

describe('GET /receipt/latest/{id} 200', () => {
  // proves §4.3 GET /receipt/latest/{id} · path
  test('answers the latest receipt and makes none; a client that has it need not fetch it again', async () => {
    const record = await aRecord()
    const id = record.businessTransactionId
    expect((await service.get(`/receipt/latest/${id}`)).body).toEqual(record.receipts[0])
    const { text } = await receipt(id)
    for (const asked of [id, id.toUpperCase()])
      for (const { key } of [service, human, auditor])
        expect(await service.get(`/receipt/latest/${asked}`, { key })).toMatchObject({ status: 200, text })
    expect(await rowsOf(database, id)).toMatchObject({ receipts: 2 })

    const { headers } = await service.get(`/receipt/latest/${id}`)
    expect(headers.get('cache-control')).toBe('private, no-cache')
    const known = { headers: { 'If-None-Match': headers.get('etag') ?? '' } }
    expect((await service.get(`/receipt/latest/${id}`, known)).status).toBe(304)
    await receipt(id)
    expect((await service.get(`/receipt/latest/${id}`, known)).status).toBe(200)
  })
})

describe('GET /receipt/latest/{id} 404 receiptNotFound', () => {
  // proves §4.3 GET /receipt/latest/{id} · path; §7 404 · none · `Receipt
  test('of a record that has none; one can then be made', async () => {
    const { businessTransactionId: id } = await aRecord()
    await database.pool.query(
      'UPDATE execution_evidence SET receipt = NULL WHERE business_transaction_id = $1',
      [id],
    )
    expect(reply(await service.get(`/receipt/latest/${id}`))).toEqual({
      status: 404,
      body: { error: 'Receipt not found.' },
    })
    const { text } = await receipt(id)
    expect((await service.get(`/receipt/latest/${id}`)).text).toBe(text)
  })
})

/** All that one reply can be told from another by, but for when it was sent and under which id. */
const seen = ({ status, text, headers }: Called) => {
  const stable = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
  return { status, text, headers: Object.fromEntries(stable) }
}

describe('POST /receipt 404 noRecordToVerify', () => {
  // proves §7 404 · `VERIFICATION_FAILED` · `Execution
  test("another's record is answered as an unknown id is, byte for byte, and gets no receipt", async () => {
    const { businessTransactionId: id } = await aRecord()
    const foreign = await receipt(id, bob)
    expect(reply(foreign)).toEqual({
      status: 404,
      body: { error: 'Execution Trust Record not found.', code: 'VERIFICATION_FAILED' },
    })
    expect(seen(foreign)).toEqual(seen(await receipt(randomUUID(), bob)))
    expect(await rowsOf(database, id)).toMatchObject({ receipts: 1 })
  })
})

describe('GET /receipt/latest/{id} 404 trustRecordNotFound', () => {
  // proves §4.3 GET /receipt/latest/{id} · path; §7 404 · none · `Execution
  test("another's record is answered as an unknown id is, byte for byte", async () => {
    const { businessTransactionId: id } = await aRecord()
    const foreign = await service.get(`/receipt/latest/${id}`, bob)
    expect(reply(foreign)).toEqual({ status: 404, body: { error: 'Execution Trust Record not found.' } })
    for (const unknown of [randomUUID(), 'x', '%00'])
      expect(seen(await service.get(`/receipt/latest/${unknown}`, bob))).toEqual(seen(foreign))
  })
})

describe('POST /receipt 400 fieldRequired', () => {
  // proves §7 400 · none · `businessTransactionId is required.`
  test.each([{}, { businessTransactionId: null }, { businessTransactionId: ' ' }, '[]', '"x"', 'null'])(
    '%j',
    async (body) => {
      expect(reply(await service.post('/receipt', body))).toEqual({
        status: 400,
        body: { error: 'businessTransactionId is required.' },
      })
    },
  )
})

describe('POST /receipt 400 invalidBusinessTransactionId', () => {
  // proves §7 400 · none · `businessTransactionId must
  test.each([5, false, {}, 'x', '019535d9-3df7-7a8e-b6c8-1d1e1f202122'])('%j', async (id) => {
    expect(reply(await receipt(id))).toEqual({
      status: 400,
      body: { error: 'businessTransactionId must be a valid UUID.' },
    })
  })
})

describe('POST /receipt 400 malformedJson', () => {
  test('what is no JSON', async () => {
    expect(reply(await service.post('/receipt', '{'))).toEqual({
      status: 400,
      body: { error: 'Malformed JSON body.' },
    })
  })
})

// POST /replay (interface §2.5, §4.3): whether the record's signature still holds. It executes, evaluates and stores nothing.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { rowsOf, type TestDatabase } from '../database.ts'
import { aCaller, reply, type Called, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const bob = aCaller('bob')
const human = aCaller('human', { credentialHolderType: 'USER' })
const auditor = aCaller('auditor', { readAll: true })

let database: TestDatabase
let service: TestService
/** Nobody changes this one. */
let record: { businessTransactionId: string; trustRecordHash: string }

withService((made) => ({ database, service } = made), {
  callers: [bob, human, auditor].map(({ entry }) => entry),
})

beforeAll(async () => {
  record = await aRecord()
})

const replay = (businessTransactionId: unknown, options = {}) =>
  service.post('/replay', { businessTransactionId }, options)

async function aRecord(): Promise<{ businessTransactionId: string; trustRecordHash: string }> {
  const { status, body } = await service.post('/execute', aTransaction())
  expect(status).toBe(200)
  return body
}

describe('POST /replay 200', () => {
  // proves §4.3 POST /replay · `{businessTransactionId
  test('answers that the signature holds, and stores nothing', async () => {
    const before = await rowsOf(database)
    const { businessTransactionId: id, trustRecordHash } = record
    for (const asked of [id, id.toUpperCase()])
      expect(reply(await replay(asked))).toEqual({
        status: 200,
        body: { businessTransactionId: id, trustRecordHash, verified: true },
      })
    expect(await rowsOf(database)).toEqual(before)
  })

  test('a human and an auditor replay what another submitted', async () => {
    for (const reader of [human, auditor])
      expect((await replay(record.businessTransactionId, reader)).body.verified).toBe(true)
  })

  test.each([
    ['the signature', `seal = regexp_replace(seal, '"value":"....', '"value":"AAAA')`],
    ["the signature's key", `seal = regexp_replace(seal, '"keyId":"', '"keyId":"x')`],
    ["the record's bytes", `body = replace(body, '"amount":42', '"amount":43')`],
    ['the record, to what is no JSON', `body = 'gone'`],
    ['the seal, to what is no JSON', `seal = 'gone'`],
    ['the seal, to what is no object', `seal = 'null'`],
    ['both, to what is no object', `body = '[]', seal = '[]'`],
  ])('%s, changed in the database: it does not hold, and still nothing is stored', async (_title, change) => {
    const { businessTransactionId: id } = await aRecord()
    const { rowCount } = await database.pool.query(
      `UPDATE execution_evidence SET ${change} WHERE business_transaction_id = $1`,
      [id],
    )
    expect(rowCount).toBe(1)
    const before = await rowsOf(database)
    const { status, body } = await replay(id)
    expect([status, body.businessTransactionId, body.verified]).toEqual([200, id, false])
    expect(await rowsOf(database)).toEqual(before)
  })

  // proves §4.3 POST /replay · `{businessTransactionId
  test('it is the signature alone that is asked for: what a full verification finds besides does not matter', async () => {
    const { businessTransactionId: id } = await aRecord()
    await database.pool.query(
      `UPDATE execution_evidence SET seal = regexp_replace(seal, '"trustRecordHash":"....', '"trustRecordHash":"none')
        WHERE business_transaction_id = $1`,
      [id],
    )
    expect((await replay(id)).body.verified).toBe(true)
    expect((await service.post('/verify', { businessTransactionId: id })).body.status).toBe('FAILED')
  })
})

/** All that one reply can be told from another by, but for when it was sent and under which id. */
const seen = ({ status, text, headers }: Called) => {
  const stable = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
  return { status, text, headers: Object.fromEntries(stable) }
}

const notFound = {
  status: 404,
  body: { error: 'Execution Trust Record not found.', code: 'VERIFICATION_FAILED' },
}

describe('POST /replay 404 noRecordToVerify', () => {
  // proves §7 404 · `VERIFICATION_FAILED` · `Execution
  test("another's record is answered as an unknown id is, byte for byte", async () => {
    const foreign = await replay(record.businessTransactionId, bob)
    expect(reply(foreign)).toEqual(notFound)
    expect(seen(foreign)).toEqual(seen(await replay(randomUUID(), bob)))
  })

  test('a transaction that was rejected has no record', async () => {
    const rejected = aRejectedTransaction()
    await service.post('/execute', rejected)
    expect(reply(await replay(rejected.businessTransactionId))).toEqual(notFound)
  })

  // proves §4.3 POST /replay · `{businessTransactionId
  test.each([
    'x',
    5,
    true,
    [],
    {},
    '019535d9-3df7-7a8e-b6c8-1d1e1f202122',
    "'; DROP TABLE receipts; --",
    '\0',
  ])('%j is no id, but it is there', async (id) => {
    expect(reply(await replay(id))).toEqual(notFound)
  })
})

describe('POST /replay 400 fieldRequired', () => {
  // proves §4.3 POST /replay · `{businessTransactionId; §7 400 · none · `businessTransactionId is required.`
  test.each([
    {},
    { businessTransactionId: null },
    { businessTransactionId: ' \n' },
    '[]',
    '"x"',
    '5',
    'null',
  ])('%j', async (body) => {
    expect(reply(await service.post('/replay', body))).toEqual({
      status: 400,
      body: { error: 'businessTransactionId is required.' },
    })
  })
})

describe('POST /replay 400 malformedJson', () => {
  test('what is no JSON', async () => {
    expect(reply(await service.post('/replay', '{"businessTransactionId":'))).toEqual({
      status: 400,
      body: { error: 'Malformed JSON body.' },
    })
  })
})

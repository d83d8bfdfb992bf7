// POST /verify and GET /verification/{id} (interface §3, §4.3, decisions §4 "Verification"): recomputed from the bytes that are
// stored now. What an intruder with the database in hand could change is changed here, one thing at a time.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sha256Hex } from '../../src/store/sha256.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { rowsOf, type TestDatabase } from '../database.ts'
import { aCaller, reply, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const bob = aCaller('bob')
const human = aCaller('human', { credentialHolderType: 'USER' })
const auditor = aCaller('auditor', { readAll: true })
const onlyReader = aCaller('only-reader', { readAll: true, allowedCapabilities: [] })

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [bob, human, auditor, onlyReader].map(({ entry }) => entry),
})

const verify = (businessTransactionId: unknown, options = {}) =>
  service.post('/verify', { businessTransactionId }, options)

interface Recorded {
  readonly businessTransactionId: string
  readonly trustRecordHash: string
  readonly verifications: readonly object[]
  readonly receipts: readonly object[]
}

/** A record of `tester`'s. */
async function aRecord(): Promise<Recorded> {
  const { status, body } = await service.post('/execute', aTransaction())
  expect(status).toBe(200)
  return body
}

const VERIFIED = 'Execution Trust Record verified successfully.'

describe('POST /verify 200', () => {
  // proves §4.3 POST /verify · `{businessTransactionId
  test('appends a verification of its own to those that stand', async () => {
    const record = await aRecord()
    const id = record.businessTransactionId
    const { status, body } = await verify(id)
    expect(status).toBe(200)
    expect(body).toEqual({
      verificationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      businessTransactionId: id,
      status: 'VERIFIED',
      message: VERIFIED,
      verifiedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      trustRecordHash: record.trustRecordHash,
    })
    const after = (await service.get(`/trust-records/${id}`)).body as Recorded
    expect(after).toEqual({ ...record, verifications: [...record.verifications, body] })
    expect(record.verifications).not.toContainEqual(expect.objectContaining(body as object))
  })

  test('an id is the same in upper case, and other members of the body do not matter', async () => {
    const { businessTransactionId: id } = await aRecord()
    const answer = await service.post('/verify', { more: [1], businessTransactionId: id.toUpperCase() })
    expect([answer.status, answer.body.businessTransactionId]).toEqual([200, id])
  })

  test('of a record whose execution failed', async () => {
    const transaction = aTransaction({ intent: { parameters: { amount: 42, fail: true } } })
    expect((await service.post('/execute', transaction)).status).toBe(500)
    expect((await verify(transaction.businessTransactionId)).body).toMatchObject({ status: 'VERIFIED' })
  })

  test('a human and an auditor verify what another submitted', async () => {
    const { businessTransactionId: id } = await aRecord()
    for (const reader of [human, auditor])
      expect((await verify(id, reader)).body).toMatchObject({ status: 'VERIFIED' })
    expect(await rowsOf(database, id)).toMatchObject({ verifications: 3 })
  })

  test('twenty at once are twenty verifications, every one of them stored, without a gap', async () => {
    const { businessTransactionId: id } = await aRecord()
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(id)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const { rows } = await database.pool.query<{ ordinal: number; body: string }>(
      'SELECT ordinal, body FROM verifications WHERE business_transaction_id = $1 ORDER BY ordinal',
      [id],
    )
    expect(rows.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 21 }, (_, i) => i + 1))
    const stored = rows.slice(1).map(({ body }) => body)
    expect(new Set(stored)).toEqual(new Set(answers.map(({ text }) => text)))
    expect(new Set(stored).size).toBe(20)
  })

  test('several records at once, asked for in any order, do not wait for each other in a circle', async () => {
    const ids = (await Promise.all(Array.from({ length: 8 }, aRecord))).map(
      (one) => one.businessTransactionId,
    )
    const asked = Array.from({ length: 10 }, (_, i) => (i % 2 ? ids : ids.toReversed())).flat()
    const answers = await Promise.all(asked.map((id) => verify(id)))
    expect(answers.map(({ status, body }) => [status, body.businessTransactionId])).toEqual(
      asked.map((id) => [200, id]),
    )
  })
})

/** The columns that hold evidence of an execution. */
type Column =
  | 'execution_evidence.body'
  | 'execution_evidence.seal'
  | 'business_transactions.body'
  | 'business_transactions.execution_authorization'

async function read(column: Column | 'trust_records.body', id: string): Promise<string> {
  const [table, name] = column.split('.')
  const { rows } = await database.pool.query<{ text: string }>(
    `SELECT ${name} AS text FROM ${table} WHERE business_transaction_id = $1`,
    [id],
  )
  return rows[0]?.text ?? ''
}

async function write(column: Column, id: string, text: string | null): Promise<void> {
  const [table, name] = column.split('.')
  const { rowCount } = await database.pool.query(
    `UPDATE ${table} SET ${name} = $2 WHERE business_transaction_id = $1`,
    [id, text],
  )
  expect(rowCount).toBe(1)
}

/** Another character of the same alphabet in the place of the first one that the pattern's group finds. */
const changed = (pattern: RegExp) => (text: string) =>
  text.replace(pattern, (all, one: string) => all.slice(0, -1) + (one === 'a' ? 'b' : 'a'))

const UNREADABLE = 'The stored trust record cannot be read'
const RECORD_HASH = 'The trust record hash does not match the canonical record'
const RECORD_SIGNATURE = 'The trust record signature is not valid'
const AUTHORIZATION_SIGNATURE = 'The execution authorization signature is not valid'
const STORED_BYTES = 'The stored bytes do not match the trust record hash'
const NOT_BOUND = 'The execution authorization is not bound to this transaction'
const MISSING = 'The transaction of the trust record is missing'

describe('POST /verify 200', () => {
  describe.each<[string, Column, (text: string) => string | null, string[]]>([
    [
      'a byte of the record',
      'execution_evidence.body',
      changed(/"target":"(.)/),
      [RECORD_HASH, RECORD_SIGNATURE],
    ],
    [
      'the amount throughout the record',
      'execution_evidence.body',
      (text) => text.replaceAll('"amount":42', '"amount":41'),
      [RECORD_HASH, RECORD_SIGNATURE, NOT_BOUND],
    ],
    [
      "the decision's id",
      'execution_evidence.body',
      changed(/"decisionId":"(.)/),
      [RECORD_HASH, 'The execution authorization is not bound to this decision'],
    ],
    [
      'the same number in another notation',
      'execution_evidence.body',
      (text) => text.replace('"amount":42', '"amount":42.0'),
      [STORED_BYTES],
    ],
    ['white space', 'execution_evidence.body', (text) => text.replace('{', '{ '), [STORED_BYTES]],
    [
      'a member twice',
      'execution_evidence.body',
      (text) => text.replace('{', '{"createdAt":"then",'),
      [STORED_BYTES],
    ],
    ['the record, to what is no JSON', 'execution_evidence.body', () => 'gone', [UNREADABLE]],
    ['the record, to nothing', 'execution_evidence.body', () => '', [UNREADABLE]],
    ['the record, to an empty one', 'execution_evidence.body', () => '{}', [UNREADABLE]],
    [
      'a text of the record, to one that has no canonical form',
      'execution_evidence.body',
      (text) => text.replaceAll('"target":"', String.raw`"target":"\ud800`),
      [RECORD_HASH, RECORD_SIGNATURE, STORED_BYTES],
    ],
    [
      'a number of the record, to one that is none',
      'execution_evidence.body',
      (text) => text.replaceAll('"amount":42', '"amount":1e999'),
      [RECORD_HASH, RECORD_SIGNATURE, STORED_BYTES],
    ],
    [
      'the hash in the seal',
      'execution_evidence.seal',
      changed(/"trustRecordHash":"(.)/),
      [RECORD_HASH, STORED_BYTES],
    ],
    ["the seal's signature", 'execution_evidence.seal', changed(/"value":"(.)/), [RECORD_SIGNATURE]],
    ["the signature's key", 'execution_evidence.seal', changed(/"keyId":"(.)/), [RECORD_SIGNATURE]],
    [
      "the signature's algorithm",
      'execution_evidence.seal',
      (text) => text.replace('ed25519"', 'ml-dsa-65"'),
      [RECORD_SIGNATURE],
    ],
    ['the seal, to nothing', 'execution_evidence.seal', () => '{}', [UNREADABLE]],
    ['the seal, to what is no object', 'execution_evidence.seal', () => 'null', [UNREADABLE]],
    [
      'the authorization',
      'business_transactions.execution_authorization',
      changed(/"nonce":"(.)/),
      [RECORD_HASH, RECORD_SIGNATURE, AUTHORIZATION_SIGNATURE],
    ],
    [
      'the authorization, to none',
      'business_transactions.execution_authorization',
      () => null,
      [RECORD_HASH, RECORD_SIGNATURE, AUTHORIZATION_SIGNATURE],
    ],
    [
      'the authorization, to what is no JSON',
      'business_transactions.execution_authorization',
      () => 'gone',
      [UNREADABLE],
    ],
    [
      'the transaction',
      'business_transactions.body',
      (text) => text.replace('"amount":42', '"amount":43'),
      [RECORD_HASH, RECORD_SIGNATURE, NOT_BOUND],
    ],
    [
      'a member of the transaction that nothing else is bound to',
      'business_transactions.body',
      changed(/"correlationId":"(.)/),
      [RECORD_HASH, RECORD_SIGNATURE],
    ],
    [
      'a number of the transaction in another notation',
      'business_transactions.body',
      (text) => text.replace('"amount":42', '"amount":4.2e1'),
      [STORED_BYTES],
    ],
    [
      'the transaction, to a text that ends the record and begins another',
      'business_transactions.body',
      (text) => `${text},"trustRecordId":"none"},{"transaction":${text}`,
      [UNREADABLE],
    ],
    ['the transaction, to what is no JSON', 'business_transactions.body', () => 'gone', [UNREADABLE]],
  ])('%s, changed in the database', (_title, column, change, problems) => {
    // proves §4.3 POST /verify · `{businessTransactionId; §4.3 POST /receipt · `{businessTransactionId
    // proves §7 409 · `RECEIPT_GENERATION_FAILED` · message
    test('is FAILED and says so; no receipt until it is restored; what was found before stays', async () => {
      const { businessTransactionId: id } = await aRecord()
      const original = await read(column, id)
      const altered = change(original)
      expect(altered).not.toBe(original)
      await write(column, id, altered)

      const failed = await verify(id)
      expect([failed.status, failed.body.status]).toEqual([200, 'FAILED'])
      for (const problem of problems) expect(failed.body.message).toContain(problem)
      // The hash is that of the bytes that stand there, not of what they claim.
      expect(failed.body.trustRecordHash).toBe(sha256Hex(await read('trust_records.body', id)))
      const receipt = await service.post('/receipt', { businessTransactionId: id })
      expect([receipt.status, receipt.body.code]).toEqual([409, 'RECEIPT_GENERATION_FAILED'])
      expect(await rowsOf(database, id)).toMatchObject({ verifications: 2, receipts: 1 })

      await write(column, id, original)
      // Storing it again is not enough: the latest verification still says FAILED.
      expect((await service.post('/receipt', { businessTransactionId: id })).status).toBe(409)
      const again = await verify(id)
      expect(again.body).toMatchObject({ status: 'VERIFIED', message: VERIFIED })
      const renewed = await service.post('/receipt', { businessTransactionId: id })
      expect(renewed.status).toBe(200)
      const keySet = (await service.get('/.well-known/jwks.json', { key: null })).text
      expect(verifyEvidence(renewed.text, keySet)).toMatchObject({ artifact: 'receipt', valid: true })
      const whole = await service.get(`/trust-records/${id}`)
      expect(whole.body.verifications.slice(1)).toEqual([failed.body, again.body])
      expect(whole.body.receipts.slice(1)).toEqual([renewed.body])
    })
  })

  test('a valid record that stands in the place of another one is FAILED', async () => {
    const [mine, other] = [await aRecord(), await aRecord()]
    const id = mine.businessTransactionId
    const copy = async (column: Column) => write(column, id, await read(column, other.businessTransactionId))
    await copy('execution_evidence.body')
    await copy('execution_evidence.seal')
    const { message } = (await verify(id)).body as { message: string }
    for (const problem of [RECORD_HASH, RECORD_SIGNATURE, NOT_BOUND]) expect(message).toContain(problem)
    await copy('business_transactions.body')
    await copy('business_transactions.execution_authorization')
    expect((await verify(id)).body).toMatchObject({
      businessTransactionId: id,
      status: 'FAILED',
      message: 'The trust record is stored under another transaction',
    })
  })

  test('a record whose transaction is gone is FAILED, and says so', async () => {
    const { businessTransactionId: id } = await aRecord()
    await database.pool.query('DELETE FROM business_transactions WHERE business_transaction_id = $1', [id])
    const { body } = await verify(id)
    expect(body.status).toBe('FAILED')
    for (const problem of [RECORD_HASH, RECORD_SIGNATURE, AUTHORIZATION_SIGNATURE, MISSING])
      expect(body.message).toContain(problem)
  })

  test('one that is FAILED fails none that is verified beside it', async () => {
    const records = await Promise.all(Array.from({ length: 6 }, aRecord))
    const [broken = ''] = records.map(({ businessTransactionId }) => businessTransactionId)
    await write('execution_evidence.body', broken, 'gone')
    const answers = await Promise.all(records.map((one) => verify(one.businessTransactionId)))
    expect(answers.map(({ status, body }) => [status, body.status])).toEqual(
      records.map((_, i) => [200, i === 0 ? 'FAILED' : 'VERIFIED']),
    )
  })
})

describe('GET /verification/{id} 200', () => {
  // proves §4.3 GET /verification/{id} · path
  test('answers the latest verification and runs none', async () => {
    const record = await aRecord()
    const id = record.businessTransactionId
    expect((await service.get(`/verification/${id}`)).body).toEqual(record.verifications[0])
    const { text } = await verify(id)
    for (const asked of [id, id.toUpperCase()])
      for (const { key } of [service, human, auditor])
        expect(await service.get(`/verification/${asked}`, { key })).toMatchObject({ status: 200, text })
    expect(await rowsOf(database, id)).toMatchObject({ verifications: 2 })
  })
})

describe('GET /verification/{id} 404 verificationNotFound', () => {
  // proves §4.3 GET /verification/{id} · path; §7 404 · none · `Verification
  test('of a record that has none; one can then be made', async () => {
    const { businessTransactionId: id } = await aRecord()
    await database.pool.query(
      'UPDATE execution_evidence SET verification = NULL WHERE business_transaction_id = $1',
      [id],
    )
    expect(reply(await service.get(`/verification/${id}`))).toEqual({
      status: 404,
      body: { error: 'Verification not found.' },
    })
    expect((await verify(id)).status).toBe(200)
    expect((await service.get(`/verification/${id}`)).status).toBe(200)
  })
})

/** All that one reply can be told from another by, but for when it was sent and under which id. */
const seen = ({ status, text, headers }: Called) => {
  const stable = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
  return { status, text, headers: Object.fromEntries(stable) }
}

describe('POST /verify 404 noRecordToVerify', () => {
  // proves §7 404 · `VERIFICATION_FAILED` · `Execution
  test("another's record is answered as an unknown id is, byte for byte, and not verified", async () => {
    const { businessTransactionId: id } = await aRecord()
    const foreign = await verify(id, bob)
    expect(reply(foreign)).toEqual({
      status: 404,
      body: { error: 'Execution Trust Record not found.', code: 'VERIFICATION_FAILED' },
    })
    expect(seen(foreign)).toEqual(seen(await verify(randomUUID(), bob)))
    expect(await rowsOf(database, id)).toMatchObject({ verifications: 1 })
  })
})

describe('GET /verification/{id} 404 trustRecordNotFound', () => {
  // proves §4.3 GET /verification/{id} · path; §7 404 · none · `Execution
  test("another's record is answered as an unknown id is, byte for byte", async () => {
    const { businessTransactionId: id } = await aRecord()
    const foreign = await service.get(`/verification/${id}`, bob)
    expect(reply(foreign)).toEqual({ status: 404, body: { error: 'Execution Trust Record not found.' } })
    for (const unknown of [randomUUID(), 'x', '%00', '0'.repeat(36)])
      expect(seen(await service.get(`/verification/${unknown}`, bob))).toEqual(seen(foreign))
  })
})

describe('POST /verify 403 readOnlyCaller', () => {
  test('an auditor’s key appends nothing: POST /replay checks the signature for it', async () => {
    const { businessTransactionId: id } = await aRecord()
    const { status, body } = await verify(id, onlyReader)
    expect([status, body.code]).toEqual([403, 'READ_ONLY_CALLER'])
    expect(await rowsOf(database, id)).toMatchObject({ verifications: 1 })
    expect((await service.post('/replay', { businessTransactionId: id }, onlyReader)).body.verified).toBe(
      true,
    )
  })
})

describe('POST /verify 400 fieldRequired', () => {
  // proves §7 400 · none · `businessTransactionId is required.`
  test.each([
    ['nothing', {}],
    ['null', { businessTransactionId: null }],
    ['an empty text', { businessTransactionId: '' }],
    ['white space', { businessTransactionId: ' \t\n' }],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['a number', '5'],
    ['null alone', 'null'],
    ['the name in another case', { businesstransactionid: randomUUID() }],
  ])('%s', async (_title, body) => {
    expect(reply(await service.post('/verify', body))).toEqual({
      status: 400,
      body: { error: 'businessTransactionId is required.' },
    })
  })
})

describe('POST /verify 400 invalidBusinessTransactionId', () => {
  // proves §7 400 · none · `businessTransactionId must
  test.each([
    5,
    true,
    [],
    {},
    'x',
    '00000000-0000-0000-0000-000000000000',
    '019535d9-3df7-7a8e-b6c8-1d1e1f202122', // version 7
    ` ${randomUUID()}`,
    `${randomUUID()}\0`,
  ])('%j', async (id) => {
    expect(reply(await verify(id))).toEqual({
      status: 400,
      body: { error: 'businessTransactionId must be a valid UUID.' },
    })
  })
})

describe('POST /verify 400 malformedJson', () => {
  test.each(['', '{', '{"businessTransactionId":"a","businessTransactionId":"b"}', '\u{feff}{}'])(
    '%j',
    async (body) => {
      expect(reply(await service.post('/verify', body))).toEqual({
        status: 400,
        body: { error: 'Malformed JSON body.' },
      })
    },
  )
})

describe('POST /verify 401 authenticationRequired', () => {
  test('before the body is looked at', async () => {
    expect(reply(await service.post('/verify', '{', { key: null }))).toEqual({
      status: 401,
      body: { error: 'authentication required' },
    })
  })
})

describe('POST /verify 413 payloadTooLarge', () => {
  test('a body over the limit', async () => {
    expect((await service.post('/verify', 'x'.repeat(200_000))).status).toBe(413)
  })
})

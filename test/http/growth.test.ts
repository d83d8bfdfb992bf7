// Callers can make only so much grow (decisions §12): pages end at 4 MiB, a record holds its newest 100 verifications and receipts,
// and takes a bounded number of each. Whatever is stored, every read answers.
import { randomUUID } from 'node:crypto'
import type { QueryConfig } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { policyChange as change } from '../../src/server/openapi/examples/changes.ts'
import trustRecord from '../../src/server/openapi/examples/trust-record.json' with { type: 'json' }
import type { Sql } from '../../src/store/postgres/sql.ts'
import { APPENDED_MAX, listTrustRecords, readTrustRecord } from '../../src/store/tables/trust-records.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { rowsOf, type TestDatabase } from '../database.ts'
import { aCaller, reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'
import { openBatch } from '../intents.ts'

const { transaction } = trustRecord
const PAGE_BYTES_MAX = 4 * 1024 * 1024
/** The brackets and commas of a page, and the names of its lists, take so many bytes. */
const PUNCTUATION = 200

const large = aCaller('large', { allowedPrincipalIds: ['tester'] })
const busy = aCaller('busy', { allowedPrincipalIds: ['tester'] })
const wide = aCaller('wide')
const bob = aCaller('bob')
const human = aCaller('human', { credentialHolderType: 'USER' })
const auditor = aCaller('auditor', { readAll: true })

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [large, busy, wide, bob, human, auditor].map(({ entry }) => entry),
})

type Caller = { key: string }
type Item = Record<string, never>

interface Page {
  readonly items: readonly Item[]
  readonly bytes: number
}

async function execute(caller: Caller, more = {}): Promise<{ businessTransactionId: string }> {
  const { status, body } = await service.post('/execute', aTransaction(more), { key: caller.key })
  expect(status).toBe(200)
  return body
}

/** Follows `Link` from a path to the end of a list. `member` of the reply holds the list; without it, the reply is the list. */
async function follow(path: string, caller: Caller, member?: string): Promise<Page[]> {
  const pages: Page[] = []
  for (let next: string | undefined = path; next !== undefined;) {
    const { status, body, text, headers } = await service.get(next, { key: caller.key })
    expect(status, text.slice(0, 200)).toBe(200)
    pages.push({ items: member === undefined ? body : body[member], bytes: Buffer.byteLength(text) })
    const link: string | null = headers.get('link')
    next = link === null ? undefined : (/^<(\/[^>]+)>; rel="next"$/.exec(link)?.[1] ?? expect.fail(link))
    expect(pages.length).toBeLessThan(1000)
  }
  return pages
}

const itemsOf = (pages: readonly Page[]) => pages.flatMap(({ items }) => items)
const idsIn = (pages: readonly Page[]) =>
  itemsOf(pages).map(({ businessTransactionId }) => String(businessTransactionId))
const sizesOf = (pages: readonly Page[]) => pages.map(({ items }) => items.length)
const expectWithin = (pages: readonly Page[]) => {
  for (const { bytes } of pages) expect(bytes).toBeLessThanOrEqual(PAGE_BYTES_MAX + 100 * PUNCTUATION)
}

describe('a hundred records of 270 KB', () => {
  /** Newest first. */
  const ids: string[] = []

  beforeAll(async () => {
    for (let n = 0; n < 100; n += 20) {
      const records = await Promise.all(
        Array.from({ length: 20 }, () =>
          execute(large, { intent: { parameters: { amount: 42, note: 'x'.repeat(90_000) } } }),
        ),
      )
      ids.push(...records.map(({ businessTransactionId }) => businessTransactionId))
    }
  })

  // proves abuse: A hundred records of 270
  test.each(['/trust-records', '/transactions'])(
    'GET %s: each page ends at 4 MiB and its Link goes on behind it, to every one of them once',
    async (path) => {
      for (const query of ['pageSize=100', 'pageSize=100&page=1', 'pageSize=30']) {
        const pages = await follow(`${path}?${query}`, large)
        expect(idsIn(pages)).toHaveLength(100)
        expect(new Set(idsIn(pages))).toEqual(new Set(ids))
        expectWithin(pages)
        // As full as they may be: with one entry more, each but the last would be too large, or have more than was asked for.
        const limit = Number(/pageSize=(\d+)/.exec(query)?.[1])
        for (const { bytes, items } of pages.slice(0, -1))
          expect(items.length === limit || bytes + bytes / items.length > PAGE_BYTES_MAX - PUNCTUATION).toBe(
            true,
          )
      }
    },
  )

  // proves abuse: A hundred records of 270
  test('a page by number that ends early skips nothing: its Link leads to what it left out', async () => {
    const all = idsIn(await follow('/trust-records?pageSize=100', large))
    const from50 = await follow('/trust-records?pageSize=50&page=2', large)
    expect(sizesOf(from50)[0]).toBeLessThan(50)
    expect(idsIn(from50)).toEqual(all.slice(50))
  })

  // proves abuse: A hundred records of 270
  test('what does not fit is not read: the database sends what the page shows', async () => {
    let sent: object[] = []
    const watched = {
      async query(statement: QueryConfig) {
        const result = await database.pool.query<object>(statement)
        sent = result.rows
        return result
      },
    } as unknown as Sql
    const nothing = { callerId: 'large', since: null, until: null }
    const { rows, next } = await listTrustRecords(watched, { limit: 100, offset: 0, after: null }, nothing)
    expect(sent).toHaveLength(rows.length)
    expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(1.2 * PAGE_BYTES_MAX)
    expect(next).not.toBeNull()
  })

  test('three at once are answered: they fit into what one caller may have in flight', async () => {
    const replies = await Promise.all(
      Array.from({ length: 3 }, () => service.get('/trust-records?pageSize=100', { key: large.key })),
    )
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('an item of more than 4 MiB', () => {
  test('stands alone on its page, and the list goes on behind it', async () => {
    const sizes = [100, 5_000_000, 100, 4_500_000, 100, 100]
    for (const [n, size] of sizes.entries())
      await database.pool.query(
        `INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body)
         VALUES (gen_random_uuid(), 'wide', '2001-01-01T00:00:00Z'::timestamptz - $1::integer * interval '1 s', $2)`,
        [n, JSON.stringify({ ...transaction, intent: { ...transaction.intent, target: 'x'.repeat(size) } })],
      )
    expect(sizesOf(await follow('/transactions?pageSize=100', wide))).toEqual([1, 1, 1, 1, 2])
  })
})

/** Adds copies of the first row until the record has so many, by SQL: only their ids differ. */
async function grow(id: string, table: 'verifications' | 'receipts', count: number): Promise<void> {
  const name = table === 'verifications' ? 'verificationId' : 'receiptId'
  await database.pool.query(
    `INSERT INTO appended_${table} (business_transaction_id, ordinal, body)
     SELECT f.business_transaction_id, n, replace(f.body, f.body::jsonb ->> '${name}', gen_random_uuid()::text)
     FROM ${table} AS f, generate_series((SELECT max(ordinal) + 1 FROM ${table} WHERE business_transaction_id = $1), $2::integer) AS n
     WHERE f.business_transaction_id = $1 AND f.ordinal = 1`,
    [id, count],
  )
}

describe('a record with 100 verifications, and with one more', () => {
  test.each([
    [100, undefined],
    [101, 101],
  ])('%i: its count is %j', async (stored, verificationCount) => {
    const { businessTransactionId: id } = await execute(busy)
    await grow(id, 'verifications', stored)
    const { body } = await service.get(`/trust-records/${id}`, { key: busy.key })
    expect(body.verifications).toHaveLength(100)
    expect(body.verificationCount).toBe(verificationCount)
    expect(body).not.toHaveProperty('receiptCount')
    await database.pool.query('DELETE FROM execution_evidence WHERE business_transaction_id = $1', [id])
  })
})

describe('a record with 50,000 verifications', () => {
  let id: string
  let receipts: { receiptId: string }[]

  beforeAll(async () => {
    await execute(busy)
    id = (await execute(busy)).businessTransactionId
    await execute(busy)
    // The first receipts are of a verification that the record's reply will not hold.
    receipts = (await service.get(`/trust-records/${id}`, { key: busy.key })).body.receipts
    for (const n of [1, 2])
      receipts.push(
        (await service.post('/receipt', { businessTransactionId: id }, { key: busy.key })).body ?? n,
      )
    await grow(id, 'verifications', 50_000)
    await database.pool.query('ANALYZE appended_verifications')
  })

  // proves abuse: One caller has 50,000 verifications
  test('is read: the newest 100, oldest first, and how many there are', async () => {
    const { status, body, text } = await service.get(`/trust-records/${id}`, { key: busy.key })
    expect(status).toBe(200)
    expect(body.verifications).toHaveLength(100)
    expect(body).toMatchObject({ verificationCount: 50_000, receipts })
    expect(body).not.toHaveProperty('receiptCount')
    expect(text.length).toBeLessThan(100_000)
    const latest = await service.get(`/verification/${id}`, { key: busy.key })
    expect(body.verifications.at(-1)).toEqual(latest.body)
    const first = await service.get(`/verifications/${id}?pageSize=100`, { key: busy.key })
    expect(body.verifications.toReversed()).toEqual(first.body)
  })

  // proves abuse: One caller has 50,000 verifications
  test('is read without reading the others', async () => {
    const plans: string[] = []
    const explained = {
      async query({ text, values }: { text: string; values: unknown[] }) {
        const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(
          `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ${text}`,
          values,
        )
        plans.push(...rows.map((row) => row['QUERY PLAN']))
        return { rows: [] }
      },
    } as unknown as Sql
    await readTrustRecord(explained, id, null)
    const nothing = { callerId: 'busy', since: null, until: null }
    await listTrustRecords(explained, { limit: 2, offset: 0, after: null }, nothing)
    const read = plans.flatMap((line) => /verifications.*actual rows=([\d.]+)/.exec(line)?.[1] ?? [])
    expect(read.length).toBeGreaterThan(1)
    for (const rows of read) expect(Number(rows)).toBeLessThanOrEqual(100)
  })

  // proves abuse: One caller has 50,000 verifications
  test('does not stop an export', async () => {
    for (const pageSize of [1, 2, 100]) {
      const pages = await follow(`/trust-records?pageSize=${pageSize}`, busy)
      expect(itemsOf(pages)).toHaveLength(3)
      expect(itemsOf(pages)[1]).toEqual((await service.get(`/trust-records/${id}`, { key: busy.key })).body)
    }
  })

  test('is valid offline, with a note that a list was cut', async () => {
    const { text, body } = await service.get(`/trust-records/${id}`, { key: busy.key })
    const named = (body.receipts as { verificationId: string }[]).map(({ verificationId }) => verificationId)
    const held = (body.verifications as { verificationId: string }[]).map(
      ({ verificationId }) => verificationId,
    )
    expect(held.filter((verificationId) => named.includes(verificationId))).toEqual([])
    const keys = (await service.get('/.well-known/jwks.json')).text
    expect(verifyEvidence(text, keys)).toMatchObject({
      valid: true,
      notes: [
        'It holds 100 of the 50000 verifications that it says the record has.',
        expect.stringMatching(/^Its latest receipt is promised to the log /),
      ],
    })
    // The receipts of a list that is whole name verifications that it lacks.
    const { verificationCount: _, ...uncounted } = body as Record<string, unknown>
    for (const claimed of [uncounted, { ...body, verificationCount: 100 }])
      expect(verifyEvidence(JSON.stringify(claimed), keys).valid).toBe(false)
    for (const verificationCount of [99, -1, 1.5, '50000', null, 2 ** 53])
      expect(verifyEvidence(JSON.stringify({ ...body, verificationCount }), keys).valid).toBe(false)
  })

  test('GET /verifications/{id} lists all of them, newest first, at the cost of a page', async () => {
    const pages = await follow(`/verifications/${id}?pageSize=100`, busy)
    expect(sizesOf(pages)).toEqual(Array.from({ length: 500 }, () => 100))
    const listed = itemsOf(pages).map(({ verificationId }) => String(verificationId))
    const { rows } = await database.pool.query<{ id: string }>(
      `SELECT body::jsonb ->> 'verificationId' AS id FROM verifications WHERE business_transaction_id = $1 ORDER BY ordinal DESC`,
      [id],
    )
    expect(listed).toEqual(rows.map((row) => row.id))
  })

  // proves abuse: One caller has 50,000 verifications
  test('takes no more of them, and says so; what it has stays of use', async () => {
    const asked = { businessTransactionId: id }
    expect(reply(await service.post('/verify', asked, { key: busy.key }))).toEqual({
      status: 409,
      body: {
        error: 'The Execution Trust Record has 10000 verifications; no more can be appended.',
        code: 'CONFLICT',
      },
    })
    expect((await service.post('/replay', asked, { key: busy.key })).body.verified).toBe(true)
    const { status, body } = await service.post('/receipt', asked, { key: busy.key })
    expect(status).toBe(200)
    receipts.push(body)
    expect(await rowsOf(database, id)).toMatchObject({ verifications: 50_000, receipts: 4 })
  })
})

const appending = { '/verify': 'verifications', '/receipt': 'receipts' } as const

/** One behaviour of two routes, whose names stand in the titles of their own `describe`. */
function expectFullRecords(path: keyof typeof appending): void {
  const table = appending[path]
  test('of many at once, as many are appended as still fit, and not one more', async () => {
    const { businessTransactionId: id } = await execute(busy)
    const max = APPENDED_MAX[table]
    await grow(id, table, max - 7)
    // A database that is too busy just then changes nothing, and says so with 503.
    const append = () => service.post(path, { businessTransactionId: id }, { key: busy.key })
    const decided = () =>
      until(async () => [await append()].find(({ status }) => status !== 503), 'a decision')
    const replies = await Promise.all(Array.from({ length: 20 }, decided))
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([...Array<number>(7).fill(200), ...Array<number>(13).fill(409)])
    expect(await rowsOf(database, id)).toMatchObject({ [table]: max })
    const { body } = await service.get(`/trust-records/${id}`, { key: busy.key })
    expect(body[table]).toHaveLength(100)
    expect(body[table === 'receipts' ? 'receiptCount' : 'verificationCount']).toBe(max)
  })
}

describe('POST /verify 409 conflict', () => expectFullRecords('/verify'))
describe('POST /receipt 409 conflict', () => expectFullRecords('/receipt'))

function expectListed(path: '/verifications' | '/receipts'): void {
  const [name, latest] =
    path === '/verifications' ? ['verificationId', '/verification'] : ['receiptId', '/receipt/latest']
  let id: string

  beforeAll(async () => {
    id = (await execute(busy)).businessTransactionId
    for (let n = 0; n < 6; n++) {
      await service.post('/verify', { businessTransactionId: id }, { key: busy.key })
      await service.post('/receipt', { businessTransactionId: id }, { key: busy.key })
    }
  })

  test('200: newest first, in pages of any size, for whoever may read the record', async () => {
    const { body } = await service.get(`/trust-records/${id}`, { key: busy.key })
    const expected = body[path.slice(1)].toReversed()
    expect(expected).toHaveLength(7)
    for (const caller of [busy, human, auditor])
      for (const query of ['', '?pageSize=1', '?pageSize=3', '?pageSize=7', '?pageSize=100&page=1'])
        expect(itemsOf(await follow(`${path}/${id.toUpperCase()}${query}`, caller))).toEqual(expected)
    expect(itemsOf(await follow(`${path}/${id}?pageSize=3&page=2`, busy))).toEqual(expected.slice(3))
    expect(itemsOf(await follow(`${path}/${id}?pageSize=100&page=9`, busy))).toEqual([])
    expect((await service.get(`${latest}/${id}`, { key: busy.key })).body[name]).toBe(expected[0][name])
  })

  test('200: an empty list of a record that has none', async () => {
    const { businessTransactionId } = await execute(busy)
    await database.pool.query(
      'UPDATE execution_evidence SET verification = NULL, receipt = NULL WHERE business_transaction_id = $1',
      [businessTransactionId],
    )
    expect(reply(await service.get(`${path}/${businessTransactionId}`, { key: busy.key }))).toEqual({
      status: 200,
      body: [],
    })
    const { body } = await service.get(`/trust-records/${businessTransactionId}`, { key: busy.key })
    expect(body[path.slice(1)]).toEqual([])
  })

  test("404 trustRecordNotFound: another's record is answered as an unknown id", async () => {
    for (const unknown of [id, randomUUID(), 'x', '%00'])
      expect(reply(await service.get(`${path}/${unknown}`, { key: bob.key }))).toEqual({
        status: 404,
        body: { error: 'Execution Trust Record not found.' },
      })
  })

  test.each([
    ['page=0', 'page must be a whole number, 1 or more.'],
    ['pageSize=101', 'pageSize must be a whole number from 1 to 100.'],
    ['cursor=', 'cursor must be one that a Link header gave.'],
    ['cursor=x', 'cursor must be one that a Link header gave.'],
    [
      `cursor=${Buffer.from('behind 0').toString('base64url')}`,
      'cursor must be one that a Link header gave.',
    ],
    [
      `cursor=${Buffer.from('behind 9').toString('base64url')}&page=1`,
      'page and cursor cannot be given together.',
    ],
  ])('400: %s', async (query, error) => {
    expect(reply(await service.get(`${path}/${id}?${query}`, { key: busy.key }))).toEqual({
      status: 400,
      body: { error },
    })
  })
}

describe('GET /verifications/{id} 200', () => expectListed('/verifications'))
describe('GET /receipts/{id} 200', () => expectListed('/receipts'))

describe('lists of governance and of what is in doubt', () => {
  test.each([
    ['/policies/pending-changes', 'policy'],
    ['/approvers/changes', 'approver'],
    ['/changes', 'approver'],
    ['/external-connectors/changes', 'external-connector'],
    ['/event-endpoints/changes', 'event-endpoint'],
    ['/caller-keys/changes', 'caller-key'],
    ['/approver-groups/changes', 'approver-group'],
    ['/stand-ins/changes', 'stand-in'],
  ])('GET %s: a page of large changes ends at 4 MiB, and its Link keeps the filter', async (path, kind) => {
    const { signature, warnings, ...signed } = change.pending
    await database.pool.query(
      `INSERT INTO pending_changes (change_id, kind, target, proposed_at, status, body, seal, advice)
         SELECT gen_random_uuid(), $1, 't' || n, '2001-01-01T00:00:00Z'::timestamptz + n * interval '1 s', 'PENDING_APPROVAL',
           replace($2, '<target>', 't' || n), $3, $4
         FROM generate_series(1, 50) AS n`,
      [
        kind,
        JSON.stringify({ ...signed, target: '<target>', proposed: { content: 'x'.repeat(200_000) } }),
        JSON.stringify({ signature }),
        JSON.stringify({ warnings }),
      ],
    )
    const pages = await follow(`${path}?pageSize=100&status=PENDING_APPROVAL`, human, 'changes')
    expect(itemsOf(pages).map(({ target }) => String(target))).toEqual(
      Array.from({ length: 50 }, (_, n) => `t${50 - n}`),
    )
    expect(sizesOf(pages)).toEqual([20, 20, 10])
    expectWithin(pages)
    expect(await follow(`${path}?status=REJECTED`, human, 'changes')).toMatchObject([{ items: [] }])
    await database.pool.query('DELETE FROM pending_changes WHERE kind = $1', [kind])
  })

  test('GET /external-connectors: whole up to 4 MiB, then by Link', async () => {
    await database.pool.query(
      `INSERT INTO authority (kind, key, target, stated, stated_hash, began_by, began_at, began_by_change)
       SELECT 'external-connector', id, 'made:n' || n, json_build_object('action', 'register', 'capability', 'made:n' || n,
         'endpointUrl', 'https://example.com/' || repeat('x', 100000), 'policy', 'p', 'allowedParameters', json_build_array(),
         'timeoutMs', 1000), 'x', 'test', now(), id
       FROM generate_series(1, 100) AS n, LATERAL (SELECT gen_random_uuid() AS id WHERE n > 0) AS made`,
    )
    const pages = await follow('/external-connectors', human, 'externalConnectors')
    const capabilities = itemsOf(pages).map(({ capability }) => String(capability))
    expect(capabilities).toEqual(Array.from({ length: 100 }, (_, n) => `made:n${n + 1}`).toSorted())
    expect(sizesOf(pages)).toEqual([41, 41, 18])
    await database.pool.query(`DELETE FROM authority WHERE kind = 'external-connector'`)
  })

  test('GET /webhook-rules: whole up to 4 MiB, then by Link, each provider newest first', async () => {
    const text = 'x'.repeat(1000)
    const rule = { when: text, transaction: text, says: 'pending', compare: Array(16).fill(text) }
    const rules = Array.from({ length: 5 }, (_, i) => ({ id: `r${i}`, ...rule }))
    await database.pool.query(
      `INSERT INTO authority (kind, key, target, stated, stated_hash, began_by, began_at, ended_at)
       SELECT 'webhook-rules', gen_random_uuid(), 'made_' || lpad((n % 10)::text, 2, '0'), $1, lpad(n::text, 64, '0'), 'test',
         now() + n * interval '1 s', CASE WHEN n < 90 THEN now() END
       FROM generate_series(0, 99) AS n`,
      [JSON.stringify({ rules })],
    )
    const pages = await follow('/webhook-rules', human, 'webhookRules')
    const made = itemsOf(pages).filter(({ provider }) => String(provider).startsWith('made_'))
    const order = Array.from({ length: 100 }, (_, i) => Math.floor(i / 10) + (90 - 10 * (i % 10)))
    expect(made.map(({ rulesHash }) => Number(rulesHash))).toEqual(order)
    expectWithin(pages)
    await database.pool.query(`DELETE FROM authority WHERE kind = 'webhook-rules' AND began_by = 'test'`)
  })

  test('GET /event-endpoints: whole up to 4 MiB, then by Link', async () => {
    await database.pool.query(
      `WITH registered AS (
         INSERT INTO authority (kind, key, target, stated, stated_hash, began_by, began_at)
         SELECT 'event-endpoint', gen_random_uuid(), 'https://example.com/' || n, json_build_object('action', 'register',
           'url', 'https://example.com/' || n, 'types', json_build_array('change.resolved'), 'withParameters', false), 'x', 'test', now()
         FROM generate_series(1, 100) AS n RETURNING key
       )
       INSERT INTO event_deliveries (endpoint_id, problem, disabled_at) SELECT key::uuid, repeat('x', 100000), now() FROM registered`,
    )
    const pages = await follow('/event-endpoints', human, 'eventEndpoints')
    expect(itemsOf(pages)).toHaveLength(100)
    expect(sizesOf(pages)).toEqual([41, 41, 18])
    await database.pool.query(`DELETE FROM authority WHERE kind = 'event-endpoint'`)
    await database.pool.query('DELETE FROM event_deliveries')
  })

  test('GET /caller-keys: whole up to 4 MiB, then by Link', async () => {
    await database.pool.query(
      `INSERT INTO authority (kind, key, target, stated, stated_hash, unique_key, began_by, began_at, began_by_change,
         ended_by, ended_at, ended_by_change)
       SELECT 'caller-key', name, name, json_build_object('action', 'issue', 'callerId', 'caller-' || n, 'keyHash', hash,
         'allowedCapabilities', json_build_array(repeat('x', 1000))), 'x', left(hash, 16), 'test', now(), gen_random_uuid(),
         'test', now(), gen_random_uuid()
       FROM generate_series(1, 6000) AS n, LATERAL (SELECT encode(sha256(n::text::bytea), 'hex') AS hash) AS h,
         LATERAL (SELECT 'caller-' || n || ':' || left(hash, 16) AS name) AS k`,
    )
    const pages = await follow('/caller-keys', human, 'callerKeys')
    const made = itemsOf(pages).filter(({ callerId }) => String(callerId).startsWith('caller-'))
    expect(new Set(made.map(({ keyId }) => String(keyId))).size).toBe(6000)
    expect(pages.length).toBeGreaterThan(1)
    await database.pool.query(`DELETE FROM authority WHERE kind = 'caller-key'`)
  })

  test('GET /approvers: whole up to 4 MiB, then by Link', async () => {
    await database.pool.query(
      `INSERT INTO authority (kind, key, target, stated, stated_hash, unique_key, began_by, began_at, began_by_change)
       SELECT 'approver', 'a' || n || ':k', 'a' || n || ':k', json_build_object('action', 'add', 'approverId', 'a' || n, 'keyId', 'k',
         'publicKeyPem', repeat('x', 1000)), 'x', n::text, 'test', now(), gen_random_uuid() FROM generate_series(1, 9000) AS n`,
    )
    const pages = await follow('/approvers', human, 'approvers')
    expect(itemsOf(pages)).toHaveLength(9000)
    expect(new Set(itemsOf(pages).map(({ approverId }) => String(approverId))).size).toBe(9000)
    expect(pages).toHaveLength(3)
    await database.pool.query(`DELETE FROM authority WHERE kind = 'approver'`)
  })

  test.each([
    '/approvers',
    '/external-connectors',
    '/event-endpoints',
    '/policies/pending-changes',
    '/approvers/changes',
    '/external-connectors/changes',
    '/webhook-rules',
    '/webhook-rules/changes',
    '/event-endpoints/changes',
    '/caller-keys',
    '/stand-ins',
    '/approver-groups',
    '/caller-keys/changes',
    '/stand-ins/changes',
    '/approver-groups/changes',
    '/execution-intents/unfinalized',
    '/audit/events',
    '/transactions',
  ])('GET %s 400 invalidQuery', async (path) => {
    expect(reply(await service.get(`${path}?cursor=x`, { key: human.key }))).toEqual({
      status: 400,
      body: { error: 'cursor must be one that a Link header gave.' },
    })
  })

  test('GET /audit/events: Link leads through all events, and keeps the filter', async () => {
    // One principal after the other: what is refused alike within a minute is gathered.
    for (let n = 0; n < 7; n++)
      await service.post('/execute', aTransaction({ authority: { principalId: `p${n}` } }), { key: bob.key })
    const query = 'type=caller.principal_denied'
    const [whole] = await follow(`/audit/events?${query}&pageSize=100`, auditor, 'events')
    expect(whole?.items.length).toBeGreaterThanOrEqual(7)
    const pages = await follow(`/audit/events?${query}&pageSize=2`, auditor, 'events')
    expect(itemsOf(pages)).toEqual(whole?.items)
  })

  test('GET /execution-intents/unfinalized: a page of large intents ends at 4 MiB', async () => {
    const released = await Promise.all(
      Array.from({ length: 50 }, () => execute(busy, { intent: { target: 'x'.repeat(90_000) } })),
    )
    const ids = released.map(({ businessTransactionId }) => businessTransactionId)
    await openBatch(database, ids)
    const pages = await follow('/execution-intents/unfinalized?pageSize=100', human, 'intents')
    expect(idsIn(pages).toSorted()).toEqual(ids.toSorted())
    expect(pages.length).toBeGreaterThan(1)
    expectWithin(pages)
  })
})

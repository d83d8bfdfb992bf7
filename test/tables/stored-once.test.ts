// Evidence is stored once and read byte for byte as it was signed, whichever release has stored it (docs/design-notes.md "Stored once").
import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { storeEvidence, withoutCopies } from '../../src/store/tables/trust-records.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { checked } from '../fsck/mix.ts'
import { until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'
import { asBefore, readsBefore } from './evidence-before.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')
const MIGRATION = '0035_stored-once.sql'

let database: TestDatabase
let service: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start()
})

async function execute(): Promise<string> {
  const { status, body } = await service.post('/execute', aTransaction())
  expect(status).toBe(200)
  return body.businessTransactionId
}

function textsOf({ authorization, executions, hybrid, transaction }: Record<string, unknown>) {
  const [businessTransactionId, trustRecordId] = [randomUUID(), randomUUID()]
  const body = canonicalize({
    authorization,
    businessTransactionId,
    createdAt: '2026-11-21T00:00:00.000Z',
    executions,
    overrides: [],
    ...(hybrid === true ? { requiredAlgorithms: ['ed25519', 'ml-dsa-65'] } : {}),
    transaction,
    trustRecordId,
  } as Json)
  return {
    id: businessTransactionId,
    body,
    authorization: canonicalize(authorization as Json),
    transaction: canonicalize(transaction as Json),
  }
}

const copiesOf = ({ authorization, transaction }: ReturnType<typeof textsOf>) => ({
  authorization: authorization.length,
  transaction: transaction.length,
})

describe('a record whose copies are left out', () => {
  // The texts that the stored form is made of, and others that a count of bytes would cut.
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      '{"authorization":null,"businessTransactionId":"',
      '"authorization":{}',
      ',"transaction":null,"trustRecordId":"',
      '},"businessTransactionId":"',
      'null',
    ),
  )
  const key = text.filter((one) => one !== '__proto__')
  const members = fc.dictionary(
    key,
    fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.dictionary(key, text)),
  )
  const record = fc.record({
    authorization: members,
    executions: fc.array(members),
    hybrid: fc.boolean(),
    transaction: members,
  })

  test('is read with them, byte for byte, whatever texts it holds, and its bytes are counted', async () => {
    const made = fc.sample(record, { numRuns: 500 }).map(textsOf)
    const rows = made.map((one) => ({
      businessTransactionId: one.id,
      callerId: 'random',
      createdAt: '2026-11-21T00:00:00.000Z',
      body: withoutCopies(one.body, copiesOf(one)),
      seal: '{}',
      verification: '{}',
      receipt: '{}',
      logBatch: null,
      logOrdinal: null,
      errored: false,
    }))
    await inTransaction(database.pool, (tx) => tx.run(storeEvidence(rows)))
    for (const one of made)
      await database.pool.query(
        `INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body, execution_authorization)
         VALUES ($1, 'random', now(), $2, $3)`,
        [one.id, one.transaction, one.authorization],
      )
    const { rows: read } = await database.pool.query<{ id: string; body: string; bytes: number }>(
      `SELECT business_transaction_id AS id, body, body_bytes AS bytes FROM trust_records WHERE caller_id = 'random'`,
    )
    const bodies = new Map(read.map(({ id, ...of }) => [id, of]))
    for (const { id, body } of made) expect(bodies.get(id)).toEqual({ body, bytes: Buffer.byteLength(body) })
    for (const table of ['execution_evidence', 'business_transactions'])
      await database.pool.query(`DELETE FROM ${table} WHERE caller_id = 'random'`)
  })

  test('holds neither of them, and keeps what stands between', () => {
    fc.assert(
      fc.property(record, (of) => {
        const texts = textsOf(of)
        const {
          authorization: _1,
          transaction: _2,
          ...others
        } = JSON.parse(texts.body) as Record<string, Json>
        expect(withoutCopies(texts.body, copiesOf(texts))).toBe(
          canonicalize({ ...others, authorization: null, transaction: null }),
        )
      }),
    )
  })

  test.each([
    ['the copies are elsewhere', { authorization: 1, transaction: 1 }],
    ['there are none', { authorization: 0, transaction: 0 }],
    ['they are longer than the record', { authorization: 1e6, transaction: 1e6 }],
  ])('is stored whole where %s', (_title, copies) => {
    const { body } = textsOf({ authorization: { a: 1 }, executions: [], transaction: { t: 1 } })
    expect(withoutCopies(body, copies)).toBe(body)
  })

  test('has none of the bytes of its transaction in its row', async () => {
    const id = await execute()
    const { rows } = await database.pool.query<Record<string, string>>(
      `SELECT e.body AS stored, r.body, t.body AS transaction, t.execution_authorization AS authorization
       FROM execution_evidence AS e JOIN trust_records AS r USING (business_transaction_id)
         JOIN business_transactions AS t USING (business_transaction_id) WHERE business_transaction_id = $1`,
      [id],
    )
    const { stored = '', body = '', transaction = '', authorization = '' } = rows[0] ?? {}
    expect(stored.length).toBe(body.length - transaction.length - authorization.length + 2 * 'null'.length)
    const appended = await database.pool.query(
      `SELECT FROM appended_receipts WHERE business_transaction_id = $1
       UNION ALL SELECT FROM appended_verifications WHERE business_transaction_id = $1`,
      [id],
    )
    expect(appended.rowCount).toBe(0)
  })
})

const readBefore = async (id: string) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(readsBefore).map(async ([name, text]) => {
        const { rows } = await database.pool.query({ text, values: [id], rowMode: 'array' })
        return [name, rows] as const
      }),
    ),
  )

const PATHS = [
  '/trust-records',
  '/transactions',
  '/verification',
  '/verifications',
  '/receipt/latest',
  '/receipts',
]
const readHere = async (id: string) => {
  const paths = [...PATHS.map((path) => `${path}/${id}`), '/trust-records?pageSize=100']
  return Promise.all(paths.map(async (path) => (await service.get(path)).text))
}

/** Stores evidence that stands here once more, as the release before would have. */
async function storedAsBefore(id: string): Promise<void> {
  const one = async (columns: string, from: string) => {
    const { rows } = await database.pool.query<string[]>({
      text: `SELECT ${columns} FROM ${from} WHERE business_transaction_id = $1`,
      values: [id],
      rowMode: 'array',
    })
    expect(rows).toHaveLength(1)
    return rows[0]
  }
  const record = await one(
    'business_transaction_id, caller_id, created_at::text, body, seal',
    'trust_records',
  )
  const verification = await one('business_transaction_id, ordinal, body', 'verifications')
  const receipt = await one('business_transaction_id, ordinal, body, log_batch, log_ordinal', 'receipts')
  const client = await database.pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('DELETE FROM execution_evidence WHERE business_transaction_id = $1', [id])
    await client.query(asBefore.insertRecord, record)
    await client.query(asBefore.insertVerification, verification)
    await client.query(asBefore.insertReceipt, receipt)
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}

describe('in a rolling restart', () => {
  // proves fault: Two releases store and append evidence
  test('what the release before stores is read here as what is stored here, and the other way round', async () => {
    const id = await execute()
    const [there, here] = [await readBefore(id), await readHere(id)]
    for (const [name, rows] of Object.entries(there)) expect(rows.length, name).toBeGreaterThan(0)
    await storedAsBefore(id)
    expect(await readBefore(id)).toEqual(there)
    expect(await readHere(id)).toEqual(here)
  })

  // proves fault: Two releases store and append evidence
  test('what both append to the records of either has the next ordinal', async () => {
    const ids = [await execute(), await execute()]
    await storedAsBefore(ids[1]!)
    for (const id of ids) {
      const client = await database.pool.connect()
      await client.query('BEGIN')
      expect((await client.query(asBefore.lock, [id])).rowCount).toBe(1)
      // A request of this release waits for the lock of the other one.
      const verifying = service.post('/verify', { businessTransactionId: id })
      await until(async () => {
        const { rowCount } = await database.pool.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
        return rowCount === 1
      }, 'the other to wait')
      const { rows } = await client.query<{ body: string }>(readsBefore['last of verifications']!, [id])
      await client.query(asBefore.insertVerification, [id, 2, rows[0]?.body])
      await client.query('COMMIT')
      client.release()
      expect((await verifying).body.status).toBe('VERIFIED')
      expect((await service.post('/receipt', { businessTransactionId: id })).status).toBe(200)
      const ordinals = async (table: string) =>
        ((await readBefore(id))[`list of ${table}`] as [number, string][]).map(([ordinal]) => ordinal)
      expect(await ordinals('verifications')).toEqual([3, 2, 1])
      expect(await ordinals('receipts')).toEqual([2, 1])
    }
    expect((await checked(database, service.signingKeyDir)).lines).toEqual([])
  })

  test('a record that stands is refused to both as one that exists', async () => {
    const id = await execute()
    await expect(
      database.pool.query(asBefore.insertRecord, [id, 'tester', '2026-11-21T00:00:00.000Z', '{}', '{}']),
    ).rejects.toMatchObject({ code: '23505' })
    await expect(
      database.pool.query(asBefore.insertReceipt, [await withRow(id), 2, '{}', null, null]),
    ).rejects.toMatchObject({ code: '23505' })
  })
})

/** Gives the record a second receipt. */
async function withRow(id: string): Promise<string> {
  expect((await service.post('/receipt', { businessTransactionId: id })).status).toBe(200)
  return id
}

describe('the migration', () => {
  const RECORDS = Number(process.env['MIGRATED_RECORDS'] ?? '2000')

  let before: TestDatabase
  beforeEach(async () => {
    before = await createDatabase('template0')
    const dir = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
    cpSync(MIGRATIONS, dir, { recursive: true })
    for (const file of readdirSync(dir)) if (/^\d/.test(file) && file >= MIGRATION) rmSync(join(dir, file))
    await migrate(before.url, { dir })
    rmSync(dir, { recursive: true })
  })
  afterEach(() => before.drop())

  // proves fault: A database of the release before is migrated
  test('changes no byte of what is stored, while the release before goes on with statements that it has prepared', async () => {
    await before.pool.query(
      `WITH made AS MATERIALIZED (SELECT gen_random_uuid() AS id, repeat(n::text, 300) AS text FROM generate_series(1, $1::integer) AS n),
         t AS (INSERT INTO business_transactions SELECT id, 'c', now(), text, text FROM made),
         r AS (INSERT INTO trust_records SELECT id, 'c', now(), text, text FROM made),
         v AS (INSERT INTO verifications SELECT id, 1, text FROM made)
       INSERT INTO receipts SELECT id, 1, text, id, 1 FROM made`,
      [RECORDS],
    )
    const contents = async () => {
      const { rows } = await before.pool.query<Record<string, string>>(`
        SELECT count(*), md5(string_agg(r::text, '' ORDER BY r.business_transaction_id)) AS records,
          (SELECT md5(string_agg(v::text, '' ORDER BY business_transaction_id)) FROM verifications AS v WHERE length(body) > 2) AS verifications,
          (SELECT md5(string_agg(c::text, '' ORDER BY business_transaction_id)) FROM receipts AS c WHERE length(body) > 2) AS receipts
        FROM (SELECT business_transaction_id, caller_id, created_at, body, seal FROM trust_records WHERE length(body) > 2) AS r`)
      return rows[0]
    }
    const stood = await contents()

    const instance = openInstance(before.url)
    await until(() => instance.stored() > 20, 'executions before the migration')
    expect(await migrate(before.url)).toContain(MIGRATION)
    const storedThen = instance.stored()
    await until(() => instance.stored() > storedThen + 20, 'executions after the migration')
    const stored = await instance.end()
    expect(await contents()).toEqual(stood)
    const { rows } = await before.pool.query(
      `SELECT (SELECT count(*)::integer FROM trust_records) AS trust_records, (SELECT count(*)::integer FROM verifications) AS verifications,
         (SELECT count(*)::integer FROM receipts) AS receipts`,
    )
    const all = RECORDS + stored
    expect(rows).toEqual([{ trust_records: all, verifications: all, receipts: all }])
  })

  // proves fault: A database of the release before is migrated
  test('gives up after two seconds where somebody reads a table for long, and is over when that ends', async () => {
    const reading = await before.pool.connect()
    await reading.query('BEGIN; SELECT FROM receipts')
    await expect(migrate(before.url)).rejects.toThrow(
      `Migration ${MIGRATION} failed: canceling statement due to lock timeout`,
    )
    await reading.query('COMMIT')
    reading.release()
    expect(await migrate(before.url)).toContain(MIGRATION)
  })
})

/** Stores evidence as an instance of the release before, without a pause and with statements that are prepared once. */
function openInstance(url: string) {
  let stored = 0
  const ending = new AbortController()
  const running = (async () => {
    const client = new Client({ connectionString: url })
    await client.connect()
    const run = (name: keyof typeof asBefore, values: unknown[]) =>
      client.query({ name, text: asBefore[name], values })
    while (!ending.signal.aborted) {
      const id = randomUUID()
      await client.query('BEGIN')
      await run('insertRecord', [id, 'c', '2026-11-21T00:00:00.000Z', '{}', '{}'])
      await run('insertVerification', [id, 1, '{}'])
      await run('insertReceipt', [id, 1, '{}', null, null])
      await client.query('COMMIT')
      for (const [name, text] of Object.entries(readsBefore)) {
        const { rows } = await client.query({ name, text, values: [id] })
        // The joins find no transaction of it.
        if (!['execution', 'place in the log', 'page'].includes(name)) expect(rows, name).toHaveLength(1)
      }
      stored++
    }
    await client.end()
  })()
  // A statement that fails is told by `end`.
  running.catch(() => undefined)
  return {
    stored: () => stored,
    async end() {
      ending.abort()
      await running
      return stored
    },
  }
}

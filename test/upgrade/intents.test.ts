// Execution intents across an upgrade from the release that kept a row for each: nothing in doubt is lost, what was closed reads as it did,
// and instances of both releases close each other's intents once.
import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool, PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { readIntents } from '../../src/store/tables/execution-intents.ts'
import { insertTransitions } from '../../src/store/tables/intent-transitions.ts'
import { findLogPosition } from '../../src/store/tables/log-tree.ts'
import {
  findInDoubt,
  lockOpen,
  markInDoubt,
  releaseBatches,
} from '../../src/store/tables/released-batches.ts'
import { LEAST_UUID } from '../../src/store/tables/position.ts'
import { sweepIntents } from '../../workers/intents/sweep.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { aTransitionRow, notedInDoubt, passDeadline } from '../intents.ts'
import { patientPool } from '../patient-pool.ts'
import { aRequest, openThread } from '../pipeline/thread.ts'
import { asBefore } from './statements.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')
/** The one that this is about. */
const SUBJECT = '0034_released-batches.sql'

let database: TestDatabase
let pool: Pool
/** A connection of an instance of the release before, which has prepared its statements before the upgrade. */
let old: PoolClient
const before = { finalized: '', errored: '', resolved: '', inDoubt: '', underWay: '', direct: '' }
let closedAt: Date

/** Released by the release before. */
async function releasedBefore(inDoubtAfterMs = 30_000): Promise<string> {
  const id = randomUUID()
  await old.query('BEGIN')
  await asBefore(old, 'claim', id, 'tester', '{}', `{"payload":{"nonce":"nonce of ${id}"}}`)
  await asBefore(old, 'release', id, `nonce of ${id}`, inDoubtAfterMs, randomUUID())
  await old.query('COMMIT')
  return id
}

/** Released by this release, alone or with others. */
async function releasedNow(count = 1, inDoubtAfterMs = 30_000): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID() as string).toSorted()
  for (const id of ids)
    await pool.query(
      `INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body, execution_authorization, deadline, log_batch, log_ordinal)
       VALUES ($1::uuid, 'tester', now(), '{}', '{"payload":{"nonce":"nonce of ' || $1::text || '"}}', now() + $2 * interval '1 ms', $1::uuid, 7)`,
      [id, inDoubtAfterMs],
    )
  await inTransaction(pool, (tx) => tx.run(releaseBatches([{ batch: randomUUID(), ids, inDoubtAfterMs }])))
  return ids
}

/** This release takes it out of its batch, with the transition of a human. */
const resolveNow = (id: string) =>
  inTransaction(pool, async (tx) => {
    const { open, takeOut } = await lockOpen(tx, [id])
    if (!open.has(id)) return false
    await tx.run([...takeOut([id]), ...insertTransitions([aTransition(id)])])
    return true
  })

const aTransition = (id: string) =>
  aTransitionRow(id, { note: '\u0000 "to":"ERRORED"', resolution: 'NOT_EXECUTED', to: 'RESOLVED' })

/** The release before resolves it, on a connection of its own. */
async function resolveBefore(id: string): Promise<boolean> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const [locked] = await asBefore<{ state: string }>(client, 'lock', id)
    const { transitionId, at, body } = aTransition(id)
    const ended =
      locked?.state === 'RELEASED' &&
      (await asBefore(client, 'end', id, 'RESOLVED', 'NOT_EXECUTED', at)).length === 1
    if (ended) {
      await client.query('INSERT INTO intent_transitions VALUES ($1, $2, $3, $4, $5)', [
        transitionId,
        id,
        at,
        body,
        '{}',
      ])
    }
    await client.query(ended ? 'COMMIT' : 'ROLLBACK')
    return ended
  } finally {
    client.release()
  }
}

interface RowBefore {
  readonly state: string
  readonly nonce: string
  readonly deadline: Date
  readonly closedAt: Date | null
  readonly resolution: string | null
  readonly logBatch: string | null
  readonly logOrdinal: number | null
}

/** As each of the releases reads it, which must be the same. */
async function standing(id: string): Promise<RowBefore> {
  const rows = await asBefore<RowBefore>(old, 'read', id)
  expect(rows).toHaveLength(1)
  const intent = (await readIntents(pool, [id])).get(id)?.intent
  const position = await findLogPosition(pool, { kind: 'authorization', id, owner: 'tester' })
  expect({ ...intent, ...position }).toMatchObject({
    state: rows[0]!.state,
    deadline: rows[0]!.deadline.toISOString(),
    closedAt: rows[0]!.closedAt?.toISOString() ?? null,
    resolution: rows[0]!.resolution,
    logBatch: rows[0]!.logBatch,
    logOrdinal: rows[0]!.logOrdinal,
  })
  expect(rows[0]!.nonce).toBe(`nonce of ${id}`)
  return rows[0]!
}

const files = async () => {
  const { rows } = await pool.query<{ file: string }>(
    `SELECT relname || ' ' || pg_relation_filenode(oid) AS file FROM pg_class
     WHERE relname IN ('business_transactions', 'business_transactions_pkey', 'intent_transitions') OR relname LIKE 'execution_intents%' AND relkind = 'r'
     ORDER BY 1`,
  )
  return rows.map(({ file }) => file.replace('_before', ''))
}

beforeAll(async () => {
  database = await createDatabase('template0')
  pool = patientPool(database.url, 12)
  const dir = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
  cpSync(MIGRATIONS, dir, { recursive: true })
  for (const file of readdirSync(dir)) if (file >= SUBJECT) rmSync(join(dir, file))
  await migrate(database.url, { dir })
  rmSync(dir, { recursive: true })
  old = await pool.connect()
  before.finalized = await releasedBefore()
  before.errored = await releasedBefore()
  before.resolved = await releasedBefore()
  before.inDoubt = await releasedBefore(0)
  before.underWay = await releasedBefore()
  before.direct = randomUUID()
  await asBefore(old, 'release', before.direct, 'n', 0, null)
  for (const [close, id] of [
    ['finalize', before.finalized],
    ['fail', before.errored],
  ] as const) {
    const ids = close === 'finalize' ? [id, id] : [id]
    expect(await asBefore(old, close, ...ids)).toEqual([{ id }])
    await asBefore(old, 'record', id)
  }
  expect(await resolveBefore(before.resolved)).toBe(true)
  closedAt = (await asBefore<RowBefore>(old, 'read', before.finalized))[0]!.closedAt!
})

afterAll(async () => {
  old.release()
  await pool.end()
  await database.drop()
})

test('the upgrade waits for who is closing an intent, rewrites nothing, and leaves nothing open behind', async () => {
  const was = await files()
  const closing = await releasedBefore()
  await old.query('BEGIN')
  await asBefore(old, 'finalize', closing, closing)
  await asBefore(old, 'record', closing)
  const migrated = migrate(database.url)
  await new Promise((resolve) => setImmediate(resolve))
  await old.query('COMMIT')
  expect(await migrated).toContain(SUBJECT)
  expect(await files()).toEqual(was)
  const { rows } = await pool.query<{ id: string }>('SELECT unnest(ids) AS id FROM released_batches')
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([before.inDoubt, before.underWay, before.direct]))
  expect(await standing(closing)).toMatchObject({ state: 'FINALIZED' })
})

describe('what the release before has stored', () => {
  test('reads as it did', async () => {
    expect(await standing(before.finalized)).toMatchObject({ state: 'FINALIZED', closedAt })
    expect(await standing(before.errored)).toMatchObject({ state: 'ERRORED' })
    expect(await standing(before.resolved)).toMatchObject({ state: 'RESOLVED', resolution: 'NOT_EXECUTED' })
    for (const id of [before.inDoubt, before.underWay])
      expect(await standing(id)).toMatchObject({ state: 'RELEASED', closedAt: null })
  })

  test('is in doubt after its deadline for both, and is closed by this release', async () => {
    const limits = { after: LEAST_UUID, limit: 10 }
    const found = await findInDoubt(pool, limits)
    expect(found.toSorted()).toEqual([before.inDoubt, before.direct].toSorted())
    expect(await asBefore(old, 'findInDoubt', LEAST_UUID, 10)).toEqual(found.map((id) => ({ id })))
    expect(await asBefore(old, 'lockInDoubt', before.inDoubt)).toHaveLength(1)
    expect(await resolveNow(before.inDoubt)).toBe(true)
    expect(await standing(before.inDoubt)).toMatchObject({ state: 'RESOLVED' })
    expect(await asBefore(old, 'end', before.inDoubt, 'RESOLVED', 'EXECUTED', closedAt)).toEqual([])
  })

  test('of an instance that died is finished by this release: its connector is not called again', async () => {
    await passDeadline(database, before.underWay)
    const thread = openThread(database.url)
    await sweepIntents([aRequest({})], thread)
    await thread.pool.end()
    expect(await notedInDoubt(database)).toContain(before.underWay)
    expect(await resolveNow(before.underWay)).toBe(true)
    await asBefore(old, 'forget', 100)
    expect(await notedInDoubt(database)).not.toContain(before.underWay)
    expect(await asBefore(old, 'claim', before.underWay, 'tester', '{}', null)).toEqual([])
  })

  test('a nonce that its gateway has consumed stays consumed', async () => {
    const again = releaseBatches([{ batch: randomUUID(), ids: [before.direct], inDoubtAfterMs: 0 }])
    await expect(inTransaction(pool, (tx) => tx.run(again))).rejects.toMatchObject({ code: '23505' })
  })
})

describe('beside this release, the release before', () => {
  test('releases and closes as before', async () => {
    const id = await releasedBefore()
    expect(await standing(id)).toMatchObject({ state: 'RELEASED', logOrdinal: 0 })
    expect(await asBefore(old, 'finalize', id, randomUUID())).toEqual([{ id }])
    await asBefore(old, 'record', id)
    expect(await standing(id)).toMatchObject({ state: 'FINALIZED', logOrdinal: 0 })
    expect(await asBefore(old, 'fail', id)).toEqual([])
    await expect(asBefore(old, 'release', id, 'n', 0, null)).rejects.toMatchObject({ code: '23505' })
  })

  test('puts what it has released in doubt before its deadline', async () => {
    const id = await releasedBefore()
    await asBefore(old, 'markInDoubt', [id])
    expect((await readIntents(pool, [id])).get(id)?.intent?.inDoubt).toBe(true)
    expect(await resolveBefore(id)).toBe(true)
    expect(await standing(id)).toMatchObject({ state: 'RESOLVED' })
  })

  test('sees what this release releases, in a batch with others, and closes one of them', async () => {
    const ids = await releasedNow(3)
    const [id = '', ...others] = ids
    for (const one of ids) expect(await standing(one)).toMatchObject({ state: 'RELEASED', logOrdinal: 7 })
    expect(await asBefore(old, 'lockInDoubt', id)).toEqual([])
    await inTransaction(pool, (tx) => markInDoubt(tx, [id]))
    expect(await asBefore(old, 'lockInDoubt', id)).toHaveLength(1)
    expect(await resolveBefore(id)).toBe(true)
    expect(await resolveNow(id)).toBe(false)
    expect(await standing(id)).toMatchObject({ state: 'RESOLVED' })
    for (const one of others) expect(await standing(one)).toMatchObject({ state: 'RELEASED' })
  })

  test.each([
    ['FINALIZED', false],
    ['ERRORED', true],
  ])('sees what this release has %s', async (state, errored) => {
    const [id = ''] = await releasedNow()
    await inTransaction(pool, async (tx) => {
      const { takeOut } = await lockOpen(tx, [id])
      await tx.run(takeOut([id]))
      await tx.query(
        `INSERT INTO execution_evidence (business_transaction_id, caller_id, created_at, body, seal, errored)
         VALUES ($1::uuid, 'tester', now(), '{}', '{}', $2)`,
        [id, errored],
      )
    })
    expect(await standing(id)).toMatchObject({ state })
    expect(await asBefore(old, 'end', id, 'RESOLVED', 'EXECUTED', closedAt)).toEqual([])
  })

  test.each([
    ['the release before', () => releasedBefore()],
    ['this release', async () => (await releasedNow(2))[0]!],
  ])('of both that close an intent of %s at once, one does', async (_, release) => {
    for (let n = 0; n < 10; n++) {
      const id = await release()
      const closed = await Promise.all([resolveNow(id), resolveBefore(id), resolveNow(id), resolveBefore(id)])
      expect(closed.filter(Boolean)).toHaveLength(1)
      const { rowCount } = await pool.query(
        'SELECT FROM intent_transitions WHERE business_transaction_id = $1',
        [id],
      )
      expect(rowCount).toBe(1)
      expect(await standing(id)).toMatchObject({ state: 'RESOLVED' })
    }
  })

  test('reads for its sweep what is open, and no record that ever was', async () => {
    const { rows } = await old.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT business_transaction_id FROM execution_intents AS i WHERE i.state = 'RELEASED' AND i.deadline <= now()`,
    )
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain('released_batches')
    expect(plan).toContain('execution_intents_before_released')
    expect(plan).not.toMatch(/Scan on (execution_evidence|execution_intents_before) /)
  })
})

// countersign log backfill: what is stored from before the log, beside services that go on.
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { parseEntry } from '../../src/formats/log/entry.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { freezeLog, readLogStatus } from '../../src/store/tables/log-state.ts'
import { createDatabase } from '../database.ts'
import { checked, startMixed } from '../fsck/mix.ts'
import { patientPool } from '../patient-pool.ts'
import { makeKeys } from '../signing-keys.ts'
import { startService, until } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { runCommand } from '../command.ts'
import { aLog, readEntries, settle, type TestLog } from './log.ts'

/** Each table with a place in the log: its rows by their time, and the hash of the newest artifact of each. */
const ARTIFACTS: Readonly<Record<string, { text: string; kind: string; hash: (row: Row) => string }>> = {
  pending_changes: {
    text: `SELECT coalesce(resolved_body, body) AS body FROM pending_changes AS c`,
    kind: 'governance-change',
    hash: ({ body }) => sha256Hex(body),
  },
  approvals: {
    text: 'SELECT body FROM approvals AS c',
    kind: 'approval',
    hash: ({ body }) => sha256Hex(canonicalize((JSON.parse(body) as { payload: Json }).payload)),
  },
  approval_requests: {
    text: 'SELECT body FROM approval_requests AS c',
    kind: 'approval-request',
    hash: ({ body }) => sha256Hex(body),
  },
  approval_request_notes: {
    text: 'SELECT body FROM approval_request_notes AS c',
    kind: 'approval-request-note',
    hash: ({ body }) => sha256Hex(body),
  },
  approval_request_closes: {
    text: 'SELECT body FROM approval_request_closes AS c',
    kind: 'approval-request-close',
    hash: ({ body }) => sha256Hex(body),
  },
  webhook_events: {
    text: `SELECT body_sha256 AS body FROM webhook_events AS c`,
    kind: 'webhook',
    hash: ({ body }) => body,
  },
  business_transactions: {
    text: `SELECT body FROM (SELECT execution_authorization AS body, log_batch, log_ordinal FROM business_transactions WHERE execution_authorization IS NOT NULL) AS c`,
    kind: 'authorization',
    hash: ({ body }) => sha256Hex(canonicalize((JSON.parse(body) as { payload: Json }).payload)),
  },
  refusal_records: {
    text: 'SELECT body FROM refusal_records AS c',
    kind: 'refusal',
    hash: ({ body }) => sha256Hex(body),
  },
  receipts: {
    text: 'SELECT body FROM receipts AS c',
    kind: 'receipt',
    hash: ({ body }) => (JSON.parse(body) as { receiptHash: string }).receiptHash,
  },
  intent_transitions: {
    text: 'SELECT body FROM intent_transitions AS c',
    kind: 'intent-transition',
    hash: ({ body }) => sha256Hex(body),
  },
  provider_confirmations: {
    text: 'SELECT body FROM provider_confirmations AS c',
    kind: 'provider-confirmation',
    hash: ({ body }) => sha256Hex(body),
  },
  audit_events: {
    text: 'SELECT body FROM audit_events AS c',
    kind: 'audit-event',
    hash: ({ body }) => sha256Hex(body),
  },
}

interface Row {
  readonly body: string
  readonly index: string | null
}

test('everything that a service stored without a log is logged as late, while a service goes on', async () => {
  const database = await createDatabase()
  const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
  makeKeys(signingKeyDir)
  const without = await startMixed(database, { signingKeyDir, log: 'off' })
  await without.service.stop()
  without.remove()
  // This trigger keeps a delivery from being processed there.
  await database.pool.query('DROP TRIGGER refuse_poison ON webhook_events')
  const env = { DATABASE_URL: database.url }
  expect((await runCommand(['log', 'backfill'], env)).stderr).toBe(
    'countersign: The database has no evidence log: start a service first, without LOG=off.\n',
  )

  const began = new Date()
  const service = await startService({ databaseUrl: database.url, signingKeyDir })
  const first = await service.post('/execute', aTransaction())
  expect(first.status).toBe(200)
  const { status, stdout, stderr } = await runCommand(['log', 'backfill'], env)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^Queued for countersign-[0-9a-f]{8}\/log\/1: late-/)
  await until(async () => {
    const log = await readLogStatus(database.pool)
    return log?.queued === false && log.size === log.publishedSize
  }, 'everything to be under a checkpoint')

  const { size } = (await readLogStatus(database.pool))!
  const entries = (await readEntries(database.pool, size)).map((entry) => parseEntry(entry.toString()))
  const lateHashes = new Set<string>()
  for (const { text, kind, hash } of Object.values(ARTIFACTS)) {
    // Citus joins no table of its coordinator with a view of distributed ones.
    const { rows } = await database.pool.query<Row>(
      `WITH c AS MATERIALIZED (${text.replace(' FROM ', ', c.log_batch, c.log_ordinal FROM ')})
       SELECT c.*, b.start + c.log_ordinal AS index FROM c LEFT JOIN log_batches AS b ON b.batch = c.log_batch`,
    )
    expect(rows.length, kind).toBeGreaterThan(0)
    for (const row of rows) {
      const entry = entries[Number(row.index ?? NaN)]
      expect(entry?.hash, kind).toBe(hash(row))
      expect([kind, `late-${kind}`]).toContain(entry?.kind)
      if (entry!.kind !== kind) lateHashes.add(entry!.hash)
    }
    // The rows that the service with the log has written are as they were.
    if (kind === 'receipt')
      expect(rows.filter((row) => entries[Number(row.index)]!.kind === kind)).toHaveLength(1)
  }
  expect(entries.filter(({ kind }) => kind.startsWith('late-')).length).toBeGreaterThan(lateHashes.size)
  await expectInOrder(database.pool, began)
  expect((await checked(database, signingKeyDir)).lines).toEqual([])
  const audited = await runCommand(['log', 'audit'], { ...env, SIGNING_KEY_DIR: signingKeyDir })
  expect(audited).toMatchObject({ status: 0, stdout: expect.stringContaining('\nNo problems') })
  expect(await runCommand(['log', 'backfill'], env)).toEqual({
    status: 0,
    stdout: 'Everything is logged.\n',
    stderr: '',
  })
  expect(await service.stop()).toBe(0)
  await database.drop()
  rmSync(signingKeyDir, { recursive: true })
})

/**
 * An authorization stands before the receipts of its execution, and events in the order of their time.
 * @param began when a service with the log began to write events of its own
 */
async function expectInOrder(pool: TestLog['pool'], began = new Date()): Promise<void> {
  const { rows } = await pool.query(`
    WITH placed AS MATERIALIZED (
      SELECT i.log_batch AS authorized, i.log_ordinal AS authorization_ordinal, r.log_batch AS receipted, r.log_ordinal AS receipt_ordinal
      FROM business_transactions AS i JOIN receipts AS r USING (business_transaction_id)
    )
    SELECT 1 FROM placed JOIN log_batches AS a ON a.batch = authorized JOIN log_batches AS r ON r.batch = receipted
    WHERE a.start + authorization_ordinal >= r.start + receipt_ordinal`)
  expect(rows).toEqual([])
  const { rows: events } = await pool.query<{ unsorted: boolean }>(
    `
    SELECT coalesce(index < lag(index) OVER (ORDER BY occurred_at, event_id), false) AS unsorted
    FROM (SELECT occurred_at, event_id::text COLLATE "C" AS event_id, b.start + e.log_ordinal AS index
      FROM audit_events AS e JOIN log_batches AS b ON b.batch = e.log_batch
      WHERE occurred_at < $1::timestamptz) AS placed`,
    [began],
  )
  expect(events.filter(({ unsorted }) => unsorted)).toEqual([])
}

describe('with many rows', () => {
  const EVENTS = 2_000
  let log: TestLog
  let ticking: AbortController
  beforeEach(async () => {
    log = await aLog()
    await log.pool.query(
      `INSERT INTO audit_events (event_id, occurred_at, type, body, seal)
       SELECT gen_random_uuid(), now() - n * interval '1 second', 'test', format('{"n":%s}', n), '{}'
       FROM generate_series(1, $1::integer) AS n`,
      [EVENTS],
    )
    ticking = new AbortController()
  })
  afterEach(async () => {
    ticking.abort()
    await log.close()
  })

  /** As a service does. */
  async function tickOn(): Promise<void> {
    while (!ticking.signal.aborted) {
      log.clock.nowMs += 500
      await log.work.tick()
      await delay(5)
    }
  }

  async function expectEachOnce(): Promise<void> {
    await settle(log)
    const { size } = (await readLogStatus(log.pool))!
    const late = (await readEntries(log.pool, size))
      .map((entry) => parseEntry(entry.toString()))
      .filter(({ kind }) => kind === 'late-audit-event')
      .map(({ hash }) => hash)
    expect(late).toHaveLength(EVENTS)
    expect(new Set(late)).toEqual(
      new Set(Array.from({ length: EVENTS }, (_, i) => sha256Hex(`{"n":${i + 1}}`))),
    )
    await expectInOrder(log.pool)
  }

  // proves fault: A backfill is killed
  test('one that is killed goes on with the next run, and logs nothing twice', async () => {
    let child: ChildProcess | undefined
    // Nothing takes from the queue: it stops where the queue is long enough, and is killed there or before.
    const killed = runCommand(['log', 'backfill'], log.env, (started) => (child = started))
    await until(async () => (await readLogStatus(log.pool))?.queued, 'something to be queued')
    child?.kill('SIGKILL')
    expect((await killed).status).toBeNull()
    const running = tickOn()
    const again = await runCommand(['log', 'backfill'], log.env)
    expect(again.status).toBe(0)
    ticking.abort()
    await running
    await expectEachOnce()
  })

  // proves fault: A backfill is killed
  test('a row that somebody has locked is left for later, and waits for nobody', async () => {
    const running = tickOn()
    const pool = patientPool(log.database.url, 1)
    const other = await pool.connect()
    await other.query('SET idle_in_transaction_session_timeout = 0')
    await other.query('BEGIN')
    await other.query(`SELECT FROM audit_events WHERE body = '{"n":7}' FOR UPDATE`)
    const { status, stdout } = await runCommand(['log', 'backfill'], log.env)
    expect(status).toBe(1)
    expect(stdout).toBe(
      `Queued for log.example/log/1: late-audit-event ${EVENTS - 1}.\n1 rows were in use. Run it again for them: countersign log backfill\n`,
    )
    await other.query('COMMIT')
    other.release()
    await pool.end()
    expect((await runCommand(['log', 'backfill'], log.env)).stdout).toBe(
      'Queued for log.example/log/1: late-audit-event 1.\n',
    )
    ticking.abort()
    await running
    await settle(log)
    const { rows } = await log.pool.query('SELECT FROM audit_events WHERE log_batch IS NULL')
    expect(rows).toEqual([])
  })

  // proves fault: A backfill is killed
  test('a row that cannot be read is named, and the others are logged', async () => {
    await log.pool.query(
      `INSERT INTO approvals (approval_id, nonce, approver_id, key_id, capability, target, issued_at, expires_at, body, delivered_by, delivered_at)
       VALUES ('broken', 'n', 'a', 'k', 'c', 't', now(), now(), '{', 'x', now())`,
    )
    const running = tickOn()
    const { status, stderr } = await runCommand(['log', 'backfill'], log.env)
    expect(status).toBe(1)
    expect(stderr).toMatch(/^approvals broken is not logged, because it cannot be read: .*\.\n$/)
    ticking.abort()
    await running
    await expectEachOnce()
  })

  test('a second run at the same time, and a frozen log, are refused', async () => {
    const client = await log.pool.connect()
    await client.query('SELECT pg_advisory_lock(7166460030352946277)')
    expect(await runCommand(['log', 'backfill'], log.env)).toEqual({
      status: 1,
      stdout: '',
      stderr: 'countersign: Another `countersign log backfill` or `log reopen` runs on this database.\n',
    })
    client.release(true)
    await freezeLog(log.pool, { log: 1, why: 'For a test.' })
    expect((await runCommand(['log', 'backfill'], log.env)).stderr).toBe(
      'countersign: log.example/log/1 is frozen: For a test. First: countersign log reopen\n',
    )
  })
})

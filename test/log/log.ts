// A log on a database, the writers that fill its queue, and what must hold of it whatever happened.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Pool } from 'pg'
import { expect } from 'vitest'
import { openCheckpoint, type OpenedCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { parseEntry, type LogEntry } from '../../src/formats/log/entry.ts'
import { Heads } from '../../src/formats/log/heads.ts'
import { decodeBundle, TILE_WIDTH } from '../../src/formats/log/tiles.ts'
import { leafHash } from '../../src/formats/merkle/tree.ts'
import {
  generateMissingLogKeys,
  logVerifierKey,
  noteCrypto,
  readLogKeys,
  type LogKeys,
} from '../../src/core/signing/log-keys.ts'
import { sha256, sha256Hex } from '../../src/store/sha256.ts'
import { readEntryBundle } from '../../src/store/tables/log-bundles.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { startLogEntries, type QueuedEntry } from '../../src/store/tables/log-queue.ts'
import { openNewestLog, readLogStatus } from '../../src/store/tables/log-state.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { openLogWork, type LogWork } from '../../workers/log/index.ts'
import type { RunSizes } from '../../src/core/absence/sort-runs.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { patientPool } from '../patient-pool.ts'
import { rootOfLeaves } from './tree.ts'

export const NAME = 'log.example'
export const ORIGIN = `${NAME}/log/1`

export interface TestLog {
  readonly database: TestDatabase
  readonly pool: Pool
  readonly keys: LogKeys
  readonly dataDir: string
  /** Milliseconds since 1970; a test may set it. */
  readonly clock: { nowMs: number }
  readonly work: LogWork
  /** For `countersign log …` on the machine of this instance. */
  readonly env: Readonly<Record<string, string>>
  /** Another instance, by default with a DATA_DIR of its own. */
  readonly instance: (options?: {
    url?: string
    dataDir?: string
    clock?: TestLog['clock']
    runSizes?: RunSizes
  }) => {
    work: LogWork
    pool: Pool
  }
  readonly close: () => Promise<void>
}

/** @param runSizes smaller runs of ids */
export async function aLog(runSizes?: RunSizes): Promise<TestLog> {
  const database = await createDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'countersign-log-'))
  const keyDir = join(folder, 'keys')
  generateMissingLogKeys({ dir: keyDir, now: new Date() })
  const keys = readLogKeys(keyDir)
  // A month ago, so that a test may move it forward: an instance that is ahead of the clock of the database leaves the log alone.
  const clock = { nowMs: Date.now() - 30 * 86_400_000 }
  const pools: Pool[] = []
  const instance: TestLog['instance'] = ({
    url = database.url,
    dataDir = join(folder, randomUUID()),
    clock: ownClock = clock,
    runSizes: ownSizes = runSizes,
  } = {}) => {
    const pool = patientPool(url, 4)
    pools.push(pool)
    return {
      pool,
      work: openLogWork({
        pool,
        keys,
        dataDir,
        nowMs: () => ownClock.nowMs,
        ...(ownSizes && { runSizes: ownSizes }),
      }),
    }
  }
  const dataDir = join(folder, 'data')
  const { work, pool } = instance({ dataDir })
  await openNewestLog(pool, NAME)
  return {
    database,
    pool,
    keys,
    dataDir,
    clock,
    work,
    env: { DATABASE_URL: database.url, DATA_DIR: dataDir, SIGNING_KEY_DIR: keyDir },
    instance,
    async close() {
      await Promise.all(pools.filter((one) => !one.ended).map((one) => one.end()))
      await database.drop()
      rmSync(folder, { recursive: true })
    },
  }
}

let made = 0

/** An entry like no other. */
export function anEntry(streams: QueuedEntry['streams'] = { caller: 'tester' }): QueuedEntry {
  return { kind: 'receipt', hash: sha256Hex(`artifact ${made++} ${randomUUID()}`), id: randomUUID(), streams }
}

/** Commits entries as one batch. @returns its id */
export async function queue(pool: Pool, entries: readonly QueuedEntry[]): Promise<string> {
  const batch = startLogEntries()
  for (const entry of entries) batch.add(() => entry)
  await inTransaction(pool, (sql) => sql.runLast(batch.statements()))
  return batch.add(anEntry).logBatch!
}

/** Ticks until the queue is empty and everything is under a checkpoint, each half a second after the one before. */
export async function settle({ clock, work, pool }: Pick<TestLog, 'clock' | 'work' | 'pool'>): Promise<void> {
  for (let ticks = 0; ticks < 50; ticks++) {
    clock.nowMs += 500
    const report = await work.tick()
    expect(report).toMatchObject({ frozen: null, problem: null })
    const status = (await readLogStatus(pool))!
    if (!status.queued && !status.begins && status.size === status.publishedSize) return
  }
  throw new Error('the log did not come to rest')
}

export async function signedCheckpoint({
  pool,
  keys,
}: Pick<TestLog, 'pool' | 'keys'>): Promise<OpenedCheckpoint> {
  const row = (await latestCheckpoint(pool))!
  const origin = `${NAME}/log/${row.log}`
  const logs = keys.publicKeys.map((key) => logVerifierKey(origin, key))
  const opened = openCheckpoint(row.note, { logs, witnesses: [] }, noteCrypto)
  expect(opened.signedBy).toHaveLength(2)
  expect(opened).toMatchObject({ origin, size: row.size })
  return opened
}

export async function readEntries(pool: Pool, size: number, log = 1): Promise<Buffer[]> {
  const entries: Buffer[] = []
  for (let n = 0; n * TILE_WIDTH < size; n++) {
    const width = Math.min(TILE_WIDTH, size - n * TILE_WIDTH)
    const bundle = (await readEntryBundle(pool, { log, n, width }))!
    const bytes = bundle.encoding === 'gzip' ? gunzipSync(bundle.bytes) : bundle.bytes
    entries.push(...decodeBundle(bytes).map((entry) => Buffer.from(entry)))
  }
  expect(entries).toHaveLength(size)
  return entries
}

export interface LoggedEntry extends LogEntry {
  readonly index: number
}

/**
 * Holds what is stored against everything that a log promises: the root under the signed checkpoint is that of the entries, each batch has
 * its indexes and no two the same, streams are numbered without gaps, and each checkpoint ends with the heads of the streams. Of several logs
 * it looks at the newest.
 * @param batches what was committed: by the id of the batch, the hashes of its entries
 */
export async function expectWhole(
  log: Pick<TestLog, 'pool' | 'keys'>,
  batches: ReadonlyMap<string, readonly string[]>,
): Promise<LoggedEntry[]> {
  const { pool } = log
  const checkpoint = await signedCheckpoint(log)
  const number = Number(checkpoint.origin.slice(checkpoint.origin.lastIndexOf('/') + 1))
  const raw = await readEntries(pool, checkpoint.size, number)
  expect(hex(rootOfLeaves(raw.map((entry) => leafHash(entry, sha256))))).toBe(hex(checkpoint.root))
  const entries = raw.map((entry, index) => ({ ...parseEntry(entry.toString('latin1')), index }))

  const { rows } = await pool.query<{ batch: string; start: string; count: number }>(
    'SELECT * FROM log_batches WHERE log = $1::integer',
    [number],
  )
  const isBeginning = ({ start }: { start: string }) => number > 1 && start === '0'
  expect(new Set(rows.filter((row) => !isBeginning(row)).map(({ batch }) => batch))).toEqual(
    new Set(batches.keys()),
  )
  const taken = new Set<number>()
  for (const row of rows) {
    const { batch, start, count } = row
    const placed = entries.slice(Number(start), Number(start) + count)
    if (isBeginning(row)) expect(placed).toMatchObject([{ kind: 'previous' }])
    else expect(placed.map(({ hash }) => hash)).toEqual(batches.get(batch))
    for (const { index } of placed) {
      expect(taken.has(index)).toBe(false)
      taken.add(index)
    }
  }
  const heads = new Heads([], sha256)
  for (const { kind, hash, streams, index } of entries) {
    // Only the log's own entries are of no batch.
    expect(taken.has(index)).toBe(kind !== 'heads' && kind !== 'ids')
    if (kind === 'heads') expect(hash).toBe(hex(heads.root()))
    for (const { tag, n } of streams) {
      expect(n).toBe((heads.get(tag)?.n ?? 0) + 1)
      heads.set({ tag, n, lastIndex: index })
    }
  }
  expect(entries.at(-1)?.kind).toBe('heads')
  return entries
}

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

// The sequencer and the publisher on a real database: what is committed is in the log once, in order, and under a signed checkpoint.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gunzipSync } from 'node:zlib'
import { decodeBundle, parseTilePath, tilePath, TILE_WIDTH, widthOf } from '../../src/formats/log/tiles.ts'
import { assertConsistent } from '../../src/formats/merkle/consistency.ts'
import { leafHash, rootOfInclusion } from '../../src/formats/merkle/tree.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { readEntryBundle, readEntry } from '../../src/store/tables/log-bundles.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { startLogEntries } from '../../src/store/tables/log-queue.ts'
import { readLogStatus } from '../../src/store/tables/log-state.ts'
import { readTiles } from '../../src/store/tables/log-tiles.ts'
import { readConsistency, readEntriesWithPaths } from '../../src/store/tables/log-tree.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { openGuard } from '../../workers/log/guard.ts'
import { openSequencer } from '../../workers/log/sequence.ts'
import { patientPool } from '../patient-pool.ts'
import {
  aLog,
  anEntry,
  expectWhole,
  hex,
  queue,
  readEntries,
  settle,
  signedCheckpoint,
  type TestLog,
} from './log.ts'
import { Grown, rootOfLeaves } from './tree.ts'

let log: TestLog
beforeEach(async () => {
  log = await aLog()
})
afterEach(() => log.close())

const several = (count: number) => Array.from({ length: count }, () => anEntry())
const hashes = (entries: readonly { hash: string }[]) => entries.map(({ hash }) => hash)

describe('what is committed', () => {
  test('is in the log once, dense and in order, with four sequencers and writers that commit and roll back', async () => {
    const instances = [log.work, ...Array.from({ length: 3 }, () => log.instance().work)]
    const writers = patientPool(log.database.url, 8)
    const committed = new Map<string, string[]>()
    /** When each batch was begun and committed, in the order of this process. */
    const times: { batch: string; begun: number; ended: number }[] = []
    let moment = 0
    const writing = new Set(Array.from({ length: 8 }, (_, seed) => seed))
    const write = async (seed: number) => {
      for (let i = 0; i < 25; i++) {
        const entries = several((seed * 7 + i * 13) % 40)
        const batch = startLogEntries()
        const positions = entries.map((entry) => batch.add(() => entry))
        const rollsBack = (seed + i) % 4 === 0
        const begun = moment++
        const done = inTransaction(writers, async (sql) => {
          await sql.run(batch.statements())
          // Others go on meanwhile, with greater numbers of the queue.
          await sql.query('SELECT pg_sleep($1)', [((seed * i) % 5) / 500])
          if (rollsBack) throw new Error('rolled back')
        })
        if (rollsBack) await expect(done).rejects.toThrow('rolled back')
        else await done
        if (rollsBack || entries.length === 0) continue
        const id = positions[0]!.logBatch!
        committed.set(id, hashes(entries))
        times.push({ batch: id, begun, ended: moment++ })
      }
      writing.delete(seed)
    }
    const tickOn = async (work: TestLog['work']) => {
      while (writing.size > 0) {
        log.clock.nowMs += 100
        expect((await work.tick()).frozen).toBeNull()
      }
    }
    await Promise.all([...Array.from(writing, write), ...instances.map(tickOn)])
    await writers.end()
    await settle(log)

    const entries = await expectWhole(log, committed)
    expect(entries.filter(({ kind }) => kind === 'heads').length).toBeGreaterThan(1)
    const { rows } = await log.pool.query<{ batch: string; start: string }>(
      'SELECT batch, start FROM log_batches',
    )
    const starts = new Map(rows.map(({ batch, start }) => [batch, Number(start)]))
    // A transaction that was committed before another began comes before it.
    for (const one of times)
      for (const other of times)
        if (one.ended < other.begun) expect(starts.get(one.batch)).toBeLessThan(starts.get(other.batch)!)
  })

  test('late, behind others with greater numbers, is found', async () => {
    const late = startLogEntries()
    const entry = anEntry()
    const { logBatch } = late.add(() => entry)
    const client = await log.pool.connect()
    await client.query('BEGIN')
    await client.query(
      'INSERT INTO log_queue (batch, entries) VALUES ($1, $2)',
      late.statements()[0]!.rows[0] as string[],
    )
    const entries = several(3)
    const early = await queue(log.pool, entries)
    await settle(log)
    const logged = await log.pool.query('SELECT FROM log_batches WHERE batch = $1', [logBatch])
    expect(logged.rowCount).toBe(0)
    await client.query('COMMIT')
    client.release()
    await settle(log)
    await expectWhole(
      log,
      new Map([
        [early, hashes(entries)],
        [logBatch!, [entry.hash]],
      ]),
    )
  })

  test('is taken in several transactions where it is much', async () => {
    const batches = new Map<string, string[]>()
    for (let i = 0; i < 700; i++) {
      const entries = several(i === 3 ? 20_000 : 1)
      batches.set(await queue(log.pool, entries), hashes(entries))
    }
    const sequencer = openSequencer({ pool: log.pool, guard: openGuard(log.dataDir), nowMs: Date.now })
    // The fourth batch is above the bytes of one transaction.
    expect(await sequencer.sequence()).toEqual({ more: true, checkpointDue: true })
    expect((await readLogStatus(log.pool))?.size).toBe(3 + 20_000 + 1)
    await settle(log)
    await expectWhole(log, batches)
  })

  test('is counted in each stream that it names', async () => {
    const all = { caller: 'a', capability: 'b', policy: 'c', approver: 'd' }
    const entries = [
      anEntry({}),
      anEntry(all),
      anEntry({ caller: 'a', policy: 'c' }),
      anEntry({ approver: 'a' }),
    ]
    const batch = await queue(log.pool, entries)
    await settle(log)
    const logged = await expectWhole(log, new Map([[batch, hashes(entries)]]))
    const shown = logged.map(({ streams }) => streams.map(({ stream, n }) => `${stream} ${n}`))
    expect(shown).toEqual([
      [],
      ['caller 1', 'capability 1', 'policy 1', 'approver 1'],
      ['caller 2', 'policy 2'],
      ['approver 1'],
      [],
    ])
    // Another thread, which has nothing in memory, goes on counting.
    const more = [anEntry(all)]
    const second = await queue(log.pool, more)
    await settle({ ...log, ...log.instance() })
    const later = await expectWhole(
      log,
      new Map([
        [batch, hashes(entries)],
        [second, hashes(more)],
      ]),
    )
    expect(later[5]?.streams.map(({ n }) => n)).toEqual([3, 2, 3, 2])
  })
})

describe('a checkpoint', () => {
  test('is published half a second after the last one, when something was appended', async () => {
    const sizes = async () => {
      const { rows } = await log.pool.query<{ size: string }>(
        'SELECT size FROM log_checkpoints ORDER BY size',
      )
      return rows.map(({ size }) => Number(size))
    }
    // Another minute for each, so that all are kept.
    const later = (ms: number) => (log.clock.nowMs += ms)
    log.clock.nowMs = Math.ceil(log.clock.nowMs / 60_000) * 60_000
    await log.work.tick()
    await log.work.tick()
    expect(await sizes()).toEqual([])
    await queue(log.pool, several(3))
    await log.work.tick()
    expect(await sizes()).toEqual([4])
    later(60_000)
    for (let i = 0; i < 3; i++) await log.work.tick()
    expect(await sizes()).toEqual([4])
    await queue(log.pool, several(1))
    await log.work.tick()
    expect(await sizes()).toEqual([4, 6])
    await queue(log.pool, several(1))
    later(499)
    await log.work.tick()
    expect(await sizes()).toEqual([4, 6])
    expect((await readLogStatus(log.pool))?.size).toBe(7)
    later(1)
    await log.work.tick()
    expect(await sizes()).toEqual([4, 6, 8])
  })

  test('that is not the last of its minute is not kept, once two newer ones are there', async () => {
    log.clock.nowMs = Math.ceil(log.clock.nowMs / 60_000) * 60_000
    for (let i = 0; i < 10; i++) {
      await queue(log.pool, several(1))
      await settle(log)
      if (i === 4) log.clock.nowMs += 60_000
    }
    const { rows } = await log.pool.query<{ size: string; note: string }>(
      'SELECT size, note FROM log_checkpoints ORDER BY size',
    )
    expect(rows.map(({ size }) => Number(size))).toEqual([10, 18, 20])
    expect(rows[0]!.note).toContain('\n10\n')
    expect((await latestCheckpoint(log.pool))?.size).toBe(20)
  })

  test('is signed again after ten minutes, of the same tree and with the new time', async () => {
    await queue(log.pool, several(2))
    await settle(log)
    const first = await signedCheckpoint(log)
    log.clock.nowMs += 599_999
    await log.work.tick()
    expect(await signedCheckpoint(log)).toEqual(first)
    log.clock.nowMs += 1
    await log.work.tick()
    const second = await signedCheckpoint(log)
    expect({ ...second, signedBy: 0 }).toEqual({ ...first, signedBy: 0 })
    expect(second.signedBy[1]?.timeSeconds).toBe(Math.floor(log.clock.nowMs / 1000))
    expect((await readLogStatus(log.pool))?.size).toBe(3)
  })

  test('is followed by no tick before the next one is due, nor by one of another instance', async () => {
    const other = log.instance().work
    await Promise.all([log.work.tick(), other.tick()])
    expect(await log.work.tick()).toMatchObject({ nextTickMs: 200 })
    await queue(log.pool, several(2))
    expect(await log.work.tick()).toMatchObject({ nextTickMs: 500 })
    expect(await other.tick()).toMatchObject({ nextTickMs: 1_000 })
    expect(await log.work.tick()).toMatchObject({ nextTickMs: 200 })
    // Nothing has moved since.
    expect(await other.tick()).toMatchObject({ nextTickMs: 200 })
  })

  // proves fault: The clock of the instance that signs
  test('waits where the clock is behind the last one, and says so', async () => {
    await queue(log.pool, several(2))
    await settle(log)
    const first = await signedCheckpoint(log)
    log.clock.nowMs -= 60_000
    await queue(log.pool, several(2))
    await log.work.tick()
    expect(await log.work.tick()).toMatchObject({
      frozen: null,
      problem:
        'The last checkpoint of the log is from a clock that is ahead of that of this instance, which publishes none until its own has caught up.',
    })
    expect((await readLogStatus(log.pool))?.size).toBe(5)
    expect(await signedCheckpoint(log)).toEqual(first)
    log.clock.nowMs += 61_000
    await log.work.tick()
    expect((await signedCheckpoint(log)).size).toBe(6)
  })

  // proves fault: An instance that would sign a checkpoint
  test('is not signed by a clock more than a minute ahead of that of the database, and the other instances go on', async () => {
    const ahead = log.instance({ clock: { nowMs: Date.now() + 3_600_000 } }).work
    await queue(log.pool, several(2))
    expect(await ahead.tick()).toMatchObject({
      frozen: null,
      problem:
        'The clock of this instance is more than a minute ahead of that of the database: it adds nothing to the log and signs no checkpoint.',
    })
    expect(await readLogStatus(log.pool)).toMatchObject({ size: 0, queued: true })
    const within = log.instance({ clock: { nowMs: Date.now() + 30_000 } }).work
    // An instance only looks at its first tick.
    for (let i = 0; i < 2; i++) expect(await within.tick()).toMatchObject({ frozen: null, problem: null })
    expect((await signedCheckpoint(log)).size).toBe(3)
  })

  test('of a tree whose sequencer died before it was signed is published by the next one', async () => {
    const entries = several(2)
    const batch = await queue(log.pool, entries)
    const dead = openSequencer({
      pool: log.pool,
      guard: openGuard(log.dataDir),
      nowMs: () => log.clock.nowMs,
    })
    expect(await dead.sequence()).toEqual({ more: false, checkpointDue: true })
    expect(await latestCheckpoint(log.pool)).toBeUndefined()
    // Nor does anything that is appended first change of what it is.
    const more = several(1)
    const second = await queue(log.pool, more)
    expect(await dead.sequence()).toEqual({ more: false, checkpointDue: false })
    await log.work.tick()
    expect((await signedCheckpoint(log)).size).toBe(3)
    await settle(log)
    await expectWhole(
      log,
      new Map([
        [batch, hashes(entries)],
        [second, hashes(more)],
      ]),
    )
  })
})

test('tiles, bundles and proofs of every size hold under its checkpoint, up to full tiles of two levels', async () => {
  const sizes: number[] = []
  const steps = [1, 1, 2, 5, 117, 126, 1, 1, 1, 250, 1, 3, 64_000, 1_000, 16, 1, 300]
  for (const step of steps) {
    // As commits are: a thousand entries each.
    for (let left = step; left > 0; left -= 1_000) await queue(log.pool, several(Math.min(left, 1_000)))
    await settle(log)
    sizes.push((await signedCheckpoint(log)).size)
  }
  const last = sizes.at(-1)!
  expect(last).toBeGreaterThan(65_536)
  const entries = await readEntries(log.pool, last)
  const leaves = entries.map((entry) => leafHash(entry, sha256))
  const grown = new Grown()
  grown.append(leaves)
  const root = (size: number) => rootOfLeaves(leaves.slice(0, size))
  for (const size of sizes) {
    for (let level = 0; level < 3; level++)
      for (const n of [
        0,
        Math.floor(size / TILE_WIDTH ** (level + 1)) - 1,
        Math.floor(size / TILE_WIDTH ** (level + 1)),
      ]) {
        const width = widthOf({ level, n }, size)
        if (n < 0 || width === 0) continue
        const [tile] = await readTiles(log.pool, 1, [{ level, n, width }])
        expect(parseTilePath(tilePath({ level, n, width }))).toEqual({ level, n, width })
        expect(hex(tile!)).toBe(hex((await grown.reader(size)([{ level, n, width }]))[0]!))
      }
    for (const index of new Set([0, size >> 1, size - 1])) {
      const [read] = await readEntriesWithPaths(log.pool, { log: 1, indexes: [index], size })
      const of = rootOfInclusion({ leafHash: leaves[index]!, index, size, path: read!.path }, sha256)
      expect(hex(of)).toBe(hex(root(size)))
      expect(hex(read!.entry)).toBe(hex(entries[index]!))
      expect((await readEntry(log.pool, { log: 1, index }))?.equals(entries[index]!)).toBe(true)
    }
    const path = await readConsistency(log.pool, { log: 1, from: size, to: last })
    assertConsistent(
      { start: 0, end: size, size: last, partRoot: root(size), root: root(last), path },
      sha256,
    )
    const n = Math.floor((size - 1) / TILE_WIDTH)
    const width = size - n * TILE_WIDTH
    const bundle = (await readEntryBundle(log.pool, { log: 1, n, width }))!
    expect(bundle.encoding).toBe(width === TILE_WIDTH ? 'gzip' : 'identity')
    const bytes = bundle.encoding === 'gzip' ? gunzipSync(bundle.bytes) : bundle.bytes
    expect(decodeBundle(bytes).map(hex)).toEqual(entries.slice(n * TILE_WIDTH, size).map(hex))
  }
  expect(await readTiles(log.pool, 1, [{ level: 0, n: 999, width: 1 }])).toEqual([undefined])
  expect(await readEntryBundle(log.pool, { log: 1, n: 999, width: 1 })).toBeUndefined()
  expect(await readEntry(log.pool, { log: 1, index: last })).toBeUndefined()
})

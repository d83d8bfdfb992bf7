// These must never be signed: a tree that is not as it was stored, and a second history after the database went back.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { readLogStatus } from '../../src/store/tables/log-state.ts'
import { openGuard } from '../../workers/log/guard.ts'
import { openSequencer } from '../../workers/log/sequence.ts'
import { asTemplate, createDatabase, type TestDatabase } from '../database.ts'
import { aLog, anEntry, NAME, ORIGIN, queue, settle, signedCheckpoint, type TestLog } from './log.ts'

let log: TestLog
beforeEach(async () => {
  log = await aLog()
})
afterEach(() => log.close())

const several = (count: number) => Array.from({ length: count }, () => anEntry())
const grow = async (count: number) => {
  await queue(log.pool, several(count))
  await settle(log)
}

/** Ticks twice, each time with a checkpoint due. */
async function tickTwice(work: TestLog['work'] = log.work) {
  log.clock.nowMs += 500
  await work.tick()
  log.clock.nowMs += 500
  return work.tick()
}

async function expectFrozen(why: RegExp, work?: TestLog['work']): Promise<void> {
  const before = await latestCheckpoint(log.pool)
  await queue(log.pool, several(2))
  expect((await tickTwice(work)).frozen).toMatch(why)
  log.clock.nowMs += 3_600_000
  const size = (await readLogStatus(log.pool))?.size
  expect((await log.work.tick()).frozen).toMatch(why)
  // Nothing is signed or appended any more, by any instance, and what is committed waits in the queue.
  await queue(log.pool, several(2))
  expect((await tickTwice(log.instance().work)).frozen).toMatch(why)
  expect(await latestCheckpoint(log.pool)).toEqual(before)
  expect(await readLogStatus(log.pool)).toMatchObject({ size, queued: true })
}

/** The bytes of a column with one bit changed. */
const flip = (column: string, at: string) => `set_byte(${column}, ${at}, get_byte(${column}, ${at}) # 1)`

describe('a log is frozen and signs nothing', () => {
  const differs =
    /^The first \d+ entries of the log, as they are stored, do not have the root that was computed when they were appended\.$/

  beforeEach(() => grow(300))

  // proves fault: A byte of a stored tile
  test.each([
    ['a bit of an entry in the tail', `UPDATE log_tail SET entries = ${flip('entries', '40')}`, differs],
    [
      'the length of an entry',
      `UPDATE log_tail SET entries = ${flip('entries', '0')}`,
      /^The tail of the log cannot be read: /,
    ],
    [
      'an entry that is gone',
      'DELETE FROM log_tail',
      /^The tail of the log has \d+ entries; it was stored with \d+\.$|^Tile 0\/001 of log 1 is missing/,
    ],
    ['a hash at the edge', `UPDATE log_tiles SET root = ${flip('root', '3')}`, differs],
    ['the computed root', `UPDATE log_state SET peaks = ${flip('peaks', '3')}`, differs],
    [
      'the checkpoint of another tree',
      `UPDATE log_checkpoints SET note = replace(note, 'log/1', 'log/9')`,
      /^The checkpoint of 301 entries is one of log\.example\/log\/9 with 301 entries\.$/,
    ],
    [
      'a checkpoint with another root',
      `UPDATE log_checkpoints SET note = regexp_replace(note, '\\n[A-Za-z0-9+/]{43}=', E'\\n' || repeat('A', 43) || '=')`,
      differs,
    ],
    [
      'a checkpoint that is none',
      `UPDATE log_checkpoints SET note = 'none'`,
      /^The checkpoint of 301 entries cannot be read: /,
    ],
  ])('with %s', async (what, statement, why) => {
    await log.pool.query(statement)
    // Another instance, with nothing in memory, reads what was changed; the one that wrote it reads it back before it signs.
    await expectFrozen(why, what === 'the computed root' ? log.instance().work : undefined)
  })

  // proves fault: A byte of a stored tile
  test.each([
    ['a bundle', 'log_bundles', /^Bundle 1 of the log cannot be read: /],
    ['a tile', 'log_tiles', /^Tile 1 of level 0 of the log does not have the hashes of its entries\.$/],
  ])('with a changed byte in %s that is newer than the last checkpoint', async (_what, table, why) => {
    await queue(log.pool, several(300))
    // Appended, and not published: no checkpoint is due yet.
    await log.work.tick()
    const column = table === 'log_tiles' ? 'hashes' : 'entries'
    await log.pool.query(`UPDATE ${table} SET ${column} = ${flip(column, '200')} WHERE n = 1`)
    await expectFrozen(why)
  })

  test('with an entry exchanged for another in a bundle, compressed anew', async () => {
    await queue(log.pool, several(300))
    await log.work.tick()
    const { rows } = await log.pool.query<{ entries: Buffer }>('SELECT entries FROM log_bundles WHERE n = 1')
    const bytes = gunzipSync(rows[0]!.entries)
    bytes[60]! ^= 1
    await log.pool.query('UPDATE log_bundles SET entries = $1 WHERE n = 1', [gzipSync(bytes)])
    await expectFrozen(/^Tile 1 of level 0|^The first \d+ entries/)
  })

  test('with a missing bundle', async () => {
    await queue(log.pool, several(300))
    await log.work.tick()
    await log.pool.query('DELETE FROM log_bundles WHERE n = 1')
    await expectFrozen(/^Bundle 1 of the log is missing\.$/)
  })

  test.each([
    ['another count', 'UPDATE log_streams SET n = n + 1'],
    ['another place of its last entry', 'UPDATE log_streams SET last_index = last_index - 1'],
    ['no row', 'DELETE FROM log_streams'],
  ])(
    'with a stream that has %s than the newest heads state, when an instance takes it over',
    async (_what, tamper) => {
      await log.pool.query(tamper)
      await expectFrozen(
        /^The streams of the log, as they are stored, are not those that its entry 300 states\.$/,
        log.instance().work,
      )
    },
  )

  test('by the damage of its streams also where the runs of ids are worked on first', async () => {
    await log.pool.query('UPDATE log_streams SET n = n + 1')
    // The oldest id has waited for its run: an entry is due, and nothing is queued.
    log.clock.nowMs += 3_600_000
    const { work } = log.instance()
    let frozen: string | null = null
    for (let i = 0; i < 10 && frozen === null; i++) {
      log.clock.nowMs += 1_000
      ;({ frozen } = await work.tick())
    }
    expect(frozen).toMatch(/^The streams of the log/)
  })
})

describe('a database that went back', () => {
  let copy: TestDatabase | undefined
  beforeEach(() => grow(300))
  afterEach(async () => {
    await copy?.drop()
    copy = undefined
  })

  /** The database as it is now. */
  async function aCopy(): Promise<TestDatabase> {
    copy = await createDatabase(await asTemplate(log))
    return copy
  }

  // proves fault: The database goes back behind
  test('is seen before anything is signed: frozen', async () => {
    const older = await aCopy()
    await grow(10)
    const signed = await signedCheckpoint(log)
    const { work, pool } = log.instance({ url: older.url, dataDir: log.dataDir })
    await queue(pool, several(5))
    const report = await work.tick()
    expect(report.frozen).toBe(
      `This instance has seen a signed checkpoint of ${ORIGIN} with ${signed.size} entries, and the database has no more than 301 of ` +
        `${ORIGIN}: the database is older than that checkpoint.`,
    )
    expect((await latestCheckpoint(pool))?.size).toBe(301)
    expect(await readLogStatus(pool)).toMatchObject({ size: 301, queued: true })
  })

  test('is seen by an instance that signed nothing itself', async () => {
    const older = await aCopy()
    const dataDir = join(log.dataDir, 'observer')
    const { work } = log.instance({ dataDir })
    await work.tick()
    await grow(10)
    await work.tick()
    const after = log.instance({ url: older.url, dataDir })
    expect((await after.work.tick()).frozen).toMatch(/the database is older than that checkpoint\.$/)
  })

  // proves fault: The database goes back behind
  test('is seen where it has grown again, by another instance, past what was signed', async () => {
    const older = await aCopy()
    await grow(10)
    const forking = log.instance({ url: older.url })
    await forking.work.tick()
    for (let i = 0; i < 4; i++) {
      await queue(forking.pool, several(10))
      await settle({ ...log, ...forking })
    }
    const forked = (await latestCheckpoint(forking.pool))!
    expect(forked.size).toBeGreaterThan((await signedCheckpoint(log)).size)
    const { work, pool } = log.instance({ url: older.url, dataDir: log.dataDir })
    await queue(pool, several(5))
    expect((await work.tick()).frozen).toMatch(
      /are others: the log went on from an older state of the database\.$/,
    )
    expect(await latestCheckpoint(pool)).toEqual(forked)
  })

  test('and has grown again to the same size: a thread that waited reads the edge of the tree anew', async () => {
    const older = await aCopy()
    const other = log.instance({ url: older.url })
    const nowMs = () => log.clock.nowMs
    // A failover: what the thread is connected to is another server now.
    let server = log.pool
    const pool = new Proxy(log.pool, {
      get(_, name) {
        const value: unknown = Reflect.get(server, name)
        return typeof value === 'function' ? (value.bind(server) as unknown) : value
      },
    })
    const waiting = openSequencer({ pool, guard: openGuard(join(log.dataDir, 'waiting')), nowMs })
    const meanwhile = openSequencer({ pool: other.pool, guard: openGuard(join(log.dataDir, 'other')), nowMs })
    await queue(log.pool, several(3))
    expect(await waiting.sequence()).toEqual({ more: false, checkpointDue: false })
    await queue(other.pool, several(3))
    expect(await meanwhile.sequence()).toEqual({ more: false, checkpointDue: false })
    expect((await readLogStatus(other.pool))?.size).toBe((await readLogStatus(log.pool))?.size)
    server = other.pool
    await queue(other.pool, several(2))
    await waiting.sequence()
    await settle({ ...log, ...other })
    expect((await latestCheckpoint(other.pool))?.size).toBe((await readLogStatus(other.pool))?.size)
  })

  test('to before it had a log is seen too', async () => {
    const empty = (copy = await createDatabase())
    const { work, pool } = log.instance({ url: empty.url, dataDir: log.dataDir })
    await pool.query(`INSERT INTO log_state (log, origin, salt) VALUES (1, '${ORIGIN}', sha256('new'))`)
    await queue(pool, several(1))
    expect((await work.tick()).frozen).toMatch(/the database has no more than 0 of log\.example\/log\/1/)
    expect(await latestCheckpoint(pool)).toBeUndefined()
  })

  test('is not meant where the log has another name, or is a later one', async () => {
    const other = (copy = await createDatabase())
    const { work, pool } = log.instance({ url: other.url, dataDir: log.dataDir })
    await pool.query(
      `INSERT INTO log_state (log, origin, salt) VALUES (1, 'other.example/log/1', sha256('new'))`,
    )
    await queue(pool, several(1))
    await settle({ ...log, work, pool })
    await pool.query(`UPDATE log_state SET frozen = 'for a test'`)
    await pool.query(
      `INSERT INTO log_state (log, origin, salt) VALUES (2, 'other.example/log/2', sha256('new'))`,
    )
    await queue(pool, several(1))
    await settle({ ...log, work, pool })
    expect((await latestCheckpoint(pool))?.note).toMatch(/^other\.example\/log\/2\n2\n/)
    // And log 1 of that name is behind from now on.
    await pool.query('DELETE FROM log_state WHERE log = 2')
    await pool.query('UPDATE log_state SET frozen = NULL')
    expect((await work.tick()).frozen).toMatch(/has seen a signed checkpoint of other\.example\/log\/2/)
  })
})

const file = () => join(log.dataDir, 'log-checkpoint')

describe('the guard', () => {
  beforeEach(() => grow(3))

  test('is the newest checkpoint as a file', async () => {
    expect(readFileSync(file(), 'utf8')).toBe((await latestCheckpoint(log.pool))?.note)
    const followed = join(log.dataDir, 'another')
    const { work } = log.instance({ dataDir: followed })
    await work.tick()
    expect(readFileSync(join(followed, 'log-checkpoint'), 'utf8')).toBe(readFileSync(file(), 'utf8'))
  })

  test('that is newer than the database by a commit that failed does not freeze', async () => {
    await queue(log.pool, several(1))
    log.clock.nowMs += 500
    await log.work.tick()
    await log.pool.query('DELETE FROM log_checkpoints WHERE size = 6')
    expect(readCheckpoint(readFileSync(file(), 'utf8')).size).toBe(6)
    await settle(log)
    expect((await signedCheckpoint(log)).size).toBe(6)
  })

  test('that cannot be read signs nothing until it is restored, and names its file', async () => {
    const note = readFileSync(file(), 'utf8')
    writeFileSync(file(), note.slice(0, 50))
    await queue(log.pool, several(1))
    log.clock.nowMs += 500
    await expect(log.work.tick()).rejects.toThrow(`${file()} is damaged`)
    expect((await signedCheckpoint(log)).size).toBe(4)
    writeFileSync(file(), note)
    await settle(log)
    expect((await signedCheckpoint(log)).size).toBe(6)
  })

  test('that is gone is made anew', async () => {
    rmSync(file())
    await log.work.tick()
    expect(readCheckpoint(readFileSync(file(), 'utf8'))).toMatchObject({ origin: `${NAME}/log/1`, size: 4 })
  })
})

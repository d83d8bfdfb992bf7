// countersign log reopen: the next log of a database whose log is frozen, what its first entry discloses, and that instances go on.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { freezeLog, readLogStatus } from '../../src/store/tables/log-state.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { asTemplate, createDatabase, type TestDatabase } from '../database.ts'
import { until } from '../service.ts'
import { runCommand } from '../command.ts'
import {
  aLog,
  anEntry,
  expectWhole,
  NAME,
  ORIGIN,
  queue,
  readEntries,
  settle,
  signedCheckpoint,
  type TestLog,
} from './log.ts'

const SECOND = `${NAME}/log/2`

let log: TestLog
let copy: TestDatabase | undefined
beforeEach(async () => {
  log = await aLog()
})
afterEach(async () => {
  await log.close()
  await copy?.drop()
  copy = undefined
})

const several = (count: number) => Array.from({ length: count }, () => anEntry())
const grow = async (count: number, on: Pick<TestLog, 'work' | 'pool'> = log) => {
  await queue(on.pool, several(count))
  await settle({ ...log, ...on })
}
const freeze = () => freezeLog(log.pool, { log: 1, why: 'For a test.' })
const reopen = (options: { args?: string[]; env?: Record<string, string> } = {}) =>
  runCommand(['log', 'reopen', ...(options.args ?? [])], { ...log.env, ...options.env })

interface Statement {
  readonly origin: string
  readonly previous: object
  readonly checkpoint: string | null
  readonly contradiction: string | null
  readonly entriesLost: number
}

/** The statement of the newest log, by which its first entry is. */
async function statementOf(pool = log.pool): Promise<Statement> {
  const { rows } = await pool.query<{ log: number; previous: string }>(
    'SELECT log, previous FROM log_state ORDER BY log DESC LIMIT 1',
  )
  const { log: number, previous } = rows[0]!
  const [first] = await readEntries(pool, 1, number)
  expect(first!.toString()).toBe(`countersign/1 previous ${sha256Hex(previous)}`)
  return JSON.parse(previous) as Statement
}

/** The database as it is now. */
async function aCopy(): Promise<TestDatabase> {
  copy = await createDatabase(await asTemplate(log))
  return copy
}

/** An audit event and its entry, as a service commits them. */
async function anEvent(): Promise<{ id: string; hash: string; batch: string }> {
  const [id, body] = [randomUUID(), JSON.stringify({ event: randomUUID() })]
  const hash = sha256Hex(body)
  const batch = await queue(log.pool, [{ kind: 'audit-event', hash, id, streams: {} }])
  await log.pool.query(
    `INSERT INTO audit_events (event_id, occurred_at, type, body, seal, log_batch, log_ordinal)
     VALUES ($1, now(), 'test', $2, '{}', $3, 0)`,
    [id, body, batch],
  )
  return { id, hash, batch }
}

/** An older database beside what this machine has seen: frozen at its first tick. */
async function restored(): Promise<{ env: Record<string, string> } & ReturnType<TestLog['instance']>> {
  const older = await aCopy()
  await grow(10)
  const instance = log.instance({ url: older.url, dataDir: log.dataDir })
  await queue(instance.pool, several(5))
  expect((await instance.work.tick()).frozen).toMatch(/the database is older than that checkpoint\.$/)
  return { ...instance, env: { DATABASE_URL: older.url } }
}

const refused = async (message: string | RegExp, options?: Parameters<typeof reopen>[0]) => {
  const before = (await log.pool.query('SELECT * FROM log_state')).rows
  const { status, stdout, stderr } = await reopen(options)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr.trimEnd()).toMatch(message)
  expect((await log.pool.query('SELECT * FROM log_state')).rows).toEqual(before)
}

describe('a frozen log', () => {
  test('is followed by the next one, which says how it ended, and its instances go on by themselves', async () => {
    await grow(300)
    const other = log.instance()
    await other.work.tick()
    await freeze()
    const waiting = several(3)
    const batch = await queue(log.pool, waiting)
    expect((await log.work.tick()).frozen).toBe('For a test.')
    const stored = (await latestCheckpoint(log.pool))!

    const { status, stdout, stderr } = await reopen()
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const lines = stdout.split('\n')
    expect(lines.slice(0, 3)).toEqual([
      `${ORIGIN} is frozen: For a test.`,
      'The database has 301 entries of it; the first 301 are unchanged since they were signed.',
      `The newest signed checkpoint that is known is of ${ORIGIN} with 301 entries.`,
    ])
    expect(lines[3]).toMatch(
      new RegExp(
        `^${SECOND} is open\\. Its first entry is the SHA-256 of a statement that says so: [0-9a-f]{64}$`,
      ),
    )
    await settle(log)
    expect(await statementOf()).toMatchObject({
      format: 'countersign-previous-log/1',
      origin: SECOND,
      previous: { origin: ORIGIN, size: 301, frozen: 'For a test.', signedSize: 301 },
      checkpoint: stored.note,
      contradiction: null,
      entriesLost: 0,
    })
    await expectWhole(log, new Map([[batch, waiting.map(({ hash }) => hash)]]))
    // The other instance had the old log in memory.
    const more = several(2)
    const second = await queue(log.pool, more)
    await settle({ ...log, ...other })
    await expectWhole(
      log,
      new Map([
        [batch, waiting.map(({ hash }) => hash)],
        [second, more.map(({ hash }) => hash)],
      ]),
    )
    expect((await signedCheckpoint(log)).origin).toBe(SECOND)
    // Everything of the old one is there as before.
    expect(await latestCheckpoint(log.pool, 1)).toEqual(stored)
    expect(await readEntries(log.pool, 301)).toHaveLength(301)
  })

  test('begins with its statement also where nothing else is written', async () => {
    await grow(3)
    await freeze()
    expect((await reopen()).status).toBe(0)
    await settle(log)
    expect(await readLogStatus(log.pool)).toMatchObject({ origin: SECOND, size: 2, publishedSize: 2 })
  })

  test('that has no checkpoint, and whose tree cannot be read, is followed too', async () => {
    await queue(log.pool, several(2))
    log.clock.nowMs = 0
    await freeze()
    await log.pool.query(`UPDATE log_state SET size = 2, peaks = '\\x00'`)
    expect((await reopen()).stdout).toContain('No signed checkpoint of it is known.\n')
    log.clock.nowMs = Date.now()
    await settle(log)
    expect(await statementOf()).toMatchObject({
      previous: { size: 2, root: null, signedSize: 0 },
      checkpoint: null,
      contradiction: null,
    })
  })

  test('keeps no entry as signed where its stored tree begins with none of its checkpoints', async () => {
    await grow(300)
    // The last checkpoint of each minute stays.
    log.clock.nowMs += 120_000
    await grow(10)
    await freeze()
    await log.pool.query('UPDATE log_tiles SET root = set_byte(root, 0, get_byte(root, 0) # 1)')
    const { status, stdout } = await reopen()
    expect(status).toBe(0)
    expect(stdout).toContain('; the first 0 are unchanged since they were signed.\n')
    const { rows } = await log.pool.query('SELECT size FROM log_checkpoints WHERE log = 1')
    expect(rows.length).toBeGreaterThan(1)
  })

  test('is not frozen again by an instance that finds its damage late', async () => {
    await grow(3)
    await freeze()
    expect((await reopen()).status).toBe(0)
    await freezeLog(log.pool, { log: 1, why: 'Found late.' })
    await settle(log)
    expect(await readLogStatus(log.pool)).toMatchObject({ origin: SECOND, frozen: null })
  })
})

describe('what a frozen log had taken and never signed', () => {
  // proves fault: A frozen log is reopened
  test('is queued again as late, once, and what it signed stays where it is', async () => {
    const signed = await anEvent()
    await settle(log)
    const unsigned = [await anEvent(), await anEvent()]
    // Appended, and not published: no checkpoint is due yet.
    await log.work.tick()
    expect(await readLogStatus(log.pool)).toMatchObject({ size: 4, queued: false, publishedSize: 2 })
    await freeze()
    const waiting = await anEvent()
    const { status, stdout } = await reopen()
    expect(status).toBe(0)
    expect(stdout).toContain(
      'The database has 4 entries of it; the first 2 are unchanged since they were signed.\n',
    )
    expect(stdout).toContain(`Queued for ${SECOND}: late-audit-event 2.\n`)
    await settle(log)
    expect(await statementOf()).toMatchObject({ previous: { size: 4, signedSize: 2 }, entriesLost: 0 })
    const { rows } = await log.pool.query<{ id: string; log: number; index: string }>(
      `SELECT event_id AS id, b.log, b.start + e.log_ordinal AS index
       FROM audit_events AS e JOIN log_batches AS b ON b.batch = e.log_batch`,
    )
    const entries = [await readEntries(log.pool, 2), await readEntries(log.pool, 5, 2)]
    const entryOf = ({ id }: { id: string }) => {
      const { log: number, index } = rows.find((row) => row.id === id)!
      return `${number} ${entries[number - 1]![Number(index)]!.toString()}`
    }
    expect(entryOf(signed)).toBe(`1 countersign/1 audit-event ${signed.hash}`)
    expect(entryOf(waiting)).toBe(`2 countersign/1 audit-event ${waiting.hash}`)
    for (const one of unsigned) expect(entryOf(one)).toBe(`2 countersign/1 late-audit-event ${one.hash}`)
    const { rowCount } = await log.pool.query('SELECT FROM log_lost')
    expect(rowCount).toBe(0)
  })
})

describe('a database that went back', () => {
  beforeEach(() => grow(300))

  // proves fault: The database goes back behind
  test('has lost what was signed since: the checkpoint in DATA_DIR says how much', async () => {
    const newest = (await latestCheckpoint(log.pool))!
    const { env, pool, work } = await restored()
    const seen = (await latestCheckpoint(log.pool))!
    expect(seen.size).toBeGreaterThan(newest.size)
    const { status, stdout } = await reopen({ env })
    expect(status).toBe(0)
    expect(stdout).toContain(`At least ${seen.size - 301} signed entries are lost.\n`)
    await settle({ ...log, pool, work })
    expect(await statementOf(pool)).toMatchObject({
      previous: { origin: ORIGIN, size: 301, signedSize: 301 },
      checkpoint: seen.note,
      contradiction: null,
      entriesLost: seen.size - 301,
    })
  })

  test('has lost what a witness can show: its checkpoint is given as a file', async () => {
    const { env, pool, work } = await restored()
    const seen = (await latestCheckpoint(log.pool))!
    const file = join(log.dataDir, 'from-a-witness')
    writeFileSync(file, seen.note)
    const elsewhere = { ...env, DATA_DIR: join(log.dataDir, 'elsewhere') }
    expect((await reopen({ args: ['--checkpoint', file], env: elsewhere })).status).toBe(0)
    await settle({ ...log, pool, work })
    expect(await statementOf(pool)).toMatchObject({ checkpoint: seen.note, entriesLost: seen.size - 301 })
  })

  test('and has grown since does not begin with what was seen', async () => {
    const older = await aCopy()
    await grow(10)
    const forking = log.instance({ url: older.url })
    // The last checkpoint of each minute stays.
    log.clock.nowMs += 120_000
    for (let i = 0; i < 4; i++) await grow(10, forking)
    const { work, pool } = log.instance({ url: older.url, dataDir: log.dataDir })
    await queue(pool, several(5))
    expect((await work.tick()).frozen).toMatch(/are others/)
    const seen = (await latestCheckpoint(log.pool))!
    const forked = (await latestCheckpoint(pool))!
    const { stdout } = await reopen({ env: { DATABASE_URL: older.url } })
    expect(stdout).toContain(
      `The stored log does not begin with the signed checkpoint of ${ORIGIN} with ${seen.size} entries.\n`,
    )
    await settle({ ...log, pool, work })
    // Entries that were signed before both are of the one history; from there on everything is logged again.
    expect(await statementOf(pool)).toMatchObject({
      previous: { signedSize: 301 },
      checkpoint: forked.note,
      contradiction: seen.note,
      entriesLost: 0,
    })
  })

  test('to before a reopened log does not use its number again', async () => {
    await freeze()
    const older = await aCopy()
    expect((await reopen()).status).toBe(0)
    await grow(4)
    const seen = (await latestCheckpoint(log.pool))!
    expect(seen.note).toMatch(new RegExp(`^${SECOND}\n`))
    const { work, pool } = log.instance({ url: older.url, dataDir: log.dataDir })
    expect((await reopen({ env: { DATABASE_URL: older.url } })).status).toBe(0)
    await settle({ ...log, pool, work })
    expect(await statementOf(pool)).toMatchObject({
      origin: `${NAME}/log/3`,
      previous: { origin: ORIGIN },
      checkpoint: seen.note,
      entriesLost: seen.size,
    })
    expect((await latestCheckpoint(pool))!.log).toBe(3)
  })
})

describe('is refused', () => {
  test('while the log is written', () =>
    refused(
      /^countersign: log\.example\/log\/1 is not frozen: it is written, and a second log would only hide it\.$/,
    ))

  test('while what the log before never signed is not logged again, as after an interrupted reopening', async () => {
    await log.pool.query('INSERT INTO log_lost (batch) VALUES (gen_random_uuid())')
    await refused(
      /^countersign: log\.example\/log\/1 is open already, but entries that the log before it never signed are still to be logged again\. To log them: countersign log backfill$/,
    )
    await log.pool.query('DELETE FROM log_lost')
  })

  test('where there is no log', async () => {
    await log.pool.query('DELETE FROM log_state')
    await refused(/^countersign: The database has no evidence log\.$/)
  })

  test('with a file that is no signed checkpoint of the log', async () => {
    await grow(2)
    const { note } = (await latestCheckpoint(log.pool))!
    await freeze()
    const file = join(log.dataDir, 'given')
    const withFile = async (text: string, message: RegExp) => {
      writeFileSync(file, text)
      await refused(message, { args: ['--checkpoint', file] })
    }
    await withFile('none', / is no checkpoint of log\.example: its first line is ''\.$/)
    await withFile(
      note.replace(NAME, 'other.example'),
      / is no checkpoint of log\.example: its first line is 'other\.example\/log\/1'\.$/,
    )
    await withFile(note.replace('\n3\n', '\n4\n'), / is no signed checkpoint: /)
  })

  test('without a database or its keys', async () => {
    await freeze()
    await refused(/DATABASE_URL is not set/, { env: { DATABASE_URL: '' } })
    await refused(/No ed25519 key of the evidence log/, {
      env: { SIGNING_KEY_DIR: join(log.dataDir, 'none') },
    })
  })

  test('while another one runs, once that is over it is not needed', async () => {
    await grow(2)
    await freeze()
    const both = await Promise.all([reopen(), reopen()])
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([0, 1]))
    await until(async () => (await readLogStatus(log.pool))?.origin === SECOND, 'the second log')
    const { rows } = await log.pool.query('SELECT log FROM log_state ORDER BY log')
    expect(rows).toEqual([{ log: 1 }, { log: 2 }])
  })
})

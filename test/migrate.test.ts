// The schema and how a database comes to it: each migration once, whoever starts first, and never another one under its name.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dumpSchema, SCHEMA_FILE } from '../tools/dump-schema.ts'
import { migrate } from '../src/store/postgres/migrate.ts'
import { sweepIntents } from '../workers/intents/sweep.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { notedInDoubt } from './intents.ts'
import { aRequest, openThread } from './pipeline/thread.ts'

const MIGRATIONS = join(import.meta.dirname, '..', 'migrations')
const shipped = readdirSync(MIGRATIONS).filter((name) => /^\d{4}_.*\.sql$/.test(name))

let database: TestDatabase
let dir: string
beforeEach(async () => {
  database = await createDatabase('template0')
  dir = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
  cpSync(MIGRATIONS, dir, { recursive: true })
})
afterEach(async () => {
  rmSync(dir, { recursive: true })
  await database.drop()
})

const appliedNames = async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    'SELECT name FROM countersign_migrations ORDER BY name',
  )
  return rows.map(({ name }) => name)
}

test('each migration has the number behind the one before, so that all databases apply them in one order', () => {
  const numbers = shipped.map((name) => Number(name.slice(0, 4)))
  expect(numbers.toSorted((a, b) => a - b)).toEqual(shipped.map((_, i) => i + 1))
})

describe('migrate', () => {
  // proves fault: Several instances start at the same
  test('of twenty at once on an empty database, some in processes of their own, exactly one applies', async () => {
    const cli = join(import.meta.dirname, '..', 'src', 'cli', 'index.ts')
    const env = { ...process.env, DATABASE_URL: database.url }
    const processes = Array.from({ length: 4 }, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [cli, 'migrate'], { env })
      return stdout
    })
    const promises = Array.from({ length: 16 }, () => migrate(database.url))
    const said = await Promise.all(processes)
    const applied = (await Promise.all(promises)).filter(({ length }) => length > 0)
    const byProcesses = said.filter((line) => line === `Applied ${shipped.join(', ')}.\n`)
    expect(said.filter((line) => line === 'The schema is up to date.\n')).toHaveLength(4 - byProcesses.length)
    expect([...applied, ...byProcesses]).toHaveLength(1)
    expect(await appliedNames()).toEqual(shipped)
    expect(await migrate(database.url)).toEqual([])
  })

  test('by a role that may make no tables says what it lacks', async () => {
    const role = `without_rights_${randomUUID().replaceAll('-', '')}`
    await database.pool.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`)
    const { host, port, database: name } = new Client({ connectionString: database.url })
    const url = `postgres://${role}:${role}@/${name}?host=${encodeURIComponent(host)}&port=${port}`
    await expect(migrate(url)).rejects.toThrow(
      'The role of DATABASE_URL must be able to make tables in its database: permission denied for schema public',
    )
    await database.pool.query(`DROP ROLE ${role}`)
  })

  test('adds what is new, in the order of the names', async () => {
    await migrate(database.url, { dir: dir })
    writeFileSync(join(dir, '9002_second.sql'), 'ALTER TABLE a ADD COLUMN c integer;')
    writeFileSync(join(dir, '9001_first.sql'), 'CREATE TABLE a (b integer);')
    writeFileSync(join(dir, 'notes.sql'), 'not a migration')
    expect(await migrate(database.url, { dir: dir })).toEqual(['9001_first.sql', '9002_second.sql'])
  })

  test('refuses a file that was edited after it was applied, by name, and applies nothing else', async () => {
    await migrate(database.url, { dir: dir })
    appendFileSync(join(dir, shipped[0] as string), '\n')
    writeFileSync(join(dir, '9001_new.sql'), 'CREATE TABLE a (b integer);')
    await expect(migrate(database.url, { dir: dir })).rejects.toThrow(
      `Migration ${shipped[0]} is not the one that was applied to this database: the file was edited, or the data was made by a version between releases.`,
    )
    expect(await appliedNames()).toEqual(shipped)
  })

  // proves fault: An older release starts on
  test('runs on a database that a newer version has migrated further', async () => {
    writeFileSync(join(dir, '9001_newer.sql'), 'CREATE TABLE a (b integer);')
    await migrate(database.url, { dir: dir })
    const said: string[] = []
    expect(await migrate(database.url, { warn: (sentence) => said.push(sentence) })).toEqual([])
    expect(said).toEqual([
      expect.stringMatching(
        /^The database is of a newer release than this one, which does not know 9001_newer\.sql\. /,
      ),
    ])
    expect(await migrate(database.url, { dir, warn: (sentence) => said.push(sentence) })).toEqual([])
    expect(said).toHaveLength(1)
  })

  // proves fault: An older release starts on
  test('refuses a database whose newer migration needs one that this release does not know, and changes nothing', async () => {
    writeFileSync(join(dir, '9001_needed.sql'), 'CREATE TABLE a (b integer);')
    writeFileSync(
      join(dir, '9002_newer.sql'),
      '-- What it is for.\n-- oldest code: 9001_needed.sql\nDROP TABLE a;',
    )
    await migrate(database.url, { dir })
    expect(await migrate(database.url, { dir })).toEqual([])
    rmSync(join(dir, '9002_newer.sql'))
    expect(await migrate(database.url, { dir })).toEqual([])
    rmSync(join(dir, '9001_needed.sql'))
    const sentence =
      'This release is too old for the database: 9002_newer.sql, which a newer release applied, needs one that knows 9001_needed.sql.'
    await expect(migrate(database.url, { dir })).rejects.toThrow(sentence)
    await expect(migrate(database.url)).rejects.toThrow(sentence)
    expect(await appliedNames()).toEqual([...shipped, '9001_needed.sql', '9002_newer.sql'])
  })

  test('names a migration that fails, and leaves nothing of it nor of those before it', async () => {
    writeFileSync(join(dir, '9001_good.sql'), 'CREATE TABLE a (b integer);')
    writeFileSync(join(dir, '9002_bad.sql'), 'CREATE TABLE c (d integer); SELECT 1/0;')
    await expect(migrate(database.url, { dir: dir })).rejects.toThrow(
      'Migration 9002_bad.sql failed: division by zero',
    )
    const { rows } = await database.pool.query(
      `SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
    )
    expect(rows).toEqual([])
    rmSync(join(dir, '9002_bad.sql'))
    expect(await migrate(database.url, { dir: dir })).toEqual([...shipped, '9001_good.sql'])
  })
})

test('an intent that the horizon of the version before had passed is found after the upgrade', async () => {
  for (const file of readdirSync(dir)) if (file >= '0006') rmSync(join(dir, file))
  await migrate(database.url, { dir })
  await database.pool.query(`UPDATE sweep_horizon SET deadline = now() + interval '2 days'`)
  const id = randomUUID()
  await database.pool.query(
    `INSERT INTO execution_intents (business_transaction_id, nonce, state, deadline) VALUES ($1, 'n', 'RELEASED', now())`,
    [id],
  )
  expect(await migrate(database.url)).toContain('0006_released-intents.sql')
  const thread = openThread(database.url)
  await sweepIntents([aRequest({})], thread)
  await thread.pool.end()
  expect(await notedInDoubt(database)).toEqual(new Set([id]))
})

describe('the schema', () => {
  beforeEach(() => migrate(database.url))

  test('is the one checked in: after a new migration, npm run schema', async () => {
    expect(await dumpSchema(database.url)).toBe(readFileSync(SCHEMA_FILE, 'utf8'))
  })

  test('has business_transaction_id first in every unique key of the execution path, so that it can be distributed by it', async () => {
    const { rows } = await database.pool.query<{ table: string; first: string }>(`
      SELECT i.indrelid::regclass::text AS table, a.attname AS first
      FROM pg_index AS i
      JOIN pg_class AS c ON c.oid = i.indrelid AND c.relnamespace = 'public'::regnamespace
      LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE i.indisunique AND c.relname IN ('business_transactions', 'execution_intents_before', 'execution_evidence',
        'appended_verifications', 'appended_receipts', 'refusal_records')`)
    expect(rows.map(({ table }) => table)).toHaveLength(6)
    expect(rows.filter(({ first }) => first !== 'business_transaction_id')).toEqual([])
  })
})

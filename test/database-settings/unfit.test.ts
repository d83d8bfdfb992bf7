// A database that cannot be used is refused by name before anything is written to it: by the service and by its commands.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { createDatabase, databaseUrl, onServer, type TestDatabase } from '../database.ts'
import { runCommand } from '../command.ts'
import { startService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'

let database: TestDatabase
let name: string
beforeEach(async () => {
  database = await createDatabase('template0')
  const { rows } = await database.pool.query<{ name: string }>('SELECT current_database() AS name')
  name = rows[0]!.name
})
afterEach(() => database.drop())

async function expectRefused(url: string, sentence: string): Promise<void> {
  expect(await runCommand(['migrate'], { DATABASE_URL: url })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(sentence) as string,
  })
  await expect(startService({ databaseUrl: url })).rejects.toThrow(sentence)
}

async function tables(): Promise<number> {
  const { rows } = await database.pool.query<{ tables: number }>(
    `SELECT count(*)::integer AS tables FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  return rows[0]!.tables
}

describe('refused at the start', () => {
  // proves abuse: A database that cannot be used
  test.each(['LATIN1', 'SQL_ASCII', 'EUC_JP'])('a database in %s', async (encoding) => {
    const other = `${name}_${randomBytes(2).toString('hex')}`
    const serverUrl = inject('serverUrl')
    await onServer(
      serverUrl,
      `CREATE DATABASE ${other} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    )
    try {
      await expectRefused(
        databaseUrl(serverUrl, other),
        `The database of DATABASE_URL has the encoding ${encoding}, which cannot hold every text: UTF8 is needed.`,
      )
    } finally {
      await onServer(serverUrl, `DROP DATABASE ${other}`)
    }
  })

  // proves abuse: A database that cannot be used
  test.each([
    [
      'default_transaction_read_only = on',
      'The database of DATABASE_URL is read-only: default_transaction_read_only is on',
    ],
    [
      "session_replication_role = 'replica'",
      "The setting session_replication_role is 'replica' on connections to DATABASE_URL",
    ],
    ['search_path = public, pg_catalog', 'The search_path of DATABASE_URL names public before pg_catalog'],
    [
      "search_path = ''",
      'The role of DATABASE_URL must be able to make tables in its database: no schema has been selected',
    ],
    [
      'search_path = missing',
      'The role of DATABASE_URL must be able to make tables in its database: no schema has been selected',
    ],
  ])('a database with %s', async (setting, sentence) => {
    await onServer(inject('serverUrl'), `ALTER DATABASE ${name} SET ${setting}`)
    await expectRefused(database.url, sentence)
    expect(await tables()).toBe(0)
  })

  // proves abuse: A database that cannot be used
  test('a search_path that leads past the tables', async () => {
    await migrate(database.url)
    const before = await tables()
    await database.pool.query('CREATE SCHEMA elsewhere')
    await onServer(inject('serverUrl'), `ALTER DATABASE ${name} SET search_path = elsewhere`)
    await expectRefused(
      database.url,
      'The tables of the database of DATABASE_URL are in the schema public, which the search_path of its role does not name.',
    )
    expect(await tables()).toBe(before)
  })

  test('fsck says which setting it cannot check under, in place of problems', async () => {
    await migrate(database.url)
    await onServer(inject('serverUrl'), `ALTER DATABASE ${name} SET session_replication_role = 'replica'`)
    const keys = mkdtempSync(join(tmpdir(), 'countersign-unfit-keys-'))
    makeKeys(keys)
    const ran = await runCommand(['fsck'], { DATABASE_URL: database.url, SIGNING_KEY_DIR: keys })
    rmSync(keys, { recursive: true })
    expect(ran).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('The setting session_replication_role') as string,
    })
  })
})

// countersign fsck as an operator runs it: what it prints and how it exits, on a database that it is given and on the embedded one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../src/server/embedded/postgres.ts'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { runCommand } from '../command.ts'
import { createDatabase, databaseUrl, type TestDatabase } from '../database.ts'
import { makeKeys } from '../signing-keys.ts'

const ORPHAN = '00000000-0000-4000-8000-000000000000'
const folder = mkdtempSync(join(tmpdir(), 'countersign-test-fsck-'))
const keys = join(folder, 'keys')

let database: TestDatabase
beforeAll(async () => {
  makeKeys(keys)
  database = await createDatabase()
})
afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true })
})

const run = (env: Record<string, string>, args: readonly string[] = []) =>
  runCommand(['fsck', ...args], { DATA_DIR: folder, ...env })

const CLEAN =
  'No problems.\nThis compares the database with itself: that it went back to an older state, only countersign log audit with a saved checkpoint shows.\n'

const given = () => ({ DATABASE_URL: database.url, SIGNING_KEY_DIR: keys })

test('exits 0 where nothing is wrong, 1 with each row that is, and lists what has not ended as no error', async () => {
  expect(await run(given())).toEqual({ status: 0, stdout: CLEAN, stderr: '' })

  await database.pool.query(
    `INSERT INTO released_batches (batch, ids, deadline) VALUES ($1::uuid, ARRAY[$1::uuid], '2026-01-02T03:04:05Z')`,
    [ORPHAN],
  )
  expect(await run(given())).toEqual({
    status: 1,
    stdout: [
      `released_batches ${ORPHAN}: names an execution whose transaction is missing`,
      'Rows checked:',
      '  released_batches 1',
      'Not ended: 1 in doubt, 0 under way (no error):',
      `  ${ORPHAN} RELEASED in doubt since 2026-01-02T03:04:05.000Z`,
      '1 problem.',
      '',
    ].join('\n'),
    stderr: '',
  })
  const { status, stdout } = await run(given(), ['--json'])
  expect(status).toBe(1)
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    {
      table: 'released_batches',
      key: ORPHAN,
      problem: 'names an execution whose transaction is missing',
    },
    {
      summary: {
        rows: { released_batches: 1 },
        problems: 1,
        unreadable: 0,
        open: {
          underWay: 0,
          inDoubt: 1,
          listed: [
            {
              businessTransactionId: ORPHAN,
              state: 'RELEASED',
              inDoubt: true,
              deadline: '2026-01-02T03:04:05.000Z',
            },
          ],
        },
        unexecuted: 0,
      },
    },
  ])
  await database.pool.query('TRUNCATE released_batches')
})

test('what an id holds reaches the terminal without its escape codes', async () => {
  await database.pool.query(
    `INSERT INTO step_up_nonces VALUES (E'a\\x1b[31m\\nNo problems.', $1::uuid, now())`,
    [ORPHAN],
  )
  const { status, stdout } = await run(given())
  expect(status).toBe(1)
  expect(stdout).toBe(
    'step_up_nonces a\ufffd[31m\ufffdNo problems.: its signed act is missing: change_id names neither a change nor a statement on an execution in doubt\n1 problem.\n',
  )
  await database.pool.query('TRUNCATE step_up_nonces')
})

/** Returns the sentence. */
const no = async (env: Record<string, string>, args: string[] = []) => {
  const { status, stdout, stderr } = await run(env, args)
  expect([status, stdout]).toEqual([2, ''])
  return stderr
}

test('exits 2 with a sentence where nothing can be checked', async () => {
  expect(await no({ SIGNING_KEY_DIR: keys })).toBe(
    `countersign: DATABASE_URL is not set, and the embedded database of ${folder} is not running: it runs while its service does.\n`,
  )
  expect(await no({ ...given(), SIGNING_KEY_DIR: join(folder, 'none') })).toBe(
    `countersign: No keys in ${join(folder, 'none')}: without the public keys nothing can be verified. Set SIGNING_KEY_DIR.\n`,
  )
  expect(await no({ ...given(), DATABASE_URL: databaseUrl(database.url, 'gone') })).toMatch(
    /^countersign: The database cannot be opened: database "gone" does not exist\n$/,
  )
  expect(await no(given(), ['--whatever'])).toContain('unknown option')

  const empty = await createDatabase('template0')
  expect(await no({ ...given(), DATABASE_URL: empty.url })).toBe(
    'countersign: The database holds no Countersign: nothing was ever migrated in it.\n',
  )
  await empty.drop()
  await database.pool.query(
    `UPDATE countersign_migrations SET name = '9999_next.sql' WHERE name LIKE '0001%'`,
  )
  expect(await no(given())).toBe(
    'countersign: The schema is older than this release: 0001_executions.sql is not applied. Run: countersign migrate\n',
  )
  await database.pool.query(
    `UPDATE countersign_migrations SET name = '0001_executions.sql' WHERE name LIKE '9999%'`,
  )
  await database.pool.query(`INSERT INTO countersign_migrations (name, sha256) VALUES ('9999_next.sql', '')`)
  expect(await no(given())).toBe(
    'countersign: The schema is newer than this release: 9999_next.sql is not known. Use the release that runs on it.\n',
  )
  await database.pool.query(`DELETE FROM countersign_migrations WHERE name LIKE '9999%'`)
})

test('finds the embedded database of a DATA_DIR by itself while it runs', async () => {
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined })
  try {
    await migrate(postgres.url)
    expect(await run({})).toEqual({ status: 0, stdout: CLEAN, stderr: '' })
  } finally {
    await postgres.stop()
  }
  expect((await run({})).status).toBe(2)
})

// A service whose log was reopened is asked by `log complete` and `log absent`: a proof is of one log alone.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { freezeLog } from '../../src/store/tables/log-state.ts'
import { runCommand } from '../command.ts'
import type { TestDatabase } from '../database.ts'
import { until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-logs-'))
const trust = join(folder, 'log.json')

let database: TestDatabase
let service: TestService
/** The first is in the first log alone. */
let executed: string
withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start()
  executed = await execute()
  await allInRuns()
  await freezeLog(database.pool, { log: 1, why: 'For a test.' })
  const { signingKeyDir, dataDir } = service
  const env = { DATABASE_URL: database.url, SIGNING_KEY_DIR: signingKeyDir, DATA_DIR: dataDir }
  expect((await runCommand(['log', 'reopen'], env)).status).toBe(0)
  await execute()
  await until(async () => (await checkpoint()).includes('/log/2\n'), 'a checkpoint of the second log')
  await allInRuns()
  writeFileSync(trust, (await service.get('/.well-known/countersign-log', { key: null })).text)
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

const checkpoint = async () => (await service.get('/log/checkpoint', { key: null })).text

async function execute(): Promise<string> {
  const transaction = aTransaction()
  expect((await service.post('/execute', transaction)).status).toBe(200)
  return transaction.businessTransactionId
}

/** An hour later, for the ids of the entries that are in no run. */
async function allInRuns(): Promise<void> {
  await until(async () => {
    await database.pool.query(`UPDATE log_id_tail SET appended_at = appended_at - interval '2 hours'`)
    const { rows } = await database.pool.query(`
      SELECT FROM log_queue UNION ALL SELECT FROM log_id_tail
      UNION ALL SELECT FROM log_runs WHERE entry_index >= coalesce(
        (SELECT max(size) FROM log_checkpoints WHERE log_checkpoints.log = log_runs.log), 0)`)
    return rows.length === 0
  }, 'every id to be in a run under a checkpoint')
}

const run = (...args: string[]) =>
  runCommand(['log', ...args, '--url', service.url, '--key', service.key, '--log', trust], {})

test('a list names the logs that it does not cover', async () => {
  const newest = await run('complete', '--stream', 'caller=tester')
  expect(newest.status, newest.stderr).toBe(0)
  expect(newest.stdout).toMatch(/^caller=tester: 2 entries, .*\/log\/2, signed at /m)
  expect(newest.stdout).toContain(
    '  - anything of the other logs of the service (--number 1): each has a list of its own\n',
  )
  const closed = await run('complete', '--stream', 'caller=tester', '--number', '1')
  expect(closed.status, closed.stderr).toBe(0)
  expect(closed.stdout).toMatch(/^caller=tester: 2 entries, .*\/log\/1, signed at /m)
  expect(closed.stdout).toContain('the other logs of the service (--number 2 and higher): each has')
})

test('an id is looked for in every log, the newest first', async () => {
  const found = await run('absent', 'authorization', executed)
  expect(found.status, found.stderr).toBe(1)
  expect(found.stdout).toMatch(
    /^No authorization \S+ is among the first [0-9]+ entries of \S+\/log\/2\.$[^]+ is once among the first [0-9]+ entries of \S+\/log\/1: at index /m,
  )
  const absent = await run('absent', 'authorization', randomUUID())
  expect(absent.status, absent.stderr).toBe(0)
  expect(absent.stdout).toMatch(/entries of \S+\/log\/2\.$[^]+entries of \S+\/log\/1\.$/m)
})

test('with --number one log is asked, and the others are named as not asked', async () => {
  for (const [number, status] of [
    ['2', 0],
    ['1', 1],
  ] as const) {
    const { stdout, ...one } = await run('absent', 'authorization', executed, '--number', number)
    expect(one.status, one.stderr).toBe(status)
    expect(stdout).toContain('Other logs of the service were not asked: without --number all are.\n')
  }
})

test('a file of keys that cannot be read is named', async () => {
  const file = join(folder, 'nowhere.json')
  const given = ['--url', service.url, '--key', service.key, '--log', file]
  expect(await runCommand(['log', 'absent', 'authorization', randomUUID(), ...given], {})).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(/^countersign: \S+nowhere\.json cannot be read: ENOENT/),
  })
})

test('where one of the logs cannot be asked, nothing is absent', async () => {
  const { logs } = JSON.parse(readFileSync(trust, 'utf8')) as { logs: { origin: string }[] }
  const newestOnly = join(folder, 'newest.json')
  writeFileSync(newestOnly, JSON.stringify({ logs: logs.filter(({ origin }) => origin.endsWith('/2')) }))
  const result = await runCommand(
    [
      'log',
      'absent',
      'authorization',
      randomUUID(),
      '--url',
      service.url,
      '--key',
      service.key,
      '--log',
      newestOnly,
    ],
    {},
  )
  expect(result.status).toBe(2)
  expect(result.stderr).toMatch(/\/log\/1/)
})

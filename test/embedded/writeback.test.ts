// The files of the embedded database go to the disk as they grow, and a disk that fails ends it before it can take them for written.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { aFolder, eventually, query, start } from './drive.ts'

vi.setConfig({ testTimeout: 20_000 })

const preload = join(import.meta.dirname, 'fail-datasync.ts')

const grow = (url: string, table: string) =>
  query(url, `INSERT INTO ${table} SELECT repeat('x', 1000) FROM generate_series(1, 100)`)

test('a table that grows is written back, and one that rests is left alone', async () => {
  const { url, logged } = await start(aFolder(), { preload })
  async function made(table: string) {
    await query(url, `CREATE TABLE ${table} (x text)`)
    const [path] = await query(url, `SELECT pg_relation_filepath('${table}')`)
    return { table, times: () => logged().split(`/${String(path)}\n`).length - 1 }
  }
  async function grown({ table, times }: Awaited<ReturnType<typeof made>>) {
    const before = times()
    await grow(url, table)
    await eventually(() => expect(times()).toBeGreaterThan(before))
  }
  const resting = await made('resting')
  const growing = await made('growing')
  await grown(resting)
  await grown(growing)
  await grown(growing) // with one look in between, in which the other was still seen to have changed
  const rested = resting.times()
  await grown(growing)
  await grown(growing)
  expect(resting.times()).toBe(rested)
})

test('a disk that fails ends the database at once, and the next start recovers what was committed from its log', async () => {
  const dataDir = aFolder()
  const driver = await start(dataDir, { preload })
  await query(driver.url, 'CREATE TABLE kept (x text)')
  driver.process.kill('SIGUSR2')
  await grow(driver.url, 'kept')
  await eventually(() =>
    expect(driver.logged()).toContain(
      "error PostgreSQL's files cannot be written, and it is ended: EIO: i/o error, fdatasync\n" +
        `error PostgreSQL (pid ${driver.pid}) ended by itself and is restarted.`,
    ),
  )
  await eventually(async () => expect(await query(driver.url, 'SELECT count(*) FROM kept')).toEqual(['100']))
  const log = readFileSync(join(dataDir, 'postgres/postgres.log'), 'utf8')
  expect(log).toContain('received immediate shutdown request')
  expect(log).toContain('database system was not properly shut down; automatic recovery in progress')
})

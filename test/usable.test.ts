// Why executions cannot be stored, as GET /ready says it to anyone (interface §4.1): a clause of a fixed list, soon, and no secret.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPool } from '../src/store/postgres/sql.ts'
import { inTransaction } from '../src/store/postgres/transaction.ts'
import { openUsable, whyUnusable } from '../src/server/usable.ts'
import { createDatabase, databaseUrl, type TestDatabase } from './database.ts'

/** As GET /ready has it. */
const HURRIED = { statementMs: 1_500, lockMs: 1_000 }

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

/** Tells why a database that is reached so cannot be used. */
async function why(url: string): Promise<string | undefined> {
  const pool = openPool(url, 1, HURRIED)
  const unusable = await whyUnusable(pool)
  await pool.end()
  return unusable?.why
}

/** A server that takes connections and does this with them. */
async function answering(answer: 'nothing' | 'the end'): Promise<{ url: string; close: () => void }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    if (answer === 'the end') socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `postgres://u:secret@127.0.0.1:${port}/x?sslmode=disable`, close: () => server.close() }
}

describe('why executions cannot be stored', () => {
  test('nothing, where they can', async () => {
    expect(await why(database.url)).toBeUndefined()
  })

  test('no server, no database, no such host', async () => {
    const { url, close } = await answering('nothing')
    close()
    expect(await why(url)).toBe('no server listens there')
    expect(await why(databaseUrl(database.url, 'missing'))).toBe('there is no such database')
    expect(await why('postgres://u:secret@nobody.invalid/x')).toBe('its host name is not known')
  })

  test('a server that is silent, within seconds, and one that hangs up', async () => {
    const silent = await answering('nothing')
    const startedMs = performance.now()
    expect(await why(silent.url)).toBe('it does not answer')
    expect(performance.now() - startedMs).toBeLessThan(60_000)
    silent.close()
    const ending = await answering('the end')
    expect(await why(ending.url)).toBe('the connection was lost')
    ending.close()
  })

  test.each([
    ['ALTER TABLE released_batches RENAME TO elsewhere', 'its execution-intents table is missing'],
    [
      `ALTER DATABASE :name SET default_transaction_read_only = on`,
      'it is read-only, as a standby or a primary that was demoted',
    ],
  ])('%s', async (statement, clause) => {
    const other = await createDatabase()
    const name = new URL(other.url.replace('@/', '@host/')).pathname.slice(1)
    await other.pool.query(statement.replace(':name', name))
    expect(await why(other.url)).toBe(clause)
    await other.drop()
  })
})

describe('those who ask at the same time', () => {
  // proves abuse: One address asks for
  test('share one check, and who asks while it runs shares the next', async () => {
    const pool = openPool(database.url, 1, HURRIED)
    onTestFinished(() => pool.end())
    let checks = 0
    pool.on('acquire', () => checks++)
    const ask = openUsable(pool)
    const first = Array.from({ length: 100 }, ask)
    await once(pool, 'acquire')
    const during = Array.from({ length: 100 }, ask)
    expect(new Set(await Promise.all([...first, ...during]))).toEqual(new Set([undefined]))
    expect(checks).toBe(2)
    expect(await ask()).toBeUndefined()
    expect(checks).toBe(3)
  })

  test('learn of a database that went away after an earlier check', async () => {
    const other = await createDatabase()
    const pool = openPool(other.url, 1, HURRIED)
    const ask = openUsable(pool)
    expect(await ask()).toBeUndefined()
    await other.pool.query('ALTER TABLE released_batches RENAME TO elsewhere')
    expect((await ask())?.why).toBe('its execution-intents table is missing')
    await other.pool.query('ALTER TABLE elsewhere RENAME TO released_batches')
    expect(await ask()).toBeUndefined()
    await pool.end()
    await other.drop()
  })
})

test('a thread that was short of the processor for a second still has its transaction', async () => {
  const pool = openPool(database.url, 1, HURRIED)
  onTestFinished(() => pool.end())
  const rows = await inTransaction(pool, async (sql) => {
    await sql.query('SELECT 1')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200)
    return (await sql.query('SELECT 2 AS two')).rows
  })
  expect(rows).toEqual([{ two: 2 }])
})

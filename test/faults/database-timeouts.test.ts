// Somebody holds a lock, as an ALTER TABLE by hand does: requests do not wait for it for ever (docs/handbook/operating.md).
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../database.ts'
import { startLoaded, type LoadedService } from './database-load.ts'

/** The service waits three seconds for a lock. Without that limit a statement is given up after twelve. */
const FASTEST_MS_MAX = 9_000
/** A request may first wait for the batch before it, and a busy machine takes its time. */
const ANSWERED_MS_MAX = 60_000
const RECOVERED_MS_MAX = 60_000

let database: TestDatabase
let loaded: LoadedService
let locking: Client

beforeEach(async () => {
  database = await createDatabase()
  loaded = await startLoaded({ databaseUrl: database.url })
  locking = new Client({ connectionString: database.url })
  await locking.connect()
  await loaded.answered('200', 10)
})

afterEach(async () => {
  await locking.end()
  await database.drop()
})

async function lock(table: string): Promise<void> {
  await locking.query('BEGIN')
  await locking.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
}

/** The tables agree with every answer, none was held for long, and the lock was given up before the statement. */
async function finish(): Promise<void> {
  await loaded.finish(database.pool)
  const refused = loaded.seen.filter(({ answer }) => answer !== '200')
  expect(Math.min(...refused.map(({ tookMs }) => tookMs))).toBeLessThan(FASTEST_MS_MAX)
  expect(Math.max(...loaded.seen.map(({ tookMs }) => tookMs))).toBeLessThan(ANSWERED_MS_MAX)
  expect(loaded.readyMs()).toBeLessThan(ANSWERED_MS_MAX)
}

describe('a lock that somebody holds', () => {
  // proves fault: Somebody locks a table that a claim
  test('on business_transactions: 503 within seconds and nothing executed; executions go on when it is released', async () => {
    await lock('business_transactions')
    await loaded.answered('503 DATABASE_UNAVAILABLE', 4)
    await locking.query('COMMIT')
    expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)
    await finish()
  })

  // proves fault: Somebody locks a table that the evidence
  test('on execution_evidence, after the effect: 502, and the evidence is stored when it is released', async () => {
    await lock('execution_evidence')
    await loaded.answered('502 EXECUTION_OUTCOME_UNKNOWN', 4)
    await locking.query('COMMIT')
    expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)
    await finish()
  })

  // proves fault: Somebody locks a table that a claim
  test('on released_batches: /ready says within seconds that it is locked', async () => {
    await lock('released_batches')
    await loaded.answered('503 DATABASE_UNAVAILABLE', 4)
    await loaded.unready(
      'The database cannot be used: its execution-intents table is locked, or it is too slow.',
    )
    await locking.query('COMMIT')
    expect(await loaded.recovered()).toBeLessThan(RECOVERED_MS_MAX)
    await finish()
  })
})

// A stop keeps what receipts promise: what was committed is under a checkpoint before the process ends, and what waited while nobody ran is no
// sign of trouble.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { readLogStatus } from '../../src/store/tables/log-state.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { startService, until } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createDatabase()
})
afterEach(() => database.drop())

/** The first statement of a sweep; others read that table too. */
const WAITS_FOR_LOCK = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM in_doubt_intents EXCEPT%'`

const atRest = async () => {
  const { queued, size, publishedSize } = (await readLogStatus(database.pool))!
  return !queued && size > 0 && size === publishedSize
}

// proves fault: SIGTERM right after executions
test.each([1, 40])(
  'a stop right after %i executions leaves no commit without its place under a checkpoint',
  async (count) => {
    const service = await startService({ databaseUrl: database.url })
    const sent = Array.from({ length: count }, () => service.post('/execute', aTransaction()))
    await Promise.all([...sent, service.post('/execute', aRejectedTransaction())])
    expect(await service.stop()).toBe(0)
    expect(await atRest()).toBe(true)
  },
)

test('a sweep that is under way at the stop ends first, and what it commits gets its place', async () => {
  const service = await startService({ databaseUrl: database.url })
  const transaction = aTransaction()
  expect((await service.post('/execute', transaction)).status).toBe(200)
  const stopped = await inTransaction(database.pool, async (sql) => {
    await sql.query('LOCK TABLE in_doubt_intents IN ACCESS EXCLUSIVE MODE')
    await putInDoubt(database, transaction.businessTransactionId)
    await until(
      async () => (await database.pool.query(WAITS_FOR_LOCK)).rowCount,
      'a sweep to wait for the lock',
    )
    const stopping = service.stop()
    await until(() => service.output().includes('"stopping"'), 'the stop to begin')
    return { stopping }
  })
  expect(await stopped.stopping).toBe(0)
  const noted = await database.pool.query('SELECT FROM in_doubt_intents')
  expect(noted.rowCount).toBe(1)
  expect(await atRest()).toBe(true)
})

test('commits that waited while no service ran are logged, and nobody is warned of them', async () => {
  await database.pool.query(
    `INSERT INTO log_queue (batch, entries, queued_at)
     SELECT gen_random_uuid(), json_build_object(
         'shared', json_build_array(json_build_object('kind', 'receipt', 'streams', json_build_object('caller', 'caller ' || n))),
         'entries', json_build_array(json_build_array(encode(sha256(n::text::bytea), 'hex'), gen_random_uuid(), 0)))::text,
       now() - interval '1 day'
     FROM generate_series(1, 100) AS n`,
  )
  const service = await startService({ databaseUrl: database.url })
  await until(atRest, 'the log to catch up')
  const { text } = await service.get('/ready', { key: null })
  expect(await service.stop()).toBe(0)
  expect(`${text}${service.output()}`).not.toContain('Commits wait')
})

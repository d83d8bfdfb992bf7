// Audit events that wait for the database take no place from executions (docs/design-notes.md "The threads' other work").
import { expect, test } from 'vitest'
import type { TestDatabase } from '../database.ts'
import { until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  env: { WORKER_THREADS: '1', TRUST_PROXY_HOPS: '1' },
})

/** When the statements that wait for audit_events began. */
async function waitingSince(): Promise<Date[]> {
  const { rows } = await database.pool.query<{ since: Date }>(`
    SELECT query_start AS since FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO audit_events%'
      AND pid <> pg_backend_pid()`)
  return rows.map(({ since }) => since)
}

/** From an address of its own: what one is refused within a minute is gathered. */
const reject = (i: number) =>
  service.get('/version', { key: `csk_${i}`, headers: { 'X-Forwarded-For': `192.0.2.${i}` } })

// proves fault: Somebody locks the audit table
test('an execution is answered while events wait for a lock, however many there are', async () => {
  const lock = await database.pool.connect()
  await lock.query('BEGIN')
  await lock.query('LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE')
  const refused = []
  try {
    refused.push(reject(0))
    await until(async () => (await waitingSince()).length > 0, 'an event that waits')
    for (let i = 1; i < 8; i++) refused.push(reject(i))
    // Each is answered after a second at most, and its event waits on.
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual(Array(8).fill(401))
    await until(async () => {
      const before = await waitingSince()
      expect((await service.post('/execute', aTransaction())).status).toBe(200)
      // The very statement that waited before: the execution did not wait for it to give up, which it does every three seconds.
      const after = await waitingSince()
      return before.length === 1 && after[0]?.getTime() === before[0]?.getTime()
    }, 'an execution that is answered while an event waits')
  } finally {
    await lock.query('ROLLBACK')
    lock.release()
  }
  await until(async () => {
    const { rows } = await database.pool.query<{ count: string }>('SELECT count(*) FROM audit_events')
    return rows[0]?.count === '8'
  }, 'all events to be stored')
})

// The log says which executions share a batch: those that wait when a thread is free, bounded in bytes (docs/design-notes.md "Backpressure").
import { Client } from 'pg'
import { expect, test } from 'vitest'
import type { TestDatabase } from '../database.ts'
import { until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const BATCH_BYTES_MAX = 256 * 1024
const QUEUE_REQUESTS_MAX = 160
/** One caller has so many places. */
const PLACES = QUEUE_REQUESTS_MAX / 4

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  env: { WORKER_THREADS: '1', QUEUE_REQUESTS_MAX: String(QUEUE_REQUESTS_MAX) },
})

/** Sends one more than QUEUE_REQUESTS_MAX while the database makes them wait. Returns the batch size of each of the others. */
async function batchesOf(bodies: readonly string[]): Promise<number[]> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query('BEGIN; LOCK TABLE business_transactions')
  const replies = bodies.map((body) => service.post('/execute', body))
  // The only one to be answered yet is the one beyond the limit: the others are inside.
  expect((await Promise.race(replies)).status).toBe(503)
  await client.end()
  const executed = (await Promise.all(replies)).filter(({ status }) => status === 200)
  expect(executed).toHaveLength(PLACES)
  const ids = new Set(executed.map(({ headers }) => headers.get('x-request-id')))
  const lines = () => service.lines().filter(({ requestId }) => ids.has(requestId as string))
  await until(() => lines().length === ids.size, 'the log lines')
  return lines().map(({ batch }) => Number(batch))
}

/** One body more than the limit, each a little larger than its note. */
function bodiesWith(noteBytes: number): string[] {
  const parameters = { amount: 42, note: 'x'.repeat(noteBytes) }
  const body = () => JSON.stringify(aTransaction({ intent: { parameters } }))
  return Array.from({ length: PLACES + 1 }, body)
}

test('small bodies share a batch, large ones in batches of what a thread may be busy with', async () => {
  expect(Math.max(...(await batchesOf(bodiesWith(0))))).toBeGreaterThan(3)
  const noteBytes = 99_000
  const largest = Math.max(...(await batchesOf(bodiesWith(noteBytes))))
  expect(largest * noteBytes).toBeLessThanOrEqual(BATCH_BYTES_MAX)
})

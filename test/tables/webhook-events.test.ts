// Storing deliveries (decisions §10): an event and its job are one statement, and the job is the one that pg-boss itself would have put in.
import { createHash, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '../../src/core/tables/sql.ts'
import { storeWebhookEvents, type WebhookEventRow } from '../../src/core/tables/webhook-events.ts'
import { openWebhookQueue, WEBHOOK_QUEUE } from '../../src/core/webhooks/queue.ts'
import { createDatabase, type TestDatabase } from '../database.ts'

let database: TestDatabase
let pool: Pool
let boss: PgBoss
const fail = (error: unknown) => {
  throw error
}
beforeAll(async () => {
  database = await createDatabase()
  pool = openPool(database.url, 2)
  boss = await openWebhookQueue(pool, { onError: fail, onWarning: fail })
})
afterAll(async () => {
  await boss.stop({ graceful: false })
  await pool.end()
  await database.drop()
})

function anEvent(text: string, members: Partial<WebhookEventRow> = {}): WebhookEventRow {
  const body = Buffer.from(text)
  return {
    eventKey: randomUUID(),
    provider: 'razorpay',
    eventId: randomUUID(),
    bodySha256: createHash('sha256').update(body).digest('hex'),
    body,
    receivedAt: new Date().toISOString(),
    ...members,
  }
}

/** Every column but the id; times only from the job's own start on. */
async function jobOf(eventKey: string): Promise<Record<string, unknown>> {
  const { rows } = await pool.query<Record<string, unknown>>(
    `SELECT to_jsonb(j) - 'id' || jsonb_build_object('created_on', NULL, 'start_after', start_after - created_on,
       'keep_until', keep_until - created_on) AS job
     FROM pgboss.job AS j WHERE data ->> 'id' = $1`,
    [eventKey],
  )
  expect(rows).toHaveLength(1)
  return rows[0]?.['job'] as Record<string, unknown>
}

test('the job of an event is the row that pg-boss makes, column by column', async () => {
  const event = anEvent('{"a":1}')
  await storeWebhookEvents(pool, WEBHOOK_QUEUE, [event])
  const id = randomUUID()
  await boss.insert(WEBHOOK_QUEUE, [{ data: { id, bytes: event.body.byteLength } }])
  const [ours, theirs] = [await jobOf(event.eventKey), await jobOf(id)]
  expect({ ...ours, data: null }).toEqual({ ...theirs, data: null })
  expect(ours['data']).toEqual({ id: event.eventKey, bytes: 7 })
})

test('each event gets its own bytes: none, those of others before it, and what is no text', async () => {
  const texts = ['', 'one', '\u0000\u00ff"\\', 'x'.repeat(100_000)]
  const events = texts.map((text) => anEvent(text))
  const stored = await storeWebhookEvents(pool, WEBHOOK_QUEUE, events)
  expect(stored).toEqual(new Set(events.map(({ eventKey }) => eventKey)))
  for (const { eventKey, body } of events) {
    const { rows } = await pool.query(`SELECT body FROM webhook_events WHERE event_key = $1`, [eventKey])
    expect(rows).toEqual([{ body }])
  }
})

test('of the same id and the same bytes one is stored, in one statement as in two, and the others get no job', async () => {
  const first = anEvent('once')
  const again = [anEvent('once'), anEvent('twice', { eventId: first.eventId })]
  expect(await storeWebhookEvents(pool, WEBHOOK_QUEUE, [first, ...again])).toEqual(new Set([first.eventKey]))
  expect(await storeWebhookEvents(pool, WEBHOOK_QUEUE, again)).toEqual(new Set())
  const keys = again.map(({ eventKey }) => eventKey)
  const { rowCount } = await pool.query(`SELECT 1 FROM pgboss.job WHERE data ->> 'id' = ANY($1)`, [keys])
  expect(rowCount).toBe(0)
})

test('without its queue an event is not stored: nobody would ever process it', async () => {
  const event = anEvent('lost')
  await expect(storeWebhookEvents(pool, 'no-such-queue', [event])).rejects.toThrow(
    /null value in column "name"/,
  )
  const { rowCount } = await pool.query('SELECT 1 FROM webhook_events WHERE event_key = $1', [event.eventKey])
  expect(rowCount).toBe(0)
})

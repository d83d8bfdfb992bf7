// Storing deliveries (decisions §10): an event and its job are one transaction.
import { createHash, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openJobQueue, openJoinedQueue } from '../../src/store/queues/job-queue.ts'
import { queuedEntries, startLogEntries, unlogged } from '../../src/store/tables/log-queue.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import {
  insertWebhookEvents,
  listWaitingWebhooks,
  type WebhookEventRow,
} from '../../src/store/tables/webhook-events.ts'
import {
  DEAD_WEBHOOK_QUEUE,
  openWebhookJobs,
  WEBHOOK_BATCH_QUEUE,
  WEBHOOK_QUEUE,
  webhookQueues,
  type WebhookJobs,
} from '../../src/store/queues/webhook-queue.ts'
import { storeWithJobs } from '../../workers/webhooks/receive.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { patientPool } from '../patient-pool.ts'

let database: TestDatabase
let pool: Pool
let boss: PgBoss
let jobs: WebhookJobs
const fail = (error: unknown) => {
  throw error
}
beforeAll(async () => {
  database = await createDatabase()
  pool = patientPool(database.url, 2)
  boss = await openJobQueue(pool, webhookQueues, { onError: fail, onWarning: fail })
  jobs = await openWebhookJobs(openJoinedQueue(pool))()
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
    headers: '{}',
    bodySha256: createHash('sha256').update(body).digest('hex'),
    body,
    receivedAt: new Date().toISOString(),
    ...members,
  }
}

const store = (rows: readonly WebhookEventRow[]) => storeWithJobs({ pool, startLogEntries }, jobs, rows)

const jobsOf = (eventKey: string) => boss.findJobs(WEBHOOK_QUEUE, { data: { id: eventKey } })

async function isStored(eventKey: string): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT 1 FROM webhook_events WHERE event_key = $1', [eventKey])
  return rowCount === 1
}

test('an event is stored with its job, which has the settings of the queue', async () => {
  const event = anEvent('{"a":1}')
  await store([event])
  expect(await isStored(event.eventKey)).toBe(true)
  expect(await jobsOf(event.eventKey)).toEqual([
    expect.objectContaining({
      data: { id: event.eventKey, bytes: 7 },
      state: 'created',
      retryLimit: 9,
      retryBackoff: true,
      expireInSeconds: 15,
      deadLetter: DEAD_WEBHOOK_QUEUE,
    }),
  ])
})

test('of a transaction that fails behind the job, neither the event nor the job is stored', async () => {
  const event = anEvent('undone')
  const undone = inTransaction(pool, async (transaction) => {
    await insertWebhookEvents(transaction, [{ ...event, ...unlogged }])
    await jobs.add(transaction, [{ id: event.eventKey, bytes: 6 }])
    await transaction.query('SELECT 1 / 0')
  })
  await expect(undone).rejects.toThrow('division by zero')
  expect(await isStored(event.eventKey)).toBe(false)
  expect(await jobsOf(event.eventKey)).toEqual([])
})

test('a job is deleted in the transaction that says so, and only by its commit', async () => {
  const event = anEvent('done')
  await store([event])
  const ids = (await jobsOf(event.eventKey)).map(({ id }) => id)
  const undone = inTransaction(pool, async (transaction) => {
    await jobs.remove(transaction, WEBHOOK_QUEUE, ids)
    await transaction.query('SELECT 1 / 0')
  })
  await expect(undone).rejects.toThrow('division by zero')
  expect(await jobsOf(event.eventKey)).toHaveLength(1)
  await inTransaction(pool, (transaction) => jobs.remove(transaction, WEBHOOK_QUEUE, ids))
  expect(await jobsOf(event.eventKey)).toEqual([])
})

test('each event gets its own bytes: none, those of others before it, and what is no text', async () => {
  const texts = ['', 'one', '\u0000\u00ff"\\', 'x'.repeat(100_000)]
  const events = texts.map((text) => anEvent(text))
  const stored = await store(events)
  expect(stored).toEqual(new Set(events.map(({ eventKey }) => eventKey)))
  for (const { eventKey, body } of events) {
    const { rows } = await pool.query(`SELECT body FROM webhook_events WHERE event_key = $1`, [eventKey])
    expect(rows).toEqual([{ body }])
  }
})

test('of the same id and the same bytes one is stored, in one transaction as in two, and the others get no job', async () => {
  const first = anEvent('once')
  const again = [anEvent('once'), anEvent('twice', { eventId: first.eventId })]
  expect(await store([first, ...again])).toEqual(new Set([first.eventKey]))
  expect(await store(again)).toEqual(new Set())
  for (const { eventKey } of again) expect(await jobsOf(eventKey)).toEqual([])
})

test('events of one commit share a job, until each gets its own', async () => {
  const events = ['first', 'second', 'third'].map((text) => anEvent(text))
  await store(events)
  const deliveries = events.map(({ eventKey, body }) => ({ id: eventKey, bytes: body.byteLength }))
  const [{ eventKey } = anEvent('')] = events
  const shared = () => boss.findJobs(WEBHOOK_BATCH_QUEUE, { data: { deliveries: [{ id: eventKey }] } })
  const [job] = await shared()
  expect(job).toMatchObject({ data: { deliveries }, retryLimit: 9, deadLetter: DEAD_WEBHOOK_QUEUE })
  expect(await jobsOf(eventKey)).toEqual([])
  const listed = await listWaitingWebhooks(pool, {
    queues: [WEBHOOK_BATCH_QUEUE],
    deadQueue: DEAD_WEBHOOK_QUEUE,
    status: 'pending',
    limit: 100,
  })
  const ids = new Set(listed.map(({ eventId }) => eventId))
  expect(events.filter(({ eventId }) => !ids.has(eventId))).toEqual([])
  await inTransaction(pool, (transaction) => jobs.split(transaction, job?.id ?? '', deliveries))
  expect(await shared()).toEqual([])
  for (const one of deliveries) expect(await jobsOf(one.id)).toEqual([expect.objectContaining({ data: one })])
})

test('events are logged by one row of the queue for their commit, also where some of them are not new', async () => {
  const known = anEvent('known')
  await store([known])
  const fresh = ['4', '5', '6'].map((text) => anEvent(text))
  const [first, ...others] = fresh
  expect(await store([...(first ? [first] : []), anEvent('known'), ...others])).toEqual(
    new Set(fresh.map(({ eventKey }) => eventKey)),
  )
  const { rows } = await pool.query<{ ordinal: number; entries: string }>(
    `SELECT log_ordinal AS ordinal, q.entries
     FROM webhook_events JOIN log_queue AS q ON q.batch = log_batch WHERE event_key = ANY ($1) ORDER BY 1`,
    [fresh.map(({ eventKey }) => eventKey)],
  )
  const logged = rows.map(({ ordinal, entries }) => ({ ordinal, id: queuedEntries(entries)[ordinal]?.id }))
  expect(logged).toEqual(fresh.map(({ eventKey }, ordinal) => ({ ordinal, id: eventKey })))
})

test('without its queue an event is not stored: nobody would ever process it', async () => {
  const event = anEvent('lost')
  await boss.deleteQueue(WEBHOOK_QUEUE)
  // As a thread finds it that knew the queue, and as one that starts now.
  await expect(store([event])).rejects.toThrow('no queue webhook-events')
  const joined = openWebhookJobs(openJoinedQueue(pool))()
  await expect(
    joined.then((late) => storeWithJobs({ pool, startLogEntries }, late, [event])),
  ).rejects.toThrow('Queue webhook-events does not exist')
  expect(await isStored(event.eventKey)).toBe(false)
})

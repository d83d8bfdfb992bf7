// kill -9 at every await of the work that a delivery's word makes: whatever the moment, all of it is there or nothing, and the next run ends as if
// nobody had been killed.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256Hex } from '../../src/store/sha256.ts'
import { openJoinedQueue } from '../../src/store/queues/job-queue.ts'
import { queuedEntries, startLogEntries } from '../../src/store/tables/log-queue.ts'
import { deliveriesIn, openWebhookJobs } from '../../src/store/queues/webhook-queue.ts'
import { storeWithJobs } from '../../workers/webhooks/receive.ts'
import { aBankDelivery, bankEnv } from '../bank.ts'
import { asTemplate, createDatabase, withoutServices, type TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { CACHE } from '../run/bundle.ts'
import { baseEnvironment } from '../run/environment.ts'
import { bundlePrograms } from '../run/programs.ts'
import { startService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { aTransaction } from '../transactions.ts'
import type { Work } from './deliveries/child.ts'
import { instrument } from './points/instrument.ts'
import { awaitOf, awaitsOf, planKills, readMarks, type Kill, type Reached } from './points/plan.ts'
import { openIntents } from '../../src/store/tables/released-batches.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CHILD = join(import.meta.dirname, 'deliveries', 'child.ts')
/** The thread as one program, every await marked: it is started some hundred times. Where it finds the packages. */
const MARKED_FOLDER = join(CACHE, 'marked-deliveries')
const WORK = ['workers/webhooks/process.ts', 'workers/webhooks/confirm.ts', 'workers/intents/transition.ts']
const TABLES = ['confirmed-transactions', 'webhook-outcomes', 'transaction']
const MARKED = new Set([...WORK, ...TABLES.map((name) => `src/store/tables/${name}.ts`)])
/** Threads that are started and killed at the same time. */
const LANES = 2
const BATCH = 'a batch of deliveries'

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-deliveries-'))
const keyDir = join(folder, 'keys')
/** Nobody is connected to it. */
let template: string
let database: TestDatabase
/** The transaction whose connector may still answer, so that its delivery waits. */
let unanswered: string
let marks: ReadonlyMap<string, readonly Reached[]>
/** As it was before, and as it ends where nobody is killed. */
let before: State
let after: State

const withMarks = (file: string, source: string) =>
  MARKED.has(file) ? instrument(file, source).text : source

beforeAll(async () => {
  makeKeys(keyDir)
  await bundlePrograms(MARKED_FOLDER, withMarks, { child: CHILD })
  database = await createDatabase()
  await storeDeliveries(database)
  before = await stateOf(database)
  template = await asTemplate(database)
  // The queue that storing has joined looks at the database again a minute later: it would be in the way of a copy.
  await database.pool.end()
  const list = join(folder, 'marks')
  writeFileSync(list, '')
  const copy = await createDatabase(template)
  expect(await runChild(copy, { CRASH_LIST: list }, BATCH)).toBeNull()
  after = await stateOf(copy)
  await copy.drop()
  marks = new Map([[BATCH, readMarks(readFileSync(list, 'utf8'))]])
})

afterAll(async () => {
  await database.drop()
  rmSync(folder, { recursive: true })
})

/** One of each that a batch can hold: closing, contradicting, undecided, waiting, and those that close nothing. */
async function storeDeliveries({ pool, url }: TestDatabase): Promise<void> {
  const service = await startService({ databaseUrl: url, signingKeyDir: keyDir, env: bankEnv })
  const ids: string[] = []
  for (let i = 0; i < 4; i++) {
    const transaction = aTransaction()
    expect((await service.post('/execute', transaction)).status).toBe(200)
    ids.push(transaction.businessTransactionId)
  }
  expect(await service.stop()).toBe(0)
  const [closed = '', both = '', finished = '', waiting = ''] = ids
  for (const id of [closed, both, waiting]) await putInDoubt(database, id)
  unanswered = waiting
  const deliveries = [
    aBankDelivery('paid', closed),
    aBankDelivery('held', both),
    aBankDelivery('paid', both),
    aBankDelivery('refused', both),
    aBankDelivery('refused', finished),
    aBankDelivery('paid', waiting),
    aBankDelivery('paid', randomUUID()),
    aBankDelivery('odd', finished),
    aBankDelivery('other', finished),
  ]
  const jobs = await openWebhookJobs(openJoinedQueue(pool))()
  const receivedMs = Date.now()
  const rows = deliveries.map(({ body, eventId }, i) => ({
    eventKey: randomUUID(),
    provider: 'bank',
    eventId,
    headers: '{}',
    bodySha256: sha256Hex(body),
    body: Buffer.from(body),
    receivedAt: new Date(receivedMs + i).toISOString(),
  }))
  expect((await storeWithJobs({ pool, startLogEntries }, jobs, rows)).size).toBe(rows.length)
}

/** The outside can see this, without what is new at each run. */
type State = Awaited<ReturnType<typeof stateOf>>

async function stateOf({ pool }: TestDatabase) {
  const texts = async (text: string) =>
    (await pool.query<{ text: string }>(`SELECT text FROM (${text}) AS found ORDER BY 1`)).rows.map(
      (row) => row.text,
    )
  return {
    deliveries: await texts(
      `SELECT concat_ws(' ', event_id, outcome, rule_id, business_transaction_id, detail, processed_at IS NULL) AS text
       FROM webhook_events`,
    ),
    confirmations: await texts(
      `SELECT concat_ws(' ', w.event_id, c.business_transaction_id, c.body::json ->> 'says') AS text
       FROM provider_confirmations AS c JOIN webhook_events AS w USING (event_key)`,
    ),
    open: await texts(`SELECT i.id AS text FROM ${openIntents}`),
    transitions: await texts(
      `SELECT concat_ws(' ', business_transaction_id, body::json ->> 'resolution', body::json ->> 'by') AS text
       FROM intent_transitions`,
    ),
    audited: await texts(
      `SELECT concat_ws(' ', type, body::json -> 'detail' ->> 'eventId') AS text FROM audit_events`,
    ),
    entries: (await texts('SELECT entries AS text FROM log_queue'))
      .flatMap((text) => queuedEntries(text).map(({ kind }) => kind))
      .toSorted(),
    jobs: await texts(
      `SELECT w.event_id AS text FROM pgboss.job AS j, jsonb_array_elements(${deliveriesIn('j')}) AS d
       JOIN webhook_events AS w ON w.event_key::text = d ->> 'id'`,
    ),
  }
}

/** @returns the signal that ended it, null where it came to its end */
async function runChild(
  { url, pool }: TestDatabase,
  env: Record<string, string>,
  what: string,
): Promise<NodeJS.Signals | null> {
  await pool.query(
    `UPDATE released_batches SET deadline = now() + interval '50 s' WHERE $1::uuid = ANY (ids)`,
    [unanswered],
  )
  const child = spawn(process.execPath, [join(MARKED_FOLDER, 'child.mjs')], {
    env: { ...baseEnvironment, CRASH_WORK: JSON.stringify({ url, keyDir } satisfies Work), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  expect(code ?? 0, `${what}: ${stderr}`).toBe(0)
  return signal
}

test('a batch holds one of each', () => {
  expect(before.confirmations).toEqual([])
  expect(after.confirmations).toHaveLength(5)
  expect(after.transitions).toHaveLength(2)
  expect(after.audited.filter((text) => text.startsWith('confirmation.contradicts'))).toHaveLength(2)
  expect(after.audited.filter((text) => text.startsWith('webhook.processed'))).toHaveLength(8)
  expect(after.jobs).toHaveLength(1)
})

// proves fault: kill -9 while a provider's word
test('every await of the work is one that a thread is killed at', () => {
  const reached = awaitsOf(marks)
  const written = WORK.flatMap((file) =>
    instrument(file, readFileSync(join(ROOT, file), 'utf8')).awaits.map((one) => `${file}:${one}`),
  )
  expect(written.length).toBeGreaterThan(8)
  expect(written.filter((one) => !reached.has(one))).toEqual([])
})

// proves fault: kill -9 while a provider's word
test('killed at any of them, all of it is there or nothing, and the next run ends the same', async () => {
  const kills = planKills(marks)
  expect(new Set(kills.map(({ at }) => awaitOf(at)))).toEqual(awaitsOf(marks))
  const left = { nothing: 0, all: 0 }
  const rest = kills.values()
  const lane = async () => {
    for (const kill of rest) left[await killAt(kill)]++
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  expect(left.nothing).toBeGreaterThan(0)
  expect(left.all).toBeGreaterThan(0)
}, 600_000)

async function killAt({ at, nth, when }: Kill<string>): Promise<'nothing' | 'all'> {
  const what = `killed at ${at}, ${nth}, ${when}`
  const copy = await createDatabase(template)
  expect(await runChild(copy, { CRASH_STOP: JSON.stringify({ at, nth, when }) }, what), what).toBe('SIGKILL')
  await withoutServices(copy)
  const found = await stateOf(copy)
  const isNothing = JSON.stringify(found) === JSON.stringify(before)
  expect(found, what).toEqual(isNothing ? before : after)
  expect(await runChild(copy, {}, what)).toBeNull()
  expect(await stateOf(copy), what).toEqual(after)
  await copy.drop()
  return isNothing ? 'nothing' : 'all'
}

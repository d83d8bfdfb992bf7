// countersign webhooks: what an operator sees of deliveries that are not processed, and how dead ones are run again (decisions §10).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openJobQueue } from '../src/store/queues/job-queue.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { until, type TestService } from './service.ts'
import { aDelivery, auditedDetails, deliver, env, poisoned, storedEvents } from './webhooks.ts'
import { bundledEnvironment } from './run/environment.ts'
import { withService } from './with-service.ts'

const CLI = join(import.meta.dirname, '..', 'src', 'cli', 'index.ts')

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), { env })

async function webhooks(args: string[], databaseUrl: string | undefined = database.url) {
  const child = spawn(process.execPath, [CLI, 'webhooks', ...args], {
    env: { ...bundledEnvironment, ...(databaseUrl === '' ? {} : { DATABASE_URL: databaseUrl }) },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stdout, stderr }
}

/** Delivered, failed, and out of attempts: as it is after a quarter of an hour. */
async function aDeadDelivery(): Promise<string> {
  const eventId = `poison_${randomUUID()}`
  await deliver(service, aDelivery({ eventId }))
  const ofIt = `data ->> 'id' = (SELECT event_key::text FROM webhook_events WHERE event_id = $1)`
  const dead = async () => {
    // The next failure is the last.
    await database.pool.query(
      `UPDATE pgboss.job SET retry_limit = 0, start_after = now() WHERE state = 'retry' AND ${ofIt}`,
      [eventId],
    )
    const { rowCount } = await database.pool.query(
      `SELECT 1 FROM pgboss.job WHERE name = 'webhook-events-dead' AND ${ofIt}`,
      [eventId],
    )
    return rowCount === 1
  }
  await until(dead, 'the last failure')
  return eventId
}

function aLine(status: string, id: string): RegExp {
  return new RegExp(`^${status}  \\d+[ms]\\S*  \\d+ failures  razorpay  ${id}  poison cannot be processed$`)
}

const isProcessed = (eventId: string) =>
  until(async () => (await storedEvents(database, [eventId]))[0]?.processed_at, 'the job')

/** The ids of the deliveries that a list shows. */
const idsIn = (text: string) =>
  Array.from(text.matchAll(/^\S+ {2}\S+Z {2}razorpay {2}(\S+)/gm), ([, id]) => id)

test('lists what waits, failed or is dead with age and reason; runs one or all dead ones again, once', async () => {
  expect(await webhooks(['list', '--status', 'waiting'])).toEqual({
    status: 0,
    stdout: '',
    stderr: 'Nothing waits.\n',
  })
  const { cure } = await poisoned(database)
  const dead = [await aDeadDelivery(), await aDeadDelivery(), await aDeadDelivery()]
  const failing = `poison_${randomUUID()}`
  await deliver(service, aDelivery({ eventId: failing }))
  await until(async () => (await webhooks(['list', '--status', 'failed'])).stdout, 'the failure')

  const listed = await webhooks(['list', '--status', 'waiting'])
  expect(listed).toMatchObject({ status: 0, stderr: '4 listed.\n' })
  expect(listed.stdout.trimEnd().split('\n')).toEqual([
    ...dead.map((id) => expect.stringMatching(aLine('dead', id))),
    expect.stringMatching(aLine('failed', failing)),
  ])
  expect((await webhooks(['list', '--status', 'dead', '--limit', '1'])).stdout.split('\n')).toHaveLength(2)
  expect((await webhooks(['list', '--status', 'pending'])).stdout).toBe('')

  await cure()
  const [first = '', ...others] = dead
  expect(await webhooks(['retry', 'razorpay', first])).toEqual({
    status: 0,
    stdout: `razorpay ${first} is run again.\n`,
    stderr: '',
  })
  await isProcessed(first)
  expect((await storedEvents(database, others)).map(({ processed_at }) => processed_at)).toEqual([null, null])
  expect(await webhooks(['retry', '--all'])).toMatchObject({
    status: 0,
    stdout: '2 dead deliveries are run again.\n',
  })
  for (const id of [...others, failing]) {
    await isProcessed(id)
    expect(await auditedDetails(database, 'webhook.processed', id)).toHaveLength(1)
  }
  expect((await webhooks(['list', '--status', 'waiting'])).stdout).toBe('')
  expect(await webhooks(['retry', '--all'])).toMatchObject({ stdout: '0 dead deliveries are run again.\n' })
})

test('lists the recent deliveries with how they ended, newest first, by provider, a page at a time', async () => {
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    const delivery = aDelivery()
    await deliver(service, delivery)
    await isProcessed(delivery.eventId)
    ids.unshift(delivery.eventId)
  }
  await database.pool.query(
    `UPDATE webhook_events SET outcome = NULL, processed_at = NULL WHERE event_id = $1`,
    [ids[0]],
  )
  const all = await webhooks(['list'])
  expect(all).toMatchObject({ status: 0, stderr: expect.stringMatching(/^\d+ listed\.\n$/) as string })
  expect(idsIn(all.stdout).slice(0, 3)).toEqual(ids)
  const outcomes = all.stdout.split('\n').map((line) => line.split('  ')[0])
  expect(outcomes.slice(0, 2)).toEqual(['waiting', 'no-match'])

  const first = await webhooks(['list', '--provider', 'razorpay', '--limit', '2'])
  const [, cursor = ''] = /^2 listed\. Older ones: --cursor (\S+)\n$/.exec(first.stderr) ?? []
  const rest = await webhooks(['list', '--provider', 'razorpay', '--cursor', cursor])
  expect([...idsIn(first.stdout), ...idsIn(rest.stdout)]).toEqual(idsIn(all.stdout))
  expect(await webhooks(['list', '--provider', 'stripe'])).toMatchObject({
    stdout: '',
    stderr: '0 listed.\n',
  })
  expect(await webhooks(['list', '--cursor', 'x'])).toMatchObject({ status: 1, stdout: '' })
  expect((await webhooks(['list', '--status', 'dead', '--provider', 'razorpay'])).status).toBeGreaterThan(0)
})

test('shows a delivery, lists those that ended in a certain way, and has a processed one processed again', async () => {
  const [delivery, empty] = [aDelivery(), aDelivery()]
  for (const each of [delivery, empty]) {
    await deliver(service, each)
    await isProcessed(each.eventId)
  }
  const { eventId } = delivery
  const shown = await webhooks(['show', 'razorpay', eventId])
  expect(JSON.parse(shown.stdout)).toMatchObject({
    eventId,
    body: delivery.body,
    bodyEncoding: 'text',
    reruns: 0,
  })
  await database.pool.query(
    `UPDATE webhook_events SET outcome = 'contradicted', detail = 'It\n differs.' WHERE event_id = $1`,
    [eventId],
  )
  const listed = await webhooks(['list', '--outcome', 'contradicted'])
  expect(listed).toMatchObject({ status: 0, stderr: '1 listed.\n' })
  expect(listed.stdout).toMatch(
    new RegExp(`^contradicted  \\S+Z  razorpay  ${eventId}  -  -  It differs\\.\\n$`),
  )

  expect(await webhooks(['retry', 'razorpay', eventId])).toMatchObject({
    status: 0,
    stdout: `razorpay ${eventId} is run again.\n`,
  })
  await until(
    async () => (await auditedDetails(database, 'webhook.processed', eventId)).length === 2,
    'the second run',
  )
  await database.pool.query(`UPDATE webhook_events SET body = '' WHERE event_id = $1`, [empty.eventId])
  expect(await webhooks(['retry', 'razorpay', empty.eventId])).toMatchObject({
    status: 1,
    stderr: `countersign: The delivery ${empty.eventId} of razorpay was emptied: nothing is left to process.\n`,
  })
  for (const command of ['show', 'retry'])
    expect(await webhooks([command, 'razorpay', 'evt_none'])).toMatchObject({
      status: 1,
      stderr: 'countersign: No delivery evt_none of razorpay.\n',
    })
})

test.each([
  [['retry'], 'Name a provider and an event id, or give --all.'],
  [['retry', 'razorpay'], 'Name a provider and an event id, or give --all.'],
  [['retry', 'razorpay', 'evt', '--all'], 'Name a provider and an event id, or give --all.'],
  [['list', '--limit', '0'], 'It must be from 1 to 999999.'],
  [['list', '--status', 'done'], 'Allowed choices are waiting, pending, failed, dead.'],
])('%j is refused', async (args, why) => {
  const { status, stdout, stderr } = await webhooks(args)
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toContain(why)
})

test('without a database it says so', async () => {
  expect(await webhooks(['list'], '')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /^countersign: DATABASE_URL is not set, and the embedded database of \S+ is not running/,
    ),
  })
  expect(await webhooks(['list'], 'postgres://nobody@127.0.0.1:1/x')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^countersign: The database cannot be opened: connect ECONNREFUSED /),
  })
})

test.each(['no queue', 'queues of others'])(
  'on a database with %s nothing waits, and it says why',
  async (has) => {
    const empty = await createDatabase()
    if (has !== 'no queue') {
      const report = { onError: () => undefined, onWarning: () => undefined }
      const others = await openJobQueue(empty.pool, [{ name: 'others', retryLimit: 1 }], report)
      await others.stop({ graceful: false })
    }
    for (const status of ['waiting', 'pending', 'failed', 'dead'])
      expect(await webhooks(['list', '--status', status], empty.url)).toEqual({
        status: 0,
        stdout: '',
        stderr:
          'Nothing waits: no service on this database has taken deliveries. A provider needs its secret first.\n',
      })
    expect(await webhooks(['list'], empty.url)).toMatchObject({ status: 0, stderr: '0 listed.\n' })
    expect(await webhooks(['retry', '--all'], empty.url)).toMatchObject({
      status: 0,
      stdout: '0 dead deliveries are run again.\n',
    })
    for (const command of ['retry', 'show'])
      expect(await webhooks([command, 'razorpay', 'evt_1'], empty.url)).toMatchObject({
        status: 1,
        stderr: 'countersign: No delivery evt_1 of razorpay.\n',
      })
    await empty.drop()
  },
)

const SHIPPED = join(import.meta.dirname, '..', 'webhooks')

test('check compiles rules and runs the cases beside them, without a database', async () => {
  const { status, stdout, stderr } = await webhooks(['check', join(SHIPPED, 'razorpay.yaml')], '')
  expect(stdout).toMatch(/^3 rules of razorpay compiled, rulesHash [0-9a-f]{64}; 16 cases hold\.\n$/)
  expect([status, stderr]).toEqual([0, ''])
})

test('check names what does not compile, and the case that does not hold', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'webhooks-check-'))
  const file = join(dir, 'stripe.yaml')
  const rules = readFileSync(join(SHIPPED, 'stripe.yaml'), 'utf8')
  try {
    writeFileSync(file, rules)
    const alone = await webhooks(['check', file], '')
    expect(alone.stderr).toBe(`warning: no cases were run: ${join(dir, 'stripe.cases.yaml')} is not there.\n`)
    expect(alone.status).toBe(0)

    const draft = join(dir, 'draft.yaml')
    writeFileSync(draft, rules)
    expect((await webhooks(['check', draft], '')).stderr).toContain(
      'warning: in WEBHOOK_DIR the rules of stripe must be called stripe.yaml.\n',
    )

    cpSync(join(SHIPPED, 'stripe.cases.yaml'), join(dir, 'stripe.cases.yaml'))
    writeFileSync(file, rules.replace('payment_intent.canceled', 'payment_intent.cancelled'))
    const failing = await webhooks(['check', file], '')
    expect(failing.stderr).toMatch(
      /^.*stripe\.cases\.yaml: line \d+: A payment that was canceled\. But it is taken by rule payment-under-way\.\n$/,
    )
    expect(failing.status).toBe(1)

    writeFileSync(file, rules.replace('payload.type ==', 'payload.type ='))
    const broken = await webhooks(['check', file], '')
    expect(broken.stderr).toMatch(
      /^countersign: .*stripe\.yaml, line \d+, column 20, rule payment-succeeded, when: /,
    )
    expect(broken.status).toBe(1)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

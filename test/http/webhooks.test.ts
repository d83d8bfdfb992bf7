// Deliveries of providers (interface §6, decisions §10): authenticated by their bytes, stored as they came, processed once.
import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { aHuman } from '../authority.ts'
import { openDatabaseProxy } from '../proxy.ts'
import { startService, until, type Called, type TestService } from '../service.ts'
import {
  aDelivery,
  aPayment,
  auditedDetails,
  deliver,
  env,
  PAYMENT_CAPTURED,
  poisoned,
  REFUND_PROCESSED,
  SECRET,
  signatureOf,
  storedEvents,
  type Delivery,
} from '../webhooks.ts'
import { makeKeys } from '../signing-keys.ts'

const BYTES_MAX = 1_000_000
const OLD_SECRET = 'whsec_before-the-rotation'
const ROTATED = `${SECRET},${OLD_SECRET}`
const human = aHuman('human')
const key = makeRawKey()
const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-webhooks-'))

let database: TestDatabase
let service: TestService
let second: TestService

beforeAll(async () => {
  database = await createDatabase()
  makeKeys(signingKeyDir)
  const start = () =>
    startService({
      databaseUrl: database.url,
      signingKeyDir,
      key,
      callers: [human.entry],
      env: { RAZORPAY_WEBHOOK_SECRET: ROTATED, ACME_PAY_WEBHOOK_SECRET: SECRET, MAX_BODY_BYTES: '1000' },
    })
  // Together: only one of them can make the schema of the jobs.
  ;[service, second] = await Promise.all([start(), start()])
})

afterAll(async () => {
  for (const each of [service, second]) {
    expect(each.output()).not.toContain(SECRET)
    expect(each.output()).not.toContain(OLD_SECRET)
    expect(await each.stop()).toBe(0)
  }
  await database.drop()
  rmSync(signingKeyDir, { recursive: true })
})

const status = ({ status: answered, body }: Called) => [answered, body]
const accepted = [200, { status: 'accepted' }]
const acknowledged = [200, { status: 'acknowledged' }]
const refused = (code: number, error: string) => [code, { error }]

/** The audit's account of a delivery, once there is one. */
function processed({ eventId }: Delivery): Promise<Record<string, string>> {
  return until(async () => (await auditedDetails(database, 'webhook.processed', eventId))[0], 'the job')
}

async function noJobs(): Promise<boolean> {
  return (await database.pool.query(`SELECT id FROM pgboss.job`)).rowCount === 0
}

describe('POST /webhooks/{provider} 200', () => {
  // proves §4.5 A POST route that receives; §6 Inbound delivery from a payment; §6 Body · the provider's
  // proves §6 Response 200 · `{status
  test.each([
    ['payment.captured', PAYMENT_CAPTURED, { paymentId: 'pay_DESlfW9H8K9uqM' }],
    [
      'refund.processed',
      REFUND_PROCESSED,
      { paymentId: 'pay_FFX5FdEYx8jPwA', refundId: 'rfnd_FP8QHiV938haTz' },
    ],
  ])('%s is stored byte for byte and read once, for the audit', async (event, body, ids) => {
    const delivery = aDelivery({ body })
    expect(status(await deliver(service, delivery))).toEqual(accepted)
    const detail = await processed(delivery)
    const bodySha256 = createHash('sha256').update(body).digest('hex')
    expect(detail).toEqual({
      provider: 'razorpay',
      eventId: delivery.eventId,
      bodySha256,
      receivedAt: expect.any(String),
      // None of the rules that ship reads it.
      outcome: 'no-match',
      event,
      ...ids,
    })
    const [stored] = await storedEvents(database, [delivery.eventId])
    expect(stored?.body.toString()).toBe(body)
    expect(stored).toMatchObject({ body_sha256: bodySha256, processed_at: expect.any(Date) })
  })

  test('the audit event verifies, and its id is the key of the stored event', async () => {
    const delivery = aDelivery()
    await deliver(service, delivery)
    await processed(delivery)
    const [stored] = await storedEvents(database, [delivery.eventId])
    const { body } = await service.get('/audit/events?type=webhook.processed', { key: human.key })
    const events = body.events as { event: { eventId: string } }[]
    const event = events.find((candidate) => candidate.event.eventId === stored?.event_key)
    expect(event).toBeDefined()
    expect((await service.post('/audit/verify', event)).body).toMatchObject({ valid: true })
  })

  // proves §6 Body · the provider's; abuse: Bodies that are no JSON
  test.each([
    ['no JSON', 'not { json'],
    ['nothing', ''],
    ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x00, 0x22])],
    ['an array of an array of …', '['.repeat(100_000)],
    ['other types', '{"event":{"a":1},"payload":{"payment":[],"refund":{"entity":{"id":7}}}}'],
    ['null', 'null'],
    ['a lone surrogate and a NUL', '{"event":"\\ud800\\u0000"}'],
  ])('a body that is %s is stored as it is and processed', async (_what, body) => {
    const delivery = aDelivery({ body })
    expect(status(await deliver(service, delivery))).toEqual(accepted)
    const detail = await processed(delivery)
    expect(detail).not.toHaveProperty('paymentId')
    const [stored] = await storedEvents(database, [delivery.eventId])
    expect(stored?.body).toEqual(Buffer.from(body))
  })

  test('a text of the provider’s is cut in the audit and whole in the store', async () => {
    const event = 'x'.repeat(10_000)
    const delivery = aDelivery({
      body: JSON.stringify({ event, payload: { payment: { entity: { id: event } } } }),
    })
    await deliver(service, delivery)
    expect(await processed(delivery)).toMatchObject({ event: 'x'.repeat(256), paymentId: 'x'.repeat(256) })
  })

  // proves §4.5 A POST route that receives; §6 Inbound delivery from a payment; §6 Response 200 · `{status
  test('the same id again is acknowledged, whatever it brings, and nothing is stored', async () => {
    const delivery = aDelivery()
    expect(status(await deliver(service, delivery))).toEqual(accepted)
    expect(status(await deliver(service, delivery))).toEqual(acknowledged)
    expect(status(await deliver(second, aDelivery({ eventId: delivery.eventId })))).toEqual(acknowledged)
    const stored = await storedEvents(database, [delivery.eventId])
    expect(stored.map(({ body }) => body.toString())).toEqual([delivery.body])
    expect(await auditedDetails(database, 'webhook.replayed', delivery.eventId)).toEqual([])
  })

  // proves abuse: A captured delivery sent again
  test('the same bytes under a new id are acknowledged, not stored, and audited before the reply', async () => {
    const first = aDelivery()
    await deliver(service, first)
    const replayed = aDelivery({ body: first.body })
    expect(status(await deliver(second, replayed))).toEqual(acknowledged)
    expect(await storedEvents(database, [replayed.eventId])).toEqual([])
    expect(await auditedDetails(database, 'webhook.replayed', replayed.eventId)).toMatchObject([
      { provider: 'razorpay', bodySha256: createHash('sha256').update(first.body).digest('hex') },
    ])
  })

  test('providers have their own ids and bytes; a _ in a name is a - in its headers', async () => {
    const delivery = aDelivery()
    const headers = {
      'X-Acme-Pay-Signature': signatureOf(delivery.body),
      'x-ACME-pay-event-ID': delivery.eventId,
    }
    expect(status(await deliver(service, delivery))).toEqual(accepted)
    const other = await service.post('/webhooks/acme_pay', delivery.body, { key: null, headers })
    expect(status(other)).toEqual(accepted)
    expect(await storedEvents(database, [delivery.eventId])).toHaveLength(2)
  })

  // proves §6 Header `X-<Provider>-Signature` · required
  test('a rotated secret keeps working beside the new one', async () => {
    expect(status(await deliver(service, aDelivery({ secret: OLD_SECRET })))).toEqual(accepted)
    expect(status(await deliver(service, aDelivery({ secret: SECRET })))).toEqual(accepted)
  })

  // proves fault: Two instances get the same; abuse: A captured delivery sent again
  test('two instances get the same event a hundred times at once: one accepts it, and it is processed once', async () => {
    const deliveries = [aDelivery(), aDelivery(), aDelivery()]
    const sent = Array.from({ length: 300 }, (_, i) => ({
      to: i % 2 ? service : second,
      delivery: deliveries[i % 3] as Delivery,
    }))
    const answers = await Promise.all(sent.map(({ to, delivery }) => deliver(to, delivery)))
    expect(answers.filter(({ status: answered }) => answered !== 200)).toEqual([])
    expect(answers.filter(({ body }) => body.status === 'accepted')).toHaveLength(3)
    for (const delivery of deliveries) {
      await processed(delivery)
      expect(await storedEvents(database, [delivery.eventId])).toHaveLength(1)
      expect(await auditedDetails(database, 'webhook.processed', delivery.eventId)).toHaveLength(1)
    }
  })

  // proves abuse: kill -9 between the acknowledgement
  test('of a batch, one that cannot be stored fails alone', async () => {
    await database.pool.query(
      `ALTER TABLE webhook_events ADD CONSTRAINT no_plague CHECK (event_id NOT LIKE 'plague%')`,
    )
    const bad = Array.from({ length: 3 }, () => aDelivery({ eventId: `plague_${randomUUID()}` }))
    const good = Array.from({ length: 60 }, () => aDelivery())
    const [failed, stored] = await Promise.all([
      Promise.all(bad.map((delivery) => deliver(service, delivery))),
      Promise.all(good.map((delivery) => deliver(service, delivery))),
    ])
    expect(failed.map(({ status: answered }) => answered)).toEqual([500, 500, 500])
    expect(stored.map(status)).toEqual(good.map(() => accepted))
    await database.pool.query('ALTER TABLE webhook_events DROP CONSTRAINT no_plague')
  })

  test('takes up to 1,000,000 bytes, whatever MAX_BODY_BYTES is', async () => {
    const delivery = aDelivery({ body: `"${'x'.repeat(BYTES_MAX - 2)}"` })
    expect(status(await deliver(service, delivery))).toEqual(accepted)
    await processed(delivery)
    expect((await storedEvents(database, [delivery.eventId]))[0]?.body.byteLength).toBe(BYTES_MAX)
  })

  test('an API key makes no difference, good or bad', async () => {
    for (const given of [key, 'csk_bad']) {
      const { body, headers } = aDelivery()
      const answer = await service.post('/webhooks/razorpay', body, { key: given, headers })
      expect(status(answer)).toEqual(accepted)
    }
  })

  test('done jobs leave the queue', async () => {
    expect(await until(noJobs, 'the queue to be empty')).toBe(true)
  })
})

describe('401 missingSignature', () => {
  // proves §6 Header `X-<Provider>-Signature` · required
  test.each([{}, { 'X-Razorpay-Signature': '' }, { 'X-Acme-Pay-Signature': 'a'.repeat(64) }])(
    'without the header, %j',
    async (headers: Record<string, string>) => {
      const answer = await service.post('/webhooks/razorpay', 'x', {
        key: null,
        headers: { ...headers, 'X-Razorpay-Event-Id': randomUUID() },
      })
      expect(status(answer)).toEqual(refused(401, 'Missing signature.'))
    },
  )
})

describe('401 invalidSignature', () => {
  const body = aPayment()
  const right = signatureOf(body)

  // proves §6 Header `X-<Provider>-Signature` · required; §6 The status code for a bad; abuse: A signature in upper case
  test.each([
    ['upper case', right.toUpperCase()],
    ['one character short', right.slice(1)],
    ['one character more', `${right}0`],
    ['no hex', `g${right.slice(1)}`],
    ['prefixed', `sha256=${right}`],
    ['base64', Buffer.from(right, 'hex').toString('base64')],
    ['of other bytes', signatureOf(`${body} `)],
    ['under another secret', signatureOf(body, 'another-secret-of-16')],
    ['under both secrets as one', signatureOf(body, ROTATED)],
    ['all zeros', '0'.repeat(64)],
    ['given twice', `${right}, ${right}`],
    ['a wrong one beside the right one', `${'0'.repeat(64)}, ${right}`],
  ])('that is %s', async (_what, signature) => {
    const delivery = aDelivery({ body, headers: { 'X-Razorpay-Signature': signature } })
    expect(status(await deliver(service, delivery))).toEqual(refused(401, 'Invalid signature.'))
    expect(await storedEvents(database, [delivery.eventId])).toEqual([])
  })

  // proves §6 Header `X-<Provider>-Event-Id` · required; abuse: A signature in upper case
  test('comes before a missing event id, and is audited without the signature', async () => {
    const headers = { 'X-Razorpay-Signature': '0'.repeat(64) }
    const answer = await service.post('/webhooks/razorpay', body, { key: null, headers })
    expect(status(answer)).toEqual(refused(401, 'Invalid signature.'))
    const rejected = await auditedDetails(database, 'webhook.rejected')
    expect(rejected).toContainEqual({ provider: 'razorpay', clientAddress: '127.0.0.1', count: 1 })
  })

  // proves abuse: A signature in upper case
  test('every prefix of the body but the whole one', async () => {
    const signature = signatureOf(PAYMENT_CAPTURED)
    for (const cut of [0, 1, PAYMENT_CAPTURED.length - 1]) {
      const delivery = aDelivery({
        body: PAYMENT_CAPTURED.slice(0, cut),
        headers: { 'X-Razorpay-Signature': signature },
      })
      expect((await deliver(service, delivery)).status).toBe(401)
    }
  })
})

describe('400 missingEventId', () => {
  // proves §6 Header `X-<Provider>-Event-Id` · required; §6 The status code for a bad
  test.each([{}, { 'X-Razorpay-Event-Id': '' }])('%j', async (more: Record<string, string>) => {
    const body = aPayment()
    const headers = { 'X-Razorpay-Signature': signatureOf(body), ...more }
    const answer = await service.post('/webhooks/razorpay', body, { key: null, headers })
    expect(status(answer)).toEqual(refused(400, 'Missing event id.'))
  })
})

describe('400 invalidField', () => {
  test.each([
    ['too long', 'x'.repeat(256)],
    ['with a space', 'evt 1'],
    ['given twice', 'evt_1, evt_1'],
    // Not at its end: uWebSockets.js takes bytes over 127 for white space there, and cuts them off.
    ['not ASCII', 'evt_\u00e9_1'],
  ])('an event id that is %s', async (_what, eventId) => {
    expect(status(await deliver(service, aDelivery({ eventId })))).toEqual(
      refused(400, 'x-razorpay-event-id must be 1 to 255 printable ASCII characters without spaces.'),
    )
  })

  test('one of 255 is taken', async () => {
    const eventId = randomUUID().padEnd(255, '~')
    expect(status(await deliver(service, aDelivery({ eventId })))).toEqual(accepted)
  })
})

describe('404 pathNotFound', () => {
  // proves §6 The connector for this; abuse: A provider that is not
  test.each(['stripe', 'Razorpay', 'razorpay_', 'constructor', '__proto__', 'service', 'razorpay/more', ''])(
    'a provider without a secret is no path of the service: %s',
    async (provider) => {
      const { body, headers } = aDelivery()
      const path = `/webhooks/${provider}`
      for (const answer of [
        await service.post(path, body, { key: null, headers }),
        await service.get(path, { key: null }),
      ])
        expect(status(answer)).toEqual(refused(404, 'Not Found'))
    },
  )

  test('a mounted one has its one method', async () => {
    const answer = await service.get('/webhooks/razorpay')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('413 payloadTooLarge', () => {
  // proves abuse: Bodies that are no JSON
  test('above 1,000,000 bytes, before they are read', async () => {
    const delivery = aDelivery({ body: 'x'.repeat(BYTES_MAX + 1) })
    expect((await deliver(service, delivery)).status).toBe(413)
  })
})

describe('503 overloaded', () => {
  // proves fault: A client announces bodies and never; abuse: Bodies that are no JSON
  test('bodies that one address announces and never sends leave room for others', async () => {
    const { port } = new URL(service.url)
    let refusedSockets = 0
    const sockets = Array.from({ length: 40 }, () => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.write(
        `POST /webhooks/razorpay HTTP/1.1\r\nHost: x\r\nX-Razorpay-Signature: ${'0'.repeat(64)}\r\nContent-Length: ${BYTES_MAX}\r\n\r\nx`,
      )
      socket.on('data', (reply) => (refusedSockets += Number(reply.toString().includes(' 503 '))))
      return socket.on('error', () => undefined)
    })
    await until(() => refusedSockets > 0, 'the share to be taken')
    const large = aDelivery({ body: 'x'.repeat(BYTES_MAX) })
    expect((await deliver(service, large)).status).toBe(503)
    // Another share: the other open routes keep theirs.
    expect((await service.post('/audit/verify', '{}', { key: null })).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await until(async () => (await deliver(service, large)).status === 200, 'the share to be free')
  })
})

describe('503 databaseUnavailable', () => {
  // proves fault: The database is away when a provider
  test('says so within seconds, stores nothing, and takes the delivery when the database is back', async () => {
    const own = await createDatabase()
    const proxy = await openDatabaseProxy(own.url)
    const alone = await startService({ databaseUrl: proxy.url, env })
    const before = aDelivery()
    expect(status(await deliver(alone, before))).toEqual(accepted)
    await proxy.cut()
    const delivery = aDelivery()
    const started = performance.now()
    expect((await deliver(alone, delivery)).status).toBe(503)
    expect(performance.now() - started).toBeLessThan(60_000)
    expect(
      (
        await deliver(alone, {
          ...delivery,
          headers: { ...delivery.headers, 'X-Razorpay-Signature': '1'.repeat(64) },
        })
      ).status,
    ).toBe(401)
    await proxy.mend()
    const again = await until(async () => {
      const answer = await deliver(alone, delivery)
      return answer.status === 200 ? answer : undefined
    }, 'the database')
    expect(again.body).toEqual({ status: 'accepted' })
    for (const { eventId } of [before, delivery])
      await until(
        async () => (await auditedDetails(own, 'webhook.processed', eventId)).length === 1,
        'the job',
      )
    expect(await alone.stop()).toBe(0)
    await proxy.cut()
    await own.drop()
  })
})

// proves abuse: kill -9 between the acknowledgement
test('a job that fails is tried again while its neighbours are done, and succeeds when it can', async () => {
  const { cure } = await poisoned(database)
  const bad = aDelivery({ eventId: `poison_${randomUUID()}` })
  const good = Array.from({ length: 20 }, () => aDelivery())
  await Promise.all([bad, ...good].map((delivery) => deliver(service, delivery)))
  for (const delivery of good) await processed(delivery)
  const failed = () =>
    database.pool.query(`SELECT output ->> 'message' AS why FROM pgboss.job WHERE output IS NOT NULL`)
  const [row] = (await until(async () => ((await failed()).rowCount ? failed() : undefined), 'the failure'))
    .rows
  expect(row).toEqual({ why: 'poison cannot be processed' })
  expect((await storedEvents(database, [bad.eventId]))[0]?.processed_at).toBeNull()
  await cure()
  await processed(bad)
  expect(await auditedDetails(database, 'webhook.processed', bad.eventId)).toHaveLength(1)
})

test('without a provider there are no jobs and nothing that looks for them', async () => {
  const own = await createDatabase()
  const alone = await startService({ databaseUrl: own.url })
  expect(status(await deliver(alone, aDelivery()))).toEqual(refused(404, 'Not Found'))
  const { rows } = await own.pool.query(`SELECT to_regnamespace('pgboss') AS schema`)
  expect(rows).toEqual([{ schema: null }])
  expect(await alone.stop()).toBe(0)
  await own.drop()
})

// proves §6 Events emitted by the service
test('the service sends no events to others: its document knows no webhooks and no callbacks', async () => {
  const { body, text } = await service.get('/openapi.json')
  expect(body).not.toHaveProperty('webhooks')
  expect(text).not.toContain('"callbacks"')
})

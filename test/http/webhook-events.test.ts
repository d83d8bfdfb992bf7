// Humans and auditors see the deliveries of providers, and have one processed again (decisions §10, §12).
import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { aHuman } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { aCaller, until, type TestService } from '../service.ts'
import { aDelivery, aPayment, auditedDetails, deliver, env, poisoned, type Delivery } from '../webhooks.ts'
import { withService } from '../with-service.ts'

const human = aHuman('human')
const auditor = aCaller('auditor', { readAll: true })
const caller = aCaller('caller')

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [human.entry, auditor.entry, caller.entry],
  env,
})

interface Shown extends Record<string, unknown> {
  readonly webhookEventId: string
  readonly eventId: string
}

async function list(query = '', key = human.key): Promise<{ events: Shown[]; link: string | null }> {
  const { status, body, headers } = await service.get(`/webhook-events${query}`, { key })
  expect(status).toBe(200)
  return { events: body.events as Shown[], link: headers.get('link') }
}

const nextOf = (link: string | null): string | undefined => /<[^?]*(\?[^>]*)>/.exec(link ?? '')?.[1]

/** All pages from a query on. */
async function all(query: string): Promise<Shown[]> {
  const found: Shown[] = []
  for (let next: string | undefined = query; next !== undefined;) {
    const { events, link } = await list(next)
    found.push(...events)
    next = nextOf(link)
  }
  return found
}

async function delivered(given: Parameters<typeof aDelivery>[0] = {}): Promise<Delivery> {
  const delivery = aDelivery(given)
  expect((await deliver(service, delivery)).status).toBe(200)
  return delivery
}

/** The delivery as it is listed, once it is processed. */
const processed = ({ eventId }: Delivery): Promise<Shown> =>
  until(
    async () =>
      (await list('?pageSize=100')).events.find((one) => one.eventId === eventId && 'processedAt' in one),
    'the delivery',
  )

const show = (id: string, key = human.key) => service.get(`/webhook-events/${id}`, { key })
const processAgain = (id: string, body: unknown = {}) =>
  service.post(`/webhook-events/${id}/process`, body, { key: human.key })

describe('GET /webhook-events 200', () => {
  test('lists deliveries newest first, with what became of them and without their bodies', async () => {
    const [first, second] = [await delivered(), await delivered()]
    await processed(first)
    const shown = await processed(second)
    expect(shown).toEqual({
      webhookEventId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      provider: 'razorpay',
      eventId: second.eventId,
      bodySha256: createHash('sha256').update(second.body).digest('hex'),
      bodyBytes: Buffer.byteLength(second.body),
      receivedAt: expect.any(String),
      processedAt: expect.any(String),
      reruns: 0,
      ...(shown['outcome'] === undefined ? {} : { outcome: 'no-match', detail: expect.any(String) }),
    })
    const ids = (await list()).events.map(({ eventId }) => eventId)
    expect(ids.indexOf(second.eventId)).toBeLessThan(ids.indexOf(first.eventId))
    expect((await list('', auditor.key)).events).toEqual((await list()).events)
  })

  test('pages follow their Link to the last one, each delivery once', async () => {
    for (let i = 0; i < 5; i++) await delivered()
    const whole = (await list('?pageSize=100')).events.map(({ webhookEventId }) => webhookEventId)
    const paged = (await all('?pageSize=2')).map(({ webhookEventId }) => webhookEventId)
    expect(paged).toEqual(whole)
    expect((await list('?pageSize=2&page=2')).events.map(({ webhookEventId }) => webhookEventId)).toEqual(
      whole.slice(2, 4),
    )
  })

  test('filters by provider, outcome and time', async () => {
    const one = await processed(await delivered())
    await database.pool.query(
      `UPDATE webhook_events SET outcome = 'contradicted', rule_id = 'failed', business_transaction_id = $2, detail = 'It differs.'
       WHERE event_key = $1`,
      [one.webhookEventId, randomUUID()],
    )
    expect(await all('?outcome=contradicted')).toMatchObject([
      { eventId: one.eventId, outcome: 'contradicted', ruleId: 'failed', detail: 'It differs.' },
    ])
    expect(await all('?outcome=confirmed')).toEqual([])
    expect(await all('?provider=stripe')).toEqual([])
    expect(await all('?provider=razorpay')).toEqual(await all(''))
    const at = String(one['receivedAt'])
    const later = new Date(Date.parse(at) + 1).toISOString()
    expect(await all(`?since=${at}&until=${later}&outcome=contradicted`)).toHaveLength(1)
    expect(await all(`?since=${later}&outcome=contradicted`)).toEqual([])
    expect((await all(`?until=${at}`)).map(({ eventId }) => eventId)).not.toContain(one.eventId)
  })

  test('with a filter that little fits a page looks at 10,000 deliveries, and the next one continues', async () => {
    const old = new Date('2026-01-01T00:00:00Z')
    const rare = randomUUID()
    await database.pool.query(
      `INSERT INTO webhook_events (event_key, provider, event_id, body_sha256, body, received_at, processed_at, outcome)
       SELECT gen_random_uuid(), 'bulk', n::text, encode(sha256(n::text::bytea), 'hex'), '', $1::timestamptz - n * interval '1 ms', now(), 'no-match'
       FROM generate_series(1, 21000) AS n`,
      [old],
    )
    await database.pool.query(
      `UPDATE webhook_events SET outcome = 'ambiguous', event_id = $1 WHERE provider = 'bulk' AND event_id = '20500'`,
      [rare],
    )
    const first = await list(`?outcome=ambiguous&until=${old.toISOString()}`)
    expect(first.events).toEqual([])
    expect(first.link).toContain('outcome=ambiguous')
    const found = await all(`?outcome=ambiguous&until=${old.toISOString()}`)
    expect(found.map(({ eventId }) => eventId)).toEqual([rare])
    await database.pool.query(`DELETE FROM webhook_events WHERE provider = 'bulk'`)
  })
})

describe('GET /webhook-events 400 invalidQuery', () => {
  test.each([
    ['page=0', 'page must be a whole number, 1 or more.'],
    ['pageSize=101', 'pageSize must be a whole number from 1 to 100.'],
    ['since=yesterday', 'since must be an RFC 3339 timestamp.'],
    ['provider=Razorpay', 'provider must be a provider’s name in lower case.'],
    [
      'outcome=lost',
      'outcome must be one of no-rules, no-match, ambiguous, unknown, rule-failed, pending, confirmed, contradicted.',
    ],
  ])('%s', async (query, error) => {
    const { status, body } = await service.get(`/webhook-events?${query}`, { key: human.key })
    expect([status, body]).toEqual([400, { error }])
  })
})

describe('403 nonHumanCaller', () => {
  test.each(['/webhook-events', `/webhook-events/${randomUUID()}`])(
    'a caller that is neither human nor an auditor reads no deliveries: %s',
    async (path) => {
      expect((await service.get(path, { key: caller.key })).status).toBe(403)
    },
  )

  test.each([caller, auditor])('only humans have a delivery processed again', async ({ key }) => {
    const answer = await service.post(`/webhook-events/${randomUUID()}/process`, {}, { key })
    expect([answer.status, answer.body['code']]).toEqual([403, 'NON_HUMAN_CALLER_DENIED'])
  })
})

describe('GET /webhook-events/{id} 200', () => {
  test('shows headers and body as they came, and neither signature nor credentials', async () => {
    const headers = { Authorization: 'Bearer x', 'X-Note': 'kept' }
    const delivery = await delivered({ headers, body: '{"a":\t"zurück ₹"}\r\n' })
    const { webhookEventId } = await processed(delivery)
    const { status, body } = await show(webhookEventId, auditor.key)
    expect(status).toBe(200)
    expect(body).toMatchObject({ webhookEventId, bodyEncoding: 'text', body: delivery.body })
    expect(body['headers']).toMatchObject({ 'x-note': 'kept', 'x-razorpay-event-id': delivery.eventId })
    expect(Object.keys(body['headers'] as object)).not.toContain('authorization')
    expect(Object.keys(body['headers'] as object)).not.toContain('x-razorpay-signature')
  })

  test.each([
    ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x00, 0x22])],
    ['a text that drives a terminal', new TextEncoder().encode('"\u001b]0;title\u0007"')],
  ])('a body that is %s is shown as base64', async (_what, bytes) => {
    const { webhookEventId } = await processed(await delivered({ body: bytes }))
    const { body } = await show(webhookEventId)
    expect(body).toMatchObject({ bodyEncoding: 'base64', body: Buffer.from(bytes).toString('base64') })
  })

  test('a delivery of a megabyte is shown whole', async () => {
    const large = `"${'\\u0000'.repeat(166_000)}"`
    const { webhookEventId } = await processed(await delivered({ body: large }))
    expect((await show(webhookEventId)).body['body']).toBe(large)
  })
})

describe('404 webhookEventNotFound', () => {
  test.each([randomUUID(), 'evt_1', '%00'])('of the id %s', async (id) => {
    const answers = [await show(id), await processAgain(id)]
    for (const { status, body } of answers)
      expect([status, body]).toEqual([404, { error: 'Delivery not found.' }])
  })
})

describe('POST /webhook-events/{id}/process 200', () => {
  test('a processed delivery waits again, is processed, and each run is audited', async () => {
    const delivery = await delivered()
    const { webhookEventId } = await processed(delivery)
    const answer = await processAgain(webhookEventId)
    expect([answer.status, answer.body['webhookEventId']]).toEqual([200, webhookEventId])
    expect(answer.body).toMatchObject({ reruns: 1 })
    await until(
      async () => (await auditedDetails(database, 'webhook.processed', delivery.eventId)).length === 2,
      'the second run',
    )
    expect(await processed(delivery)).toMatchObject({ webhookEventId, reruns: 1 })
    expect(await auditedDetails(database, 'webhook.requeued', delivery.eventId)).toEqual([
      { webhookEventId, provider: 'razorpay', eventId: delivery.eventId },
    ])
  })

  test('of twenty who ask at once as many runs follow as were answered 200, and nothing else', async () => {
    const delivery = await delivered()
    const { webhookEventId } = await processed(delivery)
    const answers = await Promise.all(Array.from({ length: 20 }, () => processAgain(webhookEventId)))
    const runs = answers.filter(({ status }) => status === 200).length
    expect(runs).toBeGreaterThan(0)
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual(
      [],
    )
    await until(
      async () => (await auditedDetails(database, 'webhook.processed', delivery.eventId)).length === 1 + runs,
      'every run',
    )
    expect(await processed(delivery)).toMatchObject({ reruns: runs })
  })
})

describe('POST /webhook-events/{id}/process 400 invalidField', () => {
  test('takes no members', async () => {
    const { webhookEventId } = await processed(await delivered())
    const { status, body } = await processAgain(webhookEventId, { force: true })
    expect([status, body]).toEqual([400, { error: expect.stringContaining('force') }])
  })
})

describe('POST /webhook-events/{id}/process 409 conflict', () => {
  test('one that waits, until it is dead: then it is run again', async () => {
    const { cure } = await poisoned(database)
    const delivery = await delivered({ eventId: `poison_${randomUUID()}` })
    const waiting = await until(
      async () => (await list()).events.find(({ eventId }) => eventId === delivery.eventId),
      'the delivery',
    )
    expect(waiting).not.toHaveProperty('processedAt')
    const again = () => processAgain(waiting.webhookEventId)
    expect([(await again()).status, (await again()).body['error']]).toEqual([
      409,
      'The delivery waits to be processed already.',
    ])
    const dead = async () => {
      const ofIt = `data ->> 'id' = $1`
      await database.pool.query(
        `UPDATE pgboss.job SET retry_limit = 0, start_after = now() WHERE state = 'retry' AND ${ofIt}`,
        [waiting.webhookEventId],
      )
      const found = await database.pool.query(
        `SELECT 1 FROM pgboss.job WHERE name = 'webhook-events-dead' AND ${ofIt}`,
        [waiting.webhookEventId],
      )
      return found.rowCount === 1
    }
    await until(dead, 'the last failure')
    await cure()
    expect((await again()).status).toBe(200)
    expect(await processed(delivery)).toMatchObject({ reruns: 0 })
  })

  test('one whose body was emptied', async () => {
    const { webhookEventId } = await processed(await delivered({ body: aPayment() }))
    await database.pool.query(`UPDATE webhook_events SET body = '' WHERE event_key = $1`, [webhookEventId])
    const { status, body } = await processAgain(webhookEventId)
    expect([status, body['error']]).toEqual([
      409,
      'The body of the delivery was emptied: nothing is left to process.',
    ])
  })
})

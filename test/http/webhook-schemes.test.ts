// Deliveries signed as GitHub, Stripe and Standard Webhooks sign them (decisions §12): stored once with their headers, or refused with the reason
// in the log.
import { createHmac, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { TestDatabase } from '../database.ts'
import { until, type Called, type TestService } from '../service.ts'
import { auditedDetails } from '../webhooks.ts'
import { withService } from '../with-service.ts'

const GITHUB_SECRET = "It's a Secret to Everybody"
const STRIPE_SECRET = 'whsec_0123456789abcdef0123'
const HMAC_KEY = Buffer.from('a key of thirty bytes or a few')
const env = {
  GITHUB_WEBHOOK_SECRET: GITHUB_SECRET,
  GITHUB_WEBHOOK_SCHEME: 'github',
  STRIPE_WEBHOOK_SECRET: `${STRIPE_SECRET},whsec_old`,
  STRIPE_WEBHOOK_SCHEME: 'stripe',
  ACME_WEBHOOK_SECRET: `whsec_${HMAC_KEY.toString('base64')}`,
  ACME_WEBHOOK_SCHEME: 'standard-webhooks',
  RAZORPAY_WEBHOOK_SECRET: 'short',
}

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), { env })

const now = () => Math.floor(Date.now() / 1000)
const hmac = (key: string | Uint8Array, text: string) => createHmac('sha256', key).update(text)

const githubHeaders = (body: string, id: string) => ({
  'X-Hub-Signature-256': `sha256=${hmac(GITHUB_SECRET, body).digest('hex')}`,
  'X-GitHub-Delivery': id,
})
const stripeHeaders = (body: string, seconds = now()) => ({
  'Stripe-Signature': `t=${seconds},v1=${hmac(STRIPE_SECRET, `${seconds}.${body}`).digest('hex')}`,
})
const standardHeaders = (body: string, id: string, seconds = now()) => ({
  'webhook-id': id,
  'webhook-timestamp': String(seconds),
  'webhook-signature': `v1,${hmac(HMAC_KEY, `${id}.${seconds}.${body}`).digest('base64')}`,
})

async function post(provider: string, body: string, headers: Record<string, string>) {
  const { status, body: answer } = await service.post(`/webhooks/${provider}`, body, { key: null, headers })
  return [status, answer]
}

test('the start names each provider, its scheme and whether there are rules for it', () => {
  const said = service.lines().filter(({ msg }) => msg === 'webhook provider')
  expect(said.toSorted((a, b) => String(a['provider']).localeCompare(String(b['provider'])))).toMatchObject([
    { provider: 'acme', scheme: 'standard-webhooks', secrets: 1, hasRules: false },
    { provider: 'github', scheme: 'github', secrets: 1, hasRules: false },
    { provider: 'razorpay', scheme: 'contract', secrets: 1, hasRules: true },
    { provider: 'stripe', scheme: 'stripe', secrets: 2, hasRules: true },
  ])
})

/** The headers that are stored with a delivery. */
async function stored(provider: string, eventId: string): Promise<Record<string, string>[]> {
  const { rows } = await database.pool.query<{ headers: Record<string, string> }>(
    'SELECT headers::json AS headers FROM webhook_events WHERE provider = $1 AND event_id = $2',
    [provider, eventId],
  )
  return rows.map(({ headers }) => headers)
}

const accepted = [200, { status: 'accepted' }]
const acknowledged = [200, { status: 'acknowledged' }]

test.each([
  ['github', (body: string, id: string) => githubHeaders(body, id)],
  ['stripe', (body: string) => stripeHeaders(body)],
  ['acme', (body: string, id: string) => standardHeaders(body, id)],
] as const)('%s: a delivery is accepted once, and processed', async (provider, headersOf) => {
  const id = `evt_${randomUUID()}`
  const body = JSON.stringify({ id, note: 'zurück ₹' })
  const headers = {
    ...headersOf(body, id),
    'X-Request-Source': 'test',
    Authorization: 'Bearer kept-from-the-store',
  }
  expect(await post(provider, body, headers)).toEqual(accepted)
  expect(await post(provider, body, headers)).toEqual(acknowledged)
  const [kept, ...more] = await stored(provider, id)
  expect(more).toEqual([])
  expect(kept).toMatchObject({ 'x-request-source': 'test', 'content-type': expect.any(String) })
  expect(Object.keys(kept ?? {}).filter((name) => /signature|authorization/.test(name))).toEqual([])
  await until(async () => (await auditedDetails(database, 'webhook.processed', id)).length === 1, 'the job')
})

test('Standard Webhooks keeps the id and the time that are signed', async () => {
  const headers = standardHeaders('{}', 'msg_1')
  expect(await post('acme', '{}', headers)).toEqual(accepted)
  expect(await stored('acme', 'msg_1')).toMatchObject([
    { 'webhook-id': 'msg_1', 'webhook-timestamp': headers['webhook-timestamp'] },
  ])
})

/** The same under Svix's names. */
const underSvix = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]),
  )
/** The cause in the log of the delivery that was refused last. */
const lastCause = () => service.lines().findLast(({ cause }) => cause !== undefined)?.['cause']

test('Standard Webhooks under the names of Svix are the same scheme, alone, beside the others, and mixed with them', async () => {
  const body = '{"of":"svix"}'
  for (const [id, headers] of [
    ['svix_1', underSvix(standardHeaders(body, 'svix_1'))],
    ['svix_2', { ...standardHeaders(body, 'svix_2'), ...underSvix(standardHeaders(body, 'svix_2')) }],
    ['svix_3', { ...standardHeaders(body, 'svix_3'), 'svix-id': 'svix_3' }],
  ] as const) {
    const [status, answer] = await post('acme', body, headers)
    expect([id, status, (answer as { status: string }).status]).toEqual([
      id,
      200,
      id === 'svix_1' ? 'accepted' : 'acknowledged',
    ])
  }
  expect(await stored('acme', 'svix_1')).toMatchObject([
    { 'svix-id': 'svix_1', 'svix-timestamp': expect.any(String) },
  ])
  expect(Object.keys((await stored('acme', 'svix_1'))[0]!).join()).not.toContain('signature')
})

// proves abuse: Standard Webhooks under two names
test.each([
  [
    'signatures',
    { 'svix-signature': `v1,${'A'.repeat(43)}=` },
    'the headers webhook-signature and svix-signature differ',
  ],
  ['ids', { 'svix-id': 'msg_other' }, 'the headers webhook-id and svix-id differ'],
  ['times', { 'svix-timestamp': '1' }, 'the headers webhook-timestamp and svix-timestamp differ'],
])('Standard Webhooks with two %s are refused, and the log says why', async (_, more, cause) => {
  const headers = { ...standardHeaders('{}', 'msg_two'), ...more }
  expect(await post('acme', '{}', headers)).toEqual([401, { error: 'Invalid signature.' }])
  await until(() => lastCause() === cause, cause)
})

// proves abuse: Standard Webhooks under two names
test('one signature is not taken for two ids', async () => {
  const body = '{"a":9}'
  const seconds = now()
  const signed = standardHeaders(`${seconds}.${body}`, 'm', seconds)
  for (const headers of [
    { ...signed, 'webhook-id': `m.${seconds}` },
    underSvix({ ...signed, 'webhook-id': `m.${seconds}` }),
    standardHeaders(body, 'm.1'),
  ])
    expect(await post('acme', body, headers)).toEqual([401, { error: 'Invalid signature.' }])
  await until(() => String(lastCause()).startsWith('webhook-id has a dot'), 'the cause')
})

test('a captured delivery under another id: acknowledged where nobody signs the id, refused where it is signed', async () => {
  const body = JSON.stringify({ id: `evt_${randomUUID()}` })
  expect(await post('github', body, githubHeaders(body, randomUUID()))).toEqual(accepted)
  expect(await post('github', body, githubHeaders(body, randomUUID()))).toEqual(acknowledged)
  const headers = standardHeaders(body, 'msg_2')
  expect(await post('acme', body, headers)).toEqual(accepted)
  expect(await post('acme', body, { ...headers, 'webhook-id': 'msg_3' })).toEqual([
    401,
    { error: 'Invalid signature.' },
  ])
})

test.each([
  ['no JSON', 'not { json'],
  ['an id that is no text', '{"id":7}'],
])('stripe: a signed payload that is %s has no event id', async (_what, body) => {
  expect(await post('stripe', body, stripeHeaders(body))).toEqual([400, { error: 'Missing event id.' }])
})

test('stripe: an event id is 1 to 255 printable characters', async () => {
  const body = JSON.stringify({ id: 'evt 1' })
  expect(await post('stripe', body, stripeHeaders(body))).toEqual([
    400,
    { error: 'id of the payload must be 1 to 255 printable ASCII characters without spaces.' },
  ])
})

// proves abuse: A delivery signed by another scheme
test.each([
  ['stripe', {}, 'Missing signature.', 'scheme stripe expects the header stripe-signature'],
  [
    'stripe',
    { 'X-Stripe-Signature': '0'.repeat(64) },
    'Missing signature.',
    'scheme stripe expects the header stripe-signature; the delivery has x-stripe-signature, which is that of scheme contract',
  ],
  [
    'razorpay',
    { 'Stripe-Signature': 't=1,v1=0' },
    'Missing signature.',
    'scheme contract expects the header x-razorpay-signature; the delivery has stripe-signature, which is that of scheme stripe',
  ],
  [
    'github',
    { 'X-Hub-Signature-256': '0'.repeat(64) },
    'Invalid signature.',
    'x-hub-signature-256 must be sha256= and 64 lowercase hex characters, as scheme github has it',
  ],
  ['stripe', stripeHeaders('{}', 1), 'Invalid signature.', 't= of stripe-signature is '],
  ['acme', standardHeaders('{ }', 'msg_9'), 'Invalid signature.', 'no configured secret makes the signature'],
])('%s with the headers %j is a 401, and the log says why', async (provider, headers, error, cause) => {
  const answer = await service.post(`/webhooks/${provider}`, '{}', { key: null, headers })
  expect([answer.status, answer.body]).toEqual([401, { error }])
  expect(await logLineOf(answer)).toMatchObject({ level: 30, cause: expect.stringContaining(cause) })
})

test.each([
  ['stripe', stripeHeaders('{}'), 'scheme stripe expects the event id in id of the payload'],
  [
    'github',
    { 'X-Hub-Signature-256': githubHeaders('{}', 'none')['X-Hub-Signature-256'] },
    'scheme github expects the event id in x-github-delivery',
  ],
])(
  '%s without an event id is a 400, and the log says where it is expected',
  async (provider, headers, cause) => {
    const answer = await service.post(`/webhooks/${provider}`, '{}', { key: null, headers })
    expect([answer.status, answer.body]).toEqual([400, { error: 'Missing event id.' }])
    expect(await logLineOf(answer)).toMatchObject({ cause })
  },
)

test('another delivery under the same event id is acknowledged and not stored, and the log says so', async () => {
  const [first, other, id] = [JSON.stringify({ at: 1 }), JSON.stringify({ at: 2 }), randomUUID()]
  const send = (body: string) =>
    service.post('/webhooks/github', body, { key: null, headers: githubHeaders(body, id) })
  for (const [body, status, cause] of [
    [first, 'accepted', undefined],
    [first, 'acknowledged', undefined],
    [other, 'acknowledged', 'the event id was received before with other bytes, so these are not stored'],
  ] as const) {
    const answer = await send(body)
    expect(answer.body).toEqual({ status })
    expect((await logLineOf(answer))['cause']).toBe(cause)
  }
})

test('a short secret is warned of at the start, and not repeated', () => {
  expect(service.output()).toContain('RAZORPAY_WEBHOOK_SECRET has 5 characters')
  for (const secret of [GITHUB_SECRET, STRIPE_SECRET, HMAC_KEY.toString('base64'), 'whsec_old'])
    expect(service.output()).not.toContain(secret)
})

async function logLineOf({ headers }: Called): Promise<Record<string, unknown>> {
  const requestId = headers.get('x-request-id') ?? 'none'
  const line = await until(
    () =>
      service
        .output()
        .split('\n')
        .find((text) => text.includes(requestId)),
    'the log line',
  )
  return JSON.parse(line) as Record<string, unknown>
}

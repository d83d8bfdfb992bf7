// An external connector: which executions reach it, the signed release that it is sent, and what of its answer is believed (decisions §8).
import { describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import type { Lookup } from '../../src/core/outbound/address.ts'
import { verifySignature, type Signature } from '../../src/core/signing/signature.ts'
import type { Order } from '../../workers/connectors/connector.ts'
import { externalConnector, type Registration } from '../../workers/connectors/external.ts'
import { openConnectors } from '../../workers/connectors/index.ts'
import { isReleaseOver, questionTo, readBackOf } from '../../workers/connectors/read-back.ts'
import { call, type HttpOutcome } from '../../src/core/outbound/call.ts'
import { http, json, serve } from './loopback.ts'
import { aKey, anOrder, aRegistration } from './order.ts'

const key = aKey()
const NOW = new Date('2026-11-21T10:00:00.000Z')

/** The answer that completes an order, with some members changed. */
const answerTo = ({ businessTransactionId, action }: Order, members: object = {}) => ({
  businessTransactionId,
  capability: action,
  success: true,
  result: { paid: true },
  executedAt: '2026-11-21T10:00:00.5+01:00',
  ...members,
})

interface Run {
  readonly order?: Order
  readonly answer?: object
  readonly registered?: Partial<Registration>
}

async function run({ order = anOrder(), answer = {}, registered = {} }: Run = {}) {
  const server = await serve(json(200, answerTo(order, answer)))
  const registration = aRegistration(server.origin, registered)
  const connector = externalConnector(registration, { key, production: false, clock: () => NOW })
  return { server, connector, outcome: await connector.call(order) }
}

async function lifetimeMs(timeoutMs: number): Promise<number> {
  const { server } = await run({ registered: { timeoutMs } })
  const { issuedAt, expiresAt } = (JSON.parse(server.requests[0]?.body ?? '') as Sent).release
  return Date.parse(expiresAt as string) - Date.parse(issuedAt as string)
}

const open = () => openConnectors({ hubspot: undefined, key, production: false, clock: () => NOW })
const inside: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])

interface Sent {
  readonly algorithm: 'ed25519'
  readonly keyId: string
  readonly signature: string
  readonly release: { readonly [name: string]: Json }
}

describe('the release', () => {
  test('says all that decisions §8 names, and nothing else', async () => {
    const order = anOrder({ parameters: { amount: 12.5, note: 'für Ada' }, approvedBy: ['alice', 'bob'] })
    const { server, connector } = await run({ order })
    const [request] = server.requests
    expect(request?.line).toBe('POST /pay HTTP/1.1')
    expect(request?.headers['content-type']).toBe('application/json')
    const { release, ...signature } = JSON.parse(request?.body ?? '') as Sent
    expect(release).toEqual({
      version: 1,
      connectorId: 'external:vendor:pay',
      audience: server.origin,
      businessTransactionId: order.businessTransactionId,
      authorizationId: order.authorizationId,
      capability: 'vendor:pay',
      target: 'invoice-7',
      parameters: { amount: 12.5, note: 'für Ada' },
      policy: { name: 'vendor-payment', version: '2.0.0', contentHash: 'a'.repeat(64) },
      approvedBy: ['alice', 'bob'],
      issuedAt: '2026-11-21T10:00:00.000Z',
      expiresAt: '2026-11-21T10:00:12.000Z',
    })
    expect(Object.keys(signature).toSorted()).toEqual(['algorithm', 'keyId', 'signature'])
    expect(connector).toMatchObject({
      connectorId: 'external:vendor:pay',
      connectorVersion: '6f1e8c1e-5a0c-4a55-9d0a-000000000001',
      endpoint: `${server.origin}/pay`,
    })
  })

  test('is signed as a release by the service: as nothing else, and with no word changed', async () => {
    const { server } = await run()
    const { release, algorithm, keyId, signature } = JSON.parse(server.requests[0]?.body ?? '') as Sent
    const carried: Signature = { algorithm, keyId, value: signature }
    const text = canonicalize(release)
    expect(verifySignature('connector-release', text, carried, key.public)).toBe(true)
    expect(verifySignature('execution-authorization', text, carried, key.public)).toBe(false)
    const changed = canonicalize({ ...release, target: 'invoice-8' })
    expect(verifySignature('connector-release', changed, carried, key.public)).toBe(false)
  })

  test('is worth nothing two seconds after the call has timed out', async () => {
    expect(await lifetimeMs(5_000)).toBe(7_000)
    expect(await lifetimeMs(30_000)).toBe(32_000)
  })
})

describe('a release of an authorization that expires', () => {
  test('expires with it', async () => {
    const { server } = await run({ order: anOrder({ authorizedUntil: '2026-11-21T10:00:03.000Z' }) })
    expect((JSON.parse(server.requests[0]?.body ?? '') as Sent).release['expiresAt']).toBe(
      '2026-11-21T10:00:03.000Z',
    )
  })

  test('is not sent once it has', async () => {
    const { server, outcome } = await run({ order: anOrder({ authorizedUntil: NOW.toISOString() }) })
    expect(outcome).toEqual({ kind: 'failed', reason: 'the authorization expired before it was released' })
    expect(server.connections()).toBe(0)
  })
})

const asked = {
  businessTransactionId: '6f1e8c1e-5a0c-4a55-9d0a-0000000000aa',
  authorizationId: '6f1e8c1e-5a0c-4a55-9d0a-0000000000bb',
  capability: 'vendor:pay',
}

describe('the question what became of a release', () => {
  test('is signed as a question, in a header of a GET to the endpoint', async () => {
    const server = await serve(json(404, asked))
    const { url, headers } = questionTo(aRegistration(server.origin), asked, { key, now: NOW })
    await call({ method: 'GET', url, headers, reach: 'any', timeoutMs: 5_000 })
    const [request] = server.requests
    expect(request?.line).toBe(`GET /pay?authorizationId=${asked.authorizationId} HTTP/1.1`)
    const text = Buffer.from(request?.headers['countersign-question'] ?? '', 'base64url').toString()
    const { question, algorithm, keyId, signature } = JSON.parse(text) as Sent & { question: Json }
    expect(question).toEqual({
      version: 1,
      connectorId: 'external:vendor:pay',
      audience: server.origin,
      ...asked,
      issuedAt: '2026-11-21T10:00:00.000Z',
      expiresAt: '2026-11-21T10:00:12.000Z',
    })
    const carried: Signature = { algorithm, keyId, value: signature }
    const signedText = canonicalize(question)
    expect(verifySignature('connector-question', signedText, carried, key.public)).toBe(true)
    expect(verifySignature('connector-release', signedText, carried, key.public)).toBe(false)
  })

  test('finds the release over a minute after its authorization has expired', () => {
    expect(isReleaseOver('2026-11-21T09:59:00.000Z', NOW)).toBe(true)
    expect(isReleaseOver('2026-11-21T09:59:00.001Z', NOW)).toBe(false)
    expect(isReleaseOver('no time', NOW)).toBe(false)
  })
})

describe('what it is answered', () => {
  const read = (status: number, body: unknown, { isOver = true, headers = {} } = {}) => {
    const exchange: HttpOutcome = {
      kind: 'answered',
      status,
      headers,
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    }
    return readBackOf(exchange, asked, isOver)
  }
  const answer = { ...asked, success: true, result: {}, executedAt: '2026-11-21T10:00:00Z' }

  test('says that it happened, that it did not, or that it was never taken', () => {
    expect(read(200, answer)).toMatchObject({ says: 'executed' })
    expect(read(200, { ...answer, success: false })).toMatchObject({ says: 'not_executed' })
    expect(read(404, asked)).toMatchObject({ says: 'not_executed' })
  })

  // proves abuse: A connector that, asked what became
  test.each<[string, ReturnType<typeof read>]>([
    ['a denial while the release can be taken', read(404, asked, { isOver: false })],
    ['a 404 of whoever stands in front of it', read(404, '<h1>Not Found</h1>')],
    ['a denial of another transaction', read(404, { ...asked, businessTransactionId: 'x' })],
    ['a denial of another capability', read(404, { ...asked, capability: 'vendor:refund' })],
    ['an answer to another transaction', read(200, { ...answer, businessTransactionId: 'x' })],
    ['an answer of another capability', read(200, { ...answer, capability: 'vendor:refund' })],
    ['success in words', read(200, { ...answer, success: 'true' })],
    ['no time', read(200, { ...answer, executedAt: undefined })],
    ['two readings', read(200, `${JSON.stringify(answer).slice(0, -1)},"success":false}`)],
    ['a compressed body', read(200, answer, { headers: { 'content-encoding': 'gzip' } })],
    ['a redirect', read(302, answer)],
    ['410', read(410, asked)],
    ['500', read(500, answer)],
    ['401', read(401, asked)],
    ['nothing', readBackOf({ kind: 'lost', cause: 'no whole answer within 1 ms' }, asked, true)],
    ['no connection', readBackOf({ kind: 'not-sent', reason: 'refused' }, asked, true)],
  ])('leaves it unknown: %s', (_, found) => {
    expect(found).toEqual({ unknown: expect.any(String) })
  })

  test('is read to 64 KiB', async () => {
    const server = await serve(http(200, JSON.stringify({ ...answer, result: 'x'.repeat(70_000) })))
    const exchange = await call({
      method: 'GET',
      url: server.origin,
      headers: {},
      reach: 'any',
      timeoutMs: 5_000,
    })
    expect(readBackOf(exchange, asked, true)).toEqual({ unknown: expect.stringContaining('65536') })
  })
})

describe('the answer', () => {
  test('becomes the result as it stands', async () => {
    for (const result of [{ paid: true }, [], 'ok', 0, null])
      expect((await run({ answer: { result } })).outcome).toEqual({ kind: 'completed', result })
  })

  test('may say more, which is not kept', async () => {
    expect((await run({ answer: { more: 1 } })).outcome).toEqual({
      kind: 'completed',
      result: { paid: true },
    })
  })

  test.each<[unknown, string]>([
    [{ reason: 'invoice already paid' }, 'invoice already paid'],
    [{ reason: 'Invoice already paid.' }, 'Invoice already paid'],
    [{}, 'the connector refused'],
    [null, 'the connector refused'],
    ['no', 'the connector refused'],
    [{ reason: '' }, 'the connector refused'],
    [{ reason: 7 }, 'the connector refused'],
    [{ reason: 'two\nlines' }, 'the connector refused'],
    [{ reason: '\u202eesrever' }, 'the connector refused'],
    [{ reason: 'x'.repeat(201) }, 'the connector refused'],
  ])('success: false with %j fails for certain: %s', async (result, reason) => {
    expect((await run({ answer: { success: false, result } })).outcome).toEqual({ kind: 'failed', reason })
  })

  test.each<[string, object]>([
    ['another transaction', { businessTransactionId: '6f1e8c1e-5a0c-4a55-9d0a-0000000000ff' }],
    ['another transaction that refused', { businessTransactionId: 'x', success: false }],
    ['another capability', { capability: 'vendor:refund' }],
    ['success in words', { success: 'true' }],
    ['no success', { success: undefined }],
    ['no result', { result: undefined }],
    ['no time', { executedAt: undefined }],
    ['a day that does not exist', { executedAt: '2026-02-30T10:00:00Z' }],
    ['a time in another format', { executedAt: 1763719200 }],
  ])('with %s is unknown', async (_, answer) => {
    expect((await run({ answer })).outcome).toMatchObject({ kind: 'unknown' })
  })
})

describe('nothing is sent', () => {
  // proves abuse: A parameter that was not
  test('with a parameter that is not registered', async () => {
    const order = anOrder({ parameters: { amount: 1, iban: 'DE02120300000000202051' } })
    const { server, outcome } = await run({ order })
    expect(outcome).toEqual({
      kind: 'failed',
      reason: 'the connector is not registered for parameter "iban"',
    })
    expect(server.connections()).toBe(0)
  })

  test('in the clear in production, whatever was registered before', async () => {
    const server = await serve(json(200, {}))
    const registration = aRegistration(server.origin)
    const connector = externalConnector(registration, { key, production: true, clock: () => NOW })
    expect(await connector.call(anOrder())).toEqual({
      kind: 'failed',
      reason: 'the endpoint breaks the address rule',
    })
    expect(server.connections()).toBe(0)
  })

  // proves abuse: DNS rebinding: a name that was public
  test('to a name that pointed outside when it was approved, and points inside now', async () => {
    const server = await serve(json(200, {}))
    const registration = aRegistration(`https://receiver.test:${server.port}`)
    const connector = externalConnector(registration, {
      key,
      production: false,
      clock: () => NOW,
      lookup: inside,
    })
    expect(await connector.call(anOrder())).toEqual({
      kind: 'failed',
      reason: 'the endpoint was not reached: its address is not public (ADDRESS_REFUSED)',
      targetUnknown: true,
    })
    expect(server.connections()).toBe(0)
  })
})

describe('a registration', () => {
  const origin = 'https://receiver.example'

  test('is found for its capability under its policy only', () => {
    const connectors = open()
    expect(connectors.find('vendor:pay', 'vendor-payment')).toBeUndefined()
    connectors.replaceExternal([aRegistration(origin)])
    expect(connectors.find('vendor:pay', 'vendor-payment')?.connectorId).toBe('external:vendor:pay')
    expect(connectors.find('vendor:pay', 'another')).toBeUndefined()
    expect(connectors.find('vendor:pay')).toBeUndefined()
    expect(connectors.find('vendor:refund', 'vendor-payment')).toBeUndefined()
  })

  test('is gone when it is not among those that replace it', () => {
    const connectors = open()
    connectors.replaceExternal([aRegistration(origin)])
    connectors.replaceExternal([aRegistration(origin, { capability: 'vendor:refund' })])
    expect(connectors.find('vendor:pay', 'vendor-payment')).toBeUndefined()
    expect(connectors.find('vendor:refund', 'vendor-payment')).toBeDefined()
  })

  // proves abuse: A parameter that was not
  test('takes no action over that is built in', () => {
    const connectors = open()
    connectors.replaceExternal([aRegistration(origin, { capability: 'sandbox:echo' })])
    expect(connectors.find('sandbox:echo', 'vendor-payment')?.connectorId).toBe('sandbox-echo')
  })
})

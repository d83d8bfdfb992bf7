// The table of outcomes of decisions §8, every row of it for every connector that calls out, against servers on loopback.
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Connector, ConnectorOutcome, Order } from '../../workers/connectors/connector.ts'
import { externalConnector } from '../../workers/connectors/external.ts'
import { hubspotConnectors } from '../../workers/connectors/hubspot.ts'
import { closedPort, http, json, serve, type Answer } from './loopback.ts'
import { aKey, anOrder, aRegistration } from './order.ts'

const key = aKey()
const TOKEN = 'pat-eu1-secret'

interface Case {
  readonly connect: (origin: string, timeoutMs: number) => Connector
  readonly order: Order
  /** A 200 that completes the order. */
  readonly good: object
  /** The same of another transaction or deal. */
  readonly foreign: object
  readonly endpointPath: string
  readonly refusedWith: (status: number) => string
}

function hubspot(action: string, parameters: object): Case {
  const good = { id: '512', properties: { amount: '12.50' }, updatedAt: '2026-11-21T10:00:00.000Z' }
  return {
    connect(baseUrl, timeoutMs) {
      const connectors = hubspotConnectors({ token: TOKEN, baseUrl }, timeoutMs)
      const connector = connectors.find(({ actions }) => actions.includes(action))
      if (connector === undefined) throw new Error(`no connector for ${action}`)
      return connector
    },
    order: anOrder({ action, target: '512', parameters: { ...parameters } }),
    good,
    foreign: { ...good, id: '513' },
    endpointPath: '/crm/v3/objects/deals',
    refusedWith: (status) => `HubSpot refused with ${status}`,
  }
}

function external(): Case {
  const order = anOrder()
  const good = {
    businessTransactionId: order.businessTransactionId,
    capability: order.action,
    success: true,
    result: { paid: true },
    executedAt: '2026-11-21T10:00:00Z',
  }
  return {
    connect: (origin, timeoutMs) =>
      externalConnector(aRegistration(origin, { timeoutMs }), {
        key,
        production: false,
        clock: () => new Date(),
      }),
    order,
    good,
    foreign: { ...good, businessTransactionId: anOrder().businessTransactionId },
    endpointPath: '/pay',
    refusedWith: (status) => `the connector refused with ${status}`,
  }
}

describe.each<[string, Case]>([
  ['hubspot:deal-fetch', hubspot('hubspot:deal-fetch', { properties: ['amount'] })],
  ['hubspot:deal-update', hubspot('hubspot:deal-update', { amount: '12.50' })],
  ['external', external()],
])('%s', (_, { connect, order, good, foreign, endpointPath, refusedWith }) => {
  /** Called once, asked once, and nothing secret in what is kept of it. */
  async function outcomeOf(answer: Answer, timeoutMs = 10_000): Promise<ConnectorOutcome> {
    const server = await serve(answer)
    const connector = connect(server.origin, timeoutMs)
    const outcome = await connector.call(order)
    expect(server.requests).toHaveLength(1)
    expect(connector.endpoint).toBe(server.origin + endpointPath)
    expect(JSON.stringify([outcome, connector])).not.toMatch(/secret|s3cret/)
    return outcome
  }
  const text = JSON.stringify(good)

  test('a whole answer to this order completes it', async () => {
    expect(await outcomeOf(json(200, good))).toMatchObject({ kind: 'completed' })
  })

  // proves fault: Nobody listens there, or it refuses
  test('an endpoint that nobody listens at fails for certain', async () => {
    const port = await closedPort()
    expect(await connect(`http://127.0.0.1:${port}`, 10_000).call(order)).toEqual({
      kind: 'failed',
      reason: 'the endpoint was not reached: ECONNREFUSED',
      targetUnknown: true,
    })
  })

  // proves fault: Nobody listens there, or it refuses
  test.each([400, 404, 405, 409, 410, 413, 422, 423, 428, 451, 477, 499])(
    '%i fails for certain',
    async (status) => {
      expect(await outcomeOf(http(status, 'no'))).toEqual({ kind: 'failed', reason: refusedWith(status) })
    },
  )

  test.each([401, 403, 407])(
    '%i fails for certain, and tells nothing about the target: our credential was refused',
    async (status) => {
      expect(await outcomeOf(http(status, 'no'))).toEqual({
        kind: 'failed',
        reason: refusedWith(status),
        targetUnknown: true,
      })
    },
  )

  test('429 fails for certain, in the words of the contract', async () => {
    const answer = http(429, '', { 'Retry-After': '1' })
    expect(await outcomeOf(answer)).toEqual({
      kind: 'failed',
      reason: 'the connector is rate limited',
      targetUnknown: true,
    })
  })

  // proves fault: It answers with a redirect; abuse: Redirects
  test.each([201, 202, 204, 207, 301, 302, 303, 304, 307, 308, 408, 500, 501, 502, 503, 504, 521, 599])(
    '%i is unknown',
    async (status) => {
      const bodyless = status === 204 || status === 304
      const answer = http(status, bodyless ? '' : text, { Location: 'http://127.0.0.1:1/' })
      expect(await outcomeOf(answer)).toEqual({ kind: 'unknown', cause: `answered ${status}` })
    },
  )

  // proves fault: It hangs up, resets, or sends
  test.each<[string, Answer]>([
    // proves abuse: An answer to another transaction
    ['an answer to something else', json(200, foreign)],
    ['a body that is not JSON', http(200, '<html>')],
    ['an empty body', http(200)],
    ['JSON that is no object', http(200, '[]')],
    ['an empty object', http(200, '{}')],
    ['half a body', http(200, text.slice(0, -5))],
    ['two bodies', http(200, text + text)],
    // proves abuse: An answer to another transaction
    ['a key that is there twice', http(200, text.replace('{', '{"updatedAt":1,"updatedAt":2,'))],
    ['a __proto__ key', http(200, text.replace('{', '{"__proto__":{},'))],
    ['bytes that are not UTF-8', http(200, Buffer.from(text.replace('{', '{"ü":1,'), 'latin1'))],
    ['a byte order mark', http(200, `\ufeff${text}`)],
    // proves abuse: An answer to another transaction
    ['a number that may have been another', http(200, text.replace('{', '{"n":12345678901234567890,'))],
    ['depth beyond the bound', http(200, text.replace('{', `{"n":${'['.repeat(64)}${']'.repeat(64)},`))],
    // proves abuse: A compression bomb
    ['a compressed body', http(200, gzipSync(text), { 'Content-Encoding': 'gzip' })],
    // proves abuse: Answers that are too large
    ['a larger body than is read', http(200, text.replace('{', `{"n":"${'x'.repeat(66_000)}",`))],
    ['a larger refusal than is read', http(404, 'x'.repeat(66_000))],
    ['a body that is cut off', http(200, text, { 'Content-Length': String(text.length + 1) })],
    ['a close without an answer', (socket) => socket.end()],
    ['a reset', (socket) => socket.resetAndDestroy()],
  ])('%s is unknown', async (name, answer) => {
    expect(await outcomeOf(answer), name).toMatchObject({ kind: 'unknown' })
  })

  // proves fault: The called system never answers
  test('no answer is unknown when the time is over', async () => {
    expect(await outcomeOf(() => undefined, 200)).toEqual({
      kind: 'unknown',
      cause: 'no whole answer within 200 ms',
    })
  })
})

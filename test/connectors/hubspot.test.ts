// hubspot:deal-fetch and hubspot:deal-update against a server that behaves as HubSpot documents its v3 deals (decisions §8).
import { describe, expect, test } from 'vitest'
import { hubspotConnectors } from '../../workers/connectors/hubspot.ts'
import { openConnectors } from '../../workers/connectors/index.ts'
import { json, serve, type Answer, type Loopback, type Received } from './loopback.ts'
import { aKey, anOrder } from './order.ts'

const TOKEN = 'pat-eu1-secret'
const deal = {
  id: '512',
  properties: { amount: '1500.00', dealname: 'New deal', dealstage: null },
  createdAt: '2026-10-30T03:30:17.883Z',
  updatedAt: '2026-11-07T16:50:06.678Z',
  archived: false,
}

/** The API in small: it knows one token and one deal, and answers as documented. */
const hubspot: Answer = (socket, request) => {
  socket.end(answerOf(request))
}

function answerOf({ line, headers, body }: Received): Buffer {
  const [method = '', path = ''] = line.split(' ')
  if (headers['authorization'] !== `Bearer ${TOKEN}`)
    return error(401, 'INVALID_AUTHENTICATION', `Not found: ${headers['authorization']}`)
  if (!/^\/crm\/v3\/objects\/deals\/512(\?|$)/.test(path)) return error(404, 'OBJECT_NOT_FOUND', 'not found')
  if (method === 'GET') return json(200, { ...deal, associations: {} })
  const { properties } = JSON.parse(body) as { properties: Record<string, string> }
  if ('unknown_property' in properties) return error(400, 'VALIDATION_ERROR', 'it does not exist')
  return json(200, { ...deal, properties: { ...deal.properties, ...properties } })
}

function error(status: number, category: string, message: string): Buffer {
  return json(status, {
    status: 'error',
    message,
    correlationId: 'aeb5f871-7f07-4993-9211-075dc63e7cbf',
    category,
  })
}

async function run(action: string, { parameters = {}, target = '512', token = TOKEN } = {}) {
  const server = await serve(hubspot)
  const connector = openConnectors({
    hubspot: { token, baseUrl: server.origin },
    key: aKey(),
    production: false,
    clock: () => new Date(),
  }).find(action)
  const outcome = await connector?.call(anOrder({ action, target, parameters }))
  return { server, outcome }
}

const sent = ({ requests }: Loopback) => requests[0]

// proves §7 500 · varies · see
test('without the token nothing is registered', () => {
  const connectors = openConnectors({
    hubspot: undefined,
    key: aKey(),
    production: false,
    clock: () => new Date(),
  })
  expect([connectors.find('hubspot:deal-fetch'), connectors.find('hubspot:deal-update')]).toEqual([
    undefined,
    undefined,
  ])
  expect(connectors.find('sandbox:echo')?.connectorId).toBe('sandbox-echo')
})

describe('hubspot:deal-fetch', () => {
  test('reads the named properties of a deal', async () => {
    const { server, outcome } = await run('hubspot:deal-fetch', {
      parameters: { properties: ['amount', 'dealstage'] },
    })
    expect(outcome).toEqual({ kind: 'completed', result: deal })
    expect(sent(server)).toMatchObject({
      line: 'GET /crm/v3/objects/deals/512?properties=amount,dealstage HTTP/1.1',
      headers: { authorization: `Bearer ${TOKEN}`, accept: 'application/json' },
      body: '',
    })
  })

  test('reads the properties that HubSpot chooses where none is named', async () => {
    for (const parameters of [{}, { properties: [] }])
      expect(sent((await run('hubspot:deal-fetch', { parameters })).server)?.line).toBe(
        'GET /crm/v3/objects/deals/512 HTTP/1.1',
      )
  })
})

describe('hubspot:deal-update', () => {
  test('sets properties, each as the text that the API documents', async () => {
    const properties = { dealstage: 'closedwon', amount: 1500.5, hs_forecast: true }
    const { server, outcome } = await run('hubspot:deal-update', { parameters: properties })
    expect(sent(server)).toMatchObject({
      line: 'PATCH /crm/v3/objects/deals/512 HTTP/1.1',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: '{"properties":{"amount":"1500.5","dealstage":"closedwon","hs_forecast":"true"}}',
    })
    expect(outcome).toMatchObject({
      kind: 'completed',
      result: { id: '512', properties: { dealstage: 'closedwon' } },
    })
  })

  test('a property that HubSpot does not have fails for certain, by its category', async () => {
    const parameters = { unknown_property: 'x' }
    expect((await run('hubspot:deal-update', { parameters })).outcome).toEqual({
      kind: 'failed',
      reason: 'HubSpot refused with 400 VALIDATION_ERROR',
    })
  })
})

describe.each([
  ['hubspot:deal-fetch', {}],
  ['hubspot:deal-update', { amount: '1' }],
])('%s', (action, parameters) => {
  test('a token that is not valid fails for certain, and is in no evidence', async () => {
    const { outcome } = await run(action, { parameters, token: 'pat-eu1-wrong' })
    expect(outcome).toEqual({
      kind: 'failed',
      reason: 'HubSpot refused with 401 INVALID_AUTHENTICATION',
      targetUnknown: true,
    })
  })

  test('a deal that does not exist fails for certain', async () => {
    const { outcome } = await run(action, { parameters, target: '999' })
    expect(outcome).toEqual({ kind: 'failed', reason: 'HubSpot refused with 404 OBJECT_NOT_FOUND' })
  })

  test.each([
    '',
    '0',
    '0512',
    '-1',
    '5.12',
    '512/../1',
    '../contacts/1',
    '512?x=1',
    '512#',
    '512%2f',
    '512 ',
    '٥١٢',
    '1'.repeat(21),
    'abc',
  ])('a target that is no deal id is never sent: %j', async (target) => {
    const { server, outcome } = await run(action, { parameters, target })
    expect(outcome).toEqual({ kind: 'failed', reason: 'the target is not a deal id' })
    expect(server.connections()).toBe(0)
  })
})

test.each<[string, object]>([
  ['hubspot:deal-fetch', { properties: 'amount' }],
  ['hubspot:deal-fetch', { properties: null }],
  ['hubspot:deal-fetch', { properties: [7] }],
  ['hubspot:deal-fetch', { properties: ['amount&archived=true'] }],
  ['hubspot:deal-fetch', { properties: [''] }],
  ['hubspot:deal-fetch', { properties: Array.from({ length: 101 }, (_, i) => `p${i}`) }],
  ['hubspot:deal-fetch', { archived: true }],
  ['hubspot:deal-update', {}],
  ['hubspot:deal-update', { amount: null }],
  ['hubspot:deal-update', { amount: { value: 1 } }],
  ['hubspot:deal-update', { amount: ['1'] }],
  ['hubspot:deal-update', { 'a b': 'x' }],
  ['hubspot:deal-update', { amount: '1', associations: [] }],
])(
  '%s fails for certain with parameters that it cannot use, before anything is sent: %j',
  async (action, parameters) => {
    const { server, outcome } = await run(action, { parameters })
    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/properties/) as string })
    expect(server.connections()).toBe(0)
  },
)

test('evidence names the API without the token', () => {
  for (const connector of hubspotConnectors({ token: TOKEN, baseUrl: 'https://api.hubapi.com' })) {
    expect(connector.endpoint).toBe('https://api.hubapi.com/crm/v3/objects/deals')
    expect(JSON.stringify(connector)).not.toContain(TOKEN)
  }
})

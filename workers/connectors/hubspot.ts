// hubspot:deal-fetch and hubspot:deal-update: a deal of the CRM read or changed by the v3 objects API (decisions §8).
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { isObject, type Fields } from '../../src/formats/json/fields.ts'
import { call, type HttpCall } from '../../src/core/outbound/call.ts'
import { jsonOf, outcomeOf, type HttpAnswer } from './answer.ts'
import type { Connector, ConnectorOutcome, Order } from './connector.ts'

/** The private app's access token, and the API's origin. */
export interface HubSpot {
  readonly token: string
  readonly baseUrl: string
}

const TIMEOUT_MS = 10_000
const PROPERTIES_MAX = 100

/** @param timeoutMs shorter in tests */
export function hubspotConnectors({ token, baseUrl }: HubSpot, timeoutMs = TIMEOUT_MS): Connector[] {
  const dealsUrl = new URL('/crm/v3/objects/deals', baseUrl).href
  const connector = (action: string, requestFor: (order: Order) => Request | Refusal): Connector => ({
    connectorId: action.replace(':', '-'),
    connectorVersion: '1.0.0',
    endpoint: dealsUrl,
    actions: [action],
    timeoutMs,
    async call(order) {
      if (!DEAL_ID.test(order.target)) return failed('the target is not a deal id')
      const request = requestFor(order)
      if ('reason' in request) return failed(request.reason)
      const { method, query, body } = request
      const exchange = await call({
        method,
        url: `${dealsUrl}/${order.target}${query}`,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body }),
        // The operator chooses the address, which may be a proxy inside the network: the address rule is for addresses that
        // governance registers.
        reach: 'any',
        timeoutMs,
        signal: order.signal,
      })
      return outcomeOf(exchange, { read: (deal) => readDeal(deal, order.target), refusal })
    },
  })
  return [connector('hubspot:deal-fetch', fetchRequest), connector('hubspot:deal-update', updateRequest)]
}

interface Request {
  readonly method: HttpCall['method']
  readonly query: string
  readonly body?: string
}

/** Parameters that no request can be made of: refused before anything is sent. */
interface Refusal {
  readonly reason: string
}

/** HubSpot's ids are numbers that are written as text. Nothing else gets into the path. */
const DEAL_ID = /^[1-9][0-9]{0,19}$/
const PROPERTY = /^[A-Za-z0-9_]{1,100}$/

/** `parameters` are `{properties?: string[]}`, the names of the properties to read; without them HubSpot answers its default ones */
function fetchRequest({ parameters }: Order): Request | Refusal {
  const { properties = [], ...others } = parameters
  if (Object.keys(others).length > 0) return { reason: 'deal-fetch takes no parameter but properties' }
  if (!Array.isArray(properties) || properties.length > PROPERTIES_MAX || !properties.every(isProperty))
    return { reason: 'parameters.properties must be a list of property names' }
  return { method: 'GET', query: properties.length === 0 ? '' : `?properties=${properties.join(',')}` }
}

/** `parameters` are the properties to set, a string, number or boolean each: policies name in rules and bindings exactly the written values */
function updateRequest({ parameters }: Order): Request | Refusal {
  const entries = Object.entries(parameters)
  if (entries.length === 0 || entries.length > PROPERTIES_MAX)
    return { reason: `deal-update takes 1 to ${PROPERTIES_MAX} properties as parameters` }
  if (!entries.every(([name, value]) => isProperty(name) && isScalar(value)))
    return { reason: 'deal-update takes properties as parameters: a string, number or boolean each' }
  // The API documents every value as a string, numbers and booleans too.
  const values = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
  return { method: 'PATCH', query: '', body: canonicalize({ properties: values }) }
}

/** Undefined when it is another deal, or none. */
function readDeal({ id, ...deal }: Fields, target: string): ConnectorOutcome | undefined {
  if (id !== target || !isObject(deal['properties'])) return undefined
  // These prove the deal's state; anything that an extension of the API may add is left out.
  const kept = ['properties', 'createdAt', 'updatedAt', 'archived'].filter((name) =>
    Object.hasOwn(deal, name),
  )
  return {
    kind: 'completed',
    result: { id, ...Object.fromEntries(kept.map((name) => [name, deal[name] as Json])) },
  }
}

/** HubSpot's `category` is a word of a fixed list; its `message` may quote the request, so it is no evidence. */
function refusal(answered: HttpAnswer): string {
  const body = jsonOf(answered)
  const category = isObject(body) ? body['category'] : undefined
  const word = typeof category === 'string' && /^[A-Z_]{1,64}$/.test(category) ? ` ${category}` : ''
  return `HubSpot refused with ${answered.status}${word}`
}

function failed(reason: string): ConnectorOutcome {
  return { kind: 'failed', reason }
}

function isProperty(name: unknown): name is string {
  return typeof name === 'string' && PROPERTY.test(name)
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

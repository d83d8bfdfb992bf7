// Stories of those who read, check and export evidence (interface §4.3, decisions §5, §9), and of those who look at pages.
import type { RouteName } from '../../src/server/routes/index.ts'
import { aPolicy } from '../calls.ts'
import { must, type Story, type World } from './story.ts'
import { aTransaction, ECHO } from './transactions.ts'

/** A route that takes the id of an execution. */
const ofExecuted = (route: RouteName, weight: number): Story => ({
  name: route,
  routes: [route],
  pace: { weight },
  tell: ({ client, keys, executed }) =>
    client.call(route, { params: { id: executed.any() }, key: keys.caller }),
})

const posted = (route: RouteName, weight: number): Story => ({
  name: route,
  routes: [route],
  pace: { weight },
  tell: ({ client, keys, executed }) =>
    client.call(route, { body: { businessTransactionId: executed.any() }, key: keys.caller }),
})

/** Routes that need nothing but a key, or not even that. */
const plain = (name: string, weight: number, routes: readonly RouteName[], query = ''): Story => ({
  name,
  routes,
  pace: { weight },
  async tell({ client, keys }) {
    for (const route of routes) await client.call(route, { key: keys.caller, query })
  },
})

/** Limited by client address to less than the mix asks for: both answers must go on. */
const limited = (route: RouteName): Story => ({
  name: `${route}, within its limit and over it`,
  routes: [route],
  pace: { weight: 1 },
  tell: ({ client }) => client.call(route, { expect: [200, 429] }),
})

const withParams = (route: RouteName, params: (world: World) => Readonly<Record<string, string>>): Story => ({
  name: route,
  routes: [route],
  pace: { weight: 0.2 },
  tell: (world) => world.client.call(route, { params: params(world), key: world.keys.caller }),
})

const anyOf = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T

export const readStories: readonly Story[] = [
  ofExecuted('GET /transactions/{id}', 3),
  ofExecuted('GET /trust-records/{id}', 5),
  ofExecuted('GET /verification/{id}', 2),
  ofExecuted('GET /verifications/{id}', 0.5),
  ofExecuted('GET /receipt/latest/{id}', 2),
  ofExecuted('GET /receipts/{id}', 0.5),
  ofExecuted('GET /execution-intents/{id}', 1),
  posted('POST /verify', 2),
  posted('POST /receipt', 2),
  posted('POST /replay', 2),
  {
    name: 'has a record already',
    routes: ['GET /trust-records/{id}'],
    pace: { weight: 1 },
    async tell({ client, keys, executed }) {
      const call = { params: { id: executed.any() }, key: keys.caller }
      const { headers } = await client.call('GET /trust-records/{id}', call)
      // A verification or a receipt may have come to it meanwhile.
      const again = { ...call, headers: { 'If-None-Match': String(headers.etag) }, expect: [200, 304] }
      await client.call('GET /trust-records/{id}', again)
    },
  },
  plain('lists transactions', 1, ['GET /transactions'], '?pageSize=50'),
  {
    name: 'exports three pages',
    routes: ['GET /trust-records'],
    pace: { weight: 0.3 },
    async tell({ client, keys }) {
      let query: string | undefined = '?pageSize=100'
      for (let page = 0; page < 3 && query !== undefined; page++) {
        const { headers } = await client.call('GET /trust-records', { key: keys.auditor, query })
        const link = /<([^>]*)>; rel="next"/.exec(String(headers.link ?? ''))?.[1]
        query = link === undefined ? undefined : `?${link.split('?')[1] ?? ''}`
      }
    },
  },
  {
    name: 'reads the audit, and checks an event',
    routes: ['GET /audit/events', 'POST /audit/verify'],
    pace: { weight: 1 },
    async tell({ client, keys }) {
      const { json } = await client.call('GET /audit/events', { key: keys.auditor, query: '?pageSize=20' })
      const [event] = json()['events'] as object[]
      must(event !== undefined, 'the audit is empty')
      const verified = await client.call('POST /audit/verify', { body: event })
      must(verified.json()['valid'] === true, 'an audit event does not verify')
    },
  },
  {
    name: 'tries a transaction in the sandbox',
    routes: ['POST /sandbox/evaluate'],
    pace: { weight: 2 },
    tell: ({ client, keys }) =>
      client.call('POST /sandbox/evaluate', { key: keys.caller, body: aTransaction() }),
  },
  {
    name: 'tries a policy on the last seconds',
    routes: ['POST /sandbox/policies/simulate'],
    pace: { everySeconds: 5 },
    tell: ({ client, keys }) =>
      client.call('POST /sandbox/policies/simulate', {
        key: keys.caller,
        body: {
          policy: aPolicy({ ...ECHO, version: '2.0.0' }, 'sandbox:echo'),
          since: new Date(Date.now() - 10_000).toISOString(),
        },
      }),
  },
  {
    name: 'asks whether a policy can be loaded',
    routes: ['POST /policies/validate'],
    pace: { weight: 1 },
    tell: ({ client, keys }) =>
      client.call('POST /policies/validate', {
        key: keys.caller,
        body: { policyId: ECHO.name, policyVersion: ECHO.version },
      }),
  },
  plain('reads the policies', 1, ['GET /policies', 'GET /policies/in-effect']),
  withParams('GET /policies/{name}/{version}', () => ECHO),
  limited('GET /health'),
  limited('GET /ready'),
  plain('asks who it is and what this is', 1, ['GET /', 'GET /version', 'GET /callers/me']),
  plain('reads the documents', 0.2, [
    'GET /openapi.yaml',
    'GET /openapi.json',
    'GET /api-manifest.json',
    'GET /.well-known/jwks.json',
  ]),
  plain('looks at the pages', 0.1, [
    'GET /documentation',
    'GET /reference',
    'GET /handbook',
    'GET /verifier',
    'GET /verifier/countersign-verify.mjs',
  ]),
  withParams('GET /keys/{keyId}', ({ publicKeyIds }) => ({ keyId: anyOf(publicKeyIds) })),
  withParams('GET /documentation/{asset}', () => ({ asset: anyOf(['swagger-ui.css', 'documentation.js']) })),
  withParams('GET /reference/{asset}', () => ({ asset: 'reference.js' })),
  withParams('GET /handbook/{page}', () => ({ page: anyOf(['callers', 'operating', 'policies']) })),
]

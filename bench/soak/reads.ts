// Stories of those who read, check and export evidence (interface §4.3, decisions §5, §9), and of those who look at pages.
import { randomUUID } from 'node:crypto'
import { aPolicy, maker } from '../authority.ts'
import { anyOf } from '../pick.ts'
import { aTransaction, must, one, rarely, told, type Story } from './story.ts'

/** How far an export as lines goes back. */
const EXPORTED_MS = 5_000

/** A route that takes the id of an execution. */
const ofExecuted = (weight: number, route: string): Story =>
  one(weight, route, ({ executed }) => ({ params: { id: anyOf(executed) } }))

const posted = (weight: number, route: string): Story =>
  one(weight, route, ({ executed }) => ({ body: { businessTransactionId: anyOf(executed) } }))

/** A route that is limited by client address to less than the mix asks for, so that both answers occur. */
const limited = (route: string): Story => one(1, route, () => ({ key: null, expect: [200, 429] }))

const all = (name: string, weight: number, routes: readonly string[]): Story =>
  told(name, weight, async ({ call }) => {
    for (const route of routes) await call(route)
  })

export const readStories: readonly Story[] = [
  ofExecuted(3, 'GET /transactions/{id}'),
  ofExecuted(5, 'GET /trust-records/{id}'),
  ofExecuted(2, 'GET /verification/{id}'),
  ofExecuted(0.5, 'GET /verifications/{id}'),
  ofExecuted(2, 'GET /receipt/latest/{id}'),
  ofExecuted(0.5, 'GET /receipts/{id}'),
  ofExecuted(1, 'GET /execution-intents/{id}'),
  ofExecuted(0.5, 'GET /confirmations/{id}'),
  posted(2, 'POST /verify'),
  posted(2, 'POST /receipt'),
  posted(2, 'POST /replay'),
  told('has a record already', 1, async ({ call, executed }) => {
    const record = { params: { id: anyOf(executed) } }
    const { headers } = await call('GET /trust-records/{id}', record)
    // A verification or a receipt may have been added to it meanwhile.
    const again = { ...record, headers: { 'If-None-Match': String(headers['etag']) }, expect: [200, 304] }
    await call('GET /trust-records/{id}', again)
  }),
  one(1, 'GET /transactions', () => ({ query: '?pageSize=50' })),
  one(1, 'GET /executions', ({ auditor: key }) => ({ key, query: '?status=completed&pageSize=50' })),
  one(0.5, 'GET /search', ({ auditor: key }) => ({ key, query: '?q=bench' })),
  one(0.2, 'GET /statistics', ({ auditor: key }) => ({ key, query: '?bucket=minute&by=status' })),
  one(0.2, 'GET /statistics/approvals', ({ auditor: key }) => ({ key })),
  one(1, 'GET /refusals', () => ({ query: '?pageSize=50' })),
  told('exports three pages', 0.3, async ({ call, auditor }) => {
    let query: string | undefined = '?pageSize=100'
    for (let page = 0; page < 3 && query !== undefined; page++) {
      const { headers } = await call('GET /trust-records', { key: auditor, query })
      query = /<[^>?]*(\?[^>]*)>; rel="next"/.exec(String(headers['link']))?.[1]
    }
  }),
  told('exports the last seconds as lines', 0.3, async ({ call, auditor }) => {
    const since = new Date(Date.now() - EXPORTED_MS).toISOString()
    const headers = { Accept: 'application/x-ndjson' }
    for (const route of ['GET /trust-records', 'GET /refusals']) {
      // An auditor may have two exports at once.
      const given = { key: auditor, query: `?since=${since}`, headers, expect: [200, 503] }
      const { status, text } = await call(route, given)
      if (status !== 200) continue
      const lines = text.trimEnd().split('\n')
      const { exportEnd } = JSON.parse(lines.at(-1) ?? '') as { exportEnd: { count: number } }
      const count = lines.length - 1
      must(exportEnd.count === count, `${route} counts ${exportEnd.count} of ${count}`)
    }
  }),
  told('reads the audit, and checks an event', 1, async ({ call, auditor }) => {
    const { json } = await call('GET /audit/events', { key: auditor, query: '?pageSize=20' })
    const [event] = json()['events'] as object[]
    must(event !== undefined, 'the audit is empty')
    const verified = await call('POST /audit/verify', { body: event })
    must(verified.json()['valid'] === true, 'an audit event does not verify')
  }),
  told('follows events for two pages', 1, async ({ call }) => {
    const { json } = await call('GET /events', { query: '?after=now' })
    const { next } = json() as { next: string }
    const headers = { Prefer: 'wait=1' }
    await call('GET /events', { query: `?after=${next}&limit=10`, headers })
  }),
  told('proves an execution, and reads the log', 2, async ({ call, auditor: key, executed }) => {
    const params = { kind: 'receipt', id: anyOf(executed) }
    // A busy machine signs its next checkpoint later than one request waits.
    const proof = { params, headers: { Prefer: 'wait=10' }, expect: [200, 202] }
    let status = 202
    for (let asked = 0; status === 202 && asked < 6; asked++)
      ({ status } = await call('GET /log/proofs/{kind}/{id}', proof))
    must(status === 200, 'an execution has no proof after a minute')
    const { text } = await call('GET /log/checkpoint', { key: null })
    const to = Number(text.split('\n')[1])
    const first = to < 256 ? `000.p/${to}` : '000'
    await call('GET /log/tile/{tile}', { key, params: { tile: `0/${first}` } })
    await call('GET /log/tile/entries/{bundle}', { key, params: { bundle: first } })
    await call('GET /log/consistency', { key: null, query: `?from=1&to=${to}` })
    await call('GET /.well-known/countersign-log', { key: null })
    const body = { stream: { capability: 'sandbox:echo' }, from: 1, to: 20 }
    await call('POST /log/completeness', { key, body })
    const absent = { kind: 'authorization', id: randomUUID() }
    await call('GET /log/absence/{kind}/{id}', { key, params: absent })
  }),
  // The service of the soak is no witness of other logs.
  one(0.5, 'POST /log/witness/add-checkpoint', () => ({ key: null, body: {}, expect: [404] })),
  one(0.5, 'GET /log/witness/{originHash}/checkpoint', () => ({
    key: null,
    params: { originHash: '0'.repeat(64) },
    expect: [404],
  })),
  one(2, 'POST /sandbox/evaluate', () => ({ body: aTransaction() })),
  rarely('tries a policy on the last seconds', 5, ({ call }) => {
    const { proposedContent: policy } = aPolicy('sandbox-echo', '2.0.0', 'sandbox:echo').body
    const since = new Date(Date.now() - 10_000).toISOString()
    return call('POST /sandbox/policies/simulate', { body: { policy, since } })
  }),
  one(0.2, 'POST /sandbox/policies/check', () => ({
    key: maker.key,
    body: { policy: JSON.stringify(aPolicy('sandbox-echo', '2.0.0', 'sandbox:echo').body.proposedContent) },
  })),
  one(1, 'POST /policies/validate', () => ({ body: { policyId: 'sandbox-echo', policyVersion: '1.0.0' } })),
  all('reads the policies', 1, ['GET /policies', 'GET /policies/in-effect']),
  one(0.1, 'GET /policies/{name}/{version}/policy.yaml', () => ({
    params: { name: 'sandbox-echo', version: '1.0.0' },
  })),
  one(0.2, 'GET /policies/{name}/{version}', () => ({ params: { name: 'sandbox-echo', version: '1.0.0' } })),
  limited('GET /health'),
  limited('GET /ready'),
  all('asks who it is and what this is', 1, ['GET /', 'GET /version', 'GET /callers/me']),
  all('reads the documents', 0.2, [
    'GET /openapi.yaml',
    'GET /openapi.json',
    'GET /api-manifest.json',
    'GET /.well-known/approver-keys.json',
  ]),
  all('looks at the pages', 0.1, [
    'GET /documentation',
    'GET /reference',
    'GET /handbook',
    'GET /signer',
    'GET /verifier',
    'GET /verifier/countersign-verify.mjs',
  ]),
  told('reads the keys', 0.2, async ({ call }) => {
    const { json } = await call('GET /.well-known/jwks.json')
    await call('GET /keys/{keyId}', { params: { keyId: anyOf(json()['keys'] as { kid: string }[]).kid } })
  }),
  one(0.2, 'GET /documentation/{asset}', () => ({
    params: { asset: anyOf(['swagger-ui.css', 'documentation.js']) },
  })),
  one(0.2, 'GET /reference/{asset}', () => ({ params: { asset: 'reference.js' } })),
  one(0.2, 'GET /handbook/{page}', () => ({ params: { page: anyOf(['callers', 'operating', 'policies']) } })),
]

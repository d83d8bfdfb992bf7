// The front end and the database treat every route alike: `send` holds each reply against the OpenAPI document.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import addCheckpoint from '../../src/server/openapi/examples/add-checkpoint.json' with { type: 'json' }
import { isCached } from '../../src/server/openapi/responses.ts'
import { routes } from '../../src/server/routes/index.ts'
import type { Route } from '../../src/server/route.ts'
import { aHuman } from '../authority.ts'
import { examplePath } from './example-path.ts'
import { openDatabaseProxy, type DatabaseProxy } from '../proxy.ts'
import type { CallOptions, TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { aTransaction } from '../transactions.ts'
import { witnessEnvironment } from '../witness.ts'
import { aDelivery, env as webhookEnv } from '../webhooks.ts'
import { withDatabase } from '../with-service.ts'

const BODY_BYTES_MAX = 102_400
const human = aHuman('human', { allowedPrincipalIds: ['local-dev'] })

const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-routes-'))
let proxy: DatabaseProxy
let service: TestService
let limited: TestService

withDatabase(async ({ database, start }) => {
  proxy = await openDatabaseProxy(database.url)
  makeKeys(signingKeyDir)
  const env = witnessEnvironment(signingKeyDir, [addCheckpoint.vkey])
  const same = { signingKeyDir, callers: [human.entry] }
  service = await start({ ...same, databaseUrl: proxy.url, env: { ...env, ...webhookEnv } })
  const one = {
    RATE_LIMIT_EXECUTE_PER_MINUTE: '1',
    RATE_LIMIT_HEALTH_PER_MINUTE: '1',
    RATE_LIMIT_PUBLIC_PER_MINUTE: '1',
  }
  limited = await start({ ...same, env: { ...env, ...one } })
})

afterAll(async () => {
  await proxy.cut()
  rmSync(signingKeyDir, { recursive: true })
})

const rows = (which: (route: Route) => boolean): Route[] => routes.filter(which)

/** With the document's own examples; in  body  another one */
function call(to: TestService, route: Route, options: CallOptions & { body?: unknown } = {}) {
  const { body: shown } = route
  const path = examplePath(route)
  const { body = shown?.example, ...more } = { key: human.key, ...options }
  if (route.method === 'GET') return to.get(path, more)
  if (route.body?.anyBytes !== true) return to.post(path, body, more)
  // These headers authenticate a delivery.
  const delivery = aDelivery({ body: typeof body === 'string' ? body : JSON.stringify(body) })
  return to.post(path, delivery.body, { headers: delivery.headers })
}

describe('by a caller that is no human', () => {
  // proves §4.6 POST /refusal/verify and POST; §7 403 · `NON_HUMAN_CALLER_DENIED` · a non-human
  test.each(rows(({ human: forHumans, readers }) => forHumans === true || readers === true))(
    '$method $path answers 403',
    async (route) => {
      expect((await call(service, route, { key: service.key })).status).toBe(403)
    },
  )
})

describe('a body', () => {
  const taking = rows(({ body }) => body !== undefined)
  const takingJson = taking.filter(({ body }) => !body?.anyBytes)

  test.each(taking)('that is too large: $method $path answers 413', async (route) => {
    const { bodyBytesMax = BODY_BYTES_MAX } = route
    expect((await call(service, route, { body: ' '.repeat(bodyBytesMax + 1) })).status).toBe(413)
  })

  test.each(takingJson)('that is no JSON: $method $path answers 400', async (route) => {
    expect((await call(service, route, { body: '{' })).status).toBe(400)
  })
})

describe('beyond its budget', () => {
  test.each(rows(({ limit }) => limit !== undefined))('$method $path answers 429', async (route) => {
    await call(limited, route)
    expect((await call(limited, route)).status).toBe(429)
  })
})

describe('where what is cached has not changed', () => {
  const cached = rows(({ answers }) => answers[200] !== undefined && isCached(answers[200]))

  test.each(cached.filter(({ open }) => open))('$method $path answers 304', async (route) => {
    expect((await call(service, route, { headers: { 'If-None-Match': '*' } })).status).toBeOneOf([304, 404])
  })
})

/** Some routes read the database for some bodies only: these have one of those. */
const reading: Readonly<Record<string, { body: unknown }>> = {
  '/sandbox/evaluate': {
    body: aTransaction({
      authority: { principalId: 'local-dev' },
      policy: { name: 'vendor-payment', version: '2.0.0' },
      intent: { action: 'vendor:pay', parameters: { amount: 40 } },
      signals: { vendorVerified: true, paymentAmount: 40, riskScore: 1 },
    }),
  },
}

// Last: it does not come back.
describe('without its database', () => {
  test.each(rows(({ readsDatabase }) => readsDatabase === true))(
    '$method $path answers 503',
    async (route) => {
      await proxy.cut()
      expect((await call(service, route, reading[route.path])).status).toBe(503)
    },
  )
})

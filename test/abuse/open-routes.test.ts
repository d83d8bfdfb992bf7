// Every route that needs no key, looped by one address: what its neighbours see is compared with what they saw a moment before, when
// nobody attacked. On a busy machine both are slow.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { ConsoleManifest } from '../../src/server/console/documents.ts'
import { consoleRoutes } from '../../src/server/console/routes.ts'
import addCheckpoint from '../../src/server/openapi/examples/add-checkpoint.json' with { type: 'json' }
import { routes } from '../../src/server/routes/index.ts'
import type { Route } from '../../src/server/route.ts'
import { readPage } from '../../tools/pages.ts'
import { servers } from '../front-end/listen-front-end.ts'
import { aCaller, type TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { witnessEnvironment } from '../witness.ts'
import { attackWith, executions } from './attack.ts'
import type { Attack } from './attacker.ts'
import { withDatabase } from '../with-service.ts'

const CONSOLE = 'console.example'
const PROVIDER = 'razorpay'
/** MAX_BODY_BYTES, the default. */
const BODY_BYTES_MAX = 102_400
const SAMPLES = 31
/** How much slower a neighbour's execution may be, by the median. */
const SLOWER_MAX = 2
/** A quiet median below it is taken for as much: what the scheduler alone does to two cores is no ratio of it. */
const FLOOR_MS = 15
/** One phase in which the machine itself stood still proves nothing: the best of so many counts. */
const ROUNDS = 4

const victim = aCaller('victim')

const manifest = JSON.parse(readPage('console/manifest.json')) as ConsoleManifest

/** The largest of what a path can name, where the example of the route is not that. */
const LARGEST: Readonly<Record<string, string>> = {
  '/documentation/{asset}': '/documentation/swagger-ui-bundle.js',
  '/handbook/{page}': '/handbook/operating',
  '/console/assets/{asset}': `/console/assets/${manifest.script}`,
  '/console/{page}': '/console/requests/1',
}

interface OpenRoute {
  readonly path: string
  readonly route: Route
  readonly host: string
}

/** Routes of both hosts; the console's host has most of the others too, and sends some of them elsewhere. */
const openRoutes: readonly OpenRoute[] = [
  ...routes.map((route) => ({ route, host: '127.0.0.1' })),
  ...consoleRoutes
    .filter(({ path }) => path.startsWith('/console'))
    .map((route) => ({ route, host: CONSOLE })),
]
  .filter(({ route }) => route.open !== undefined)
  .map(({ route, host }) => ({ route, host, path: pathOf(route) }))

function pathOf({ path, params = {} }: Route): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (name, param: string) => params[param]?.example ?? name)
  return LARGEST[path] ?? filled
}

describe.each(servers)('over %s', (server) => {
  let service: TestService
  const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-open-routes-'))
  let addresses = 0

  withDatabase(async ({ start }) => {
    makeKeys(signingKeyDir)
    service = await start({
      signingKeyDir,
      callers: [{ ...victim.entry, allowedPrincipalIds: ['victim'] }],
      // The defaults, which test/service.ts raises for other tests; but for the neighbour's own.
      env: {
        LISTENER: server,
        RATE_LIMIT_HEALTH_PER_MINUTE: '1200',
        RATE_LIMIT_PUBLIC_PER_MINUTE: '1200',
        RATE_LIMIT_COMPUTE_MS_PER_MINUTE: '6000',
        TRUST_PROXY_HOPS: '1',
        CONSOLE_ORIGIN: `https://${CONSOLE}`,
        [`${PROVIDER.toUpperCase()}_WEBHOOK_SECRET`]: 'a-secret-of-many-characters',
        LOG_ACCESS: 'open',
        ...witnessEnvironment(signingKeyDir, [addCheckpoint.vkey]),
      },
    })
    await executions(service, victim, 3 * SAMPLES)
  })

  afterAll(() => {
    rmSync(signingKeyDir, { recursive: true })
  })

  /** In one of a few rounds a neighbour's executions are about as fast beside the attack as right before it, and the service is ready in all. */
  async function expectUnharmed(requests: Attack['requests'], connections: number): Promise<void> {
    const seen: string[] = []
    let ratio = Infinity
    for (let round = 0; round < ROUNDS && ratio > SLOWER_MAX; round++) {
      // Each round has the whole of its limits to spend.
      const address = `X-Forwarded-For: 192.0.2.${++addresses}`
      const quietMs = median(await executions(service, victim, SAMPLES))
      const stop = await attackWith(service, {
        connections,
        requests: requests.map((one) => ({ ...one, headers: [...one.headers, address] })),
      })
      const attackedMs = median(await executions(service, victim, SAMPLES))
      const { status } = await service.get('/ready', { headers: { 'X-Forwarded-For': '198.51.100.1' } })
      const statuses = JSON.stringify(await stop())
      seen.push(`${quietMs.toFixed(1)} -> ${attackedMs.toFixed(1)} ms, ready ${status}, ${statuses}`)
      expect(status, seen.join('\n')).toBe(200)
      ratio = attackedMs / Math.max(quietMs, FLOOR_MS)
    }
    expect(ratio, seen.join('\n')).toBeLessThanOrEqual(SLOWER_MAX)
  }

  // proves abuse: 48 connections of one address
  test.each(
    openRoutes.flatMap((open) => connectionsOf(open).map((connections) => ({ ...open, connections }))),
  )('$route.method $path on $host by $connections connections of one address', (open) =>
    expectUnharmed(requestsOf(open), open.connections),
  )

  // proves abuse: Bodies as large as a route takes
  test.each(
    openRoutes
      .filter(({ route }) => route.body !== undefined)
      .flatMap((open) => connectionsOf(open).map((connections) => ({ ...open, connections }))),
  )('$path with bodies as large as it takes by $connections connections of one address', (open) => {
    const body = aText(open.route.bodyBytesMax ?? BODY_BYTES_MAX)
    return expectUnharmed(
      requestsOf(open).map((one) => ({ ...one, body })),
      open.connections,
    )
  })
})

/** Without a body a request holds nothing for its connection: with few of them it costs no more than with many. */
function connectionsOf({ route }: OpenRoute): number[] {
  return route.body === undefined ? [48] : [8, 48]
}

/** A GET is looped with what should cost even less: a HEAD, and a request that has the reply already. */
function requestsOf({ path, route: { body }, host }: OpenRoute): Attack['requests'] {
  const headers = [`Host: ${host}`]
  if (body !== undefined)
    // No provider's secret signs it.
    return [
      {
        path,
        headers: [...headers, `X-Razorpay-Signature: ${'a'.repeat(64)}`],
        body: JSON.stringify(body.example),
      },
    ]
  return [
    { method: 'GET', path, headers },
    { method: 'HEAD', path, headers },
    { method: 'GET', path, headers: [...headers, 'If-None-Match: *'] },
  ]
}

/** JSON. */
function aText(bytes: number): string {
  return `"${'x'.repeat(bytes - 2)}"`
}

function median(ascending: readonly number[]): number {
  return ascending[Math.floor(ascending.length / 2)] ?? Infinity
}

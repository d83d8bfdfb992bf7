// GET /metrics of a running service after traffic of every kind: what is counted, by which labels, and that the dashboard, the
// alerts and the handbook name what is there.
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { parseAddCheckpoint } from '../../src/formats/log/add-checkpoint.ts'
import { parseCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { formatVkey, parseNote } from '../../src/formats/log/note.ts'
import { gateNames } from '../../src/core/errors/gates.ts'
import { stageNames } from '../../src/core/threads/thread-messages.ts'
import type { TestDatabase } from '../database.ts'
import { freezeLog } from '../../src/store/tables/log-state.ts'
import { chapters } from '../handbook.ts'
import { openDatabaseProxy, type DatabaseProxy } from '../proxy.ts'
import { startService, until, type TestService } from '../service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'
import { aSigner } from '../log/signers.ts'
import { aFakeWitness, type FakeWitness } from '../witness.ts'
import { aDelivery, deliver, env } from '../webhooks.ts'
import { metricsUrl, scrape, total, type Sample } from './scrape.ts'
import { withDatabase } from '../with-service.ts'

const DASHBOARD = join(import.meta.dirname, '..', '..', 'docs', 'grafana-dashboard.json')
const ALERTS = join(import.meta.dirname, '..', '..', 'docs', 'prometheus-alerts.yaml')
const EXECUTION_THREADS = 2
/** One for other work besides; those for large bodies and for administration have not been needed. */
const THREADS = EXECUTION_THREADS + 1
const HEALTH = 5
/** Longer than any scrape may take, shorter than a statement's time-out. */
const SCRAPE_MAX_MS = 10_000

const folder = mkdtempSync(join(tmpdir(), 'countersign-metrics-'))
const cosigner = aSigner('w.example', 'ed25519-cosignature')
let witness: FakeWitness
let database: TestDatabase
let proxy: DatabaseProxy
let service: TestService
let samples: Sample[]
const duplicate = aTransaction()
const slow = aTransaction({ intent: { parameters: { amount: 42, delayMs: 200 } } })

withDatabase(async ({ database: made, start }) => {
  witness = await aFakeWitness((body) => {
    const { text } = parseNote(parseAddCheckpoint(body).checkpoint)
    return { status: 200, body: cosigner.line(parseCheckpoint(text)) }
  })
  const policy = join(folder, 'policy')
  writeFileSync(policy, `witness w ${formatVkey(cosigner.key)} ${witness.url}\nquorum none\n`)
  database = made
  proxy = await openDatabaseProxy(database.url)
  service = await start({
    databaseUrl: proxy.url,
    env: {
      ...env,
      METRICS_PORT: '0',
      LOG_WITNESS_POLICY: policy,
      LOG_LEVEL: 'debug',
      WORKER_THREADS: String(EXECUTION_THREADS),
      RATE_LIMIT_HEALTH_PER_MINUTE: String(HEALTH),
    },
  })
  const execute = async (transaction: object) => (await service.post('/execute', transaction)).status
  expect(await execute(duplicate)).toBe(200)
  expect(await execute(duplicate)).toBe(409)
  expect(await execute(slow)).toBe(200)
  expect(await execute(aRejectedTransaction())).toBe(500)
  expect(await execute(aMismatchedTransaction())).toBe(403)
  expect(await execute(aTransaction({ policy: { name: 'nobody-has-it' } }))).toBe(404)
  expect((await service.get(`/transactions/${randomUUID()}`)).status).toBe(404)
  expect((await service.get('/nowhere/at-all')).status).toBe(404)
  expect((await service.get('/nowhere', { method: 'PROPFIND' })).status).toBe(404)
  expect((await service.get('/version', { key: makeRawKey() })).status).toBe(401)
  for (let i = 0; i <= HEALTH; i++)
    expect((await service.get('/health', { key: null })).status).toBe(i < HEALTH ? 200 : 429)
  const delivery = aDelivery()
  expect((await deliver(service, delivery)).body).toEqual({ status: 'accepted' })
  expect((await deliver(service, delivery)).body).toEqual({ status: 'acknowledged' })
  expect((await deliver(service, aDelivery({ body: delivery.body }))).body).toEqual({
    status: 'acknowledged',
  })
  expect((await deliver(service, aDelivery({ secret: 'another secret, 16' }))).status).toBe(401)
  // A body that streams: fetch sends it in chunks.
  const stream = new Blob(['{}']).stream()
  const chunked = { method: 'POST', body: stream, duplex: 'half' } as RequestInit
  expect((await fetch(`${service.url}/execute`, chunked)).status).toBe(411)
  samples = await until(async () => {
    const found = await scrape(service)
    const late = [
      'countersign_log_checkpoint_age_seconds',
      'countersign_log_witness_checkpoint_age_seconds',
      'countersign_confirmations_total',
    ]
    return late.some((name) => total(found, name) === undefined) ? undefined : found
  }, 'the first checkpoint of the log, cosigned, and what the delivery says')
})

afterAll(async () => {
  await proxy.cut()
  await witness.close()
  rmSync(folder, { recursive: true })
})

const count = (name: string, labels: Record<string, string> = {}) => total(samples, name, labels)

describe('what is counted', () => {
  test('every reply, by the pattern of its route', () => {
    const requests = 'countersign_http_requests_total'
    const execute = { method: 'POST', route: '/execute' }
    for (const [status, times] of Object.entries({ 200: 2, 403: 1, 404: 1, 409: 1, 500: 1 }))
      expect(count(requests, { ...execute, status }), status).toBe(times)
    expect(count('countersign_http_request_duration_seconds_count', execute)).toBe(6)
    expect(count(requests, { method: 'GET', route: '/transactions/{id}', status: '404' })).toBe(1)
    expect(count(requests, { method: 'GET', route: 'none', status: '404' })).toBe(1)
    expect(count(requests, { method: '_OTHER', route: 'none' })).toBe(1)
    expect(count(requests, { route: '/version', status: '401' })).toBe(1)
  })

  test('every stage once per batch, and the wait of an execution that leaves its batch', () => {
    const stage = (name: string) => count('countersign_stage_duration_seconds_count', { stage: name })
    // One batch each: the service was asked one after the other. Two of them came to the end.
    expect(stageNames.map(stage)).toEqual([6, 6, 6, 6, 6, 2, 2, 2, 2])
    expect(stage('deferred')).toBe(1)
    expect(count('countersign_stage_duration_seconds_sum', { stage: 'deferred' })).toBeGreaterThan(0.15)
  })

  test('batches, their sizes and how long they waited, by operation', () => {
    for (const name of ['batch_requests', 'batch_duration_seconds', 'queue_wait_seconds'])
      expect(count(`countersign_${name}_count`, { operation: 'execute' }), name).toBe(6)
    expect(count('countersign_batch_requests_sum', { operation: 'execute' })).toBe(6)
    expect(count('countersign_batches_running', { operation: 'execute' })).toBe(0)
  })

  test('what policies said, but not of a duplicate or of a policy that nobody has', () => {
    const decisions = samples.filter(({ name }) => name === 'countersign_policy_decisions_total')
    expect(decisions.map(({ labels, value }) => [labels['policy'], labels['outcome'], value])).toEqual([
      ['sandbox-echo', 'approved', 2],
      ['sandbox-echo', 'rejected', 1],
      ['sandbox-echo', 'denied', 1],
    ])
  })

  test('refusals by limits, events of the audit, deliveries by outcome', () => {
    const limited = 'countersign_rate_limit_refusals_total'
    expect([count(limited, { limit: 'health' }), count(limited, { limit: 'execute' })]).toEqual([1, 0])
    const audited = (type: string) => count('countersign_audit_events_total', { type, written: 'true' })
    expect(['caller.rejected', 'rate_limited', 'webhook.rejected', 'webhook.replayed'].map(audited)).toEqual([
      1, 1, 1, 1,
    ])
    for (const outcome of ['accepted', 'acknowledged', 'replayed', 'rejected'])
      expect(count('countersign_webhook_deliveries_total', { provider: 'razorpay', outcome }), outcome).toBe(
        1,
      )
  })

  test('replies of 503 by their gate, all of which are there from the start', () => {
    const gates = samples.filter(({ name }) => name === 'countersign_replies_total')
    expect(new Set(gates.map(({ labels }) => labels['gate']))).toEqual(new Set(gateNames))
  })

  test('a chunked body, whose connection ends, and a debug line with its address', async () => {
    const dropped = 'countersign_connections_dropped_total'
    expect(count(dropped, { reason: 'transfer-encoding' })).toBe(1)
    expect(count(dropped)).toBe(1)
    const line = await until(
      () => service.lines().find(({ msg }) => msg === 'connection dropped'),
      'the debug line',
    )
    expect(line).toMatchObject({ level: 20, reason: 'transfer-encoding', address: '127.0.0.1' })
  })

  test('every thread and every pool, and what runs', () => {
    expect(count('countersign_worker_threads')).toBe(THREADS)
    expect(count('countersign_worker_threads_configured')).toBe(THREADS)
    const threads = [
      'main',
      ...new Set(
        samples.flatMap(({ name, labels: { thread = 'main' } }) =>
          name.includes('event_loop') && thread !== 'main' ? [thread] : [],
        ),
      ),
    ]
    expect(threads.map((thread) => thread.replace(/-\d+$/, '')).toSorted()).toEqual([
      'background',
      'execution',
      'execution',
      'main',
    ])
    for (const thread of threads) {
      for (const percentile of ['50', '99', '100'])
        expect(count('countersign_event_loop_lag_seconds', { thread, percentile })).toBeGreaterThanOrEqual(0)
      expect(count('countersign_event_loop_utilization_ratio', { thread })).toBeGreaterThan(0)
    }
    const pools = new Set(
      samples
        .filter(({ name }) => name === 'countersign_database_pool_connections')
        .map(({ labels }) => `${labels['pool']} ${labels['thread']}`),
    )
    expect([...pools].toSorted()).toEqual(
      [
        ...['authority', 'limits', 'read', 'ready', 'webhooks'].map((pool) => `${pool} main`),
        ...threads.slice(1).map((thread) => `worker ${thread}`),
      ].toSorted(),
    )
    expect(count('countersign_build_info', { node: process.version })).toBe(1)
  })

  test('nothing that a client chose is a label', () => {
    const labels = new Set(samples.flatMap((sample) => Object.values(sample.labels)))
    const chosen = ['tester', duplicate.businessTransactionId, slow.businessTransactionId, 'nobody-has-it']
    expect(chosen.filter((text) => [...labels].some((label) => label.includes(text)))).toEqual([])
    expect([...labels].filter((label) => label.includes('nowhere') || label === 'PROPFIND')).toEqual([])
  })
})

const log = async (name: string) => total(await scrape(service), `countersign_log_${name}`)

describe('what is so at the moment', () => {
  test('requests under way are shown until they are answered', async () => {
    const transaction = aTransaction({ intent: { parameters: { amount: 42, delayMs: 3_000 } } })
    const answered = service.post('/execute', transaction)
    const inFlight = async (name: string) => total(await scrape(service), `countersign_http_${name}`) ?? 0
    await until(async () => (await inFlight('requests_in_flight')) === 1, 'the request')
    expect(await inFlight('in_flight_bytes')).toBeGreaterThan(100)
    expect((await answered).status).toBe(200)
    expect(await inFlight('requests_in_flight')).toBe(0)
  })

  test('executions in doubt are counted within seconds', async () => {
    expect(await doubts()).toBe(0)
    const id = randomUUID()
    await database.pool.query('INSERT INTO released_batches VALUES ($1, ARRAY[$1::uuid], now())', [id])
    await until(async () => (await doubts()) === 1, 'the doubt')
    await database.pool.query('DELETE FROM released_batches WHERE batch = $1', [id])
    await until(async () => (await doubts()) === 0, 'the doubt to be gone')
  })

  test('the evidence log: its size, how old its checkpoint and its queue are, and whether it is frozen', async () => {
    await until(async () => (await log('checkpoint_age_seconds')) !== undefined, 'a checkpoint')
    expect(await log('entries')).toBeGreaterThan(5)
    expect(await log('frozen')).toBe(0)
    await freezeLog(database.pool, { log: 1, why: 'For a test.' })
    await until(async () => (await log('frozen')) === 1, 'the freeze')
    await database.pool.query(
      `INSERT INTO log_queue (batch, entries, queued_at) VALUES (gen_random_uuid(), '[]', now() - interval '90 seconds')`,
    )
    await until(async () => ((await log('queue_age_seconds')) ?? 0) >= 90, 'the age of the queue')
  })

  test.each(['cut', 'stall'] as const)(
    'with the database away (%s) a scrape says so, in time, and claims to know of no doubt',
    async (how) => {
      await proxy[how]()
      // An answer of a moment ago is still believed.
      const away = await until(async () => {
        const startedMs = performance.now()
        const found = await scrape(service)
        expect(performance.now() - startedMs).toBeLessThan(SCRAPE_MAX_MS)
        return total(found, 'countersign_database_up') === 0 ? found : undefined
      }, 'the database to be away')
      expect(total(away, 'countersign_executions_in_doubt')).toBeUndefined()
      expect(total(away, 'countersign_log_frozen')).toBeUndefined()
      expect(total(away, 'countersign_worker_threads')).toBe(THREADS)
      await proxy.mend()
      const back = await until(async () => {
        const found = await scrape(service)
        return total(found, 'countersign_database_up') === 1 ? found : undefined
      }, 'the database to be back')
      expect(total(back, 'countersign_executions_in_doubt')).toBe(0)
      expect(total(back, 'countersign_approval_requests_open')).toBe(0)
    },
  )
})

describe('who names it', () => {
  interface Panel {
    readonly title: string
    readonly targets?: readonly { readonly expr: string }[]
  }
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: readonly Panel[] }
  const expressions = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ title, expr })),
  )

  test('the dashboard has a panel for every metric, and none for one that is not there', () => {
    const named = new Set(
      expressions.flatMap(({ expr }) => expr.match(/\b(countersign|process)_[a-z_]+/g) ?? []),
    )
    const missing = [...named].filter((name) => !samples.some((sample) => sample.name === name))
    expect(missing).toEqual([])
    const families = new Set([...exposed()].map(familyOf))
    const shown = new Set([...named].map(familyOf))
    expect([...families].filter((family) => !shown.has(family))).toEqual([])
  })

  test('the dashboard groups by labels that are there', () => {
    const unknown = expressions.flatMap(({ title, expr }) => {
      const [name = ''] = /\b(countersign|process)_[a-z_]+/.exec(expr) ?? []
      const [, grouped = ''] = /by \(([^)]*)\)/.exec(expr) ?? []
      // Prometheus adds the instance.
      const there = new Set([...labelsOf(name), 'instance', ''])
      return grouped
        .split(', ')
        .filter((label) => !there.has(label))
        .map((label) => `${title}: ${label}`)
    })
    expect(unknown).toEqual([])
  })

  test('the alerts are of metrics and labels that are there', () => {
    const named = [...readFileSync(ALERTS, 'utf8').matchAll(/\b(countersign_[a-z_]+)(?:\{(\w+)=)?/g)]
    expect(named.length).toBeGreaterThan(10)
    const unknown = named.filter(
      ([, name = '', label]) =>
        !exposed().has(name) || (label !== undefined && !labelsOf(name).includes(label)),
    )
    expect(unknown.map(([text]) => text)).toEqual([])
  })

  test('the handbook says of every metric what it means, and of none that is not there', () => {
    const named = new Set(chapters.get('operating.md')?.match(/(?<=`)countersign_[a-z_]+(?=`)/g))
    expect([...named].toSorted()).toEqual([...new Set([...exposed()].map(familyOf))].toSorted())
  })
})

describe('promtool', () => {
  const present = spawnSync('promtool', ['--version']).status === 0
  test.skipIf(!present && process.env['CI'] !== 'true')('finds the alerts as their cases want them', () => {
    const cases = join(import.meta.dirname, 'alerts.test.yaml')
    for (const args of [
      ['check', 'rules', '--lint=all', '--lint-fatal', ALERTS],
      ['test', 'rules', cases],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
      expect(status, stdout + stderr).toBe(0)
    }
  })

  // The Debian package `prometheus` has it.
  test.skipIf(!present && process.env['CI'] !== 'true')('finds nothing wrong with the metrics', async () => {
    const text = await (await ask('/metrics')).text()
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    expect(checked).toMatchObject({ status: 0, stderr: '' })
    const spoiled = `${text}# HELP a Some.\n# TYPE a gauge\na{quantile="1"} 1\n`
    expect(spawnSync('promtool', ['check', 'metrics'], { input: spoiled }).status).toBe(3)
  })
})

describe('the port', () => {
  test('answers GET and HEAD of /metrics and nothing else', async () => {
    const got = await ask('/metrics')
    expect([got.status, got.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/plain;.*version=/),
    ])
    expect(await got.text()).toContain('# TYPE countersign_http_requests_total counter')
    const head = await ask('/metrics', 'HEAD')
    expect([head.status, await head.text()]).toEqual([200, ''])
    const wrong = await ask('/metrics', 'POST')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    for (const path of ['/', '/metrics/', '/execute']) expect((await ask(path)).status, path).toBe(404)
  })

  test('is not on the port of the front end, which has no /metrics', async () => {
    expect((await service.get('/metrics')).status).toBe(404)
  })

  test('is not opened unless it is asked for, and one that is taken stops the start', async () => {
    const off = await startService({ databaseUrl: database.url })
    expect(off.lines().some(({ msg }) => msg === 'metrics')).toBe(false)
    expect(await off.stop()).toBe(0)
    const { port } = new URL(metricsUrl(service))
    await expect(startService({ databaseUrl: database.url, env: { METRICS_PORT: port } })).rejects.toThrow(
      `countersign: METRICS_PORT: cannot serve metrics on 127.0.0.1:${port}: listen EADDRINUSE`,
    )
  })
})

function ask(path: string, method = 'GET'): Promise<Response> {
  return fetch(metricsUrl(service).replace('/metrics', path), { method })
}

/** A histogram's samples are three to a name. */
function familyOf(name: string): string {
  return name.replace(/(?<=_seconds|batch_requests)_(bucket|sum|count)$/, '')
}

async function doubts(): Promise<number | undefined> {
  return total(await scrape(service), 'countersign_executions_in_doubt')
}

function exposed(): Set<string> {
  return new Set(samples.map(({ name }) => name).filter((name) => name.startsWith('countersign_')))
}

function labelsOf(name: string): string[] {
  return samples.filter((sample) => sample.name === name).flatMap(({ labels }) => Object.keys(labels))
}

// Where the time of one request went: Server-Timing for the client that asks, spans for the operator who brings an SDK.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { stageNames } from '../../src/core/threads/thread-messages.ts'
import { until, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import type { WrittenSpan } from './sdk.ts'
import { withDatabase } from '../with-service.ts'

const SDK = pathToFileURL(join(import.meta.dirname, 'sdk.ts')).href
const SERVER = 1
const ERROR = 2
/** Clocks of two threads are compared. */
const CLOCKS_MS = 50

let service: TestService
let folder: string

withDatabase(async ({ start }) => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-spans-'))
  service = await start({
    env: { NODE_OPTIONS: `--import ${SDK}`, SPANS_FILE: join(folder, 'spans') },
  })
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

const aLateTransaction = () => aTransaction({ intent: { parameters: { amount: 42, delayMs: 200 } } })

describe('Server-Timing', () => {
  const asking = { headers: { Prefer: 'respond-async, server-timing' } }

  test.each(['/execute', '/transactions'])('%s tells each stage, in order, to who asks', async (path) => {
    const { status, headers } = await service.post(path, aTransaction(), asking)
    expect(status).toBeLessThan(300)
    const entries = timings(headers)
    expect([...entries.keys()]).toEqual(['queue', ...stageNames, 'total'])
    const parts = [...entries].filter(([name]) => name !== 'total').map(([, ms]) => ms)
    expect(parts.every((ms) => ms >= 0)).toBe(true)
    expect(parts.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(
      (entries.get('total') ?? 0) + CLOCKS_MS,
    )
  })

  test('a slow connector shows as deferred', async () => {
    const entries = timings((await service.post('/execute', aLateTransaction(), asking)).headers)
    expect([...entries.keys()].slice(5, 8)).toEqual(['perform', 'deferred', 'seal'])
    expect(entries.get('deferred')).toBeGreaterThan(150)
  })

  test('of a rejection there are the stages that it came to', async () => {
    const { status, headers } = await service.post('/execute', aRejectedTransaction(), asking)
    expect(status).toBe(500)
    expect([...timings(headers).keys()]).toEqual(['queue', ...stageNames.slice(0, 5), 'total'])
  })

  test.each([{}, { Prefer: 'return=minimal' }, { Prefer: 'no-server-timing' }])(
    'nobody else is told: %j',
    async (headers) => {
      const answered = await service.post('/execute', aTransaction(), { headers })
      expect([answered.status, answered.headers.get('server-timing')]).toEqual([200, null])
    },
  )
})

describe('spans', () => {
  test("an execution goes on with the caller's trace, and has a child for each stage", async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`
    const answered = await service.post('/execute', aLateTransaction(), { headers: { traceparent } })
    const [span, children] = await spansOf(answered)
    expect(span).toMatchObject({
      name: 'POST /execute',
      kind: SERVER,
      traceId,
      parentSpanId: 'b7ad6b7169203331',
    })
    expect(span.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/execute',
      'http.response.status_code': 200,
      'url.path': '/execute',
      'url.scheme': 'http',
      'countersign.caller_id': 'tester',
      'countersign.request_id': answered.headers.get('x-request-id'),
    })
    const stages = [...stageNames.slice(0, 5), 'deferred', ...stageNames.slice(5)]
    expect(children.map(({ name }) => name)).toEqual(['queue', ...stages])
    for (const child of children) {
      expect(child.traceId).toBe(traceId)
      expect(child.startMs).toBeGreaterThanOrEqual(span.startMs - CLOCKS_MS)
      expect(child.endMs).toBeLessThanOrEqual(span.endMs + CLOCKS_MS)
    }
    expect(span.endMs - span.startMs).toBeGreaterThan(200)
  })

  test('without a traceparent a trace begins here; a failure of the service is one of the span', async () => {
    const [missing] = await spansOf(await service.get('/nowhere'))
    expect(missing).toMatchObject({ name: 'GET', parentSpanId: null, status: 0 })
    expect(missing.attributes).not.toHaveProperty('http.route')
    const [rejected] = await spansOf(await service.post('/execute', aRejectedTransaction()))
    expect(rejected).toMatchObject({ status: ERROR, attributes: { 'error.type': '500' } })
    expect(rejected.traceId).not.toBe(missing.traceId)
  })

  test('what the caller asked not to be recorded is not', async () => {
    const ownId = '1af7651916cd43dd8448eb211c80319c'
    const traceparent = `00-${ownId}-b7ad6b7169203331-00`
    expect((await service.get('/version', { headers: { traceparent } })).status).toBe(200)
    await spansOf(await service.get('/version'))
    expect(written().filter(({ traceId }) => traceId === ownId)).toEqual([])
  })

  test('no key is in any of them', async () => {
    await spansOf(await service.get('/callers/me'))
    expect(readFileSync(join(folder, 'spans'), 'utf8')).not.toContain(service.key)
  })
})

function timings(headers: Headers): Map<string, number> {
  const text = headers.get('server-timing') ?? ''
  expect(text).toMatch(/^([a-z]+;dur=\d+\.\d{3}(, |$))+$/)
  return new Map(
    text.split(', ').map((entry): [string, number] => {
      const [name = '', ms] = entry.split(';dur=')
      return [name, Number(ms)]
    }),
  )
}

function written(): WrittenSpan[] {
  return readFileSync(join(folder, 'spans'), 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as WrittenSpan)
}

/** The span of a reply, once it is written, and its children in the order of time. */
async function spansOf(reply: { headers: Headers }): Promise<[WrittenSpan, WrittenSpan[]]> {
  const requestId = reply.headers.get('x-request-id')
  const span = await until(
    () => written().find(({ attributes }) => attributes['countersign.request_id'] === requestId),
    'the span',
  )
  const children = written().filter(({ parentSpanId }) => parentSpanId === span.spanId)
  return [span, children.toSorted((a, b) => a.startMs - b.startMs)]
}

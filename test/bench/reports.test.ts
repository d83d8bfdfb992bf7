// What is made of measured figures: their spread, the comparison with an earlier report, thresholds, the page and the Markdown.
import { describe, expect, test } from 'vitest'
import { compare, missed, remarks } from '../../bench/compare.ts'
import { figureOf, spreadOf } from '../../bench/figures.ts'
import { markdown, page, printed } from '../../bench/render.ts'
import { messagesOf, type RequestKind } from '../../bench/request.ts'
import type { Measurement, Report } from '../../bench/report.ts'
import { transactionBody } from '../../bench/transaction.ts'

function aMeasurement(members: Partial<Measurement> = {}): Measurement {
  return {
    label: '64',
    connections: 64,
    perSecond: figureOf([990, 1000, 1010]),
    latency: {
      ratePerSecond: figureOf([500, 500, 500]),
      p50: figureOf([3, 3, 3]),
      p99: figureOf([19, 20, 21]),
      max: figureOf([40, 40, 40]),
      distribution: [1, 1, 2, 3, 4, 5, 6, 8, 20, 25, 30, 40, 40],
    },
    more: {},
    ...members,
  }
}

function aReport(...measurements: Measurement[]): Report {
  return {
    version: 3,
    subject: 'http://<b>example',
    startedAt: '2026-11-21T01:00:00.000Z',
    seconds: 60,
    command: 'npm run bench -- execute',
    machine: {
      cpu: 'a processor',
      cores: 2,
      memoryGiB: 8,
      system: 'Linux 6',
      node: 'v24',
      fsyncMs: { p50: 1, p99: 2 },
      commit: 'abc',
    },
    constants: { rounds: 3, 'seconds per run': 5 },
    scenarios: [
      {
        name: 'execute',
        description: 'executions',
        service: { listener: 'node:http', threads: 1, postgres: '18' },
        measurements,
        checked: { replies: 3000, rows: ['trust_records'], verifiedOffline: 50 },
      },
    ],
  }
}

test('a figure is the median of its rounds, and half of their range is its spread', () => {
  expect(figureOf([1020, 980, 1000])).toEqual({
    median: 1000,
    min: 980,
    max: 1020,
    values: [1020, 980, 1000],
  })
  expect(figureOf([1, 3]).median).toBe(2)
  expect(spreadOf(figureOf([1020, 980, 1000]))).toBeCloseTo(0.02)
})

function verdicts(before: Measurement, after: Measurement): Record<string, string> {
  const differences = compare(aReport(before), aReport(after))
  return Object.fromEntries(differences.map(({ figure, verdict }) => [figure, verdict]))
}

describe('compare', () => {
  test('a change that is smaller than the spread of both is within noise', () => {
    const after = aMeasurement({ perSecond: figureOf([1000, 1015, 1030]) })
    expect(verdicts(aMeasurement(), after)).toEqual({
      'per s': 'within noise',
      'p50 ms': 'within noise',
      'p99 ms': 'within noise',
    })
  })

  test('beyond it more per second is better, and more of anything else is worse', () => {
    const more = { perSecond: figureOf([1200, 1210, 1220]), more: { 'RSS MiB': figureOf([300, 301, 302]) } }
    const before = aMeasurement({ more: { 'RSS MiB': figureOf([200, 201, 202]) } })
    expect(verdicts(before, aMeasurement(more))).toMatchObject({ 'per s': 'better', 'RSS MiB': 'worse' })
    expect(verdicts(aMeasurement(more), before)).toMatchObject({ 'per s': 'worse', 'RSS MiB': 'better' })
  })

  test('a rate beside an empty database is better when it is higher, the CPU beside it when it is lower', () => {
    const before = aMeasurement({
      more: { 'rate ÷ empty': figureOf([0.8, 0.81]), 'CPU ÷ empty': figureOf([1.2, 1.21]) },
    })
    const after = aMeasurement({
      more: { 'rate ÷ empty': figureOf([0.95, 0.96]), 'CPU ÷ empty': figureOf([1, 1.01]) },
    })
    expect(verdicts(before, after)).toMatchObject({ 'rate ÷ empty': 'better', 'CPU ÷ empty': 'better' })
    expect(verdicts(after, before)).toMatchObject({ 'rate ÷ empty': 'worse', 'CPU ÷ empty': 'worse' })
  })

  test('of one round nothing is said', () => {
    const after = aMeasurement({ perSecond: figureOf([5000]) })
    expect(verdicts(aMeasurement(), after)['per s']).toBe('one round: noise unknown')
  })

  test('what only one of them measured is left out', () => {
    expect(compare(aReport(aMeasurement({ label: '1' })), aReport(aMeasurement()))).toEqual([])
  })

  test('what was not measured alike is said, and that nothing was measured in both', () => {
    const before = aReport(aMeasurement({ label: '1' }))
    const after = {
      ...aReport(aMeasurement()),
      subject: 'elsewhere',
      constants: { rounds: 3, 'seconds per run': 9 },
    }
    const said = remarks(before, after, compare(before, after))
    expect(said).toContain(`not alike, subject: ${before.subject} before, elsewhere now`)
    expect(said).toContain('not alike, seconds per run: 5 before, 9 now')
    expect(said.at(-1)).toBe('nothing was measured in both: execute at 1 before, execute at 64 now')
    expect(remarks(before, before, compare(before, before))).toEqual([])
  })
})

test('a threshold is missed by the median, at the connection count that brought the most', () => {
  const slow = aMeasurement({ label: '1', connections: 1, perSecond: figureOf([100]) })
  const report = aReport(slow, aMeasurement())
  expect(missed(report, { minRate: 1000, maxP99Ms: 20 })).toEqual([])
  expect(missed(report, { minRate: 1001, maxP99Ms: 19.9 })).toEqual([
    'execute, 64 connections: 1000 per second, less than --min-rate 1001',
    'execute, 64 connections: p99 of 20.0 ms, more than --max-p99-ms 19.9',
  ])
  const starts = aReport({ label: 'empty folder', more: {} })
  expect(missed(starts, { minRate: 1, maxP99Ms: 1 })).toEqual([
    '--min-rate: nothing was measured that has a rate',
    '--max-p99-ms: nothing was measured that has a p99',
  ])
})

test('only columns that stand in the table are explained', () => {
  const bare = printed(aReport(aMeasurement()))
  expect(bare).toContain('\np50 ms, p99 ms, max ms: at a fixed rate')
  expect(bare).not.toMatch(/rate ÷ empty|table B|steal|helpers/)
  const grown = printed(aReport(aMeasurement({ more: { 'rate ÷ empty': figureOf([0.95]) } })))
  expect(grown).toMatch(/^connections .* {2}rate ÷ empty$/m)
  expect(grown).toContain(
    '\nrate ÷ empty, CPU ÷ empty, p50 ÷ empty, p99 ÷ empty: beside a service whose database holds only',
  )
})

test('the page stands alone: no script, nothing from elsewhere, and what a deployment is called is no markup', () => {
  const steps = { stepSeconds: 1, perSecond: [900, 1100], p50Ms: [3, 4], p99Ms: [19, 21] }
  const measurement = aMeasurement({ overTime: { open: steps, paced: steps } })
  const html = page(
    aReport(aMeasurement({ label: '1', connections: 1, perSecond: figureOf([9]) }), measurement),
    { differences: [], remarks: ['nothing was <b>measured</b> in both'] },
  )
  expect(html).toContain('nothing was &lt;b&gt;measured')
  expect(html).not.toMatch(/<script|<link|<img|src=|href=|url\(|@import/)
  expect(html).not.toContain('<b>')
  for (const title of ['Throughput', 'Latency distribution', 'Throughput over time', 'Latency over time'])
    expect(html).toContain(`<figcaption>${title}`)
  expect(html).not.toContain('NaN')
})

test('the table and the Markdown say on what, by which command, and with which noise', () => {
  for (const text of [printed(aReport(aMeasurement())), markdown(aReport(aMeasurement()))]) {
    expect(text).toContain('a processor, 2 cores, 8 GiB')
    expect(text).toContain('npm run bench -- execute')
    expect(text).toContain('commit abc')
    expect(text).toContain('1000 ±1%')
    expect(text).toContain('50 pieces of evidence verified offline')
  }
})

describe('requests', () => {
  const job = { url: 'http://127.0.0.1:1/base', key: 'k', stored: ['a-stored-id'] }
  const kind: RequestKind = {
    name: 'execute',
    method: 'POST',
    path: '/execute',
    body: transactionBody({ target: 'für Ada', parameters: { amount: 7 }, policy: 'p' }),
    status: 200,
  }

  test('each has ids of its own, which agree with one another, and the length of its bytes', () => {
    const next = messagesOf(kind, job)
    const sent = [next(), next()].map(({ text, id }) => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`)
      expect(head).toMatch(
        /^POST \/base\/execute HTTP\/1\.1\r\nHost: 127\.0\.0\.1:1\r\nAuthorization: Bearer k\r\n/,
      )
      const transaction = JSON.parse(body)
      expect(transaction).toMatchObject({
        businessTransactionId: id,
        metadata: { businessTransactionId: id },
        intent: { target: 'für Ada', parameters: { amount: 7 }, action: 'sandbox:echo' },
        policy: { name: 'p', version: '1.0.0' },
      })
      expect(transaction.authorization.authorityId).toBe(transaction.authority.authorityId)
      expect(transaction.intent.authorizationId).toBe(transaction.authorization.authorizationId)
      return id
    })
    expect(new Set(sent).size).toBe(2)
  })

  test('a place for a stored id takes one of the stored', () => {
    const read = messagesOf(
      { name: 'read', method: 'GET', path: '/trust-records/{{stored}}', status: 200 },
      job,
    )
    const { text, id } = read()
    expect(id).toBe('a-stored-id')
    expect(text).toContain('GET /base/trust-records/a-stored-id HTTP/1.1\r\n')
    expect(text).not.toContain('Content-')
  })
})

// Measured figures become their spread, the comparison with an earlier report, thresholds, the page and the Markdown.
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { compare, missed } from '../../bench/compare.ts'
import { figureOf, figuresOf, spreadOf, type Figures } from '../../bench/figures.ts'
import { markdown } from '../../bench/markdown.ts'
import { page } from '../../bench/page.ts'
import { messagesOf, type RequestKind } from '../../bench/request.ts'
import { disturbed, type Measurement, type Report } from '../../bench/report.ts'
import { transactionBodies } from '../../bench/transaction.ts'

/** Rounds of figures, in place of some and beside the others. */
function aMeasurement(given: Readonly<Record<string, number[]>> = {}, connections = 64): Measurement {
  const rounds = {
    'per s': [990, 1000, 1010],
    'p50 ms': [3, 3, 3],
    'p99 ms': [19, 20, 21],
    'max ms': [40, 40, 40],
    ...given,
  }
  const figures: Figures = Object.fromEntries(
    Object.entries(rounds).map(([head, values]) => [head, figureOf(values)]),
  )
  return { label: String(connections), connections, figures }
}

function aReport(...measurements: Measurement[]): Report {
  return {
    version: 5,
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
        labels: 'connections',
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

test('there is a figure for what every round knows', () => {
  const rounds = [
    { rate: 1, cpu: 2, log: Number.NaN },
    { rate: 3, cpu: undefined, log: 4 },
  ]
  expect(figuresOf(rounds)).toEqual({ rate: figureOf([1, 3]) })
})

function verdicts(before: Measurement, after: Measurement): Record<string, string> {
  const { differences } = compare('old.json', aReport(before), aReport(after))
  return Object.fromEntries(differences.map(({ figure, verdict }) => [figure, verdict]))
}

describe('compare', () => {
  test('a change that is smaller than the spread of both is within noise', () => {
    expect(verdicts(aMeasurement(), aMeasurement({ 'per s': [1000, 1015, 1030] }))).toEqual({
      'per s': 'within noise',
      'p50 ms': 'within noise',
      'p99 ms': 'within noise',
    })
  })

  test('beyond it more per second is better, and more of anything else is worse', () => {
    const before = aMeasurement({ 'RSS MiB': [200, 201, 202] })
    const after = aMeasurement({ 'per s': [1200, 1210, 1220], 'RSS MiB': [300, 301, 302] })
    expect(verdicts(before, after)).toMatchObject({ 'per s': 'better', 'RSS MiB': 'worse' })
    expect(verdicts(after, before)).toMatchObject({ 'per s': 'worse', 'RSS MiB': 'better' })
  })

  test('a rate beside an empty database is better when it is higher, the CPU beside it when it is lower', () => {
    const before = aMeasurement({ 'rate ÷ empty': [0.8, 0.81], 'CPU ÷ empty': [1.2, 1.21] })
    const after = aMeasurement({ 'rate ÷ empty': [0.95, 0.96], 'CPU ÷ empty': [1, 1.01] })
    expect(verdicts(before, after)).toMatchObject({ 'rate ÷ empty': 'better', 'CPU ÷ empty': 'better' })
    expect(verdicts(after, before)).toMatchObject({ 'rate ÷ empty': 'worse', 'CPU ÷ empty': 'worse' })
  })

  test('of one round nothing is said', () => {
    const after = aMeasurement({ 'per s': [5000] })
    expect(verdicts(aMeasurement(), after)['per s']).toBe('one round: noise unknown')
  })

  test('what only one of them measured is left out', () => {
    expect(verdicts(aMeasurement({}, 1), aMeasurement())).toEqual({})
  })

  test('what was not measured alike is said, and that nothing was measured in both', () => {
    const before = aReport(aMeasurement({}, 1))
    const after = {
      ...aReport(aMeasurement()),
      subject: 'elsewhere',
      constants: { rounds: 3, 'seconds per run': 9 },
    }
    const { remarks } = compare('old.json', before, after)
    expect(remarks).toContain(`not alike, subject: ${before.subject} before, elsewhere now`)
    expect(remarks).toContain('not alike, seconds per run: 5 before, 9 now')
    expect(remarks.at(-1)).toBe('nothing was measured in both: execute at 1 before, execute at 64 now')
    expect(compare('old.json', before, before).remarks).toEqual([])
  })
})

test('a threshold is missed by the median, at the connection count that brought the most', () => {
  const report = aReport(aMeasurement({ 'per s': [100] }, 1), aMeasurement())
  expect(missed(report, { minRate: 1000, maxP99Ms: 20 })).toEqual([])
  expect(missed(report, { minRate: 1001, maxP99Ms: 19.9 })).toEqual([
    'execute, 64 connections: 1000 per second, less than --min-rate 1001',
    'execute, 64 connections: p99 of 20 ms, more than --max-p99-ms 19.9',
  ])
  const starts = aReport({ label: 'empty folder', figures: {} })
  expect(missed(starts, { minRate: 1, maxP99Ms: 1 })).toEqual([
    '--min-rate: nothing was measured that has a rate',
    '--max-p99-ms: nothing was measured that has a p99',
  ])
})

test.each([
  ['node:http', 'Figures of such a run do not compare.'],
  [undefined, 'If the deployment runs on this machine, it is among them, and the generator takes its cores.'],
])('other programs beyond 20 %% of a core are told at the top, service %s', (listener, what) => {
  const busy = (percent: number) => {
    const report = aReport(
      aMeasurement({ 'others %': [1, percent, 2] }),
      aMeasurement({ 'others %': [0] }, 1),
    )
    const { service: _service, ...scenario } = report.scenarios[0]!
    return listener === undefined ? { ...report, scenarios: [scenario] } : report
  }
  // The machine has two cores.
  expect(disturbed(busy(10))).toBeUndefined()
  expect(markdown(busy(10))).not.toContain('Disturbed')
  const warning = `Other programs took up to 22 % of a core (execute, 64 connections); more than 20 % in 1 of 2 rows. ${what}`
  expect(disturbed(busy(11))).toBe(warning)
  expect(markdown(busy(11))).toMatch(/^# Results\n\nWritten by the bench\.\n\n> \*\*Disturbed\.\*\* /)
  expect(page(busy(11))).toContain('<blockquote>')
})

test('on a narrow page every cell says its head', () => {
  const html = page(aReport(aMeasurement()))
  expect(html).toMatch(/<td data-head="connections">64<\/td><td data-head="per s">1000 ±1%<\/td>/)
  expect(html).not.toMatch(/<td>/)
})

test('only columns that stand in the table are explained', () => {
  const bare = markdown(aReport(aMeasurement()))
  expect(bare).toContain('\n- at rate, p50 ms, p99 ms, max ms: at a fixed rate')
  expect(bare).not.toMatch(/rate ÷ empty|table B|steal %,|helpers/)
  const grown = markdown(aReport(aMeasurement({ 'rate ÷ empty': [0.95] })))
  expect(grown).toMatch(/^\| connections .* \| rate ÷ empty \|$/m)
  expect(grown).toContain(
    '\n- rate ÷ empty, CPU ÷ empty, p50 ÷ empty, p99 ÷ empty: beside a service whose database holds only',
  )
})

test('the page stands alone: no script, nothing from elsewhere, and what a deployment is called is no markup', () => {
  const steps = {
    stepSeconds: 1,
    duePerSecond: [1000, 1000],
    perSecond: [900, 1100],
    p50Ms: [3, 4],
    p99Ms: [19, 21],
    errors: [0, 0],
    limited: [0, 0],
  }
  const latency = [
    { percent: 50, ms: 3 },
    { percent: 100, ms: 40 },
  ]
  const measurement = { ...aMeasurement(), lastRound: { open: steps, paced: steps, latency } }
  const html = page(aReport(aMeasurement({ 'per s': [9] }, 1), measurement), {
    file: '[old](https://example.com/old.json)',
    differences: [],
    remarks: ['nothing was <b>measured</b> in both'],
  })
  expect(html).toContain('nothing was &lt;b&gt;measured')
  expect(html).not.toMatch(/<script|<link|<img|src=|href=|url\(|@import/)
  expect(html).not.toContain('<b>')
  for (const title of ['Throughput', 'Latency distribution', 'Throughput over time', 'Latency over time'])
    expect(html).toContain(`<figcaption>${title}`)
  expect(html).not.toContain('NaN')
})

test('the Markdown says on what, by which command, and with which noise', () => {
  const text = markdown(aReport(aMeasurement()))
  expect(text).toContain('a processor, 2 cores, 8 GiB')
  expect(text).toContain('npm run bench -- execute')
  expect(text).toContain('commit abc')
  expect(text).toContain('1000 ±1%')
  expect(text).toContain('50 pieces of evidence verified offline')
})

describe('requests', () => {
  const job = { url: 'http://127.0.0.1:1/base', key: 'k', stored: ['a-stored-id'] }
  const kind: RequestKind = {
    name: 'execute',
    method: 'POST',
    path: '/execute',
    bodies: transactionBodies({ target: 'für Ada', parameters: { amount: 7 }, policy: 'p' }),
    status: 200,
  }

  test('each has ids of its own, which agree with one another', () => {
    const next = messagesOf(kind, job)
    const sent = [next(), next()].map(({ method, path, headers, body, id }) => {
      expect([method, path]).toEqual(['POST', '/base/execute'])
      expect(headers).toEqual(['Authorization', 'Bearer k', 'Content-Type', 'application/json'])
      const transaction = JSON.parse(body ?? '')
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
    expect(read()).toEqual({
      method: 'GET',
      path: '/base/trust-records/a-stored-id',
      headers: ['Authorization', 'Bearer k'],
      body: undefined,
      id: 'a-stored-id',
    })
  })

  test('a delivery is signed over its own body', () => {
    const delivery: RequestKind = {
      name: 'delivery',
      method: 'POST',
      path: '/webhooks/p',
      bodies: ['{"id":"{{0}}"}'],
      headers: { 'X-Event-Id': 'evt_{{0}}' },
      hmac: { header: 'X-Signature', secret: 's' },
      status: 200,
    }
    const { headers, body = '', id } = messagesOf(delivery, job)()
    expect(body).toBe(`{"id":"${id}"}`)
    const signature = createHmac('sha256', 's').update(body).digest('hex')
    expect(headers.slice(-4)).toEqual(['X-Event-Id', `evt_${id}`, 'X-Signature', signature])
  })
})

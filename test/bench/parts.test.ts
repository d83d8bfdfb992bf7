// Parts of the bench that need no service: when requests are due, what they hold, and what becomes of measured figures.
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { compare, missed } from '../../bench/compare.ts'
import { figureOf, figuresOf, spreadOf } from '../../bench/figures.ts'
import { markdown, plottedMarkdown } from '../../bench/markdown.ts'
import { dueSeconds, openPace, rateAt } from '../../bench/pace.ts'
import { page } from '../../bench/page.ts'
import { disturbed, WARM_AFTER, type Measurement, type Report } from '../../bench/report.ts'
import { messagesOf } from '../../bench/request.ts'
import { watched } from '../../bench/service.ts'
import { transactionBodies } from '../../bench/transaction.ts'
import { until } from '../service.ts'

test.each([
  [0, 100],
  [100, 0],
  [20, 60],
  [4, 4],
])('from %i to %i as many requests are due by any time as the rate adds up to', (from, to) => {
  const seconds = 10
  const due = [...dueSeconds([{ from, to }], seconds)]
  expect(due).toHaveLength(((from + to) / 2) * seconds)
  expect(due[0]).toBe(0)
  for (const [i, at] of due.entries())
    expect(from * at + ((to - from) * at ** 2) / (2 * seconds)).toBeCloseTo(i, 6)
})

test('stages follow one another, each with the requests and the rate of its own', () => {
  const stages = [
    { from: 0, to: 2 },
    { from: 2, to: 2 },
  ]
  expect([...dueSeconds(stages, 1)]).toEqual([0, 1, 1.5])
  expect([0, 0.5, 1, 1.9, 7].map((at) => rateAt(stages, 1, at))).toEqual([0, 1, 2, 2, 2])
})

test.each([
  ['process.exit(0)', 'SIGTERM', []],
  ['process.exit(3)', 'SIGTERM', ['the service ended with exit code 3 after SIGTERM']],
  ['process.exit(0)', 'SIGKILL', ['the service was killed']],
] as const)('a service that does %s at SIGTERM, and is sent %s', async (atSigterm, signal, problems) => {
  const text = `process.on('SIGTERM', () => ${atSigterm}); setInterval(() => {}, 1000); console.log('ready')`
  const child = spawn(process.execPath, ['--eval', text], { stdio: ['ignore', 'pipe', 'inherit'] })
  const { running, stop } = watched(child)
  await once(child.stdout, 'data')
  expect(running()).toBe(true)
  if (signal === 'SIGKILL') child.kill(signal)
  expect(await stop()).toEqual(problems)
  expect(running()).toBe(false)
})

test('a wait that would outlast the run ends the connection, and what falls due meanwhile is not sent', async () => {
  const { signal } = new AbortController()
  const pace = openPace({ seconds: 0.2, stages: [{ from: 50, to: 50 }], signal })
  const ended = await new Promise<string>((resolve) => {
    pace.take(() => {
      const [go, end] = [() => resolve('sent again'), () => resolve('over')]
      pace.rest({ ms: 1000, skips: true, go, end })
    })
  })
  expect(ended).toBe('over')
  await until(() => pace.notSent() === 9, 'the other nine to fall due')
})

test('each request has ids of its own, which agree with one another, and a delivery is signed over its own body', () => {
  const job = { url: 'http://127.0.0.1:1/base', key: 'k', stored: ['a-stored-id'] }
  const bodies = transactionBodies({ target: 'für Ada', parameters: { amount: 7 }, policy: 'p' })
  const next = messagesOf({ name: '', method: 'POST', path: '/execute', bodies, status: 200 }, job)
  const [first, second] = [next(), next()]
  expect(first.id).not.toBe(second.id)
  expect([first.path, ...first.headers]).toEqual([
    '/base/execute',
    'Authorization',
    'Bearer k',
    'Content-Type',
    'application/json',
  ])
  const transaction = JSON.parse(first.body ?? '')
  expect(transaction).toMatchObject({
    businessTransactionId: first.id,
    metadata: { businessTransactionId: first.id },
    intent: { target: 'für Ada', parameters: { amount: 7 }, action: 'sandbox:echo' },
    policy: { name: 'p', version: '1.0.0' },
  })
  expect(transaction.intent.authorizationId).toBe(transaction.authorization.authorizationId)
  const read = messagesOf({ name: '', method: 'GET', path: '/trust-records/{{stored}}', status: 200 }, job)
  expect(read()).toMatchObject({
    path: '/base/trust-records/a-stored-id',
    id: 'a-stored-id',
    body: undefined,
  })
  const hmac = { header: 'X-Signature', secret: 's' }
  const delivery = {
    name: '',
    method: 'POST',
    path: '/',
    bodies: ['{"id":"{{0}}"}'],
    hmac,
    status: 200,
  } as const
  const { headers, body = '' } = messagesOf(delivery, job)()
  const signature = createHmac('sha256', 's').update(body).digest('hex')
  expect(headers.slice(-2)).toEqual(['X-Signature', signature])
})

test('a figure is the median of its rounds, with half of their range as its spread, for what every round knows', () => {
  expect(figureOf([1, 3]).median).toBe(2)
  expect(spreadOf(figureOf([1020, 980, 1000]))).toBeCloseTo(0.02)
  const rounds = [
    { rate: 1, cpu: 2, log: Number.NaN },
    { rate: 3, cpu: undefined, log: 4 },
  ]
  expect(figuresOf(rounds)).toEqual({ rate: figureOf([1, 3]) })
})

/** Rounds of figures, in place of some and beside the others. */
function aMeasurement(given: Readonly<Record<string, number[]>> = {}, connections = 64): Measurement {
  const rounds = { 'per s': [990, 1000, 1010], 'p99 ms': [19, 20, 21], 'max ms': [40, 40, 40], ...given }
  const figures = Object.fromEntries(Object.entries(rounds).map(([head, of]) => [head, figureOf(of)]))
  return { label: String(connections), connections, figures }
}

function aReport(...measurements: Measurement[]): Report {
  const fsyncMs = { p50: 1, p99: 2 }
  return {
    version: 6,
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
      fsyncMs,
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
        checked: { replies: 3000, left: ['claims', 'records'], verifiedOffline: 50 },
      },
    ],
  }
}

const rate = (...values: number[]) => aMeasurement({ 'per s': values })
const cpu = (...values: number[]) => aMeasurement({ 'CPU ÷ empty, paced': values })

test.each([
  ['within noise', 'per s', rate(990, 1000, 1010), rate(1000, 1015, 1030)],
  ['better', 'per s', rate(990, 1000, 1010), rate(1200, 1210, 1220)],
  ['worse', 'per s', rate(1200, 1210, 1220), rate(990, 1000, 1010)],
  ['better', 'CPU ÷ empty, paced', cpu(1.2, 1.21), cpu(1, 1.01)],
  ['worse', 'CPU ÷ empty, paced', cpu(1, 1.01), cpu(1.2, 1.21)],
  ['one round: noise unknown', 'per s', rate(990, 1000), rate(5000)],
  [undefined, 'per s', aMeasurement({}, 1), aMeasurement()],
])('a later figure is %s: %s', (verdict, figure, before, after) => {
  const { differences } = compare('old.json', aReport(before), aReport(after))
  expect(differences.find((one) => one.figure === figure)?.verdict).toBe(verdict)
})

test('what was not measured alike is said, and that nothing was measured in both', () => {
  const before = aReport(aMeasurement({}, 1))
  const after = { ...aReport(aMeasurement()), subject: 'elsewhere' }
  expect(compare('old.json', before, after).remarks).toEqual([
    `not alike, subject: ${before.subject} before, elsewhere now`,
    'nothing was measured in both: execute at 1 before, execute at 64 now',
  ])
})

test('a threshold is missed by the median, at the connection count that brought the most', () => {
  const report = aReport(aMeasurement({ 'per s': [100] }, 1), aMeasurement())
  expect(missed(report, { minRate: 1000, maxP99Ms: 20 })).toEqual([])
  expect(missed(report, { minRate: 1001, maxP99Ms: 19.9 })).toEqual([
    'execute, 64 connections: 1000 per second, less than --min-rate 1001',
    'execute, 64 connections: p99 of 20 ms, more than --max-p99-ms 19.9',
  ])
  expect(missed(aReport({ label: 'empty folder', figures: {} }), { minRate: 1 })).toHaveLength(1)
})

/** Other programs took so much of the two cores of the machine. */
const busy = (percent: number) => aReport(aMeasurement({ 'others %': [1, percent, 2] }))

test('other programs beyond 20 % of a core are told at the top', () => {
  expect(disturbed(busy(10))).toBeUndefined()
  expect(markdown(busy(10))).not.toContain('Disturbed')
  expect(markdown(busy(11))).toMatch(
    /^# Results\n\nWritten by the bench\.\n\n> \*\*Disturbed\.\*\* Other programs took up to 22 % of a core \(execute, 64 connections\); more than 20 % in 1 of 1 rows/,
  )
})

test('the Markdown says on what, by which command, with which noise, and explains only the columns that it has', () => {
  const text = markdown(aReport(aMeasurement()))
  for (const part of [
    'a processor, 2 cores',
    'bench -- execute',
    'commit abc',
    '1000 ±1%',
    '50 pieces of evidence',
    'as many more claims, records as they say; no claim is left without a record',
  ])
    expect(text).toContain(part)
  expect(text).not.toMatch(/steal %,|helpers|bytes at rest/)
})

test.each([
  [[1, 64], []],
  [
    [1, 4, 64],
    ['per s"\n  line [10, 40, 640]', 'p99 ms"\n  line [1, 4, 64]'],
  ],
])('over %j connections the file draws %j', (counts, lines) => {
  const measurements = counts.map((count) =>
    aMeasurement({ 'per s': [count * 10], 'p99 ms': [count] }, count),
  )
  const [, ...charts] = plottedMarkdown(aReport(...measurements)).split('```mermaid\n')
  expect(charts).toEqual(
    lines.map((line) => expect.stringContaining(`x-axis "connections" [1, 4, 64]\n  y-axis "${line}`)),
  )
})

test('beside another service each round is compared with its own, in tables of their own, with the least and the greatest', () => {
  const ratios = { 'rate ÷ other': [1, 1.5, 1.75], 'at rest ÷ other': [0.5], 'p50 ÷ other, paced': [0.5, 2] }
  const text = markdown(aReport(aMeasurement(ratios)))
  for (const [how, heads, cells] of [
    ['at open throttle', 'rate | at rest', '1.50 (1.00–1.75) | 0.50'],
    ['at one rate', 'p50', '1.25 (0.50–2.00)'],
  ] as const) {
    const table = text.split(`This service ÷ that of --beside, ${how}:\n\n`)[1]?.replaceAll(/ +/g, ' ')
    expect(table).toMatch(new RegExp(`^\\| connections \\| ${RegExp.escape(heads)} \\|`))
    expect(table?.split('\n')[2]).toBe(`| 64 | ${cells} |`)
  }
  expect(text).toContain('\n- rate, CPU, p50, p99, WAL, batch, at rest: of each round the ratio')
})

test('a run says how often its services had executed before, and where that was too seldom that it is cold', () => {
  const report = aReport(aMeasurement())
  const after = (other: number) => {
    const history = { answered: { this: WARM_AFTER, other }, isCold: other < WARM_AFTER }
    const all = { ...report, scenarios: report.scenarios.map((one) => ({ ...one, history })) }
    return [markdown(all), page(all)]
  }
  for (const text of after(59_999))
    expect(text).toMatch(/Cold\.(\*\*|<\/strong>) Few requests .*: this 60000, other 59999\. V8 compiles/)
  for (const text of after(60_000)) expect(text).toMatch(/Warm: requests .*: this 60000, other 60000\./)
})

test('the page stands alone: no script, nothing from elsewhere, and what a deployment is called is no markup', () => {
  const values = [900, 1100]
  const steps = { stepSeconds: 1, duePerSecond: values, perSecond: values, p50Ms: values, p99Ms: values }
  const paced = { ...steps, errors: [0, 0], limited: [0, 0] }
  const measurement = {
    ...aMeasurement(),
    lastRound: { open: paced, paced, latency: [{ percent: 50, ms: 3 }] },
  }
  const html = page(aReport(rate(9), measurement), {
    file: '[old](https://example.com/old.json)',
    differences: [],
    remarks: ['nothing was <b>measured</b> in both'],
  })
  expect(html).not.toMatch(/<script|<link|<img|src=|href=|url\(|@import|<b>|NaN/)
  for (const title of ['Throughput', 'Latency distribution', 'Throughput over time', 'Latency over time'])
    expect(html).toContain(`<figcaption>${title}`)
  // On a narrow page every cell says its head.
  expect(html).toMatch(/<td data-head="connections">64<\/td><td data-head="per s">1000 ±1%<\/td>/)
})

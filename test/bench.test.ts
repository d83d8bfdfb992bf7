// The bench checks its own figures; here it is checked that it does, and that it cleans up. A speed is never a test.
import { spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { checkEvidence, miscounted } from '../bench/evidence.ts'
import { FLOOR, type Report } from '../bench/report.ts'
import { scenarios } from '../bench/scenarios.ts'
import { bundledEnvironment } from './run/environment.ts'
import { until, type TestService } from './service.ts'
import { aTransaction } from './transactions.ts'
import { withService } from './with-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
// The bench's database runs as another user, which has to pass.
chmodSync(folder, 0o711)
const reports = mkdtempSync(join(tmpdir(), 'countersign-test-'))
const json = join(reports, 'report.json')
afterAll(() => {
  rmSync(folder, { recursive: true })
  rmSync(reports, { recursive: true })
})

function startProgram(options: Pick<SpawnOptions, 'detached'>, ...args: string[]) {
  const bench = spawn(process.execPath, args, {
    ...options,
    env: { ...bundledEnvironment, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let table = ''
  bench.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    table += chunk
  })
  bench.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const ended = once(bench, 'close').then(([code]) => ({ code: code as number | null, output, table }))
  return { bench, ended }
}

const startBench = (...args: string[]) => startProgram({}, 'bench/index.ts', ...args)
const against = (url: string, key: string, ...args: string[]) =>
  startProgram(
    {},
    'bin/countersign.js',
    'bench',
    '--url',
    url,
    '--key',
    key,
    '--quick',
    '--seconds',
    '0.2',
    ...args,
  ).ended
const readReport = () => JSON.parse(readFileSync(json, 'utf8')) as Report

describe('npm run bench -- <scenario>', () => {
  // In a quick run all scenarios share one database server, and most of them one service.
  const short = ['--quick', '--seconds', '0.1', '--records', '0,300', '--json', json]

  describe('every scenario of the table, in one run', () => {
    let run: { code: number | null; output: string; table: string }

    beforeAll(async () => {
      run = await startBench(...short, '--connections', '1').ended
      // Two minutes on two quiet cores.
    }, 1_200_000)

    test('the run ends well and leaves nothing behind', () => {
      expect(run.code, run.output).toBe(0)
      expect(readReport().scenarios.map(({ name }) => name)).toEqual(scenarios.map(({ name }) => name))
      expect(readdirSync(folder)).toEqual([])
    })

    test('it says how long it takes at most, and the report how long it was', () => {
      expect(run.output).toMatch(
        /^bench: takes at most \d+\.\d min: \d+ runs of [\d.]+ s, and what is between them\n/,
      )
      const { saidSeconds = 0, seconds } = readReport()
      expect(run.table).toContain(
        `took**: ${(seconds / 60).toFixed(1)} min, of ${(saidSeconds / 60).toFixed(1)} min at most`,
      )
    })

    test.each(scenarios.map(({ name }) => name))('%s accounts for every reply', (name) => {
      expect(run.table).toContain(`\n## ${name}\n`)
      const scenario = readReport().scenarios.find((one) => one.name === name)
      expect(scenario?.checked.replies).toBeGreaterThan(0)
      // A delivery leaves no evidence that its provider could ask for.
      if (!name.startsWith('webhook')) expect(scenario?.checked.verifiedOffline).toBeGreaterThan(0)
      const labels = {
        'cold-start': ['empty folder', 'existing folder'],
        growth: ['1 · 0 records', '1 · 300 records'],
      }
      expect(scenario?.measurements.map(({ label }) => label)).toEqual(
        labels[name as keyof typeof labels] ?? ['1'],
      )
      const heads =
        name === 'cold-start'
          ? ['ready ms', 'first execution ms']
          : ['per s', 'p50 ms', 'p99 ms', 'CPU total']
      for (const { figures } of scenario?.measurements ?? [])
        for (const head of heads) expect(figures[head]?.median, head).toBeGreaterThan(0)
      const first = scenario?.measurements[0]?.figures
      if (name === 'execute') {
        expect([first?.['batch mean']?.median, first?.['batch max']?.median]).toEqual([1, 1])
        expect(scenario?.further?.[FLOOR]?.[0]?.figures['per s']?.median).toBeGreaterThan(0)
        expect(first?.['× floor']?.median).toBeGreaterThan(0)
        expect(scenario?.checked.rows).toContain('receipts')
      }
      if (name === 'webhook') {
        expect(scenario?.checked.rows).toEqual(['webhook_events', 'audit_events'])
        expect(first?.['backlog max']?.median).toBeGreaterThan(0)
        expect(first?.['lag p99 ms, paced']?.median).toBeGreaterThan(0)
      }
      if (name === 'webhook-rules') {
        expect(scenario?.checked.rows).toEqual(['webhook_events', 'provider_confirmations'])
        expect(first?.['closed p99 ms, paced']?.median).toBeGreaterThan(0)
      }
      if (name === 'growth') {
        for (const { figures } of scenario?.measurements ?? [])
          for (const ratio of ['rate ÷ empty', 'CPU ÷ empty'])
            for (const figure of figures[ratio]?.values ?? [0]) expect(figure).toBeGreaterThan(0)
      }
    })
  })

  test('--beside: the service of another checkout is measured in turn, and every round has its ratios', async () => {
    const checkout = join(import.meta.dirname, '..')
    const { code, output, table } = await startBench(
      'rejected',
      ...short,
      '--connections',
      '1',
      '--beside',
      checkout,
    ).ended
    expect(code, output).toBe(0)
    expect(table).toMatch(/^\| connections .* rate ÷ other .*CPU ÷ other .*p50 ÷ other .*p99 ÷ other/m)
    // Each of the two is first in one round.
    const positive = expect.toSatisfy((value: number) => value > 0)
    const report = readReport()
    expect(report.constants['beside']).toBe(report.machine.commit)
    for (const { figures } of report.scenarios[0]?.measurements ?? [])
      for (const ratio of ['rate ÷ other', 'CPU ÷ other', 'p50 ÷ other', 'p99 ÷ other'])
        expect(figures[ratio]?.values).toEqual([positive, positive])
    expect(readdirSync(folder)).toEqual([])
  })

  test('--beside a folder that is no checkout is refused by name', async () => {
    const { code, output } = await startBench('execute', '--beside', reports).ended
    expect({ code, output }).toMatchObject({
      code: 2,
      output: expect.stringContaining(`${reports} is no checkout of this repository`),
    })
  })

  test('an interrupted run reports nothing and leaves nothing behind', async () => {
    const { bench, ended } = startBench('execute')
    await until(() => readdirSync(folder).length > 0, 'the bench to start')
    bench.kill('SIGINT')
    const { code, output, table } = await ended
    expect({ code, table }).toEqual({ code: 130, table: '' })
    expect(output).toContain('bench: stopped by SIGINT\n')
    expect(readdirSync(folder)).toEqual([])
  })

  test('Ctrl-C while the database is made, which ends its program too, reports nothing else and leaves nothing behind', async () => {
    // A group of its own, as a terminal's.
    const { bench, ended } = startProgram({ detached: true }, 'bench/index.ts', 'execute')
    const isMade = () =>
      readdirSync(folder, { recursive: true }).some((name) => /data\.new-/.test(String(name)))
    await until(isMade, 'initdb to start')
    process.kill(-bench.pid!, 'SIGINT')
    expect(await ended).toEqual({
      code: 130,
      table: '',
      output: expect.stringMatching(
        /^bench: takes about [\d.]+ min: .*\nbench: execute: starts\nbench: stopped by SIGINT\n$/,
      ),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  test('a name that there is not is answered with those that there are', async () => {
    const { code, output } = await startBench('exceute').ended
    expect(code).toBe(2)
    expect(output).toContain('there is no scenario exceute; there are execute, rejected,')
  })

  test('a key without the deployment that it is for measures nothing', async () => {
    const { code, output } = await startBench('execute', '--key', 'csk_x').ended
    expect({ code, output }).toEqual({ code: 2, output: 'bench: --key is for --url, and there is none\n' })
  })
})

describe('npm run bench -- export', () => {
  test('with few records it measures the pages that there are, and says how many', async () => {
    const { ended } = startBench('export', '--records', '2000', '--pages', '10', '--json', json)
    const { code, output } = await ended
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('records above') })
    const { measurements = [] } = readReport().scenarios[0] ?? {}
    expect(measurements.map(({ label, figures }) => [label, figures['pages']?.median])).toEqual([
      ['0', 10],
      ['500', 10],
      ['1000', 10],
      ['1500', 5],
      ['1900', 1],
    ])
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('npm run bench -- proofs', () => {
  test('it measures proofs and bundles with and without executions beside, and what the log costs', async () => {
    const rates = ['--seconds', '0.5', '--rounds', '2', '--fill', '20', '--rate', '10', '--load', '10']
    const { code, output } = await startBench('proofs', ...rates, '--json', json).ended
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringContaining('20 pieces of evidence'),
    })
    const { measurements = [], further = {} } = readReport().scenarios[0] ?? {}
    expect(measurements.map(({ label }) => label)).toEqual([
      'proof, alone',
      'proof, beside 10 executions/s',
      'bundle, alone',
      'bundle, beside 10 executions/s',
    ])
    for (const { figures } of measurements) {
      expect(figures['p50 ms']?.median).toBeGreaterThan(0)
      expect(figures['bytes']?.median).toBeGreaterThan(1_000)
    }
    expect(measurements.map(({ figures }) => (figures['verify ms']?.median ?? 0) > 0)).toEqual([
      false,
      false,
      true,
      true,
    ])
    const costs = further['The log, of each execution'] ?? []
    expect(costs.map(({ label }) => label)).toEqual(['1 connection', 'at 20 executions/s', '256 connections'])
    for (const { figures } of costs) {
      const of = (name: string) => figures[name]?.median ?? Number.NaN
      expect(of('batch mean')).toBeGreaterThanOrEqual(1)
      expect(of('commit → checkpoint p99 ms')).toBeGreaterThan(0)
      expect(of('p50 ÷ without')).toBeGreaterThan(0)
      expect(of('CPU ÷ without')).toBeGreaterThan(0)
      // So few executions may share pages that were there before, and the batches of two short runs may differ.
      for (const name of ['log CPU µs', 'log WAL B', 'log B at rest']) expect(of(name), name).not.toBeNaN()
    }
    expect(readdirSync(folder)).toEqual([])
  })
})

/** Some deployment of this shape that answers executions like this, `first` of them with 200, and every record with nothing. */
async function aDeployment(
  status: number,
  body: string,
  headers: OutgoingHttpHeaders = {},
  first = 0,
): Promise<string> {
  let executions = 0
  const answers: Record<string, [number, string]> = {
    '/callers/me': [200, '{"allowedPrincipalIds":["x"]}'],
    '/.well-known/jwks.json': [200, '{"keys":[]}'],
    '/execute': [status, body],
  }
  const server = createServer((request, response) => {
    const isFirst = request.url === '/execute' && ++executions <= first
    const [code, text] = (isFirst ? undefined : answers[request.url ?? '']) ?? [200, '{}']
    request.resume().on('end', () => response.writeHead(code, headers).end(text))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('countersign bench --url', () => {
  let service: TestService

  withService((made) => ({ service } = made))

  test("measures a deployment with the caller's own transaction, and its evidence verifies; a second run is compared with it and judged", async () => {
    const file = join(reports, 'transaction.json')
    writeFileSync(file, JSON.stringify(aTransaction()))
    const own = ['--transaction', file, '--target', 'own']
    const files = ['--json', json, '--html', join(reports, 'page.html')]
    const first = await against(service.url, service.key, 'execute', 'read', ...own, ...files)
    expect(first.code, first.output).toBe(0)
    const report = readReport()
    expect(report.scenarios.map(({ name }) => name)).toEqual(['execute', 'read'])
    // A database that is not ours has no rows to count.
    const { checked } = report.scenarios[0]!
    expect(checked).toMatchObject({ replies: expect.any(Number), errors: 0, verifiedOffline: 10 })
    expect(checked.rows).toBeUndefined()
    expect(report.command).not.toContain(service.key)
    expect(readFileSync(join(reports, 'page.html'), 'utf8')).toContain('Latency distribution')
    const { body } = await service.get('/transactions')
    expect(body[0].intent.target).toBe('own')

    const judged = ['--compare', json, '--max-p99-ms', '0.001', '--min-rate', '0.001']
    const { code, output } = await against(service.url, service.key, 'read', ...own, ...judged)
    expect(code, output).toBe(3)
    expect(output).toMatch(/bench: read, \d+ connections?: p99 of [\d.]+ ms, more than --max-p99-ms 0.001/)
    expect(output).not.toContain('less than --min-rate')
    expect(output).toMatch(/\| read +\| +1 \| +per s \| .* one round: noise unknown \|/)
    expect(output).not.toContain('not alike')
  })

  test('what cannot be measured there is refused by name', async () => {
    const { code, output } = await against(service.url, service.key, 'hybrid')
    expect({ code, output }).toMatchObject({
      code: 2,
      output: expect.stringContaining('hybrid: not with --url'),
    })
  })

  test('one that answers for what it did not store is reported, and no table is printed', async () => {
    const { code, output, table } = await against(await aDeployment(200, '{}'), 'key', 'execute')
    expect({ code, table }).toEqual({ code: 1, table: '' })
    expect(output).toMatch(/bench: execute: trust-record [0-9a-f-]{36}: /)
  })

  test('one whose limit is never free is reported with what to do, and no table is printed', async () => {
    const limited = [
      429,
      '{"error":"Rate limit exceeded. Try again later."}',
      { 'Retry-After': '120' },
    ] as const
    const { code, output, table } = await against(await aDeployment(...limited), 'key', 'execute')
    expect({ code, table }).toEqual({ code: 1, table: '' })
    expect(output).toContain('raise RATE_LIMIT_EXECUTE_PER_MINUTE')
  })

  test('one that fails on the way is not asked on until the time is up', async () => {
    const url = await aDeployment(500, '{"error":"of the deployment"}', {}, 1)
    const run = ['execute', '--seconds', '3600', '--connections', '2']
    const { code, output } = await against(url, 'key', ...run)
    expect(code).toBe(1)
    // Two connections, in the warm-up too.
    expect(output).toMatch(
      /bench: [12] replies to execute with status 500 in place of 200, the first: {"error":"of the deployment"} \(at 2 connections\)/,
    )
  })

  test.each([
    [['--html', tmpdir()], `--html ${tmpdir()}: that is a folder`],
    [['--json', '/no/such/folder/x.json'], '--json /no/such/folder/x.json: cannot be written'],
    [['--compare', import.meta.filename], 'cannot be read as JSON'],
  ])('%j is refused before anything is measured', async (options, why) => {
    const { code, output, table } = await against(await aDeployment(500, ''), 'key', 'execute', ...options)
    expect({ code, table }).toEqual({ code: 2, table: '' })
    expect(output).toContain(why)
  })

  test('what is no deployment at all is told so', async () => {
    const url = await aDeployment(200, '{}')
    const { code, output } = await against(`${url}/elsewhere`, 'key', 'execute')
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining('/elsewhere/callers/me answered 200: {}'),
    })
  })

  describe('the evidence', () => {
    let text: string
    let keys: string
    const transaction = aTransaction()
    const id = transaction.businessTransactionId

    beforeAll(async () => {
      text = (await service.post('/execute', transaction)).text
      keys = (await service.get('/.well-known/jwks.json')).text
    })

    test.each([
      ['another record', /"trustRecordId":"./, '"trustRecordId":"#'],
      ['another signature of the record', /"value":"./, '"value":"#'],
      ['another nonce', /"nonce":"./, '"nonce":"#'],
      ['another receipt', /"receiptId":"./, '"receiptId":"#'],
      ['another time of the receipt', /"issuedAt":"2(?=[^}]*"keyId")/, '"issuedAt":"3'],
      ['another transaction', /"businessTransactionId":"./, '"businessTransactionId":"#'],
      ['an unknown key', /ed25519"/g, 'other"'],
      ['no receipt', /"receipts":\[.*?\]/, '"receipts":[]'],
    ])('%s is noticed', (_what, part, changed) => {
      const tampered = text.replace(part, changed)
      expect(tampered).not.toBe(text)
      expect(checkEvidence({ id, evidence: 'trust-record', text }, keys)).toEqual([])
      expect(checkEvidence({ id, evidence: 'trust-record', text: tampered }, keys)).not.toEqual([])
    })

    test('the record of another transaction is no evidence of this one', () => {
      const other = aTransaction().businessTransactionId
      expect(checkEvidence({ id: other, evidence: 'trust-record', text }, keys)).toEqual([
        'it is for another transaction',
      ])
    })
  })
})

describe('rows', () => {
  const kind = { name: 'execute', method: 'POST', path: '/execute', status: 200 } as const
  const kinds = [{ ...kind, stores: { execution_intents: 1, trust_records: 1 } }]
  const replies = [{ execute: { 200: 2 } }, { execute: { 200: 1 } }]

  test('as many as were acknowledged are no problem, one too few and one in doubt are', () => {
    const from = { execution_intents: 5, trust_records: 5, finalized: 4 }
    const to = { execution_intents: 8, trust_records: 8, finalized: 7 }
    expect(miscounted({ from, to }, kinds, replies)).toEqual([])
    expect(miscounted({ from, to: { ...to, trust_records: 7, finalized: 6 } }, kinds, replies)).toEqual([
      '2 rows were stored in trust_records, but the acknowledged replies make 3',
      '2 intents were finalized, but the acknowledged replies make 3',
    ])
  })
})

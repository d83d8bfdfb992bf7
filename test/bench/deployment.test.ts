// countersign bench --url: what a tester of a deployment needs besides figures. A speed is never a test.
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { main } from '../../bench/index.ts'
import type { Report } from '../../bench/report.ts'
import { runCommand } from '../command.ts'
import type { TestDatabase } from '../database.ts'
import { aCaller, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
const [json, html] = [join(folder, 'report.json'), join(folder, 'report.html')] as const
afterAll(() => rmSync(folder, { recursive: true }))

const other = aCaller('other')
let database: TestDatabase
let service: TestService
withService((made) => ({ database, service } = made), { callers: [other.entry] })

const bench = (url: string, key: string, ...args: string[]) => {
  const quick = ['--quick', '--seconds', '0.2', '--json', json, '--html', html]
  return runCommand(['bench', '--url', url, '--key', key, ...quick, ...args], {})
}

/** @returns the report of a run that ends well, and what it said */
async function measured(url: string, key: string, ...args: string[]) {
  const { status, stdout, stderr } = await bench(url, key, ...args)
  expect(status, stderr).toBe(0)
  const report = JSON.parse(readFileSync(json, 'utf8')) as Report
  return { report, scenario: report.scenarios[0]!, stdout, stderr }
}

async function count(where = 'TRUE', table = 'trust_records'): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM ${table} WHERE ${where}`,
  )
  return rows[0]!.count
}

/** Forwards to the service; an execution whose number `fails` says so gets this answer in place of the service's, at status 0 none. */
async function aProxy(
  status: number,
  answer: string,
  fails: (execution: number) => boolean,
  said: OutgoingHttpHeaders = {},
) {
  let executions = 0
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    if (url === '/execute' && fails(++executions))
      incoming.resume().on('end', () => {
        if (status === 0) incoming.socket.destroy()
        else outgoing.writeHead(status, said).end(answer)
      })
    else
      incoming.pipe(
        request(service.url + url, { method, headers }, (reply) =>
          reply.pipe(outgoing.writeHead(reply.statusCode ?? 0, reply.headers)),
        ),
      )
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test("both generators count as many executions as the service stores of the caller's own transactions, in turn", async () => {
  const file = join(folder, 'transactions')
  const targets = ['first', 'second', 'third']
  const lines = targets.map((target) => JSON.stringify(aTransaction({ intent: { target } })))
  writeFileSync(file, lines.join('\n'))
  const run = ['execute', '--transaction', file, '--generator', 'both', '--connections', '2,8']
  const { report, scenario, stdout } = await measured(service.url, service.key, ...run)
  // One request is tried before the load. A database that is not ours has no rows to count.
  expect(scenario.checked).toEqual({
    replies: (await count()) - 1,
    errors: 0,
    limited: 0,
    errorsBy: {},
    verifiedOffline: 10,
  })
  expect(scenario.measurements.map(({ label }) => label)).toEqual(['2', '8'])
  expect(scenario.measurements[0]?.figures['rate ÷ autocannon']?.values).toHaveLength(2)
  expect(stdout).toContain('generator both')
  expect(report.command).not.toContain(service.key)
  for (const target of targets)
    expect(
      await count(`body::json -> 'intent' ->> 'target' = '${target}'`, 'business_transactions'),
    ).toBeGreaterThan(0)
})

test('a second run is compared with the first and judged', async () => {
  await measured(service.url, service.key, 'read')
  const judged = ['--compare', json, '--max-p99-ms', '0.001', '--min-rate', '0.001']
  const { status, stdout, stderr } = await bench(service.url, service.key, 'read', ...judged)
  expect(status, stderr).toBe(3)
  expect(stderr).toMatch(/bench: read, \d+ connections?: p99 of [\d.]+ ms, more than --max-p99-ms 0.001/)
  expect(stderr).not.toContain('less than --min-rate')
  expect(stdout).toMatch(/\| read +\| +1 \| +per s \| .* one round: noise unknown \|/)
})

test('stopped by SIGTERM it prints what is finished, and says that it is not all', async () => {
  const load = ['--rounds', '99', '--seconds', '0.2', '--connections', '1,2', '--generator', 'own']
  const args = [
    'bench',
    '--url',
    service.url,
    '--key',
    service.key,
    'execute',
    ...load,
    '--json',
    `${json}.not`,
  ]
  const { status, stdout, stderr } = await runCommand(args, {}, (child) => {
    let said = ''
    child.stderr?.on('data', (chunk) => {
      said += String(chunk)
      if (said.includes('round 2') && !child.killed) child.kill('SIGTERM')
    })
  })
  expect(status, stderr).toBe(143)
  // The warm-up, and two runs at each of two connection counts in each round.
  expect(stderr).toMatch(/^bench: takes about \d+\.\d min: 397 runs of 0\.2 s, /)
  expect(stdout).toMatch(/^\*\*INCOMPLETE: stopped by SIGTERM; [^]*^\| 1 +\|.*\n\| 2 +\|/m)
  expect(existsSync(`${json}.not`)).toBe(false)
})

test('a ramp and a step send what is due, nothing at open throttle, and the report says what came when', async () => {
  const before = await count()
  const run = ['execute', '--rate', '0..40,20', '--seconds', '1', '--connections', '4', '--min-rate', '1']
  const { report, scenario, stdout, stderr } = await measured(service.url, service.key, ...run)
  // The warm-up at the lowest rate and the request that is tried send one each.
  expect((await count()) - before).toBe(20 + 20 + 2)
  expect(report.constants['latency at']).toBe('0..40, 20 per second')
  expect(scenario.measurements[0]?.figures['per s']).toBeUndefined()
  const rows = scenario.further?.['Over time at the rate, 4 connections, last round'] ?? []
  const due = rows.map(({ figures }) => figures['due/s']?.median)
  expect(due).toEqual([4, 12, 20, 28, 36, 20, 20, 20, 20, 20])
  expect(stdout).toMatch(/^\| 0–0\.2 s +\|/m)
  expect(stderr).toMatch(
    /^bench: 4 connections, 1 of 2 s: [\d.]+ replies\/s, p99 [\d.]+ ms; so far 0 errors, 0 × 429$/m,
  )
  expect(readFileSync(html, 'utf8')).toContain('Replies at the rate over time')
})

test('several keys are several callers, each with its principal and what it has stored', async () => {
  const keys = [service.key, other.key].join(',')
  const before = await count(`caller_id = 'tester'`)
  const { report } = await measured(service.url, keys, 'mixed', '--connections', '4')
  expect(await count(`caller_id = 'tester'`)).toBeGreaterThan(before)
  expect(await count(`caller_id = 'other'`)).toBeGreaterThan(0)
  expect(report.constants['keys']).toBe(2)
  expect(report.command).not.toContain(other.key)
})

test.each([
  ['autocannon', 503],
  ['own', 0],
] as const)(
  'a tolerated share of errors is counted and reported: by %s, status %i',
  async (generator, status) => {
    const url = await aProxy(status, '{}', (execution) => execution % 20 === 0)
    const rate = ['--rate', '200', '--seconds', '1', '--connections', '32']
    const { scenario, stdout } = await measured(
      url,
      service.key,
      'execute',
      '--max-error-percent',
      '10',
      '--generator',
      generator,
      ...rate,
    )
    // 200 of the warm-up, 200 of the run, and the one that was tried.
    expect(scenario.checked).toMatchObject({ replies: 380, errors: 20 })
    const rows = scenario.further?.['Over time at the rate, 32 connections, last round'] ?? []
    expect(rows.reduce((sum, { figures }) => sum + (figures['errors']?.median ?? 0), 0)).toBe(10)
    expect(stdout).toContain(`380 replies as they must be, 20 errors (execute ${status}: 20), 0 × 429`)
  },
)

test('429 is counted and waited for, and what was due meanwhile is not sent', async () => {
  const said = { 'Retry-After': '1', 'RateLimit-Policy': '"execute";q=120;w=60' }
  const url = await aProxy(429, '{}', (execution) => execution % 40 < 4, said)
  const run = ['execute', '--generator', 'own', '--rate', '50', '--seconds', '2', '--connections', '4']
  const { scenario, stderr } = await measured(url, service.key, ...run)
  expect(scenario.checked).toMatchObject({
    errors: 0,
    limited: expect.toSatisfy((n: number) => n > 0 && n < 100),
  })
  expect(scenario.measurements[0]?.figures['not sent']?.median).toBeGreaterThan(10)
  expect(stderr).toMatch(
    /^bench: 429: this measures the rate limit of the deployment, which is 120 in 60 s \(execute\) for a caller: raise/m,
  )
})

test.each([
  ['never', 200, '{}', 0, [], /bench: execute: trust-record [0-9a-f-]{36}: /],
  [
    'limited',
    429,
    '{"error":"Slow down."}',
    0,
    [],
    /answered 429 \(the rate limit: raise RATE_LIMIT_EXECUTE_/,
  ],
  [
    'failing',
    500,
    '{"error":"of the deployment"}',
    1,
    ['--max-error-percent', '1'],
    /100 % errors, more than --max-error-percent 1: \d+ replies to execute with status 500 in place of 200, the first: {"error":"of the deployment"} \(at 2 connections\)/,
  ],
] as const)(
  'a deployment that is %s right is reported with what it said, and no table is printed',
  async (_what, answered, answer, first, options, why) => {
    const said = { 'Retry-After': answered === 429 ? '120' : '0' }
    const url = await aProxy(answered, answer, (execution) => execution > first, said)
    const run = ['execute', '--connections', '2', '--seconds', answered === 200 ? '0.2' : '3600', ...options]
    const { status, stdout, stderr } = await bench(url, service.key, ...run)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(why)
  },
)

const wrong = join(folder, 'wrong.json')
writeFileSync(wrong, '[{"intent":{}}, 7]')
const url = ['--url', 'http://127.0.0.1:1']
test.each([
  [['--rate', '10..x'], /option '--rate <list>' argument '10\.\.x' is invalid/],
  [['--rate', '0..0'], /option '--rate <list>' .* a ramp from 0 to 0 sends nothing/],
  [['--generator', 'wrk'], /option '--generator <name>' .* Allowed choices are own, autocannon, both/],
  [['--transaction', wrong], /option '--transaction <file>' .* transaction 2 is no JSON object/],
  [['--max-error-percent', '101'], /option '--max-error-percent <n>' .* must be a number from 0 to 100/],
  [['--max-error-percent', '1'], /--max-error-percent is for --url, and there is none/],
  [['execute', '--key', 'secret'], /^bench: --key is for --url, and there is none\n$/],
  [[...url, '--key', 'secret,'], /--key: number 2 of 2 is no API key/],
  [
    [...url, '--key', 'a,b', '--connections', '1', 'execute'],
    /--connections 1 are fewer than the 2 keys of --key/,
  ],
  [[...url, '--key', 'a', 'hybrid'], /hybrid: not with --url/],
  [url, /--url needs --key/],
  [['growth', '--generator', 'both'], /growth: not with --generator both/],
  [['exceute'], /there is no scenario exceute; there are execute, rejected,/],
  [['execute', '--beside', folder], /is no checkout of this repository/],
  [['execute', '--beside-env', 'LISTENER'], /option '--beside-env <settings>' .* must be NAME=value/],
  [[...url, '--key', 'a', '--beside-env', 'LOG=off'], /--beside is not for --url/],
  [['execute', '--service', folder], /is no checkout of this repository/],
  [[...url, '--key', 'a', '--service', '..'], /--service is not for --url/],
  [['export', '--pages', '1'], /option '--pages <n>' .* must be a number from 10 to 100000/],
  [['--compare', '/no/such/file'], /\/no\/such\/file cannot be read/],
  [['--html', folder], /--html .*: that is a folder/],
  [['--json', '/no/such/folder/x.json'], /--json \/no\/such\/folder\/x\.json: cannot be written/],
])('%j is refused by name', async (args, message) => {
  let output = ''
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    output += String(text)
    return true
  })
  // As the command's own parser ends a process.
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('the process ends')
  })
  try {
    const returned = await main(args, 'countersign bench')
    expect([returned, ...exit.mock.calls.flat()]).toEqual(exit.mock.calls.length === 0 ? [2] : [2, 2])
  } finally {
    write.mockRestore()
    exit.mockRestore()
  }
  expect(output).toMatch(message)
  expect(output).not.toContain('secret')
})

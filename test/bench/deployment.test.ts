// countersign bench --url: what a tester of a deployment needs besides figures. A speed is never a test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { main } from '../../bench/index.ts'
import type { Report } from '../../bench/report.ts'
import type { TestDatabase } from '../database.ts'
import { bundledEnvironment } from '../run/environment.ts'
import { aCaller, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
const json = join(folder, 'report.json')
const html = join(folder, 'report.html')
afterAll(() => rmSync(folder, { recursive: true }))

async function bench(...args: string[]) {
  const child = spawn(process.execPath, ['bin/countersign.js', 'bench', ...args], {
    env: bundledEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let table = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (table += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output, table }
}

const readReport = () => JSON.parse(readFileSync(json, 'utf8')) as Report
const quick = ['--quick', '--json', json, '--html', html]

describe('a service', () => {
  const other = aCaller('other')
  let database: TestDatabase
  let service: TestService

  withService((made) => ({ database, service } = made), { callers: [other.entry] })

  const count = async (where = 'TRUE', table = 'trust_records') => {
    const { rows } = await database.pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM ${table} WHERE ${where}`,
    )
    return rows[0]?.count ?? 0
  }

  test.each(['autocannon', 'both'])(
    'the generator %s counts as many executions as the service stores',
    async (generator) => {
      const before = await count()
      const run = ['execute', '--generator', generator, '--connections', '2,8', '--seconds', '0.3']
      const { code, output, table } = await bench(
        '--url',
        service.url,
        '--key',
        service.key,
        ...quick,
        ...run,
      )
      expect(code, output).toBe(0)
      const [scenario] = readReport().scenarios
      // One request is tried before the load.
      expect(scenario?.checked.replies).toBe((await count()) - before - 1)
      expect(scenario?.checked).toMatchObject({ errors: 0, limited: 0, verifiedOffline: 10 })
      expect(scenario?.measurements.map(({ label }) => label)).toEqual(['2', '8'])
      expect(readReport().constants['generator']).toBe(generator)
      const ratio = scenario?.measurements[0]?.figures['rate ÷ autocannon']?.values ?? []
      expect(ratio).toHaveLength(generator === 'both' ? 2 : 0)
      for (const value of ratio) expect(value).toBeGreaterThan(0)
      expect(table).toContain(`generator ${generator}`)
    },
  )

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'stopped by %s it prints what is finished, and says that it is not all',
    async (signal, expected) => {
      const load = [
        'execute',
        '--rounds',
        '99',
        '--seconds',
        '0.2',
        '--connections',
        '1,2',
        '--generator',
        'own',
      ]
      const child = spawn(
        process.execPath,
        [
          'bin/countersign.js',
          'bench',
          '--url',
          service.url,
          '--key',
          service.key,
          ...load,
          '--json',
          `${json}.not`,
        ],
        { env: bundledEnvironment, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      const printed = textOf(child.stdout)
      let output = ''
      for await (const chunk of child.stderr.setEncoding('utf8') as AsyncIterable<string>) {
        output += chunk
        if (output.includes('round 2') && !child.killed) child.kill(signal)
      }
      if (child.exitCode === null) await once(child, 'close')
      expect(child.exitCode, output).toBe(expected)
      // The warm-up, and two runs at each of two connection counts in each round.
      expect(output).toMatch(/^bench: takes about \d+\.\d min: 397 runs of 0\.2 s, /)
      expect(output).toContain(`bench: stopped by ${signal}\n`)
      const table = await printed
      expect(table).toMatch(new RegExp(`^\\*\\*INCOMPLETE: stopped by ${signal}; `))
      expect(table).toMatch(/^\| 1 +\|.*\n\| 2 +\|/m)
      expect(existsSync(`${json}.not`)).toBe(false)
    },
  )

  test('a ramp and a step send what is due, nothing at open throttle, and the report says what came when', async () => {
    const before = await count()
    const run = ['execute', '--rate', '0..40,20', '--seconds', '1', '--connections', '4', '--min-rate', '1']
    const { code, output, table } = await bench('--url', service.url, '--key', service.key, ...quick, ...run)
    expect(code, output).toBe(0)
    // The warm-up at the lowest rate and the request that is tried send one each.
    expect((await count()) - before).toBe(20 + 20 + 2)
    const { scenarios, constants } = readReport()
    expect(constants['latency at']).toBe('0..40, 20 per second')
    const [scenario] = scenarios
    expect(scenario?.measurements[0]?.figures['per s']).toBeUndefined()
    const rows = scenario?.further?.['Over time at the rate, 4 connections, last round'] ?? []
    expect(rows).toHaveLength(10)
    expect(rows.map(({ figures }) => figures['due/s']?.median)).toEqual([
      4, 12, 20, 28, 36, 20, 20, 20, 20, 20,
    ])
    expect(table).toMatch(/^\| 0–0\.2 s +\|/m)
    expect(output).toMatch(
      /^bench: 4 connections, 1 of 2 s: [\d.]+ replies\/s, p99 [\d.]+ ms; so far 0 errors, 0 × 429$/m,
    )
    expect(readFileSync(html, 'utf8')).toContain('Replies at the rate over time')
  })

  test('several keys are several callers, each with its principal and what it has stored', async () => {
    const before = [await count(`caller_id = 'tester'`), await count(`caller_id = 'other'`)]
    const keys = [service.key, other.key].join(',')
    const run = ['mixed', '--connections', '4', '--seconds', '0.3']
    const { code, output } = await bench('--url', service.url, '--key', keys, ...quick, ...run)
    expect(code, output).toBe(0)
    expect(await count(`caller_id = 'tester'`)).toBeGreaterThan(before[0]!)
    expect(await count(`caller_id = 'other'`)).toBeGreaterThan(before[1]!)
    const report = readReport()
    expect(report.constants['keys']).toBe(2)
    expect(report.command).not.toContain(service.key)
    expect(report.command).not.toContain(other.key)
  })

  test.each([
    ['an array', (all: readonly object[]) => JSON.stringify(all)],
    ['lines', (all: readonly object[]) => all.map((one) => `${JSON.stringify(one)}\n`).join('')],
  ])('a file of transactions, as %s, is executed in turn', async (_what, text) => {
    const file = join(folder, 'transactions')
    const targets = ['first', 'second', 'third'].map((target) => `${target} of ${_what}`)
    writeFileSync(file, text(targets.map((target) => aTransaction({ intent: { target } }))))
    const run = ['execute', '--transaction', file, '--rate', '30', '--seconds', '1', '--connections', '1']
    const { code, output } = await bench('--url', service.url, '--key', service.key, ...quick, ...run)
    expect(code, output).toBe(0)
    const counts = await Promise.all(
      targets.map((target) =>
        count(`body::json -> 'intent' ->> 'target' = '${target}'`, 'business_transactions'),
      ),
    )
    // One more of the first was tried; each run begins with the first.
    expect(counts).toEqual([21, 20, 20])
  })
})

describe('a service with a rate limit', () => {
  let service: TestService

  withService((made) => ({ service } = made), {
    // So few that even a busy machine sends more in two seconds.
    env: { RATE_LIMIT_EXECUTE_PER_MINUTE: '120' },
  })

  test.each(['autocannon', 'own'])('429 is counted and waited for, by %s', async (generator) => {
    const run = [
      'execute',
      '--generator',
      generator,
      '--rate',
      '1000',
      '--seconds',
      '2',
      '--connections',
      '4',
    ]
    const { code, output, table } = await bench('--url', service.url, '--key', service.key, ...quick, ...run)
    expect(code, output).toBe(0)
    const { replies, limited, errors } = readReport().scenarios[0]!.checked
    expect(errors).toBe(0)
    expect(replies).toBeGreaterThan(0)
    expect(limited).toBeGreaterThan(0)
    // Four connections that do not wait would be refused a thousand times and more.
    expect(limited).toBeLessThan(100)
    expect(output).toMatch(
      /^bench: 429: this measures the rate limit of the deployment, which is \d+ in 60 s \(execute\) for a caller: raise it/m,
    )
    expect(table).toContain(`${limited} × 429`)
  })
})

describe('a service behind a proxy that fails', () => {
  let service: TestService

  withService((made) => ({ service } = made))

  /** Answers an execution with `status`, or with nothing where that is 0, if `fails` says so of its number. */
  async function aProxy(status: number, fails: (execution: number) => boolean): Promise<string> {
    let executions = 0
    const server = createServer((incoming, outgoing) => {
      if (incoming.url === '/execute' && fails(++executions)) {
        const refuse = () =>
          status === 0
            ? incoming.socket.destroy()
            : outgoing.writeHead(status).end(`{"error":"number ${executions}"}`)
        incoming.resume().on('end', refuse)
        return
      }
      const { method = '', url = '', headers } = incoming
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

  const tolerant = ['execute', '--max-error-percent', '10', '--connections', '32', ...quick]

  test.each([
    ['autocannon', 503],
    ['own', 0],
  ])('a tolerated share of errors is counted and reported: by %s, status %i', async (generator, status) => {
    const url = await aProxy(status, (execution) => execution % 20 === 0)
    const run = [...tolerant, '--rate', '200', '--seconds', '1', '--generator', generator]
    const { code, output, table } = await bench('--url', url, '--key', service.key, ...run)
    expect(code, output).toBe(0)
    const [scenario] = readReport().scenarios
    // 200 of the warm-up, 200 of the run, and the one that was tried.
    expect(scenario?.checked).toMatchObject({ replies: 380, errors: 20 })
    const rows = scenario?.further?.['Over time at the rate, 32 connections, last round'] ?? []
    expect(rows.reduce((sum, { figures }) => sum + (figures['errors']?.median ?? 0), 0)).toBe(10)
    expect(table).toContain(`380 replies as they must be, 20 errors (execute ${status}: 20), 0 × 429`)
  })

  test.each(['autocannon', 'own'])(
    'more than that ends the run with what was said, by %s',
    async (generator) => {
      const url = await aProxy(503, (execution) => execution > 1)
      const run = [...tolerant, '--seconds', '3600', '--generator', generator]
      const { code, output, table } = await bench('--url', url, '--key', service.key, ...run)
      expect({ code, table }).toEqual({ code: 1, table: '' })
      expect(output).toMatch(
        /^bench: 100 % errors, more than --max-error-percent 10: \d+ replies to execute with status 503 in place of 200 .*, the first: {"error":"number \d+"} \(at 32 connections\)$/m,
      )
    },
  )
})

describe('options', () => {
  const file = join(folder, 'wrong.json')
  writeFileSync(file, '[{"intent":{}}, 7]')
  test.each([
    [['--rate', '10..x'], /option '--rate <list>' argument '10\.\.x' is invalid/],
    [['--rate', '0..0'], /option '--rate <list>' .* a ramp from 0 to 0 sends nothing/],
    [['--rate', '5,0'], /option '--rate <list>' .* must be a number from 0\.1 to 1000000/],
    [['--generator', 'wrk'], /option '--generator <name>' .* Allowed choices are own, autocannon, both/],
    [['--transaction', file], /option '--transaction <file>' .* transaction 2 is no JSON object/],
    [['--transaction', '/no/such/file'], /option '--transaction <file>' .* ENOENT/],
    [['--max-error-percent', '101'], /option '--max-error-percent <n>' .* must be a number from 0 to 100/],
    [['--max-error-percent', '1'], /--max-error-percent is for --url, and there is none/],
    [['--url', 'http://127.0.0.1:1', '--key', 'secret,'], /--key: number 2 of 2 is no API key/],
    [
      ['--url', 'http://127.0.0.1:1', '--key', 'a,b', '--connections', '1', 'execute'],
      /--connections 1 are fewer than the 2 keys of --key/,
    ],
    [['growth', '--generator', 'both'], /growth: not with --generator both/],
    [['--nope'], /unknown option '--nope'/],
    [['export', '--pages', '1'], /option '--pages <n>' .* must be a number from 10 to 100000/],
    [['--compare', '/no/such/file'], /\/no\/such\/file cannot be read/],
    [['--json', '/no/such/folder/x.json'], /--json \/no\/such\/folder\/x\.json: cannot be written/],
    [['--url', 'http://127.0.0.1:1'], /--url needs --key/],
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
})

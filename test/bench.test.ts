// The bench checks its own figures; here it is checked that it does, and that it cleans up. A speed is never a test.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { checkEvidence, checkSample } from '../bench/evidence.ts'
import { countLeft, miscounted } from '../bench/left.ts'
import { FLOOR, type Report } from '../bench/report.ts'
import { scenarios } from '../bench/scenarios.ts'
import { mix } from '../bench/soak.ts'
import { connect } from '../bench/service.ts'
import { slopeOf } from '../bench/soak/watch.ts'
import { routes } from '../src/server/routes/index.ts'
import { runCommand, type Ran } from './command.ts'
import type { TestDatabase } from './database.ts'
import { until, type TestService } from './service.ts'
import { aTransaction } from './transactions.ts'
import { withService } from './with-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
// The bench's database runs as another user, which has to pass.
chmodSync(folder, 0o711)
const reports = mkdtempSync(join(tmpdir(), 'countersign-test-'))
const json = join(reports, 'report.json')
afterAll(() => {
  for (const one of [folder, reports]) rmSync(one, { recursive: true })
})

const bench = (...args: string[]) => runCommand(['bench', ...args], { TMPDIR: folder })

/** @returns the scenario that a run which ends well reports; it leaves nothing behind */
async function reported(...args: string[]) {
  const { status, stderr } = await bench(...args, '--json', json)
  expect(status, stderr).toBe(0)
  expect(readdirSync(folder)).toEqual([])
  return scenariosOf()[0]!
}

const scenariosOf = () => (JSON.parse(readFileSync(json, 'utf8')) as Report).scenarios

// In a quick run all scenarios share one database server, and most of them one service.
const short = ['--quick', '--seconds', '0.1', '--records', '0,300', '--connections', '1']

describe('every scenario of the table, in one run', () => {
  let run: Ran

  beforeAll(async () => {
    run = await bench(...short, '--json', json)
    // Two minutes on two quiet cores.
  }, 1_200_000)

  test('the run ends well, leaves nothing behind, and says at the start how long it takes at most', () => {
    expect(run.status, run.stderr).toBe(0)
    expect(scenariosOf().map(({ name }) => name)).toEqual(scenarios.map(({ name }) => name))
    expect(readdirSync(folder)).toEqual([])
    expect(run.stderr).toMatch(/^bench: takes at most \d+\.\d min: \d+ runs of [\d.]+ s, /)
    expect(run.stdout).toMatch(/took\*\*: \d+\.\d min, of \d+\.\d min at most/)
  })

  const more: Readonly<Record<string, { labels?: string[]; heads?: string[]; left?: string[] }>> = {
    execute: { heads: ['batch mean', '× floor', 'at rest B'] },
    webhook: { heads: ['backlog max', 'lag p99 ms, paced'], left: ['deliveries', 'audit events'] },
    'webhook-rules': {
      heads: ['closed p99 ms, paced'],
      left: ['deliveries', 'confirmations'],
    },
    growth: { labels: ['1 · 0 records', '1 · 300 records'], heads: ['rate ÷ empty', 'CPU ÷ empty, paced'] },
  }
  const load = ['per s', 'p50 ms', 'p99 ms', 'CPU total']

  test.each(scenarios.map(({ name }) => name))('%s accounts for every reply', (name) => {
    const { checked, measurements, further } = scenariosOf().find((one) => one.name === name)!
    expect(run.stdout).toContain(`\n## ${name}\n`)
    expect(checked.replies).toBeGreaterThan(0)
    // A delivery leaves no evidence that its provider could ask for.
    if (!name.startsWith('webhook')) expect(checked.verifiedOffline).toBeGreaterThan(0)
    const isStart = name === 'cold-start'
    const {
      labels = isStart ? ['empty folder', 'existing folder'] : ['1'],
      heads = [],
      left,
    } = more[name] ?? {}
    expect(measurements.map(({ label }) => label)).toEqual(labels)
    for (const { figures } of measurements)
      for (const head of isStart ? ['ready ms', 'first execution ms'] : [...load, ...heads])
        expect(figures[head]?.median, head).toBeGreaterThan(0)
    if (left !== undefined) expect(checked.left).toEqual(left)
    if (name === 'execute') expect(further?.[FLOOR]?.[0]?.figures['per s']?.median).toBeGreaterThan(0)
  })
})

test('--beside: both services are driven alike before they are measured in turn, and every round has its ratios', async () => {
  const here = join(import.meta.dirname, '..')
  const sides = ['--service', here, '--beside', here, '--warm-up', '200']
  // CPU time is counted in hundredths of a second: on a busy machine a thread has none of them in a short run.
  const { history, measurements } = await reported('execute', ...short, '--seconds', '1', ...sides)
  const many = expect.toSatisfy((answered: number) => answered >= 200)
  expect(history).toEqual({ answered: { this: many, other: many }, isCold: true })
  // Each of the two is first in one round.
  const positive = expect.toSatisfy((value: number) => value > 0)
  const compared = ['rate', 'CPU', 'workers', 'p50', 'p99', 'WAL', 'batch']
  for (const { figures } of measurements)
    for (const ratio of [
      ...compared.flatMap((name) => [`${name} ÷ other`, `${name} ÷ other, paced`]),
      'at rest ÷ other',
    ])
      expect(figures[ratio]?.values, ratio).toEqual([positive, positive])
})

test('--callers token: one service is asked by token and by key in turn, and evidence of both is verified', async () => {
  const { history, measurements, checked } = await reported('execute', ...short, '--callers', 'token')
  expect(Object.keys(history?.answered ?? {})).toEqual(['this'])
  expect(checked.verifiedOffline).toBeGreaterThan(0)
  for (const { figures } of measurements)
    expect(figures['CPU ÷ key']?.values).toEqual([expect.any(Number), expect.any(Number)])
})

test('--beside-env: this checkout beside itself, and only the one beside has the settings', async () => {
  const { status, stderr } = await bench('execute', ...short, '--beside-env', 'LOG=off,WORKER_THREADS=none')
  expect({ status, starts: stderr.match(/the service did not start/g) }).toEqual({
    status: 1,
    starts: [expect.anything()],
  })
  expect(stderr).toMatch(/WORKER_THREADS/)
})

test('Ctrl-C while the database is made, which ends its program too, reports nothing and leaves nothing behind', async () => {
  const isMade = () =>
    readdirSync(folder, { recursive: true }).some((name) => /data\.new-/.test(String(name)))
  // A group of its own, as a terminal's.
  const ended = await runCommand(
    ['bench', 'execute'],
    { TMPDIR: folder },
    ({ pid }) => void until(isMade, 'initdb to start').then(() => process.kill(-pid!, 'SIGINT')),
    { detached: true },
  )
  expect(ended).toEqual({
    status: 130,
    stdout: '',
    stderr: expect.stringMatching(
      /^bench: takes about [\d.]+ min: .*\nbench: execute: starts\nbench: stopped by SIGINT\n$/,
    ),
  })
  expect(readdirSync(folder)).toEqual([])
})

test('export: with few records it measures the pages that there are', async () => {
  const { measurements } = await reported('export', '--records', '2000', '--pages', '10')
  const pages = measurements.map(({ label, figures }) => [Number(label), figures['pages']?.median])
  expect(pages).toEqual(
    Object.entries({ 0: 10, 500: 10, 1000: 10, 1500: 5, 1900: 1 }).map(([above, count]) => [
      Number(above),
      count,
    ]),
  )
})

test('proofs: proofs and bundles are measured with and without executions beside, and what the log costs', async () => {
  const rates = ['--seconds', '0.2', '--rounds', '2', '--fill', '20', '--rate', '10', '--load', '10']
  const { measurements, further = {}, checked } = await reported('proofs', ...rates)
  expect(checked.verifiedOffline).toBe(20)
  const beside = ['alone', 'beside 10 executions/s']
  expect(measurements.map(({ label }) => label)).toEqual(
    ['proof', 'bundle'].flatMap((kind) => beside.map((what) => `${kind}, ${what}`)),
  )
  for (const { figures, label } of measurements) {
    for (const head of ['p50 ms', 'bytes']) expect(figures[head]?.median, head).toBeGreaterThan(0)
    expect(figures['verify ms'] !== undefined).toBe(label.startsWith('bundle'))
  }
  const costs = further['The log, of each execution'] ?? []
  expect(costs.map(({ label }) => label)).toEqual(['1 connection', 'at 20 executions/s', '256 connections'])
  const positive = ['batch mean', 'commit → checkpoint p99 ms', 'p50 ÷ without', 'CPU ÷ without']
  for (const { figures } of costs) {
    for (const head of positive) expect(figures[head]?.median, head).toBeGreaterThan(0)
    // So few executions may share pages that were there before, and the batches of two short runs may differ.
    for (const head of ['log CPU µs', 'log WAL B', 'log B at rest'])
      expect(figures, head).toHaveProperty([head])
  }
})

test('mcp: the same call direct and through the gateway, and what went through verifies', async () => {
  const { measurements, checked } = await reported('mcp', '--calls', '5', '--rounds', '1', '--seconds', '0.2')
  expect(measurements.map(({ label }) => label)).toEqual([
    'direct',
    'through the gateway',
    'through the gateway, 16 at a time',
  ])
  for (const { figures } of measurements) expect(figures['p50 ms']?.median).toBeGreaterThan(0)
  expect(checked.verifiedOffline).toBeGreaterThan(5)
})

const acknowledged = (count: number) => [{ execute: { 200: 1, 409: 7 } }, { execute: { 200: count - 1 } }]

/** @param mb of each of a thousand samples of an hour, above a hundred */
const slope = (mb: (i: number) => number) =>
  slopeOf(Array.from({ length: 1_000 }, (_, i) => ({ at: i * 3_600, bytes: 1e8 + mb(i) * 1e6 })))!

describe('soak', () => {
  test('a few seconds go to every route of the table, with no status but the right ones, and fsck finds nothing', async () => {
    expect(new Set(mix.map(({ name }) => name)).size).toBe(mix.length)
    const { further } = await reported('soak', '--minutes', '0.1', '--rate', '20')
    const called = new Set(further?.['Routes']?.map(({ label }) => label))
    const table = routes.map(({ method, path }) => `${method} ${path}`)
    expect(table.filter((route) => !called.has(route))).toEqual([])
  }, 300_000)

  test('memory that grows has its slope, and noise alone an interval that holds zero', () => {
    const grows = slope((i) => i / 20 + (i % 2 ? 3 : -3))
    expect(grows.perHour).toBeCloseTo(50, 0)
    expect(grows.plusMinus).toBeLessThan(1)
    const { perHour, plusMinus } = slope((i) => Math.sin(i * i) * 20)
    expect(Math.abs(perHour)).toBeLessThan(plusMinus)
    expect(slopeOf([{ at: 0, bytes: 1 }])).toBeUndefined()
  })
})

describe('the evidence', () => {
  let database: TestDatabase
  let service: TestService
  withService((made) => ({ database, service } = made))

  test('a record that was changed, that is for another transaction, or has no receipt is noticed', async () => {
    const transaction = aTransaction()
    const id = transaction.businessTransactionId
    const { text } = await service.post('/execute', transaction)
    const keys = (await service.get('/.well-known/jwks.json')).text
    const problems = (of: string, changed: string) =>
      checkEvidence({ id: of, evidence: 'trust-record', text: changed }, keys)
    expect(problems(id, text)).toEqual([])
    expect(problems(aTransaction().businessTransactionId, text)).toEqual(['it is for another transaction'])
    expect(problems(id, text.replace(/"receipts":\[.*?\]/, '"receipts":[]'))).toContain(
      'it carries no receipt',
    )
    for (const part of [/"trustRecordId":"./, /"receiptId":"./, /"value":"./])
      expect(problems(id, text.replace(part, '$&#')), String(part)).not.toEqual([])
  })

  test('an execution that is not closed as one that succeeded is noticed', async () => {
    const [done, failed] = [
      aTransaction(),
      aTransaction({ intent: { parameters: { amount: 42, fail: true } } }),
    ]
    for (const one of [done, failed]) await service.post('/execute', one)
    const sample = [done, failed].map(({ businessTransactionId: id }) => ({
      id,
      evidence: 'trust-record' as const,
    }))
    expect(await checkSample({ url: service.url, key: service.key }, sample)).toEqual({
      verified: 2,
      problems: [`trust-record ${failed.businessTransactionId}: its intent is not FINALIZED: 200 ERRORED`],
    })
  })

  test('what is claimed and recorded is as much as was acknowledged, and a claim that is left without a record is noticed', async () => {
    const kinds = [{ name: 'execute', status: 200, leaves: { claims: 1, records: 1 } }]
    const client = await connect(database.url)
    onTestFinished(() => client.end())
    const from = await countLeft(client, kinds)
    const transactions = [aTransaction(), aTransaction()]
    for (const one of transactions) expect((await service.post('/execute', one)).status).toBe(200)
    for (const path of ['/verify', '/receipt'])
      await service.post(path, { businessTransactionId: transactions[0]!.businessTransactionId })
    const to = await countLeft(client, kinds)
    const appended = ['later verifications', 'later receipts'].map(
      (what) => `1 more ${what}, but the acknowledged replies make 0`,
    )
    // The verification and the receipt of the execution itself are no later ones.
    expect(miscounted({ from, to }, kinds, acknowledged(2))).toEqual(appended)
    const few = ['claims', 'records'].map((what) => `2 more ${what}, but the acknowledged replies make 3`)
    expect(miscounted({ from, to }, kinds, acknowledged(3))).toEqual([...few, ...appended])
    const open = { ...to, records: to.records! - 1, 'claims without a record': 1 }
    expect(miscounted({ from, to: open }, kinds, acknowledged(2))).toEqual([
      '1 more records, but the acknowledged replies make 2',
      '1 more claims without a record, but the acknowledged replies make 0',
      ...appended,
    ])
  })
})

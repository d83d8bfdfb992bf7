// The bench checks its own figures; here it is checked that it does, and that it cleans up. A speed is never a test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkEvidence, checkRecord, publishedKeys } from '../bench/evidence.ts'
import type { ExportReport } from '../bench/export.ts'
import type { Report } from '../bench/report.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { startService, until, type TestService } from './service.ts'
import { aTransaction } from './transactions.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
// The bench's database runs as another user, which has to pass.
chmodSync(folder, 0o711)
afterAll(() => rmSync(folder, { recursive: true }))

function startBench(...args: string[]) {
  const bench = spawn(process.execPath, ['bench/index.ts', ...args], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  bench.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  bench.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const ended = once(bench, 'close').then(([code]) => ({ code: code as number | null, output }))
  return { bench, ended }
}

describe('npm run bench -- execute', () => {
  test('a run accounts for every execution and leaves nothing behind', async () => {
    const json = join(folder, 'report.json')
    const { ended } = startBench('execute', '--seconds', '0.3', '--connections', '1,4', '--json', json)
    const { code, output } = await ended
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('none in doubt') })
    const report = JSON.parse(readFileSync(json, 'utf8')) as Report
    expect(report.measurements.map(({ connections }) => connections)).toEqual([1, 4])
    expect(report.measurements[0]?.batches).toEqual({ mean: 1, p50: 1, max: 1 })
    expect(report.checked.verifiedOffline).toBeGreaterThan(0)
    rmSync(json)
    expect(readdirSync(folder)).toEqual([])
  })

  test('an interrupted run reports nothing and leaves nothing behind', async () => {
    const { bench, ended } = startBench('execute')
    await until(() => readdirSync(folder).length > 0, 'the bench to start')
    bench.kill('SIGINT')
    expect(await ended).toEqual({ code: 130, output: 'bench: stopped by SIGINT\n' })
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('npm run bench -- export', () => {
  test('with few records it measures the pages that there are, and says how many', async () => {
    const json = join(folder, 'report.json')
    const { ended } = startBench('export', '--records', '2000', '--pages', '10', '--json', json)
    const { code, output } = await ended
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('records above') })
    const report = JSON.parse(readFileSync(json, 'utf8')) as ExportReport
    expect(report.depths.map(({ above, pages }) => [above, pages])).toEqual([
      [0, 10],
      [500, 10],
      [1_000, 10],
      [1_500, 5],
      [1_900, 1],
    ])
    rmSync(json)
    expect(readdirSync(folder)).toEqual([])
  }, 90_000)
})

describe('the evidence', () => {
  let database: TestDatabase
  let service: TestService
  let trustRecord: string

  beforeAll(async () => {
    database = await createDatabase()
    service = await startService({ databaseUrl: database.url })
    const { text } = await service.post('/execute', aTransaction())
    trustRecord = text
  })

  afterAll(async () => {
    expect(await service.stop()).toBe(0)
    await database.drop()
  })

  test('an execution that is stored and proven has no problem, one that is missing has', async () => {
    const kept = { url: service.url, key: service.key, databaseUrl: database.url }
    const options = { executions: 1, sampleSize: 5 }
    expect(await checkEvidence(kept, options)).toEqual({ sample: 1, problems: [] })
    const { problems } = await checkEvidence(kept, { ...options, executions: 2 })
    expect(problems).toContain('1 trust records, but 2 executions were answered 200')
  })

  test.each([
    ['another record', /"trustRecordId":"./, '"trustRecordId":"#', 'the record has its hash'],
    ['another signature of the record', /"value":"./, '"value":"#', 'the record is signed'],
    ['another nonce', /"nonce":"./, '"nonce":"#', 'the authorization is signed'],
    ['a failed verification', /"VERIFIED"/, '"FAILED"', 'the record was verified'],
    ['another receipt', /"receiptId":"./, '"receiptId":"#', 'the receipt has its hash'],
    [
      'another time of the receipt',
      /"issuedAt":"2(?=[^}]*"keyId")/,
      '"issuedAt":"3',
      'the receipt is signed',
    ],
    [
      'another transaction',
      /"businessTransactionId":"./,
      '"businessTransactionId":"#',
      'the authorization is for this transaction',
    ],
    ['an unknown key', /ed25519"/g, 'other"', 'the receipt is signed'],
  ])('%s is noticed', async (_what, part, changed, problem) => {
    const keys = await publishedKeys(service.url)
    const tampered = trustRecord.replace(part, changed)
    expect(tampered).not.toBe(trustRecord)
    expect(checkRecord(JSON.parse(trustRecord), keys)).toEqual([])
    expect(checkRecord(JSON.parse(tampered), keys)).toContain(`it does not hold that ${problem}`)
  })
})

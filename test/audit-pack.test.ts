// countersign audit-pack against a service: what the pack holds, what it says of the log, and what it names as missing.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHuman, anApprover, anEnrolment, aResolutionStepUp, putInEffect } from './authority.ts'
import { aBankDelivery, bankEnv, deliverFromBank, outcomeOf } from './bank.ts'
import { runCommand } from './command.ts'
import { untilLogRests, type TestDatabase } from './database.ts'
import { putInDoubt } from './intents.ts'
import { lossWarning } from '../src/cli/audit-pack/log.ts'
import { aCaller, until, type TestService } from './service.ts'
import { aTransaction } from './transactions.ts'
import { withDatabase } from './with-service.ts'

const [maker, checker] = [aHuman('maker'), aHuman('checker')]
const operator = aHuman('operator')
const auditor = aCaller('auditor', { readAll: true, allowedCapabilities: [] })
const folder = mkdtempSync(join(tmpdir(), 'countersign-pack-'))

let database: TestDatabase
let service: TestService
withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({
    callers: [auditor.entry, maker.entry, checker.entry, operator.entry],
    env: bankEnv,
  })
})
afterAll(() => rmSync(folder, { recursive: true }))

const executed: { businessTransactionId: string; createdAt: string }[] = []
let doubt = ''

beforeAll(async () => {
  for (const amount of [0.1, 0.2, 40]) {
    const intent = { target: '<b>vendor</b>', parameters: { amount, currency: 'EUR' } }
    const { status, body } = await service.post('/execute', aTransaction({ intent, signals: { amount } }))
    expect(status).toBe(200)
    executed.push(body as (typeof executed)[number])
  }
  const refused = aTransaction({ intent: { parameters: { amount: 5_000 } }, signals: { amount: 5_000 } })
  expect((await service.post('/execute', refused)).status).toBe(500)
  await putInEffect(service, { maker, checker }, '/approvers/changes', anEnrolment(anApprover('dana')))
  doubt = executed.pop()!.businessTransactionId
  const delivery = aBankDelivery('paid', executed[1]!.businessTransactionId)
  await deliverFromBank(service, delivery)
  await until(async () => (await outcomeOf(database, delivery)).outcome, 'the delivery to be processed')
  await untilLogRests(database)
  await putInDoubt(database, doubt)
})

let n = 0
async function pack(...args: string[]) {
  const to = join(folder, `pack-${n++}`)
  const given = ['--url', service.url, '--api-key', auditor.key, '-o', to, ...args]
  const { status, stdout, stderr } = await runCommand(['audit-pack', ...given], {})
  const report = existsSync(join(to, 'report.html')) ? readFileSync(join(to, 'report.html'), 'utf8') : ''
  return { to, status, stdout, stderr, report, last: stdout.trimEnd().split('\n').at(-1) }
}

test('everything is saved, verified, compared with the log, and reported with what is in doubt', async () => {
  const { to, status, stderr, stdout, last, report } = await pack()
  expect(status, `${stdout}${stderr}`).toBe(0)
  expect(last).toBe('3 of 3 that the log counts, 1 more in doubt')
  expect(readdirSync(to).toSorted()).toEqual([
    'approvals.json',
    'approver-keys.json',
    'changes.ndjson',
    'confirmations.ndjson',
    'keys.json',
    'log',
    'records.ndjson',
    'refusals.ndjson',
    'report.html',
    'requests.ndjson',
    'step-up-keys.json',
    'transitions.ndjson',
    'without-record.json',
  ])
  for (const text of [
    '3 of 3 that the log counts, 1 more in doubt',
    `<td>40 EUR</td><td></td><td>tester</td><td>in doubt</td><td></td><td></td><td></td><td></td><td>${doubt}</td>`,
    'Executions in doubt, whose outcome is not known yet, are not counted',
    'That everything was logged, or that you were shown the same log as others',
    '0.30 EUR',
    '5,000',
    'with the key of auditor',
    '&lt;b&gt;vendor&lt;/b&gt;',
    'approver dana:k1',
  ])
    expect(report).toContain(text)
  // One kind of id, which the service finds: that of the execution.
  for (const { businessTransactionId } of executed)
    expect(report).toContain(`<td>${businessTransactionId} in`)
  expect(report).toMatch(
    /<td>add approver dana:k1<\/td>.*<td>maker<\/td><td>approved<\/td><td>checker with key/,
  )
  expect(report).toMatch(/first start, which nobody had to approve(.|\n)*<td>sandbox-echo 1\.0\.0<\/td>/)
  for (const name of ['report.html', 'records.ndjson', 'log', 'log/log.json'])
    expect(statSync(join(to, name)).mode & 0o077, name).toBe(0)
  expect(stdout).toContain(`Without an end: ${doubt}, sandbox:echo → <b>vendor</b>, 40 EUR: in doubt\n`)
  expect(stdout + report).not.toContain('nothing is missing: other records')
  expect(stdout).not.toContain('or that nothing is missing')
  expect(report).not.toContain('<td><b>vendor')
  expect(report).toMatch(/<td>[^<]*records\.ndjson<\/td><td>[0-9a-f]{64}<\/td>/)
  // The contents of the pack can be checked without the service too.
  const files = ['records.ndjson', 'refusals.ndjson', 'changes.ndjson'].map((name) => join(to, name))
  const jwks = ['keys', 'approver-keys', 'step-up-keys'].flatMap((name) => [
    '--jwks',
    join(to, `${name}.json`),
  ])
  const again = await runCommand(['verify', ...files, ...jwks, '--quiet'], {})
  expect([again.status, again.stdout]).toEqual([0, expect.not.stringContaining('were not checked')])
})

test('what a provider says against the evidence is above all else in the report, with both amounts', async () => {
  const { to, report } = await pack()
  const headline = '1 statement of payment providers says otherwise than what is recorded'
  expect(report.indexOf(headline)).toBeLessThan(report.indexOf('id="contents"'))
  const [, exceptions = ''] = report.split('<section id="exceptions">')
  const [, first = '', second = ''] = exceptions.split('<caption>')
  expect([first, second]).toEqual([
    expect.stringMatching(/^Providers say otherwise/),
    expect.stringMatching(/^In doubt/),
  ])
  expect(first).toContain(
    '<td>bank</td><td>it was executed</td><td>Done, as the connector reported</td><td>sandbox:echo</td>',
  )
  expect(first).toContain('payload.amount is 42; transaction.intent.parameters.amount is 0.2')
  expect(first).toContain(`<td>${executed[1]!.businessTransactionId} in confirmations.ndjson, line 1</td>`)
  // Without the service the expression alone is known.
  const files = ['records.ndjson', 'confirmations.ndjson'].map((name) => join(to, name))
  const jwks = ['--jwks', join(to, 'keys.json')]
  const offline = join(to, 'offline.html')
  expect((await runCommand(['verify', ...files, ...jwks, '--report', offline], {})).status).toBe(0)
  expect(readFileSync(offline, 'utf8')).toMatch(
    /Providers say otherwise(.|\n)*payload\.amount == [^<(]*<\/td>/,
  )
})

test('a period has its own evidence alone, and what is outside of it is not missing', async () => {
  const [first, second] = executed
  const of = await pack('--since', second!.createdAt, '--until', '2126-01-01T00:00:00Z')
  expect(of.last, of.stderr).toBe('2 of 2 that the log counts, 1 more in doubt')
  expect(of.report).not.toContain(first!.businessTransactionId)
  const before = await pack('--until', first!.createdAt)
  expect([before.status, before.last]).toEqual([2, '0 of 0 that the log counts, 0 more in doubt'])
})

test('who closed an execution in doubt, why and when is reported, and their signature is verified', async () => {
  const { body: intent } = await service.get(`/execution-intents/${doubt}`)
  const said = {
    businessTransactionId: doubt,
    businessTransactionHash: intent.authorization.payload.businessTransactionHash as string,
    resolution: 'NOT_EXECUTED',
    note: 'The bank has <no> transfer.',
  }
  const { resolution, note } = said
  const stepUpAuthorization = aResolutionStepUp(operator, said)
  const closed = await service.post(
    `/execution-intents/${doubt}/resolve`,
    { resolution, note, stepUpAuthorization },
    operator,
  )
  expect(closed.status, closed.text).toBe(200)
  const { at } = closed.body.transitions[0].transition as { at: string }
  await untilLogRests(database)
  const { to, status, stdout, last, report } = await pack()
  expect([status, last], stdout).toEqual([0, '4 of 4 that the log counts, 0 more in doubt'])
  expect(stdout).toContain(`40 EUR: closed as not executed by operator at ${at}: ${note}\n`)
  expect(stdout).toContain('  intent-transition: 1 valid, 0 INVALID, 0 cannot be checked\n')
  expect(report).toContain(
    '<td>closed as not executed</td><td></td><td>operator</td><td>The bank has &lt;no&gt; transfer.</td>',
  )
  const file = join(to, 'transitions.ndjson')
  writeFileSync(file, readFileSync(file, 'utf8').replace('bank', 'benk'))
  const jwks = ['keys', 'step-up-keys'].flatMap((name) => ['--jwks', join(to, `${name}.json`)])
  const forged = await runCommand(['verify', file, ...jwks], {})
  expect([forged.status, forged.stdout]).toEqual([1, expect.stringContaining('step-up authorization')])
})

test('a log that had lost signed entries is warned of', () => {
  const previous = { origin: 'a.example/log/1', size: 5, root: null, frozen: 'Why.', signedSize: 5 }
  const statement = {
    origin: 'a.example/log/2',
    reopenedAt: '2026-11-02T10:00:00Z',
    previous,
    checkpoint: null,
  }
  expect(lossWarning({ ...statement, entriesLost: 15, contradiction: null })).toContain(
    'a.example/log/1, which was followed by another log at 2026-11-02T10:00:00Z, had lost at least 15 signed entries. ',
  )
  expect(lossWarning({ ...statement, entriesLost: 15, contradiction: 'note' })).toContain(
    'had lost at least 15 signed entries, and contradicts a checkpoint that it signed. ',
  )
})

// proves abuse: Evidence that is deleted from the database before an auditor
test('what is gone from the database is named by its hash, and what is not in the log by its id', async () => {
  const { rows } = await database.pool.query<{ hash: string }>(
    `DELETE FROM refusal_records RETURNING seal::jsonb->>'refusalRecordHash' AS hash`,
  )
  const [gone = { hash: '' }] = rows
  const { status, stdout, last, report } = await pack()
  expect([status, last]).toEqual([1, '3 of 4 that the log counts, 0 more in doubt'])
  const missing = `Missing: the refusal with the hash ${gone.hash}, entry `
  expect(stdout).toContain(missing)
  expect(report).toContain(missing)
})

test('nothing is made in a folder that is not empty, for a time that is none, or without a service', async () => {
  const full = join(folder, 'pack-0')
  writeFileSync(join(folder, 'mine.txt'), 'precious')
  for (const [args, said] of [
    [['-o', full], 'is not empty'],
    [['-o', folder], 'is not empty'],
    [['--since', 'yesterday'], '--since must be a time'],
    [['--url', 'http://127.0.0.1:1'], 'does not answer'],
    [['--api-key', 'csk_nobody'], 'it does not know the API key'],
    [['--api-key', service.key], '403'],
  ] as const) {
    const { status, stdout, stderr } = await pack(...args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
  }
  expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe('precious')
})

// GET /log/absence/{kind}/{id}, and the command that asks for it: never executed, used once.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { verifyAbsence } from '../../src/formats/log/absence.ts'
import type { IdKind } from '../../src/formats/log/ids.ts'
import { noteCrypto } from '../../src/core/signing/log-keys.ts'
import { readLogTrust } from '../../src/formats/verifier/log-trust.ts'
import type { TestDatabase } from '../database.ts'
import { runCommand } from '../command.ts'
import { aCaller, until, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const auditor = aCaller('auditor', { readAll: true })
const stranger = aCaller('stranger')
const folder = mkdtempSync(join(tmpdir(), 'countersign-absence-'))
const trust = join(folder, 'log.json')

let database: TestDatabase
let service: TestService
let executed: string
let refused: string
/** The command says this while no entry is in a run. */
let early: Awaited<ReturnType<typeof absent>>
withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({
    callers: [auditor.entry, stranger.entry],
  })
  expect((await service.get('/log/absence/authorization/x', { key: auditor.key })).status).toBe(400)
  executed = await execute()
  const rejected = aRejectedTransaction()
  refused = rejected.businessTransactionId
  await service.post('/execute', rejected)
  await service.post('/receipt', { businessTransactionId: executed })
  writeFileSync(trust, (await service.get('/.well-known/countersign-log', { key: null })).text)
  await until(async () => (await service.get('/log/checkpoint')).status === 200, 'a checkpoint')
  early = await absent('authorization', executed)
  await allInRuns()
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

async function execute(): Promise<string> {
  const transaction = aTransaction()
  expect((await service.post('/execute', transaction)).status).toBe(200)
  return transaction.businessTransactionId
}

/** An hour later, for the ids of the entries that are in no run. */
async function allInRuns(): Promise<void> {
  await until(async () => {
    await database.pool.query(`UPDATE log_id_tail SET appended_at = appended_at - interval '2 hours'`)
    const { rows } = await database.pool.query(`
      SELECT FROM log_queue UNION ALL SELECT FROM log_id_tail
      UNION ALL SELECT FROM log_runs WHERE entry_index >= coalesce((SELECT max(size) FROM log_checkpoints), 0)`)
    return rows.length === 0
  }, 'every id to be in a run under a checkpoint')
}

async function found(kind: string, id: string, key = service.key) {
  const { status, text } = await service.get(`/log/absence/${kind}/${id}`, { key })
  expect(status, text).toBe(200)
  const { policy } = readLogTrust(
    (await service.get('/.well-known/countersign-log', { key: null })).text,
    noteCrypto.sha256,
  )
  const asked = { kind: kind as IdKind, id: kind === 'approval' ? id : id.toLowerCase() }
  return verifyAbsence(JSON.parse(text), { ...asked, policy }, noteCrypto)
}

describe('GET /log/absence/{kind}/{id} 200', () => {
  test('proves by the businessTransactionId what was never executed, and what once', async () => {
    const never = randomUUID()
    for (const key of [service.key, auditor.key, stranger.key]) {
      const { indexes, coveredTo } = await found('authorization', never, key)
      expect([indexes, coveredTo > 3]).toEqual([[], true])
    }
    expect((await found('authorization', executed)).indexes).toHaveLength(1)
    expect((await found('authorization', executed.toUpperCase())).indexes).toHaveLength(1)
    // The second one was asked for.
    expect((await found('receipt', executed)).indexes).toHaveLength(2)
    expect((await found('refusal', executed)).indexes).toEqual([])
    expect((await found('authorization', refused)).indexes).toEqual([])
    expect((await found('refusal', refused)).indexes).toHaveLength(1)
  })

  test('of every kind, for who reads everything', async () => {
    for (const kind of ['change', 'event', 'transition', 'webhook', 'approval'])
      expect((await found(kind, randomUUID(), auditor.key)).indexes).toEqual([])
    const { body } = await service.get('/audit/events', { key: auditor.key })
    for (const { event } of (body as { events: { event: { eventId: string } }[] }).events)
      expect((await found('event', event.eventId, auditor.key)).indexes).toHaveLength(1)
  })

  test('covers what is older than an hour, and says up to where', async () => {
    const before = await found('authorization', executed)
    const newer = await execute()
    expect(await found('authorization', newer)).toMatchObject({ indexes: [], coveredTo: before.coveredTo })
    await allInRuns()
    const after = await found('authorization', newer)
    expect(after.indexes).toHaveLength(1)
    expect(after.indexes[0]).toBeGreaterThanOrEqual(before.coveredTo)
    expect(after.coveredTo).toBeGreaterThan(before.coveredTo)
  })
})

describe('404 noCheckpoint', () => {
  test('of a log that there is not; each log has a path of its own', async () => {
    const id = randomUUID()
    const { body } = await service.get(`/log/absence/authorization/${id}`)
    const { body: numbered } = await service.get(`/log/1/absence/authorization/${id}`)
    expect((numbered as { runs: unknown }).runs).toEqual((body as { runs: unknown }).runs)
    for (const number of ['2', '0', 'x'])
      expect((await service.get(`/log/${number}/absence/authorization/${id}`)).status).toBe(404)
  })
})

describe('404 idNotYours', () => {
  test('an id of another caller: what the log has of it is not said', async () => {
    for (const kind of ['authorization', 'receipt', 'refusal'])
      for (const id of [executed, refused]) {
        const { status, body } = await service.get(`/log/absence/${kind}/${id}`, { key: stranger.key })
        expect([status, body]).toEqual([404, { error: 'This id is not one of yours.' }])
      }
  })
})

describe('403 nonHumanCaller', () => {
  test('other kinds are for humans and auditors', async () => {
    for (const kind of ['change', 'event', 'transition', 'webhook', 'approval'])
      expect((await service.get(`/log/absence/${kind}/${randomUUID()}`)).status).toBe(403)
  })
})

describe('400 invalidQuery', () => {
  test('an id that can be none of its kind', async () => {
    const { status, body } = await service.get('/log/absence/authorization/x')
    expect([status, body]).toEqual([400, { error: 'The id of an authorization is a UUID.' }])
  })
})

describe('404 pathNotFound', () => {
  test('a kind that has no ids', async () => {
    for (const kind of ['heads', 'record', 'toString', 'audit-event'])
      expect((await service.get(`/log/absence/${kind}/${randomUUID()}`)).status).toBe(404)
  })
})

const absent = (kind: string, id: string, more: readonly string[] = ['--log', trust]) =>
  runCommand(['log', 'absent', kind, id, '--url', service.url, '--key', service.key, ...more], {})

describe('countersign log absent', () => {
  test('says what is proven: 0 absent, 1 there', async () => {
    const never = randomUUID()
    const none = await absent('authorization', never)
    expect(none).toMatchObject({ status: 0, stderr: '' })
    expect(none.stdout).toMatch(
      new RegExp(`^No authorization ${never} is among the first \\d+ entries of \\S+/log/1\\.\n`),
    )
    const once = await absent('authorization', executed)
    expect(once.status).toBe(1)
    expect(once.stdout).toMatch(/ is once among the first \d+ entries of \S+\/log\/1: at index \d+\.\n/)
    expect((await absent('receipt', executed)).stdout).toMatch(/ is 2 times among the first/)
  })

  test('2 in the first hour of a log: nothing is covered yet', () => {
    expect(early).toMatchObject({ status: 2, stdout: '' })
    expect(early.stderr).toMatch(
      /^countersign: No run of ids covers an entry of \S+\/log\/1 yet: ask again one hour after the entry\.\n$/,
    )
  })

  test('2 where it cannot be checked, 1 where the answer is signed by others', async () => {
    const others = join(folder, 'others.json')
    writeFileSync(others, '{"logs":[]}')
    expect(await absent('authorization', 'x')).toMatchObject({
      status: 2,
      stderr:
        'countersign: /log/absence/authorization/x: the service answers 400: The id of an authorization is a UUID.\n',
    })
    expect((await absent('nothing', randomUUID())).status).toBe(2)
    expect((await absent('authorization', randomUUID(), ['--log', others])).status).toBe(2)
    const origin = (JSON.parse(await log()) as { logs: [{ origin: string }] }).logs[0].origin
    const policy = join(folder, 'policy')
    writeFileSync(policy, 'quorum none\n')
    const unsigned = await absent('authorization', randomUUID(), ['--log', policy])
    expect(unsigned).toMatchObject({
      status: 2,
      stderr: `countersign: no key of the log "${origin}" that signed its checkpoint is given.\n`,
    })
  })
})

const log = async () => (await service.get('/.well-known/countersign-log', { key: null })).text

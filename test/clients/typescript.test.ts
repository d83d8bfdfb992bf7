// The TypeScript client against the real service: every method once, and what it sends again over a network that loses things.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  ClosedWithoutRecordError,
  ConnectionLostError,
  CountersignError,
  createCountersign,
  deterministicId,
  IdUsedForAnotherIntentError,
  InDoubtError,
  type Countersign,
  type ExecutionRequest,
  type Options,
  type Schemas,
} from '../../clients/typescript/src/index.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { aHuman } from '../authority.ts'
import { rowsOf, type TestDatabase } from '../database.ts'
import { aCaller, until, type TestService } from '../service.ts'
import { aTransaction, type Changes } from '../transactions.ts'
import {
  answer,
  loseReply,
  loseRequest,
  openFlakyNetwork,
  type Fate,
  type FlakyNetwork,
} from './flaky-network.ts'
import { withService } from '../with-service.ts'
import { intentState, putInDoubt } from '../intents.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const auditor = aCaller('auditor', { readAll: true })
const human = aHuman('human')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** The id for caller `tester` and key `invoice-4711`. */
const ID_OF_TESTER = '93485c56-2062-523b-bd03-cb22fdd698dd'
let database: TestDatabase
let service: TestService
let network: FlakyNetwork
let client: Countersign

withService((made) => ({ database, service } = made), { callers: [auditor.entry, human.entry] })

const connect = (more: Partial<Options> = {}) =>
  createCountersign({ baseUrl: service.url, apiKey: service.key, ...more })

/** How often `METHOD /path` went over the network. */
const sent = (route: string) => network.seen.filter((seen) => seen === route).length

function aSubmission(changes: Changes = {}): Schemas['SubmittedTransaction'] {
  return aTransaction(changes) as Schemas['SubmittedTransaction']
}

describe('every method', () => {
  let record: Schemas['ExecutionTrustRecord']
  let id: string

  beforeAll(async () => {
    client = connect()
    record = await client.execute(aSubmission())
    id = record.businessTransactionId
  })

  test('execute answers the record, executeOrRead the same one again', async () => {
    expect(record.executions[0]?.status).toBe('COMPLETED')
    const again = await client.executeOrRead(record.transaction)
    expect(again).toEqual(record)
  })

  test('reads what was stored', async () => {
    expect(await client.transaction(id)).toEqual(record.transaction)
    expect(await client.transactions({ page: 1, pageSize: 1 })).toHaveLength(1)
    expect(await client.trustRecord(id)).toEqual(record)
    expect(await client.latestVerification(id)).toEqual(record.verifications[0])
    expect(await client.latestReceipt(id)).toEqual(record.receipts[0])
  })

  test('verifies, generates a receipt and replays', async () => {
    const verification = await client.verify(id)
    expect(verification).toMatchObject({ businessTransactionId: id, status: 'VERIFIED' })
    const receipt = await client.receipt(id)
    expect(receipt.verificationId).toBe(verification.verificationId)
    expect(await client.replay(id)).toEqual({
      businessTransactionId: id,
      trustRecordHash: record.trustRecordHash,
      verified: true,
    })
  })

  test('bundle is one file that verifies the execution offline', async () => {
    const { businessTransactionId } = await client.execute(aSubmission())
    const text = await client.bundle(businessTransactionId)
    const keySet = await client.keySet()
    const log = (await service.get('/.well-known/countersign-log', { key: null })).text
    expect(verifyEvidence(text, keySet, { log }).verdict).toBe('valid')
  })

  test('trustRecords goes from page to page, each record once', async () => {
    const since = new Date().toISOString()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push((await client.execute(aSubmission())).businessTransactionId)
    const exported: string[] = []
    for await (const { businessTransactionId } of client.trustRecords({ since, pageSize: 2 }))
      exported.push(businessTransactionId)
    expect(exported).toHaveLength(5)
    expect(new Set(exported)).toEqual(new Set(ids))
  })

  test('verifications and receipts are read whole, beyond what the record holds', async () => {
    const { businessTransactionId } = await client.execute(aSubmission())
    for (let n = 0; n < 110; n++) await client.verify(businessTransactionId)
    const whole = await client.trustRecord(businessTransactionId)
    expect([whole.verifications.length, whole.verificationCount, whole.receiptCount]).toEqual([
      100,
      111,
      undefined,
    ])
    const listed: object[] = []
    for await (const verification of client.verifications(businessTransactionId)) listed.push(verification)
    expect(listed).toHaveLength(111)
    expect(listed.slice(0, 100).toReversed()).toEqual(whole.verifications)
    const receipts: object[] = []
    for await (const receipt of client.receipts(businessTransactionId)) receipts.push(receipt)
    expect(receipts).toEqual(whole.receipts)
  })

  test('a page that the service ends early at 4 MiB is completed', async () => {
    const submissions = Array.from({ length: 50 }, () =>
      aSubmission({ intent: { parameters: { amount: 42, note: 'x'.repeat(95_000) } } }),
    )
    await Promise.all(submissions.map((submission) => client.execute(submission)))
    const { data: part = [] } = await client.http.GET('/transactions', {
      params: { query: { pageSize: 50 } },
    })
    expect(part.length).toBeLessThan(50)
    const listed = await client.transactions({ pageSize: 50 })
    expect(listed.map(({ businessTransactionId }) => businessTransactionId).toSorted()).toEqual(
      submissions.map(({ businessTransactionId }) => businessTransactionId).toSorted(),
    )
  })

  test('validatePolicy answers for an unknown version too', async () => {
    const policyId = 'sandbox-echo'
    expect(await client.validatePolicy({ policyId, policyVersion: '1.0.0' })).toEqual({
      valid: true,
      errors: [],
    })
    expect(await client.validatePolicy({ policyId, policyVersion: '9.9.9' })).toEqual({
      valid: false,
      errors: ["Policy 'sandbox-echo' version '9.9.9' was not found."],
    })
  })

  test('refusal and verifyRefusal', async () => {
    const submitted = aSubmission({ intent: { parameters: { amount: 2000 } }, signals: { amount: 2000 } })
    await expect(client.execute(submitted)).rejects.toThrow('Execution rejected: Amount above 1000.')
    const refusal = await client.refusal(submitted.businessTransactionId)
    expect(refusal.decision.outcome).toBe('REJECTED')
    expect(await client.verifyRefusal(refusal)).toMatchObject({ valid: true })
  })

  test('auditEvents and verifyAuditEvent', async () => {
    await expect(connect({ apiKey: 'csk_unknown' }).version()).rejects.toMatchObject({ status: 401 })
    const auditing = connect({ apiKey: auditor.key })
    const event = await until(
      async () => (await auditing.auditEvents({ type: 'caller.rejected' })).events[0],
      'the audit event',
    )
    expect(event.event.route).toBe('GET /version')
    expect(await auditing.verifyAuditEvent(event)).toMatchObject({ valid: true })
  })

  test('keys, and who and what answers', async () => {
    const { keys } = await client.keySet()
    const { keyId } = record.signature
    const key = await client.key(keyId)
    // A set has each key's members of RFC 7517 beside it too, for libraries that read key sets.
    expect(keys).toContainEqual({ ...key, ...key.jwk })
    expect(await client.callerIdentity()).toMatchObject({
      callerId: 'tester',
      unrestrictedCapabilities: true,
    })
    expect(await client.version()).toMatchObject({ name: 'countersign', api: 'v1' })
    expect(await client.ready()).toMatchObject({ status: 'READY' })
    expect((await client.http.GET('/health')).data).toEqual({ status: 'UP' })
  })

  test('an error carries what the service said, and the id of its log line', async () => {
    const error: unknown = await client.verify(crypto.randomUUID()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CountersignError)
    expect(error).toMatchObject({
      status: 404,
      code: 'VERIFICATION_FAILED',
      message: 'Execution Trust Record not found.',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  test('a 409 is an error of execute', async () => {
    await expect(client.execute(record.transaction)).rejects.toMatchObject({ status: 409 })
  })

  test('the record of another intent under the same id is not handed out as this one', async () => {
    const other = {
      ...record.transaction,
      intent: { ...record.transaction.intent, parameters: { amount: 41 } },
    }
    const error: unknown = await client.executeOrRead(other).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(IdUsedForAnotherIntentError)
  })
})

/** Makes a request that says what is to be done, and nothing else. */
const request = (more: Partial<ExecutionRequest> = {}): ExecutionRequest => ({
  action: 'sandbox:echo',
  target: 'built',
  parameters: { amount: 42 },
  policy: { name: 'sandbox-echo', version: '1.0.0' },
  signals: { approved: true, amount: 42 },
  ...more,
})

describe('an execution request', () => {
  beforeAll(() => void (client = connect()))

  test('becomes a whole transaction on the authority of the caller, and is executed', async () => {
    const record = await client.execute(request())
    expect(record.executions[0]?.status).toBe('COMPLETED')
    expect(record.transaction).toMatchObject({
      authority: { principalId: 'tester', authorityType: 'SERVICE' },
      intent: { action: 'sandbox:echo', target: 'built', parameters: { amount: 42 } },
      signals: { approved: true, amount: 42 },
    })
    const other = await client.execute(request())
    expect(other.businessTransactionId).not.toBe(record.businessTransactionId)
  })

  test('with a key is executed once, whoever repeats it', async () => {
    const first = await client.executeOrRead(request({ key: 'invoice-1' }))
    expect(await connect().executeOrRead(request({ key: 'invoice-1' }))).toEqual(first)
    await expect(client.execute(request({ key: 'invoice-1' }))).rejects.toMatchObject({ status: 409 })
    const another = request({ key: 'invoice-1', target: 'another' })
    await expect(client.executeOrRead(another)).rejects.toBeInstanceOf(IdUsedForAnotherIntentError)
    expect(await rowsOf(database, first.businessTransactionId)).toMatchObject({ execution_intents: 1 })
  })

  test('with a key has the id that every client derives: of caller and key', async () => {
    // The Python client is held to the same one (test/clients/python_service.py).
    const { businessTransactionId } = await client.build(request({ key: 'invoice-4711' }))
    expect(businessTransactionId).toBe(ID_OF_TESTER)
    const other = await connect({ apiKey: auditor.key }).build(request({ key: 'invoice-4711' }))
    expect(other.businessTransactionId).not.toBe(ID_OF_TESTER)
  })

  test('may name its id and its principal, and then nobody is asked', async () => {
    network = await openFlakyNetwork(service.url)
    const counted = connect({ baseUrl: network.url })
    const businessTransactionId = deterministicId('9d1e6a52-7b7f-4e0c-8a36-5f2b9c0d4e11', 'order-1')
    const named = request({ businessTransactionId, principalId: 'tester' })
    expect((await counted.execute(named)).businessTransactionId).toBe(businessTransactionId)
    expect(network.seen).toEqual(['POST /execute'])
    await network.close()
  })

  test('is sent under one id, however often it has to be sent', async () => {
    network = await openFlakyNetwork(service.url)
    network.plan('POST /execute', loseRequest, loseReply)
    const { businessTransactionId: id } = await connect({ baseUrl: network.url }).execute(request())
    expect(sent('POST /execute')).toBe(2)
    expect(network.seen.filter((route) => route === `GET /trust-records/${id}`)).toHaveLength(2)
    expect(await rowsOf(database, id)).toMatchObject({ execution_intents: 1, trust_records: 1 })
    await network.close()
  })

  test('is what the sandbox evaluates once it is built', async () => {
    expect(await client.evaluate(await client.build(request()))).toMatchObject({
      valid: true,
      wouldAnswer: { status: 200 },
    })
  })

  test.each<[string, object]>([
    ["no member 'signal'", { signal: {} }],
    ['not both', { key: 'a', businessTransactionId: ID_OF_TESTER }],
    ['is empty', { key: '' }],
  ])('is refused before anything is sent: %s', async (message, more) => {
    await expect(connect({ baseUrl: 'http://127.0.0.1:1' }).execute(request(more))).rejects.toThrow(message)
  })
})

describe('over a flaky network', () => {
  beforeEach(async () => {
    network = await openFlakyNetwork(service.url)
    client = connect({ baseUrl: network.url })
    return () => network.close()
  })

  const executed = {
    business_transactions: 1,
    execution_intents: 1,
    trust_records: 1,
    verifications: 1,
    receipts: 1,
    refusal_records: 0,
  }
  const overloaded = answer(503, { error: 'Service overloaded.', code: 'OVERLOADED' }, { 'Retry-After': '0' })
  const limited = answer(429, { error: 'Rate limit.', code: 'RATE_LIMITED' }, { 'Retry-After': '1' })
  const unavailable = answer(503, { error: 'Gone.', code: 'DATABASE_UNAVAILABLE' }, { 'Retry-After': '0' })

  // proves fault: The answer to an execution
  test('an execute whose reply was lost is not sent twice, and its record is returned', async () => {
    const submitted = aSubmission()
    const id = submitted.businessTransactionId
    network.plan('POST /execute', loseReply)
    const record = await client.execute(submitted)
    expect(record).toEqual((await service.get(`/trust-records/${id}`)).body)
    expect(network.seen).toEqual(['POST /execute', `GET /trust-records/${id}`])
    expect(await rowsOf(database, id)).toEqual(executed)
  })

  // proves fault: Our client gives up waiting
  test('an execute that timed out while it was running is waited for, not sent again', async () => {
    // The service has claimed it by the time the client gives up.
    const submitted = aSubmission({ intent: { parameters: { amount: 42, delayMs: 3_500 } } })
    const id = submitted.businessTransactionId
    client = connect({ baseUrl: network.url, timeoutMs: 2_000, maxAttempts: 8 })
    expect((await client.execute(submitted)).businessTransactionId).toBe(id)
    expect(sent('POST /execute')).toBe(1)
    expect(await rowsOf(database, id)).toEqual(executed)
  })

  // proves fault: An execution never arrives
  test('an execute that never arrived is sent again, after the service was asked', async () => {
    const submitted = aSubmission()
    const id = submitted.businessTransactionId
    network.plan('POST /execute', loseRequest, unavailable)
    expect((await client.execute(submitted)).businessTransactionId).toBe(id)
    const asked = [`GET /trust-records/${id}`, `GET /refusal/${id}`, `GET /transactions/${id}`]
    expect(network.seen).toEqual(['POST /execute', ...asked, 'POST /execute', ...asked, 'POST /execute'])
    expect(await rowsOf(database, id)).toEqual(executed)
  })

  test('an execute that the service did nothing with is sent again without a question', async () => {
    network.plan('POST /execute', overloaded, overloaded, overloaded)
    await client.execute(aSubmission())
    expect(network.seen).toEqual(Array.from({ length: 4 }, () => 'POST /execute'))
  })

  test('Retry-After is waited for', async () => {
    network.plan('POST /execute', limited)
    const started = performance.now()
    await client.execute(aSubmission())
    expect(performance.now() - started).toBeGreaterThanOrEqual(990)
    expect(sent('POST /execute')).toBe(2)
  })

  test('attempts are bounded, and the last error is the answer', async () => {
    network.plan('POST /execute', ...Array.from({ length: 9 }, () => overloaded))
    await expect(client.execute(aSubmission())).rejects.toMatchObject({ code: 'OVERLOADED' })
    expect(sent('POST /execute')).toBe(4)
    network.plan('GET /version', ...Array.from({ length: 9 }, () => loseRequest))
    await expect(client.version()).rejects.toThrow(ConnectionLostError)
    expect(sent('GET /version')).toBe(4)
  })

  test('a Retry-After of more than a minute is thrown at once', async () => {
    network.plan('GET /version', answer(429, { error: 'Rate limit.' }, { 'Retry-After': '61' }))
    await expect(client.version()).rejects.toMatchObject({ status: 429, retryAfterSeconds: 61 })
    expect(sent('GET /version')).toBe(1)
  })

  test('a signal ends a wait', async () => {
    const stop = new AbortController()
    client = connect({ baseUrl: network.url, signal: stop.signal })
    network.plan('GET /version', answer(429, { error: 'Rate limit.' }, { 'Retry-After': '60' }))
    const asking = client.version()
    await until(() => network.seen.length === 1, 'the request')
    stop.abort(new Error('closing'))
    await expect(asking).rejects.toThrow('closing')
    expect(network.seen).toHaveLength(1)
  })

  // proves fault: The service itself does not
  test('an outcome that the service itself does not know is in doubt, and nothing is sent again', async () => {
    const submitted = aSubmission()
    const id = submitted.businessTransactionId
    const hanging = service.post(
      '/execute',
      aTransaction({ businessTransactionId: id, intent: { parameters: { amount: 42, hang: true } } }),
    )
    await until(() => intentState(database, id), 'the release')
    const unknown = { error: 'Execution outcome unknown.', code: 'EXECUTION_OUTCOME_UNKNOWN' }
    network.plan('POST /execute', answer(502, unknown))
    const error: unknown = await client.execute(submitted).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(InDoubtError)
    expect(error).toMatchObject({ businessTransactionId: id, cause: { code: 'EXECUTION_OUTCOME_UNKNOWN' } })
    expect(sent('POST /execute')).toBe(1)
    expect((await hanging).status).toBe(502)
  })

  test.each<[string, Fate]>([
    ['a lost connection', loseRequest],
    ['a 500', answer(500, { error: 'Internal Server Error' })],
  ])('the record of another intent is not handed out after %s', async (_what, fate) => {
    const before = await connect().execute(aSubmission())
    const submitted = aSubmission({
      businessTransactionId: before.businessTransactionId,
      intent: { parameters: { amount: 41 } },
      signals: { amount: 41 },
    })
    network.plan('POST /execute', fate)
    const error: unknown = await client.execute(submitted).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(IdUsedForAnotherIntentError)
    expect(error).toMatchObject({ record: before })
  })

  test.each([
    ['EXECUTED', true, 'was executed'],
    ['NOT_EXECUTED', false, 'was not executed'],
  ])(
    'an execution in doubt that a human has closed as %s is told as closed',
    async (resolution, isExecuted, words) => {
      const submitted = aSubmission()
      const id = submitted.businessTransactionId
      await connect().execute(submitted)
      await putInDoubt(database, id)
      client = connect({ baseUrl: network.url, maxAttempts: 1 })
      await expect(client.executeOrRead(submitted)).rejects.toMatchObject({ code: 'IN_DOUBT' })
      const body = { resolution, note: 'Asked the bank.' }
      const { status } = await service.post(`/execution-intents/${id}/resolve`, body, { key: human.key })
      expect(status).toBe(200)
      network.plan('POST /execute', loseRequest)
      for (const look of [client.execute, client.executeOrRead, client.standing]) {
        const error: unknown = await look(submitted).catch((thrown: unknown) => thrown)
        expect(error).toBeInstanceOf(ClosedWithoutRecordError)
        expect(error).toMatchObject({
          code: 'CLOSED_WITHOUT_RECORD',
          message: `Business Transaction '${id}' ${words}, as human says. Asked the bank.`,
          businessTransactionId: id,
          executed: isExecuted,
          intent: { state: 'RESOLVED', resolution },
        })
      }
      const other = { ...submitted, intent: { ...submitted.intent, target: 'another' } }
      const error: unknown = await client.executeOrRead(other).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(IdUsedForAnotherIntentError)
      expect(error).toMatchObject({ record: null })
    },
  )

  test('an id that was restored without its evidence stays in doubt: it may have been executed', async () => {
    const { transaction } = await connect().execute(aSubmission())
    const id = crypto.randomUUID()
    const restored = { ...transaction, businessTransactionId: id }
    // As the handbook restores used ids after a loss of the database.
    await database.pool.query(
      `INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body)
       VALUES ($1::uuid, 'tester', now(), $2::text)`,
      [id, JSON.stringify(restored)],
    )
    client = connect({ baseUrl: network.url, maxAttempts: 2 })
    const error: unknown = await client
      .executeOrRead({ ...restored, metadata: { ...restored.metadata, businessTransactionId: id } })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'IN_DOUBT', businessTransactionId: id })
    expect(sent('POST /execute')).toBe(1)
  })

  test('an outcome that cannot be read is in doubt', async () => {
    const submitted = aSubmission()
    const id = submitted.businessTransactionId
    client = connect({ baseUrl: network.url, maxAttempts: 2 })
    network.plan('POST /execute', loseReply)
    network.plan(`GET /trust-records/${id}`, unavailable, unavailable)
    await expect(client.execute(submitted)).rejects.toBeInstanceOf(InDoubtError)
    expect(sent('POST /execute')).toBe(1)
    expect((await connect().executeOrRead(submitted)).businessTransactionId).toBe(id)
    expect(await rowsOf(database, id)).toEqual(executed)
  })

  test.each([
    [500, { intent: { parameters: { amount: 2000 } }, signals: { amount: 2000 } }],
    [403, { intent: { parameters: { amount: 7 } } }],
  ])('a lost refusal is told as the service told it: %d', async (status, changes) => {
    const told: unknown = await client.execute(aSubmission(changes)).catch((thrown: unknown) => thrown)
    expect(told).toMatchObject({ status, code: expect.any(String), requestId: expect.any(String) })
    network.plan('POST /execute', loseReply)
    const lost: unknown = await client.execute(aSubmission(changes)).catch((thrown: unknown) => thrown)
    const { code, message } = told as CountersignError
    expect(lost).toMatchObject({ status, code, message, requestId: undefined })
    expect(sent('POST /execute')).toBe(2)
  })

  test('a read is sent again; what appends only where nothing was done', async () => {
    const { businessTransactionId: id } = await connect().execute(aSubmission())
    network.plan(`GET /trust-records/${id}`, loseReply, unavailable)
    expect((await client.trustRecord(id)).businessTransactionId).toBe(id)
    network.plan('POST /verify', overloaded, loseReply)
    await expect(client.verify(id)).rejects.toThrow(ConnectionLostError)
    expect(sent('POST /verify')).toBe(2)
    expect(await rowsOf(database, id)).toMatchObject({ verifications: 2 })
  })

  test('ready answers NOT_READY as it came, and waits out what is not of the service', async () => {
    const notReady = { status: 'NOT_READY', reason: 'stopping', error: 'stopping', authDisabled: false }
    network.plan('GET /ready', answer(503, notReady))
    expect(await client.ready()).toEqual(notReady)
    network.plan('GET /ready', answer(503, { error: 'of a proxy' }, { 'Retry-After': '0' }))
    expect(await client.ready()).toMatchObject({ status: 'READY' })
  })
})

describe('a service that is away', () => {
  let gone: string
  beforeAll(async () => {
    const closed = await openFlakyNetwork(service.url)
    // The name has several addresses, none of which answers.
    gone = closed.url.replace('127.0.0.1', 'localhost')
    await closed.close()
  })
  const id = aSubmission().businessTransactionId
  const keyed = { ...request(), key: 'away' }
  test.each<[string, string, (client: Countersign) => Promise<unknown>]>([
    ['GET', 'version', (of) => of.version()],
    ['POST', 'verify', (of) => of.verify(id)],
    // Asked before anything is sent.
    ['GET', 'callers/me', (of) => of.execute(keyed)],
    ['GET', 'callers/me', (of) => of.requestApproval(keyed)],
    ['GET', 'trust-records?pageSize=25', (of) => Array.fromAsync(of.trustRecords({ pageSize: 25 }))],
  ])('is named with its address: %s /%s', async (method, path, call) => {
    const away = connect({ baseUrl: `${gone}/base`, maxAttempts: 1 })
    const error: unknown = await call(away).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConnectionLostError)
    expect(error).toMatchObject({
      code: 'CONNECTION_LOST',
      status: undefined,
      cause: expect.any(Error) as Error,
    })
    expect((error as Error).message).toMatch(
      new RegExp(`^${method} ${RegExp.escape(`${gone}/base/${path}`)}: .*ECONNREFUSED`),
    )
  })

  test.each<[string, Fate]>([
    ['before its answer', () => undefined],
    ['within it', ({ response }) => void response.writeHead(200, { 'Content-Length': '9' }).write('{')],
  ])('or hangs %s: the time is over', async (_where, fate) => {
    const hanging = await openFlakyNetwork(service.url, fate)
    for (const call of [(of: Countersign) => of.version(), (of: Countersign) => of.execute(keyed)]) {
      const error: unknown = await call(
        connect({ baseUrl: hanging.url, maxAttempts: 1, timeoutMs: 200 }),
      ).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(CountersignError)
      expect(error).toMatchObject({
        code: 'TIMEOUT',
        message: expect.stringContaining(hanging.url) as string,
      })
    }
    await hanging.close()
  })

  test('is in doubt once an execution was sent, and that names the address too', async () => {
    const submitted = aSubmission()
    const cut = await openFlakyNetwork(service.url, loseRequest)
    const error: unknown = await connect({ baseUrl: cut.url, maxAttempts: 1 })
      .execute(submitted)
      .catch((thrown: unknown) => thrown)
    await cut.close()
    expect(error).toBeInstanceOf(InDoubtError)
    expect(error).toMatchObject({
      code: 'IN_DOUBT',
      message: expect.stringContaining(
        `GET ${cut.url}/trust-records/${submitted.businessTransactionId}: `,
      ) as string,
    })
  })

  test('or answers what is no JSON', async () => {
    const proxy = await openFlakyNetwork(service.url, ({ response }) => void response.end('<html>'))
    await expect(connect({ baseUrl: proxy.url, maxAttempts: 1 }).version()).rejects.toBeInstanceOf(
      CountersignError,
    )
    await proxy.close()
  })

  test.each([
    [undefined, 'undefined'],
    ['', 'empty'],
  ])('a key that is %s is refused at once', (apiKey, found) => {
    const make = () => createCountersign({ baseUrl: service.url, apiKey })
    expect(make).toThrow(`apiKey is ${found}: pass the caller's key, or leave apiKey out`)
    expect(() => createCountersign({ baseUrl: service.url })).not.toThrow()
  })

  test('an error of the service without a code is told apart by its status', async () => {
    const unknown = connect({ apiKey: 'csk_unknown' })
    await expect(unknown.version()).rejects.toMatchObject({
      name: 'AnswerError',
      status: 401,
      code: 'HTTP_401',
    })
  })
})

describe('deterministicId', () => {
  test('is the UUIDv5 of RFC 9562 Appendix A.4', () => {
    const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
    expect(deterministicId(dns, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2')
  })

  test('refuses a namespace that is no UUID', () => {
    expect(() => deterministicId('invoices', '4711')).toThrow(TypeError)
  })
})

describe('the package', () => {
  test('runs the snippet of its README twice: the second time it reads what the first has done', () => {
    const [, snippet = ''] = /^```js\n([^]*?)^```$/m.exec(read('clients/typescript/README.md')) ?? []
    const program = snippet
      .replace('countersign-client', pathToFileURL(join(ROOT, 'clients/typescript/src/index.ts')).href)
      .replace('http://127.0.0.1:3000', service.url)
    const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
    const file = join(folder, 'first.mjs')
    writeFileSync(file, program)
    const run = () =>
      spawnSync(process.execPath, [file], {
        env: { PATH: process.env['PATH'], COUNTERSIGN_API_KEY: service.key },
        encoding: 'utf8',
      })
    const [first, second] = [run(), run()]
    rmSync(folder, { recursive: true })
    expect(first).toMatchObject({ status: 0, stderr: '' })
    expect(first.stdout).toMatch(/^COMPLETED [0-9a-f]{64}\n[0-9a-f-]{36} \d{4}-/)
    expect(second).toMatchObject({ status: 0, stderr: '', stdout: first.stdout })
  })

  test('its types are those of docs/openapi.yaml', () => {
    const sha256 = createHash('sha256').update(read('docs/openapi.yaml')).digest('hex')
    expect(read('clients/typescript/src/schema.ts').split('\n')[0]).toBe(`// docs/openapi.yaml ${sha256}`)
  })

  test('it depends on the versions that are tested here', () => {
    const own = JSON.parse(read('clients/typescript/package.json')) as {
      dependencies: Record<string, string>
    }
    const root = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
    expect(Object.keys(own.dependencies).toSorted()).toEqual(['openapi-fetch', 'uuid'])
    expect(root.dependencies).toMatchObject(own.dependencies)
  })
})

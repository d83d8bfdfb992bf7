// Outcomes that the tests of POST /execute look into, seen on POST /transactions too; and replies for which there is no room.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import addCheckpoint from '../../src/server/openapi/examples/add-checkpoint.json' with { type: 'json' }
import { routes } from '../../src/server/routes/index.ts'
import { aHuman } from '../authority.ts'
import { type TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { openDatabaseProxy, type DatabaseProxy } from '../proxy.ts'
import { aCaller, until, type CallOptions, type TestService } from '../service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'
import { makeKeys } from '../signing-keys.ts'
import { witnessEnvironment } from '../witness.ts'
import { aDelivery, env as webhookEnv } from '../webhooks.ts'
import { withDatabase } from '../with-service.ts'
import { intentState } from '../intents.ts'

const payer = { name: 'payer', version: '1.0.0' }
const human = aHuman('human')
const narrow = aCaller('narrow', { allowedPrincipalIds: ['tester'], allowedCapabilities: [] })

const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-outcomes-'))
let database: TestDatabase
let proxy: DatabaseProxy
let service: TestService
let full: TestService
let policyDir: string

withDatabase(async ({ database: made, start }) => {
  makeKeys(signingKeyDir)
  const witnessing = witnessEnvironment(signingKeyDir, [addCheckpoint.vkey])
  policyDir = aPolicyFolder()
  addPolicy(policyDir, { ...payer, capability: 'vendor:pay' })
  database = made
  proxy = await openDatabaseProxy(database.url)
  service = await start({
    databaseUrl: proxy.url,
    signingKeyDir,
    callers: [narrow.entry],
    env: { POLICY_DIR: policyDir, ...witnessing },
  })
  full = await start({
    signingKeyDir,
    callers: [human.entry],
    env: { POLICY_DIR: policyDir, QUEUE_REQUESTS_MAX: '1', ...webhookEnv, ...witnessing },
  })
})

afterAll(async () => {
  await proxy.cut()
  for (const dir of [policyDir, signingKeyDir]) rmSync(dir, { recursive: true })
})

/** One whose connector takes a while; resolves when that has been called. On a busy machine it may be over soon after. */
async function slow(to: TestService, path: string, delayMs: number) {
  const transaction = aTransaction({ intent: { parameters: { amount: 42, delayMs } } })
  let over = false
  const answer = to.post(path, transaction).finally(() => (over = true))
  await until(() => intentState(database, transaction.businessTransactionId), 'the release')
  // The service has heard of that commit too: what it asks afterwards comes back after it.
  await to.get('/ready')
  return { answer, isOver: () => over }
}

describe('POST /transactions', () => {
  test.each([
    ['policyDenied', 403, aMismatchedTransaction(), {}],
    ['capabilityOutsideScope', 403, aTransaction(), narrow],
    ['policyNotFound', 404, aTransaction({ policy: { name: 'none' } }), {}],
    ['executionRejected', 500, aRejectedTransaction(), {}],
    ['noConnector', 500, aTransaction({ policy: payer, intent: { action: 'vendor:pay' } }), {}],
    ['executionFailed', 500, aTransaction({ intent: { parameters: { amount: 42, fail: true } } }), {}],
  ])('answers %s as POST /execute does', async (_row, status, transaction, caller: CallOptions) => {
    expect((await service.post('/transactions', transaction, caller)).status).toBe(status)
  })

  test('answers outcomeUnknown as POST /execute does', async () => {
    const statuses: number[] = []
    // One that ended before the cut is answered with its record: another one, which takes longer.
    for (const delayMs of [500, 2_000, 8_000]) {
      const { answer } = await slow(service, '/transactions', delayMs)
      await proxy.cut()
      statuses.push((await answer).status)
      await proxy.mend()
      await until(async () => (await service.get('/ready')).status === 200, 'the database to be back')
      if (statuses.at(-1) !== 201) break
    }
    expect(statuses.at(-1)).toBe(502)
  })
})

describe('GET /refusal/{businessTransactionId}', () => {
  test('answers 304 to who has it', async () => {
    const rejected = aRejectedTransaction()
    await service.post('/execute', rejected)
    const path = `/refusal/${rejected.businessTransactionId}`
    const { headers } = await service.get(path)
    const answer = await service.get(path, { headers: { 'If-None-Match': headers.get('etag') ?? '' } })
    expect([answer.status, answer.text]).toEqual([304, ''])
  })
})

describe('where there is no room, 503 overloaded', () => {
  test('whatever takes a body, and every large reply', async () => {
    const large = aTransaction({ intent: { parameters: { amount: 42, note: 'x'.repeat(70_000) } } })
    expect((await full.post('/execute', large)).status).toBe(200)
    const id = large.businessTransactionId
    const largeReplies = [
      '/openapi.yaml',
      '/openapi.json',
      '/documentation/swagger-ui-bundle.js',
      '/signer',
      '/verifier',
      '/verifier/countersign-verify.mjs',
      '/transactions',
      `/transactions/${id}`,
      '/trust-records',
      `/trust-records/${id}`,
    ]
    const takingBodies = routes.flatMap((route) => ('body' in route ? [route] : []))

    let left = [
      ...largeReplies.map((path) => () => full.get(path, { headers: { 'Accept-Encoding': 'identity' } })),
      ...takingBodies.map(
        (route) => () =>
          full.post(route.path.replace('{provider}', 'razorpay'), route.body?.example, {
            key: human.key,
            headers: aDelivery().headers,
          }),
      ),
    ]
    // Those that came when the execution was over are sent again, during another one.
    for (let tries = 0; left.length > 0 && tries < 5; tries++) {
      const { answer, isOver } = await slow(full, '/execute', Math.min(2_000 * 2 ** tries, 8_000))
      const answers = await Promise.all(left.map((send) => send()))
      if (!isOver()) expect(answers.map(({ status }) => status)).toEqual(left.map(() => 503))
      // A machine that is busy may say 503 for another reason.
      left = left.filter((_, i) => !answers[i]?.text.includes('Service overloaded.'))
      expect((await answer).status).toBe(200)
    }
    expect(left).toHaveLength(0)
  })
})

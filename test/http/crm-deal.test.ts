// State verified in the CRM (decisions §6 `crm-deal`): the deal is read through the connector, under an authorization of its own,
// before anything is claimed.
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { publishedCrypto } from '../evidence.ts'
import { checkTrustRecord } from '../../src/formats/artifacts/trust-record.ts'
import { closedPort } from '../connectors/loopback.ts'
import { rowsOf, type TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

/** A CRM with one deal, 7512. */
let deal: { amount: string | null; hs_is_closed: string }
let status: number | 'reset' | 'not a deal'
let updates: string[]
let asked = 0
const crm: Server = createServer(answer)

function answer(request: IncomingMessage, response: ServerResponse): void {
  asked++
  let body = ''
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    if (request.method === 'PATCH') updates.push(body)
    if (status === 'reset') return request.socket.resetAndDestroy()
    if (status === 'not a deal') return response.end('{}')
    return response
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ id: '7512', properties: deal }))
  })
}

const policyDir = aPolicyFolder(['crm-deal-update', 'vendor-payment'])
addPolicy(policyDir, {
  name: 'echo-by-crm',
  version: '1.0.0',
  capability: 'sandbox:echo',
  signals: { approved: 'boolean' },
  rules: [{ id: 'open', when: '!signals.approved', outcome: 'approve', reason: 'The deal is open.' }],
  verify: { approved: { by: 'crm-deal', property: 'hs_is_closed' } },
})

let database: TestDatabase
let service: TestService
/** Its CRM is at a port where nobody listens. */
let away: TestService
/** Without the credential of the CRM. */
let without: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  await new Promise<void>((resolve) => crm.listen(0, '127.0.0.1', resolve))
  const env = { POLICY_DIR: policyDir }
  const withCrm = (port: number) => {
    const base = `http://127.0.0.1:${port}`
    return start({ env: { ...env, HUBSPOT_PRIVATE_APP_TOKEN: 'pat-test', HUBSPOT_BASE_URL: base } })
  }
  service = await withCrm((crm.address() as AddressInfo).port)
  away = await withCrm(await closedPort())
  without = await start({ env })
})

beforeEach(() => {
  deal = { amount: '1000', hs_is_closed: 'false' }
  status = 200
  updates = []
})

afterAll(() => void crm.close())

const anUpdate = (signals: object = {}) =>
  aTransaction({
    policy: { name: 'crm-deal-update' },
    intent: { action: 'hubspot:deal-update', target: '7512', parameters: { amount: 1100 } },
    signals: {
      amount: undefined,
      approved: undefined,
      dealClosed: false,
      currentAmount: 1000,
      newAmount: 1100,
      humanApproved: false,
      ...signals,
    },
  })

const denied = (mismatches: string) => ({
  status: 403,
  body: {
    error: `Execution rejected: declared signals do not match independently verified state (${mismatches}).`,
    code: 'POLICY_DENIED',
  },
})

test('what was declared as the CRM has it is carried out, and the record proves how it was known', async () => {
  const { status: executed, body } = await service.post('/execute', anUpdate())
  expect(executed).toBe(200)
  expect(updates).toEqual(['{"properties":{"amount":"1100"}}'])
  const { verifiedSignals, decisionId } = body.executions[0].decision
  expect(verifiedSignals).toMatchObject({
    currentAmount: { value: 1000, by: 'crm-deal' },
    dealClosed: { value: false, by: 'crm-deal' },
    humanApproved: { value: false, by: 'approval', notCounted: [] },
  })
  const reading = verifiedSignals.currentAmount.authorization.payload
  expect(reading).toMatchObject({ decisionId, businessTransactionId: body.businessTransactionId })
  expect(reading.nonce).not.toBe(body.authorization.payload.nonce)
  const crypto = publishedCrypto(readPublicKeys(service.signingKeyDir))
  expect(checkTrustRecord(body, crypto).filter(({ problem }) => problem !== undefined)).toEqual([])
})

// proves §7 403 · `POLICY_DENIED` · message; abuse: A declared state that is not
test.each<[string, object, object, string]>([
  ['another amount', { amount: '999.5' }, {}, 'currentAmount=1000 != verified currentAmount=999.5'],
  ['no amount', { amount: null }, {}, 'currentAmount=1000 != verified currentAmount=null'],
  [
    'an amount that is no plain number',
    { amount: '1e3' },
    {},
    'currentAmount=1000 != verified currentAmount=null',
  ],
  ['a deal that was closed', { hs_is_closed: 'true' }, {}, 'dealClosed=false != verified dealClosed=true'],
  [
    'an approval that nobody gave',
    {},
    { humanApproved: true },
    'humanApproved=true != verified humanApproved=false',
  ],
])('%s: denied, and nothing is written', async (_title, changed, signals, mismatches) => {
  deal = { ...deal, ...changed }
  const update = anUpdate(signals)
  expect(reply(await service.post('/execute', update))).toEqual(denied(mismatches))
  expect(updates).toEqual([])
  expect((await service.get(`/refusal/${update.businessTransactionId}`)).status).toBe(200)
})

test('a transaction that is sent again is a 409, and the CRM is not asked again', async () => {
  const update = anUpdate()
  expect((await service.post('/execute', update)).status).toBe(200)
  const before = asked
  expect((await service.post('/execute', update)).status).toBe(409)
  expect(asked).toBe(before)
})

describe('404 of the CRM', () => {
  test('is a definite answer: there is no such deal, so what was declared of it does not hold', async () => {
    status = 404
    const update = anUpdate()
    expect(reply(await service.post('/execute', update))).toEqual(
      denied(
        'currentAmount=1000 != verified currentAmount=null, dealClosed=false != verified dealClosed=null',
      ),
    )
    expect(updates).toEqual([])
    expect((await service.get(`/refusal/${update.businessTransactionId}`)).status).toBe(200)
  })

  test('a target that is no deal id is definite too, and nobody is asked', async () => {
    const before = asked
    const update = anUpdate()
    expect(
      (await service.post('/execute', { ...update, intent: { ...update.intent, target: 'x' } })).status,
    ).toBe(403)
    expect(asked).toBe(before)
  })
})

const unreadable = {
  status: 503,
  body: {
    error: 'The state that the policy verifies cannot be read at this moment.',
    code: 'STATE_UNAVAILABLE',
  },
}

describe.each(['/execute', '/transactions'])('POST %s while the CRM does not answer', (path) => {
  test.each<typeof status>([401, 403, 408, 429, 500, 502, 503, 302, 'reset', 'not a deal'])(
    '%s is a 503: nothing is stored or signed, and the id works when the CRM answers again',
    async (answered) => {
      status = answered
      const update = anUpdate()
      const called = await service.post(path, update)
      expect(reply(called)).toEqual(unreadable)
      expect(called.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      expect(updates).toEqual([])
      const id = update.businessTransactionId
      expect(Object.values(await rowsOf(database, id))).toEqual([0, 0, 0, 0, 0, 0])
      expect((await service.get(`/refusal/${id}`)).status).toBe(404)

      status = 200
      expect((await service.post(path, update)).status).toBe(path === '/execute' ? 200 : 201)
    },
  )
})

describe('POST /execute 503 stateUnavailable', () => {
  test('where nobody listens at the address of the CRM; the log says what could not be read, the caller does not', async () => {
    const update = anUpdate()
    expect(reply(await away.post('/execute', update))).toEqual(unreadable)
    await until(
      () => away.lines().find(({ cause }) => /^hubspot:deal-fetch: .*ECONNREFUSED/.test(String(cause))),
      'the log line',
    )
    expect((await service.post('/execute', update)).status).toBe(200)
  })

  test('for a policy that rests on the CRM where its credential is not configured', async () => {
    const echo = aTransaction({
      policy: { name: 'echo-by-crm' },
      intent: { target: '7512' },
      signals: { approved: false },
    })
    expect(reply(await without.post('/execute', echo))).toEqual(unreadable)
    expect(Object.values(await rowsOf(database, echo.businessTransactionId))).toEqual([0, 0, 0, 0, 0, 0])
  })
})

const noConnector = (action: string) => ({
  status: 500,
  body: { error: `No connector registered for action: ${action}.`, code: 'RUNTIME_ERROR' },
})

describe('an action without a connector, whatever its policy verifies', () => {
  const payment = aTransaction({
    policy: { name: 'vendor-payment', version: '2.0.0' },
    intent: { action: 'vendor:pay', parameters: { amount: 42 } },
    signals: { vendorVerified: true, paymentAmount: 42, riskScore: 1, humanApproved: true },
  })

  test('is answered before any state is verified; only the transaction is stored', async () => {
    for (const [action, transaction] of [
      ['hubspot:deal-update', anUpdate()],
      ['hubspot:deal-update', anUpdate({ dealClosed: undefined, humanApproved: undefined })],
      ['vendor:pay', payment],
    ] as const) {
      expect(reply(await without.post('/execute', transaction))).toEqual(noConnector(action))
      expect(await rowsOf(database, transaction.businessTransactionId)).toEqual({
        business_transactions: 1,
        execution_intents: 0,
        trust_records: 0,
        verifications: 0,
        receipts: 0,
        refusal_records: 0,
      })
    }
  })

  test('what the rules reject stays a rejection', async () => {
    const { status: answered, body } = await without.post('/execute', anUpdate({ dealClosed: true }))
    expect([answered, body.error]).toEqual([500, 'Execution rejected: A closed deal is not changed.'])
  })
})

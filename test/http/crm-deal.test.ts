// State verified in the CRM (decisions §6 `crm-deal`): the deal is read through the connector, under an authorization of its own,
// before anything is claimed.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readPublicKeys } from '../../src/signing/keys.ts'
import { publishedCrypto } from '../evidence.ts'
import { checkTrustRecord } from '../../src/verifier/trust-record.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { reply, startService, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

/** A CRM with one deal, 7512. */
let deal: { amount: string | null; hs_is_closed: string }
let status: number
let updates: string[]
let asked = 0
const crm: Server = createServer(answer)

function answer(request: IncomingMessage, response: ServerResponse): void {
  asked++
  let body = ''
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    if (request.method === 'PATCH') updates.push(body)
    response.writeHead(status, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ id: '7512', properties: deal }))
  })
}

let database: TestDatabase
let service: TestService

beforeAll(async () => {
  await new Promise<void>((resolve) => crm.listen(0, '127.0.0.1', resolve))
  database = await createDatabase()
  service = await startService({
    databaseUrl: database.url,
    env: {
      HUBSPOT_PRIVATE_APP_TOKEN: 'pat-test',
      HUBSPOT_BASE_URL: `http://127.0.0.1:${(crm.address() as AddressInfo).port}`,
    },
  })
})

beforeEach(() => {
  deal = { amount: '1000', hs_is_closed: 'false' }
  status = 200
  updates = []
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await database.drop()
  await new Promise((resolve) => crm.close(resolve))
})

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
    humanApproved: { value: false, by: 'approval' },
  })
  const reading = verifiedSignals.currentAmount.authorization.payload
  expect(reading).toMatchObject({ decisionId, businessTransactionId: body.businessTransactionId })
  expect(reading.nonce).not.toBe(body.authorization.payload.nonce)
  const crypto = publishedCrypto(readPublicKeys(service.signingKeyDir))
  expect(checkTrustRecord(body, crypto).filter(({ problem }) => problem !== undefined)).toEqual([])
})

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

test.each([401, 404, 429, 500])('a CRM that answers %d verifies nothing', async (answered) => {
  status = answered
  expect((await service.post('/execute', anUpdate())).status).toBe(403)
  expect(updates).toEqual([])
})

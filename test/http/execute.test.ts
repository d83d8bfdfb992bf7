// POST /execute and POST /transactions where something was executed (interface §4.2): one describe per status.
import { describe, expect, test } from 'vitest'
import { rowsOf, type TestDatabase } from '../database.ts'
import { reply, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'
import { intentState } from '../intents.ts'

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made))

const execute = (body: unknown) => service.post('/execute', body)
const executed = {
  business_transactions: 1,
  execution_intents: 1,
  trust_records: 1,
  verifications: 1,
  receipts: 1,
  refusal_records: 0,
}

describe('POST /execute 200', () => {
  const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/)
  const signature = expect.stringMatching(/^[A-Za-z0-9+/]{86}==$/)
  const keyId = expect.stringMatching(/^\d{8}T\d{6}Z-ed25519$/)

  // proves §4.2 POST /execute: Request: BusinessTransaction; §4.2 POST /execute: Success: 200
  test('answers the whole Execution Trust Record, with its verification and receipt', async () => {
    const transaction = aTransaction({ intent: { parameters: { amount: 42, note: 'Ünïcode 😀' } } })
    const id = transaction.businessTransactionId
    const { status, body } = await execute(transaction)
    const decision = {
      decisionId: uuid,
      intentId: transaction.intent.intentId,
      policy: transaction.policy,
      policyContentHash: sha256,
      signals: transaction.signals,
      outcome: 'APPROVED',
      reason: 'Approved in the sandbox.',
      matchedRuleId: 'approved',
      evaluatedRules: ['too-large', 'approved'],
      verifiedSignals: {},
      evaluatedAt: time,
    }
    expect(status).toBe(200)
    expect(body).toEqual({
      trustRecordId: uuid,
      businessTransactionId: id,
      transaction: {
        ...transaction,
        metadata: { ...transaction.metadata, submittedBy: 'tester' },
        status: 'RECEIVED',
        createdAt: time,
      },
      authorization: {
        payload: {
          version: 1,
          authorizationId: uuid,
          nonce: expect.stringMatching(/^[\w-]{22}$/),
          decisionId: body.executions[0].decision.decisionId,
          businessTransactionId: id,
          policyName: 'sandbox-echo',
          policyVersion: '1.0.0',
          policyContentHash: body.executions[0].decision.policyContentHash,
          businessTransactionHash: sha256,
          signalsHash: sha256,
          callerId: 'tester',
          authorizedAt: time,
          expiresAt: time,
        },
        keyId,
        algorithm: 'ed25519',
        signature,
      },
      executions: [
        {
          executionId: uuid,
          businessTransactionId: id,
          decision,
          status: 'COMPLETED',
          mode: 'SYNC',
          startedAt: time,
          completedAt: time,
          evidence: {
            businessTransactionId: id,
            action: 'sandbox:echo',
            target: 'test',
            parameters: transaction.intent.parameters,
            success: true,
            executedAt: time,
            connector: {
              connectorId: 'sandbox-echo',
              connectorVersion: '1.0.0',
              endpoint: 'local:sandbox-echo',
              responseHash: sha256,
            },
            result: { echo: transaction.intent.parameters },
          },
          metadata: { authorizationId: body.authorization.payload.authorizationId },
        },
      ],
      overrides: [],
      createdAt: time,
      trustRecordHash: sha256,
      signature: { algorithm: 'ed25519', keyId, value: signature, signedAt: time },
      verifications: [
        {
          verificationId: uuid,
          businessTransactionId: id,
          status: 'VERIFIED',
          message: 'Execution Trust Record verified successfully.',
          verifiedAt: time,
          trustRecordHash: body.trustRecordHash,
        },
      ],
      receipts: [
        {
          receiptId: uuid,
          businessTransactionId: id,
          verificationId: body.verifications[0].verificationId,
          trustRecordHash: body.trustRecordHash,
          receiptHash: sha256,
          issuedAt: time,
          algorithm: 'ed25519',
          keyId,
          transparency: {
            log: expect.stringMatching(/^countersign-[0-9a-f]{8}\/log\/1$/),
            by: new Date(Date.parse(body.receipts[0].issuedAt) + 60_000).toISOString(),
          },
          signature,
        },
      ],
    })
    const { authorizedAt, expiresAt } = body.authorization.payload
    expect(Date.parse(expiresAt) - Date.parse(authorizedAt)).toBe(120_000)
    expect(await rowsOf(database, id)).toEqual(executed)
    expect(await intentState(database, id)).toBe('FINALIZED')
  })

  test('answers a slow connector too, when it has', async () => {
    const parameters = { amount: 42, delayMs: 300 }
    const { status, body } = await execute(aTransaction({ intent: { parameters } }))
    expect(status).toBe(200)
    expect(body.executions[0].evidence.result).toEqual({ echo: parameters })
  })
})

describe('POST /transactions 201', () => {
  // proves §4.2 POST /transactions: Runs the same
  test('answers the record of the same execution', async () => {
    const transaction = aTransaction()
    const { status, body } = await service.post('/transactions', transaction)
    expect(status).toBe(201)
    expect(body.executions).toMatchObject([{ status: 'COMPLETED' }])
    expect(await rowsOf(database, transaction.businessTransactionId)).toEqual(executed)
  })
})

describe('POST /execute 500 executionFailed', () => {
  test.each([{}, { delayMs: 50 }])(
    'a connector that failed for certain leaves a record that says so %j',
    async (more) => {
      const transaction = aTransaction({ intent: { parameters: { amount: 42, fail: true, ...more } } })
      const id = transaction.businessTransactionId
      expect(reply(await execute(transaction))).toEqual({
        status: 500,
        body: { error: 'Execution failed: the sandbox was asked to fail.', code: 'RUNTIME_ERROR' },
      })
      const { body } = await service.get(`/trust-records/${id}`)
      expect(body.executions).toMatchObject([
        {
          status: 'FAILED',
          evidence: { success: false, result: { reason: 'the sandbox was asked to fail' } },
        },
      ])
      expect(body.verifications).toMatchObject([{ status: 'VERIFIED' }])
      expect(body.receipts).toHaveLength(1)
      expect(await intentState(database, id)).toBe('ERRORED')
    },
  )
})

describe('POST /execute 502 outcomeUnknown', () => {
  test('a connector that never answers leaves its intent in doubt and its neighbours alone', async () => {
    const transaction = aTransaction({ intent: { parameters: { amount: 42, hang: true } } })
    const id = transaction.businessTransactionId
    const order: string[] = []
    const note = (name: string) => (answer: Awaited<ReturnType<typeof execute>>) => {
      order.push(name)
      return answer
    }
    const hanging = execute(transaction).then(note('hanging'))
    const neighbours = await Promise.all(
      Array.from({ length: 20 }, () => execute(aTransaction()).then(note('neighbour'))),
    )
    expect(new Set(neighbours.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await intentState(database, id)).toBe('RELEASED')

    expect(reply(await hanging)).toEqual({
      status: 502,
      body: {
        error: 'Execution outcome unknown; do not retry, read the execution intent.',
        code: 'EXECUTION_OUTCOME_UNKNOWN',
      },
    })
    expect(order.at(-1)).toBe('hanging')
    expect(await rowsOf(database, id)).toEqual({
      ...executed,
      trust_records: 0,
      verifications: 0,
      receipts: 0,
    })
    expect(await intentState(database, id)).toBe('RELEASED')
    expect((await execute(transaction)).status).toBe(409)
  })
})

// One of each kind is executed before a backup, and each of them must stand so after it was restored.
import { expect } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { aHuman, anApprover, aSignedApproval, enrolled } from '../authority.ts'
import type { Sent } from '../load.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { startService, until, type Called, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { aDelivery, deliver, env as webhookEnv } from '../webhooks.ts'

const maker = aHuman('maker')
export const checker = aHuman('checker')
const dana = anApprover('dana')
const key = makeRawKey()

export const approved = aTransaction()
const failed = aTransaction({ intent: { parameters: { amount: 42, fail: true } } })
const refused = aRejectedTransaction()
export const hanging = aTransaction({ intent: { parameters: { amount: 42, hang: true } } })
export const byHuman = aTransaction({ policy: { name: 'by-human' } })
const approval = aSignedApproval(dana)
export const delivery = aDelivery()

/** An execution that was answered with its record. */
export interface Acknowledged {
  readonly transaction: Sent
  readonly reply: Called
}

/** Removed with the folder of the whole run: files that run in one process share this module. */
const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'by-human',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
})

/**
 * Starts a service with the callers, policies and provider of these executions.
 * @param options.databaseUrl by default an embedded database in `dataDir`
 */
export function startFor(options: {
  readonly signingKeyDir: string
  readonly databaseUrl?: string
  readonly dataDir?: string
}): Promise<TestService> {
  const { dataDir, ...given } = options
  return startService({
    ...given,
    key,
    callers: [maker.entry, checker.entry],
    env: {
      ...webhookEnv,
      POLICY_DIR: policyDir,
      ...(dataDir === undefined ? {} : { DATA_DIR: dataDir }),
    },
  })
}

/**
 * Executes one of each kind, which takes as long as a connector that never answers.
 * @returns those that were answered with a record
 */
export async function executeKinds(service: TestService): Promise<Acknowledged[]> {
  const silent = service.post('/execute', hanging)
  await enrolled(service, { maker, checker }, dana)
  expect((await service.post('/approvals', approval)).status).toBe(201)
  expect((await service.post('/execute', failed)).status).toBe(500)
  expect((await service.post('/execute', refused)).status).toBe(500)
  expect((await service.get('/callers/me', { key: makeRawKey() })).status).toBe(401)
  expect((await deliver(service, delivery)).body).toEqual({ status: 'accepted' })
  const executed = [await acknowledged(service, approved), await acknowledged(service, byHuman)]
  expect((await silent).status).toBe(502)
  await until(async () => (await auditTypes(service)).has('webhook.processed'), 'the delivery')
  await until(async () => (await auditTypes(service)).has('intent.in_doubt'), 'the one in doubt')
  return executed
}

/** Expects all but an approved execution: it is there, and used. */
export async function expectKinds(service: TestService): Promise<void> {
  const record = await service.get(`/trust-records/${failed.businessTransactionId}`)
  expect(record.body.executions).toMatchObject([{ status: 'FAILED' }])
  const refusal = await service.get(`/refusal/${refused.businessTransactionId}`)
  expect((await service.post('/refusal/verify', refusal.text)).body).toMatchObject({ valid: true })
  for (const used of [failed, refused]) expect((await service.post('/execute', used)).status).toBe(409)
  const { approvalId } = approval.payload as { approvalId: string }
  expect((await service.get(`/approvals/${approvalId}`, checker)).body).toMatchObject({ status: 'USED' })
  const types = await auditTypes(service)
  for (const type of ['caller.rejected', 'governance.approved', 'intent.in_doubt', 'webhook.processed'])
    expect(types).toContain(type)
  expect((await deliver(service, delivery)).body).toEqual({ status: 'acknowledged' })
}

/**
 * Executes.
 * @throws unless the answer is 200
 */
export async function acknowledged(
  service: TestService,
  transaction = aTransaction(),
): Promise<Acknowledged> {
  const reply = await service.post('/execute', transaction)
  expect(reply.status, reply.text).toBe(200)
  return { transaction, reply }
}

async function auditTypes(service: TestService): Promise<Set<string>> {
  const { body } = await service.get('/audit/events?pageSize=100', checker)
  return new Set((body.events as { event: { type: string } }[]).map(({ event }) => event.type))
}

/** Ids that are listed in doubt. */
export async function unfinalized(service: TestService): Promise<Set<string>> {
  const { body } = await service.get('/execution-intents/unfinalized?pageSize=100', checker)
  return new Set(
    (body.intents as { businessTransactionId: string }[]).map((one) => one.businessTransactionId),
  )
}

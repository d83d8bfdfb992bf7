// Every type of audit event (decisions §9) is written by what it tells of; a type without a row here does not compile.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { auditTypes, type AuditType } from '../../src/formats/schemas/audit-types.ts'
import {
  aHuman,
  anApprovalOf,
  anApprover,
  anEnrolment,
  aSignedApproval,
  enrolled,
  proposed,
  putInEffect,
  resolved,
} from '../authority.ts'
import { http, serve } from '../connectors/loopback.ts'
import { aChallenge, atConsole, CONSOLE_ORIGIN, logIn } from '../console.ts'
import { type TestDatabase } from '../database.ts'
import { intentState, passDeadline, putInDoubt } from '../intents.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { aBankDelivery, bankEnv, deliverFromBank } from '../bank.ts'
import { passkeys } from '../vectors/passkeys.ts'
import { aLoginRegistration, aPasskeyApproval, aPasskeyEnrolment } from '../passkeys.ts'
import { aDelivery, deliver, env } from '../webhooks.ts'
import { withService } from '../with-service.ts'

const PER_MINUTE = 20
const maker = aHuman('maker', { approverId: 'alice' })
const checker = aHuman('checker')
const limited = aCaller('limited', { allowedPrincipalIds: ['limited'], allowedCapabilities: ['vendor:pay'] })

const policyDir = aPolicyFolder()
for (const version of ['1.0.0', '1.0.1'])
  addPolicy(policyDir, {
    name: 'by-one',
    version,
    capability: 'sandbox:echo',
    verify: { approved: { by: 'approval', quorum: 1 } },
  })

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [maker.entry, checker.entry, limited.entry],
  env: {
    ...env,
    ...bankEnv,
    POLICY_DIR: policyDir,
    RATE_LIMIT_EXECUTE_PER_MINUTE: String(PER_MINUTE),
    CONSOLE_ORIGIN,
    INTENT_CLOSE_QUORUM: '2',
  },
})

const alice = anApprover('alice')
let approvers = 0
const aChange = () =>
  proposed(service, maker, '/approvers/changes', anEnrolment(anApprover(`approver-${approvers++}`)))
const execute = (body: unknown, { key }: { key: string } = service) => service.post('/execute', body, { key })

/** The request has a target of its own; alice is enrolled by the types before. */
async function aRequest(version = '1.0.0'): Promise<ApprovalRequest> {
  const transaction = aTransaction({ intent: { target: randomUUID() }, policy: { name: 'by-one', version } })
  const { status, text, body } = await service.post('/approval-requests', { transaction })
  expect(status, text).toBe(201)
  return body as ApprovalRequest
}

/** Returns the path of an intent in doubt whose record exists, or is lost. */
async function inDoubt(evidence: 'kept' | 'lost'): Promise<string> {
  const transaction = aTransaction()
  await execute(transaction)
  await putInDoubt(database, transaction.businessTransactionId, evidence)
  return `/execution-intents/${transaction.businessTransactionId}`
}

/** The first of two humans alone closes nothing. */
async function resolvedByTwo(path: string): Promise<void> {
  for (const by of [maker, checker])
    await service.post(`${path}/resolve`, { resolution: 'EXECUTED', note: 'Seen.' }, by)
}

const written: Readonly<Record<AuditType, () => Promise<unknown>>> = {
  'caller.rejected': () => service.get('/', { key: null }),
  'caller.principal_denied': () => execute(aTransaction({ authority: { principalId: 'tester' } }), limited),
  'caller.capability_denied': () => execute(aTransaction({ authority: { principalId: 'limited' } }), limited),
  'caller.non_human_denied': () => service.get('/audit/events', { key: service.key }),
  rate_limited: () =>
    Promise.all(Array.from({ length: 2 * PER_MINUTE }, () => execute('{', { key: limited.key }))),
  'governance.proposed': aChange,
  'governance.approved': async () => resolved(service, checker, await aChange(), 'approve'),
  'governance.rejected': async () =>
    resolved(service, checker, await aChange(), 'reject', { rejectionReason: 'No.' }),
  'governance.same_actor_denied': async () => resolved(service, maker, await aChange(), 'approve'),
  'governance.step_up_denied': async () => {
    const { changeId } = await aChange()
    return service.post(`/approvers/changes/${changeId}/approve`, {}, checker)
  },
  'approval.delivered': async () => {
    await enrolled(service, { maker, checker }, alice)
    return service.post('/approvals', aSignedApproval(alice))
  },
  'approval.counter_went_back': async () => {
    await putInEffect(service, { maker, checker }, '/approvers/changes', aPasskeyEnrolment(passkeys.dana))
    for (let n = 0; n < 2; n++)
      await service.post('/approvals', aPasskeyApproval(passkeys.dana, undefined, { signCount: 7 }))
  },
  'approval_request.opened': () => aRequest(),
  'approval_request.approved': async () => {
    return service.post('/approvals', anApprovalOf(alice, await aRequest()))
  },
  'approval_request.noted': async () =>
    service.post(`${(await aRequest()).url}/notes`, { text: 'Which invoice?' }, maker),
  'approval_request.declined': async () =>
    service.post(`${(await aRequest()).url}/decline`, { reason: 'No.' }, maker),
  'approval_request.withdrawn': async () => service.post(`${(await aRequest()).url}/withdraw`, {}),
  'approval_request.expired': async () => {
    const { request } = await aRequest()
    await database.pool.query(
      `UPDATE approval_requests SET expires_at = now() - interval '1 minute' WHERE request_id = $1`,
      [request.requestId],
    )
    return service.get('/execution-intents/unfinalized', maker)
  },
  'approval_request.ended': async () => {
    await aRequest('1.0.1')
    await putInEffect(service, { maker, checker }, '/policies/by-one/1.0.1/pending-changes', {
      action: 'retire',
      reason: 'test',
    })
    await database.pool.query(
      `UPDATE authority SET ended_at = ended_at - interval '1 minute' WHERE key = 'by-one/1.0.1'`,
    )
    return service.get('/execution-intents/unfinalized', maker)
  },
  'intent.in_doubt': async () => {
    await inDoubt('lost')
    return service.get('/execution-intents/unfinalized', maker)
  },
  'intent.late_evidence': async () => {
    const slow = aTransaction({ intent: { parameters: { amount: 42, delayMs: 3_000 } } })
    const { businessTransactionId: id } = slow
    const answer = execute(slow)
    await until(async () => (await intentState(database, id)) === 'RELEASED', 'the release')
    await passDeadline(database, id)
    await resolvedByTwo(`/execution-intents/${id}`)
    return answer
  },
  'intent.first_word': async () =>
    service.post(`${await inDoubt('lost')}/resolve`, { resolution: 'EXECUTED', note: 'Asked.' }, maker),
  'intent.resolved': async () => resolvedByTwo(await inDoubt('lost')),
  'intent.finalized': async () => service.post(`${await inDoubt('kept')}/finalize`, {}, maker),
  'webhook.rejected': () => deliver(service, aDelivery({ secret: 'whsec_of-somebody-else' })),
  'webhook.replayed': async () => {
    const first = aDelivery()
    await deliver(service, first)
    return deliver(service, aDelivery({ body: first.body }))
  },
  'webhook.processed': () => deliver(service, aDelivery()),
  'confirmation.contradicts': async () => {
    const transaction = aTransaction()
    await execute(transaction)
    return deliverFromBank(service, aBankDelivery('refused', transaction.businessTransactionId))
  },
  'webhook.requeued': async () => {
    const id = await until(async () => (await processedDelivery()).rows[0]?.id, 'a processed delivery')
    return service.post(`/webhook-events/${id}/process`, {}, maker)
  },
  'event_endpoint.secret_made': async () => service.post(`${await anEndpoint()}/secret`, {}, maker),
  'event_endpoint.redelivered': async () => service.post(`${await anEndpoint()}/redeliver`, {}, maker),
  'session.opened': () => logIn(service, checker.key),
  'session.ended': async () => {
    const { cookie } = await logIn(service, checker.key)
    return atConsole(service, 'POST', '/console/logout', { cookie })
  },
  'login_passkey.registered': async () => {
    const [session, challenge] = [await logIn(service, checker.key), await aChallenge(service)]
    const given = { key: checker.key, callerId: 'checker', origin: CONSOLE_ORIGIN, challenge }
    const body = aLoginRegistration(passkeys.erik, given)
    return atConsole(service, 'POST', '/console/data/login-passkeys', { ...session, body })
  },
  'login_passkey.removed': async () => {
    const session = await logIn(service, checker.key)
    const { body } = await atConsole(service, 'GET', '/console/data/login-passkeys', session)
    const path = `/console/data/login-passkeys/${body.loginPasskeys[0].loginPasskeyId}/remove`
    return atConsole(service, 'POST', path, { ...session, body: {} })
  },
  'event_endpoint.disabled': async () => {
    const gone = await serve(http(410))
    await anEndpoint(gone.origin)
  },
}

function processedDelivery() {
  return database.pool.query<{ id: string }>(
    'SELECT event_key AS id FROM webhook_events WHERE processed_at IS NOT NULL LIMIT 1',
  )
}

let endpoints = 0

/** @returns its path; its first event is that it was approved */
async function anEndpoint(origin = 'http://127.0.0.1:9'): Promise<string> {
  const { changeId } = await putInEffect(service, { maker, checker }, '/event-endpoints/changes', {
    action: 'register',
    url: `${origin}/${endpoints++}`,
    types: ['change.resolved'],
    reason: 'test',
  })
  return `/event-endpoints/${changeId}`
}

/** Ids of the type's events; each of them verifies. */
async function events(type: AuditType): Promise<string[]> {
  const { body } = await service.get(`/audit/events?type=${type}&pageSize=100`, maker)
  const signed = body.events as { event: { eventId: string; type: string } }[]
  for (const one of signed) {
    expect(one.event.type).toBe(type)
    expect((await service.post('/audit/verify', one, { key: null })).body).toMatchObject({ valid: true })
  }
  return signed.map(({ event }) => event.eventId)
}

test.each(auditTypes)('%s is written by what it tells of, and verifies', async (type) => {
  const before = await events(type)
  await written[type]()
  // The service's own acts follow no reply; all others stand before theirs.
  if (['webhook.processed', 'confirmation.contradicts', 'event_endpoint.disabled'].includes(type))
    await until(async () => (await events(type)).length > before.length, 'the delivery')
  expect((await events(type)).length).toBeGreaterThan(before.length)
})

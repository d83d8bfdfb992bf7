// A service whose console has something to show on every page: what a company would have there, and what an attacker would write there.
import { rmSync } from 'node:fs'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect } from 'vitest'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import {
  aHuman,
  anApprovalOf,
  anApprover,
  anEnrolment,
  enrolled,
  proposed,
  putInEffect,
  type Approver,
  type Human,
} from '../authority.ts'
import { aBankDelivery, bankEnv, deliverFromBank, outcomeOf } from '../bank.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'

/** Markup, a change of direction, what has no width, a terminal's escape, and more of it than any cell is wide. */
export const HOSTILE = [
  `<img src=x onerror="document.title='owned'">`,
  `<script>document.title='owned'</script>`,
  `"><a href="javascript:document.title='owned'">click</a>`,
  '\u202Egnp.live\u202C',
  'pay\u200Bee\u200D\uFEFF',
  '\u001B[2J\u0007',
  'w'.repeat(10_000),
].join(' ')
/** For members that take less. */
export const SHORT_HOSTILE = HOSTILE.slice(0, 400)

/** An approval takes no control characters in its target. */
const ONE_LINE = SHORT_HOSTILE.replaceAll(/\p{Cc}/gu, '')

export interface World {
  readonly service: TestService
  readonly database: TestDatabase
  /** The origin of the console. */
  readonly origin: string
  /** Approver `dana`, who can sign what waits. */
  readonly dana: Human
  /** Proposed everything that waits. */
  readonly erin: Human
  readonly auditor: { readonly key: string }
  readonly danasKey: Approver
  readonly payment: ApprovalRequest
  readonly hostile: ApprovalRequest
  readonly forSigner: ApprovalRequest
  readonly policyChange: string
  readonly enrolment: string
  /** Ids of transactions. */
  readonly executed: string
  readonly hostileExecuted: string
  /** By a caller by token. */
  readonly executedByToken: string
  /** It used an approval request. */
  readonly paid: string
  readonly refused: string
  readonly inDoubt: string
  /** `webhookEventId` of a delivery that no rule takes. */
  readonly hostileDelivery: string
  readonly stop: () => Promise<void>
}

const BY_ONE = { name: 'by-one', version: '1.0.0', capability: 'sandbox:echo' }

/** Its limit counts what the requester did, and the requester leaves the value to the service. */
export const SPENT = {
  name: 'spent',
  version: '1.0.0',
  capability: 'sandbox:echo',
  display: {
    'sandbox:echo': 'Spend {intent.parameters.amount} {intent.parameters.currency} on {intent.target}.',
  },
  signals: { approved: 'boolean', before: 'number' },
  verify: {
    approved: { by: 'approval', quorum: 1 },
    before: { by: 'history', window: '1h', sum: 'intent.parameters.amount' },
  },
  rules: [
    {
      id: 'too-much',
      when: 'signals.before + intent.parameters.amount > 5000.0',
      outcome: 'reject',
      reason: 'More than 5000 in an hour.',
    },
    { id: 'seen', when: 'signals.approved', outcome: 'approve', reason: 'Somebody has looked.' },
  ],
}

export async function startWorld(): Promise<World> {
  const [dana, erin] = [aHuman('dana', { approverId: 'dana' }), aHuman('erin', { approverId: 'erin' })]
  const auditor = aCaller('auditor', { readAll: true })
  const agent = aCaller('payables-agent', { allowedPrincipalIds: ['finance', 'payables-agent'] })
  const policyDir = aPolicyFolder(['sandbox-echo', 'vendor-payment', 'customer-refund', 'access-control'])
  addPolicy(policyDir, {
    ...BY_ONE,
    display: {
      'sandbox:echo':
        'Echo {intent.parameters.amount} of {intent.target} with {intent.parameters.list} for {intent.parameters.nobody}.',
    },
    verify: { approved: { by: 'approval', quorum: 1 } },
  })
  addPolicy(policyDir, SPENT)
  const database = await createDatabase()
  const tokens = await generateKeyPair('ES256')
  const issuer = {
    issuer: 'https://login.example.com/realms/agents',
    audience: 'countersign',
    jwks: { keys: [await exportJWK(tokens.publicKey)] },
    algorithms: ['ES256'],
    allowedCapabilities: ['sandbox:echo'],
  }
  const service = await startService({
    databaseUrl: database.url,
    callers: [dana.entry, erin.entry, auditor.entry, agent.entry],
    env: {
      ...bankEnv,
      POLICY_DIR: policyDir,
      CONSOLE_ORIGIN: 'http://localhost:0',
      LOG: 'on',
      SERVICE_TOKEN_ISSUERS: JSON.stringify([issuer]),
    },
  })
  const origin = `http://localhost:${new URL(service.url).port}`
  const danasKey = anApprover('dana')
  for (const approver of [danasKey, anApprover('erin')])
    await enrolled(service, { maker: erin, checker: dana }, approver)

  // Asking needs somebody who would do it; nothing is sent there.
  await putInEffect(service, { maker: erin, checker: dana }, '/external-connectors/changes', {
    action: 'register',
    capability: 'vendor:pay',
    endpointUrl: 'http://127.0.0.1:9/',
    policy: 'vendor-payment',
    allowedParameters: ['amount', 'currency', 'iban', 'invoice'],
    reason: 'The bank.',
  })

  const ask = async (transaction: object, more: object = {}) => {
    const answer = await service.post('/approval-requests', { transaction, ...more }, { key: agent.key })
    expect(answer.status, answer.text.slice(0, 500)).toBe(201)
    return answer.body as ApprovalRequest
  }
  const execute = async (transaction: ReturnType<typeof aTransaction>, status: number) => {
    const answer = await service.post('/execute', transaction)
    expect(answer.status, answer.text.slice(0, 500)).toBe(status)
    return transaction.businessTransactionId
  }

  const payment = await ask(aPayment('Acme GmbH', 4_210.5), { note: 'Invoice 2026-1147, due on Friday.' })
  const forSigner = await ask(aPayment('Globex Corporation', 18_900), {
    note: 'Second half of order 7.',
    expiresInSeconds: 3_000,
  })
  const hostile = await ask(
    aTransaction({
      policy: BY_ONE,
      authority: { principalId: 'payables-agent', displayName: HOSTILE },
      intent: { target: ONE_LINE, parameters: { amount: 42, [SHORT_HOSTILE]: HOSTILE, list: [HOSTILE] } },
      signals: { approved: true },
    }),
    { note: SHORT_HOSTILE },
  )
  const signed = await ask(aPayment('Initech', 990), { note: 'Signed already.' })
  const approval = await service.post('/approvals', anApprovalOf(danasKey, signed))
  expect(approval.status, approval.text).toBe(201)
  // Carried out once before, in vain: nobody listens there.
  const before = await ask(aPayment('Acme GmbH', 1_200))
  expect((await service.post('/approvals', anApprovalOf(danasKey, before))).status).toBe(201)
  const pastPayment = aPayment('Acme GmbH', 1_200)
  const past = await service.post('/execute', pastPayment, { key: agent.key })
  expect(past.text).toContain('Execution failed')
  const declined = await ask(aPayment('Umbrella', 77_000))
  const decline = await service.post(
    `${declined.url}/decline`,
    { reason: `The bank details changed yesterday. ${SHORT_HOSTILE}` },
    dana,
  )
  expect(decline.status, decline.text).toBe(200)

  const token = await new SignJWT({ client_id: 'ledger-bot' })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .setIssuer(issuer.issuer)
    .setAudience(issuer.audience)
    .setSubject('1f0c9be2-8a55-4a1d-9c0e-5a0f6f0c7a11')
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(tokens.privateKey)
  const byToken = aTransaction({
    authority: { principalId: `${issuer.issuer}#1f0c9be2-8a55-4a1d-9c0e-5a0f6f0c7a11` },
  })
  expect((await service.post('/execute', byToken, { key: token })).status).toBe(200)
  const executedByToken = byToken.businessTransactionId
  const executed = await execute(
    aTransaction({ intent: { target: 'orders/1093', parameters: { amount: 42, currency: 'EUR' } } }),
    200,
  )
  for (let i = 0; i < 12; i++) await execute(aTransaction({ intent: { target: `orders/${1100 + i}` } }), 200)
  const hostileExecuted = await execute(
    aTransaction({
      metadata: { sourceSystem: HOSTILE },
      authority: { displayName: HOSTILE },
      authorization: { purpose: HOSTILE },
      intent: { target: HOSTILE, parameters: { amount: 42, [SHORT_HOSTILE]: HOSTILE } },
    }),
    200,
  )
  const refused = await execute(aRejectedTransaction(), 500)
  const inDoubt = await execute(aTransaction({ intent: { target: 'orders/1094' } }), 200)
  await putInDoubt(database, inDoubt)
  for (const event of ['held', 'paid'] as const) {
    // The amount is another than was sent: that closes nothing.
    const delivery = aBankDelivery(event, inDoubt, event === 'paid' ? { amount: 41 } : {})
    expect((await deliverFromBank(service, delivery)).status).toBe(200)
    await until(
      async () => (await outcomeOf(database, delivery)).outcome !== null,
      'a delivery to be processed',
    )
  }
  const strange = aBankDelivery('other', [], { note: HOSTILE })
  expect((await deliverFromBank(service, strange)).status).toBe(200)
  await until(async () => (await outcomeOf(database, strange)).outcome !== null, 'it to be processed')
  const { body: found } = await service.get('/webhook-events?outcome=no-match', dana)
  const hostileDelivery = (found['events'] as { webhookEventId: string }[])[0]!.webhookEventId
  const hostileInDoubt = await execute(aTransaction({ intent: { target: HOSTILE } }), 200)
  await putInDoubt(database, hostileInDoubt)

  const { changeId: policyChange } = await proposed(
    service,
    erin,
    '/policies/sandbox-echo/1.1.0/pending-changes',
    {
      proposedContent: ECHO_1_1_0,
      retires: ['1.0.0'],
      reason: `Larger amounts since November. ${SHORT_HOSTILE}`,
    },
  )
  const { changeId: enrolment } = await proposed(
    service,
    erin,
    '/approvers/changes',
    anEnrolment(anApprover('frank')),
  )
  return {
    service,
    database,
    origin,
    dana,
    erin,
    auditor,
    danasKey,
    payment,
    hostile,
    forSigner,
    policyChange,
    enrolment,
    executed,
    executedByToken,
    hostileExecuted,
    paid: pastPayment.businessTransactionId,
    refused,
    inDoubt,
    hostileDelivery,
    async stop() {
      expect(await service.stop()).toBe(0)
      await database.drop()
      rmSync(policyDir, { recursive: true })
    },
  }
}

function aPayment(vendor: string, amount: number) {
  return aTransaction({
    authority: { principalId: 'finance', displayName: 'Finance' },
    intent: {
      action: 'vendor:pay',
      target: vendor,
      parameters: { amount, currency: 'EUR', iban: 'DE02 1203 0000 0000 2020 51', invoice: '2026-1147' },
    },
    policy: { name: 'vendor-payment', version: '2.0.0' },
    signals: { vendorVerified: true, paymentAmount: amount, riskScore: 4, humanApproved: true },
  })
}

const ECHO_1_1_0 = {
  policyId: 'sandbox-echo',
  policyVersion: '1.1.0',
  schemaVersion: '1.0.0',
  description: SHORT_HOSTILE,
  capabilities: ['sandbox:echo'],
  signals: { approved: 'boolean', amount: 'number' },
  bindings: { amount: 'intent.parameters.amount' },
  rules: [
    {
      id: 'too-large',
      when: 'signals.amount > 40.0',
      outcome: 'reject',
      reason: SHORT_HOSTILE.slice(0, 200),
    },
    { id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' },
  ],
}

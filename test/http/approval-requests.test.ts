// Approval requests: an agent asks, approvers look and sign, the agent goes on. One request, one execution.
import { createHash, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { approvalRequestStatuses } from '../../src/formats/schemas/approval-request-statuses.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import {
  aHuman,
  anApprovalOf,
  anApprover,
  aSignedApproval,
  enrolled,
  putInEffect,
  type Approver,
} from '../authority.ts'
import { verifyEvidence, verifyFile } from '../../src/formats/verifier/index.ts'
import type { TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const maker = aHuman('maker', { approverId: 'alice' })
const checker = aHuman('checker', { approverId: 'bob' })
const guest = aHuman('guest')
const auditor = aCaller('auditor', { readAll: true })
const bot = aCaller('bot', { allowedPrincipalIds: ['tester', 'bot', 'alice'] })
const limited = aCaller('limited', { allowedCapabilities: ['vendor:pay'] })
const alice = anApprover('alice')
const bob = anApprover('bob')
const policyDir = aPolicyFolder()
const oneOf = (version: string) => ({
  name: 'by-one',
  version,
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
})
addPolicy(policyDir, oneOf('1.0.0'))
addPolicy(policyDir, {
  ...oneOf('1.0.0'),
  name: 'by-two',
  verify: { approved: { by: 'approval', quorum: 2 } },
})
addPolicy(policyDir, {
  ...oneOf('1.0.0'),
  name: 'one-or-two',
  signals: { one: 'boolean', two: 'boolean', before: 'number' },
  verify: {
    one: { by: 'approval', quorum: 1 },
    two: { by: 'approval', quorum: 2 },
    before: { by: 'history', window: '1h', per: ['target'] },
  },
  rules: [
    { id: 'often', when: 'signals.before > 5.0', outcome: 'reject', reason: 'Too often.' },
    {
      id: 'large',
      when: 'intent.parameters.amount > 100.0 && signals.two',
      outcome: 'approve',
      reason: 'Two have looked.',
    },
    {
      id: 'small',
      when: 'intent.parameters.amount <= 100.0 && (signals.one || signals.two)',
      outcome: 'approve',
      reason: 'One has looked.',
    },
  ],
})
const MONEY = {
  'sandbox:echo': {
    text: 'Pay {intent.target}.',
    amount: 'intent.parameters.amount',
    currency: 'intent.parameters.currency',
  },
}
addPolicy(policyDir, { name: 'by-itself', version: '1.0.0', capability: 'sandbox:echo', display: MONEY })
addPolicy(policyDir, { ...oneOf('1.0.0'), name: 'money-by-one', display: MONEY })
addPolicy(policyDir, {
  ...oneOf('1.0.0'),
  name: 'by-three',
  verify: { approved: { by: 'approval', quorum: 3 } },
})
addPolicy(policyDir, {
  ...oneOf('1.0.0'),
  name: 'one-of-them',
  signals: { one: 'boolean', other: 'boolean' },
  verify: { one: { by: 'approval', quorum: 1 }, other: { by: 'approval', quorum: 1 } },
  rules: [
    { id: 'both', when: 'signals.one && signals.other', outcome: 'reject', reason: 'Not both.' },
    { id: 'one', when: 'signals.one || signals.other', outcome: 'approve', reason: 'One has looked.' },
  ],
})
addPolicy(policyDir, {
  ...oneOf('1.0.0'),
  name: 'seen-then-limited',
  signals: { approved: 'boolean', spent: 'number' },
  verify: {
    approved: { by: 'approval', quorum: 1 },
    spent: { by: 'history', window: '1h', sum: 'intent.parameters.amount' },
  },
  rules: [
    { id: 'unseen', when: '!signals.approved', outcome: 'reject', reason: 'Nobody has looked.' },
    {
      id: 'spent',
      when: 'signals.spent + intent.parameters.amount > 100.0',
      outcome: 'reject',
      reason: 'Spent.',
    },
    { id: 'seen', when: 'true', outcome: 'approve', reason: 'Seen.' },
  ],
})

let database: TestDatabase
let service: TestService
let other: TestService
/** Each test has its own, so that no approval or request of another stands beside it. */
let target: string
let targets = 0

withDatabase(async ({ database: made, start }) => {
  database = made
  const options = {
    callers: [maker.entry, checker.entry, guest.entry, auditor.entry, bot.entry, limited.entry],
    env: { POLICY_DIR: policyDir },
  }
  service = await start(options)
  other = await start({ ...options, signingKeyDir: service.signingKeyDir, key: service.key })
  for (const approver of [alice, bob]) await enrolled(service, { maker, checker }, approver)
})

beforeEach(() => {
  target = `target-${targets++}`
})

const anAction = (more: object = {}) =>
  aTransaction({ intent: { target, parameters: { amount: 42 } }, policy: { name: 'by-one' }, ...more })
const under = (name: string, signals: object, more: { target?: string; amount?: number } = {}) => ({
  ...anAction({
    policy: { name },
    intent: { target: more.target ?? target, parameters: { amount: more.amount ?? 42 } },
  }),
  signals,
})
const ofAmount = (amount: number) => anAction({ intent: { target, parameters: { amount } } })
const byTwo = () => anAction({ policy: { name: 'by-two' } })

const ask = (transaction: object, more: object = {}, options: object = {}) =>
  service.post('/approval-requests', { transaction, ...more }, options)

async function asked(transaction: object = anAction(), more: object = {}): Promise<ApprovalRequest> {
  const { status, text, body } = await ask(transaction, more)
  expect(status, text).toBe(201)
  return body as ApprovalRequest
}

const idOf = ({ request }: ApprovalRequest) => request.requestId

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function approve(approver: Approver, request: ApprovalRequest): Promise<void> {
  const { status, text } = await service.post('/approvals', anApprovalOf(approver, request))
  expect(status, text).toBe(201)
}

async function read({ url }: ApprovalRequest, options: object = {}): Promise<ApprovalRequest> {
  const { status, text, body } = await service.get(url, options)
  expect(status, text).toBe(200)
  return body as ApprovalRequest
}

const decline = (
  { url }: ApprovalRequest,
  human: { key: string } = checker,
  reason: unknown = 'Not this one.',
) => service.post(`${url}/decline`, { reason }, human)
const withdraw = ({ url }: ApprovalRequest, caller: { key: string } = service) =>
  service.post(`${url}/withdraw`, {}, caller)

/** As if its time had passed. The stored content says otherwise: only the service is asked here. */
async function expire({ request: { requestId } }: ApprovalRequest): Promise<void> {
  await database.pool.query(
    `UPDATE approval_requests SET expires_at = now() - interval '1 minute' WHERE request_id = $1::uuid`,
    [requestId],
  )
}

const eventsOf = async (type: string, { request }: ApprovalRequest) => {
  const { body } = await service.get(`/audit/events?type=${type}&pageSize=100`, maker)
  const events = (body.events as { event: { detail: { requestId: string } } }[]).map(({ event }) => event)
  return events.filter(({ detail }) => detail.requestId === request.requestId)
}

describe('POST /approval-requests 201', () => {
  test('says what is asked, of whom, and how an approver can compare it', async () => {
    const transaction = anAction()
    const { status, headers, body } = await ask(transaction, { note: 'Order 7', expiresInSeconds: 60 })
    expect(status).toBe(201)
    const { request } = body as ApprovalRequest
    expect(headers.get('location')).toBe(`/approval-requests/${request.requestId}`)
    expect(request).toEqual({
      requestId: expect.any(String) as string,
      requestedBy: 'tester',
      principalId: 'tester',
      capability: 'sandbox:echo',
      target,
      parameters: { amount: 42 },
      signals: transaction.signals,
      policy: {
        name: 'by-one',
        version: '1.0.0',
        contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
      quorum: 1,
      note: 'Order 7',
      createdAt: expect.any(String) as string,
      expiresAt: expect.any(String) as string,
    })
    expect(Date.parse(request.expiresAt) - Date.parse(request.createdAt)).toBe(60_000)
    expect(body).toMatchObject({
      requestHash: sha256(canonicalize(request as unknown as Json)),
      actionCode: expect.stringMatching(/^[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}$/) as string,
      status: 'PENDING',
      missing: 1,
      eligible: ['alice', 'bob'],
      approvals: [],
    })
    expect(await eventsOf('approval_request.opened', body as ApprovalRequest)).toHaveLength(1)
  })

  test('asks for a signal that was left out: without approvals it is false, and the refusal says where', async () => {
    const leftOut = { signals: { approved: undefined } }
    const transaction = anAction(leftOut)
    const refused = await service.post('/execute', transaction)
    expect([refused.status, refused.body.code]).toEqual([500, 'RUNTIME_ERROR'])
    expect(refused.headers.get('link')).toContain('rel="approval-request"')
    const { body: request } = await service.post('/approval-requests', {
      fromRefusal: transaction.businessTransactionId,
    })
    await approve(alice, request as ApprovalRequest)
    const { status, body } = await service.post('/execute', anAction(leftOut))
    expect(status).toBe(200)
    expect(body.transaction.signals).not.toHaveProperty('approved')
    expect(body.executions[0].decision.verifiedSignals.approved).toMatchObject({
      value: true,
      by: 'approval',
    })
    expect(body.verifications[0].status).toBe('VERIFIED')
  })

  test('asks for as many as it takes, where the policy has several quorums and the caller leaves them out', async () => {
    for (const [amount, approvers] of [
      [50, [alice]],
      [500, [alice, bob]],
    ] as const) {
      const transaction = () => ({
        ...aTransaction({ policy: { name: 'one-or-two' }, intent: { target, parameters: { amount } } }),
        signals: {},
      })
      const request = await asked(transaction())
      expect(request.request.quorum).toBe(approvers.length)
      for (const approver of approvers) {
        expect((await service.post('/execute', transaction())).status).toBe(500)
        await approve(approver, request)
      }
      expect((await read(request)).status).toBe('APPROVED')
      expect((await service.post('/execute', transaction())).status).toBe(200)
    }
  })

  test('asks for what was refused, and the refusal says where', async () => {
    const transaction = anAction()
    const refused = await service.post('/execute', transaction)
    expect(refused.status).toBe(403)
    expect(refused.headers.get('link')).toBe(
      `</refusal/${transaction.businessTransactionId}>; rel="refusal", </approval-requests>; rel="approval-request"`,
    )
    const { status, text, body } = await service.post('/approval-requests', {
      fromRefusal: transaction.businessTransactionId,
    })
    expect(status, text).toBe(201)
    expect((body as ApprovalRequest).request).toMatchObject({ target, note: '' })
    await approve(alice, body as ApprovalRequest)
    expect((await service.post('/execute', anAction())).status).toBe(200)
  })

  test('uses no id up: the very transaction that was asked with is executed', async () => {
    const transaction = anAction()
    await approve(alice, await asked(transaction))
    expect((await service.post('/execute', transaction)).status).toBe(200)
  })
})

describe('a refusal that approvals could lift says so, and asking for them is then possible', () => {
  test.each<[string, number, boolean, () => object]>([
    ['claimed and not there', 403, true, () => under('by-one', { approved: true })],
    ['left out and not there', 500, true, () => under('by-one', {})],
    ['one signal, but not both', 500, true, () => under('one-of-them', {})],
    ['one claimed, and the rules reject both', 403, true, () => under('one-of-them', { one: true })],
    ['a limit that still has room', 500, true, () => under('seen-then-limited', {})],
    ['declared as false', 500, false, () => under('by-one', { approved: false })],
    ['both declared as false', 500, false, () => under('one-of-them', { one: false, other: false })],
    [
      'a limit that an approval does not lift',
      500,
      false,
      () => under('seen-then-limited', {}, { amount: 101 }),
    ],
    [
      'claimed, and a limit that does not hold besides',
      403,
      false,
      () => under('seen-then-limited', { approved: true, spent: 7 }),
    ],
    [
      'a target that no approval can name',
      500,
      false,
      () => under('by-one', {}, { target: 'x'.repeat(600) }),
    ],
    ['a policy without approvals', 500, false, () => under('sandbox-echo', { approved: false, amount: 42 })],
  ])('%s', async (_title, expected, approvable, transactionOf) => {
    const transaction = transactionOf() as ReturnType<typeof anAction>
    const id = transaction.businessTransactionId
    const refused = await service.post('/execute', transaction)
    expect(refused.status, refused.text).toBe(expected)
    const refusal = await service.get(`/refusal/${id}`)
    const asking = '</approval-requests>; rel="approval-request"'
    const itself = `</refusal/${id}>; rel="refusal"`
    expect(refused.headers.get('link')).toBe(approvable ? `${itself}, ${asking}` : itself)
    expect(refusal.headers.get('link')).toBe(approvable ? asking : null)
    expect((refusal.body as { approvable?: boolean }).approvable).toBe(approvable ? true : undefined)
    expect((await service.post('/refusal/verify', refusal.text)).body).toMatchObject({ valid: true })
    const request = await service.post('/approval-requests', { fromRefusal: id })
    expect(request.status, request.text).toBe(approvable ? 201 : 409)
    // The same question, asked with the transaction itself.
    if (approvable) expect((await ask(transaction)).status).toBe(200)
  })

  test('until the last approval of a quorum is there', async () => {
    const request = await asked(byTwo())
    await approve(alice, request)
    const transaction = byTwo()
    expect((await service.post('/execute', transaction)).status).toBe(403)
    const { body } = await service.get(`/refusal/${transaction.businessTransactionId}`)
    expect(body).toMatchObject({ approvable: true })
  })
})

describe('POST /approval-requests 200', () => {
  test('who asks again while it is open gets the same request; two at once make one', async () => {
    const first = await asked()
    const again = await ask(anAction(), { expiresInSeconds: 600 })
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first)
    expect((await ask(anAction(), { note: 'another' })).status).toBe(201)
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        (i % 2 === 0 ? service : other).post('/approval-requests', { transaction: byTwo() }),
      ),
    )
    expect(new Set(replies.map(({ body }) => (body as ApprovalRequest).requestHash)).size).toBe(1)
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
  })

  test('after it was closed or used it is asked anew', async () => {
    const withdrawn = await asked()
    await withdraw(withdrawn)
    const used = await asked()
    await approve(alice, used)
    await service.post('/execute', anAction())
    expect((await asked()).requestHash).not.toBe(used.requestHash)
  })
})

describe('POST /approval-requests 400 invalidField', () => {
  const given = aTransaction({ policy: { name: 'by-one' } })
  const without = (name: string) => Object.fromEntries(Object.entries(given).filter(([key]) => key !== name))
  test.each<[string, unknown, string]>([
    ['a list', [], 'the body must be an object.'],
    ['nothing', {}, 'transaction or fromRefusal is required.'],
    ['the transaction itself', given, 'businessTransactionId is not a member that is known here.'],
    [
      'both at once',
      { transaction: given, fromRefusal: given.businessTransactionId },
      'transaction and fromRefusal cannot be given together.',
    ],
    ['a text as transaction', { transaction: 'x' }, 'transaction must be an object.'],
    [
      'an empty transaction',
      { transaction: {} },
      'transaction.businessTransactionId must be a UUID of version 1 to 5.',
    ],
    ['no metadata', { transaction: without('metadata') }, 'transaction.metadata is required.'],
    [
      'a blank target',
      { transaction: aTransaction({ intent: { target: ' ' } }) },
      'transaction.intent.target is required.',
    ],
    [
      'a signal that is a text',
      { transaction: { ...given, signals: { approved: 'yes' } } },
      'transaction.signals.approved must be a boolean or a number.',
    ],
    [
      'the approval not claimed',
      { transaction: { ...given, signals: { approved: false } } },
      'transaction.signals.approved must be true or left out: it claims the approval that is asked for.',
    ],
    ['a refusal that is no UUID', { fromRefusal: 'x' }, 'fromRefusal must be'],
    ['a long note', { transaction: given, note: 'x'.repeat(1_001) }, 'note must be a text of at most'],
    [
      'an hour in words',
      { transaction: given, expiresInSeconds: '1h' },
      'expiresInSeconds must be a whole number from 60 to 86400.',
    ],
    [
      'two days',
      { transaction: given, expiresInSeconds: 172_800 },
      'expiresInSeconds must be a whole number from 60 to 86400.',
    ],
  ])('%s', async (_title, body, error) => {
    const { status, body: answered } = await service.post('/approval-requests', body)
    expect([status, answered.error]).toEqual([400, expect.stringContaining(error)])
  })

  test('what is not JSON', async () => {
    expect((await service.post('/approval-requests', '{')).status).toBe(400)
  })
})

describe('what POST /execute would refuse', () => {
  test('another principal, an unknown policy and a refusal of somebody else', async () => {
    expect((await ask(anAction({ authority: { principalId: 'mallory' } }))).status).toBe(403)
    expect((await ask(anAction({ policy: { name: 'none' } }))).status).toBe(404)
    expect((await ask(anAction({ authority: { principalId: 'limited' } }), {}, limited)).body.error).toBe(
      'Caller is not permitted to invoke this capability.',
    )
    const { businessTransactionId } = anAction()
    const ofNobody = await service.post('/approval-requests', { fromRefusal: businessTransactionId })
    expect(reply(ofNobody)).toEqual({ status: 404, body: { error: 'Refusal Record not found.' } })
    const refused = anAction()
    await service.post('/execute', refused)
    const foreign = { fromRefusal: refused.businessTransactionId }
    for (const who of [bot, maker])
      expect((await service.post('/approval-requests', foreign, who)).status).toBe(404)
  })
})

describe('POST /approval-requests 409 notApprovable', () => {
  test.each<[string, object, string]>([
    [
      'a policy that asks nobody',
      { policy: { name: 'sandbox-echo' } },
      "No approval would help: Policy 'sandbox-echo' version '1.0.0' lets this through without one.",
    ],
    [
      'an action that it does not govern',
      { intent: { action: 'vendor:pay' } },
      "No approval would help: Policy 'by-one' version '1.0.0' does not govern action 'vendor:pay'.",
    ],
    [
      'more approvers than there are',
      { policy: { name: 'by-three' } },
      'No approval would help: The policy asks for 3 approvals; enrolled approvers who are other persons than the caller and the principal: 2.',
    ],
    [
      'a target that no approval can name',
      { intent: { target: 'x'.repeat(600) } },
      'No approval would help: An approval names its action and target by 1 to 129 and 1 to 512 characters on one line.',
    ],
  ])('%s', async (_title, more, error) => {
    expect(reply(await ask(anAction(more)))).toEqual({ status: 409, body: { error, code: 'NOT_APPROVABLE' } })
  })

  test('an execution that was refused for another reason', async () => {
    const rejected = anAction({ signals: { approved: false } })
    expect((await service.post('/execute', rejected)).status).toBe(500)
    const { body } = await service.post('/approval-requests', { fromRefusal: rejected.businessTransactionId })
    expect(body).toEqual({
      error: 'No approval would help: The refusal does not say that approvals could lift it.',
      code: 'NOT_APPROVABLE',
    })
  })
})

describe('POST /approval-requests 429 tooManyApprovalRequests', () => {
  // proves abuse: Flooding an approver
  test('a caller has 100 open at most, and everybody together 1,000', async () => {
    const first = await asked(anAction(), { note: 'the pattern of the others' })
    const copies = (count: number, requestedBy: string) =>
      database.pool.query(
        `INSERT INTO approval_requests (request_id, request_hash, asked_hash, requested_by, principal_id, quorum, created_at, expires_at, status, body, seal)
         SELECT gen_random_uuid(), $3 || n, 'x', $1, principal_id, quorum, created_at, expires_at, 'OPEN', body, seal
         FROM approval_requests, generate_series(1, $2::integer) AS n WHERE request_hash = $4`,
        [requestedBy, count, `${requestedBy}-`, first.requestHash],
      )
    try {
      await copies(100, 'tester')
      const own = await ask(anAction(), { note: 'one more' })
      expect([own.status, own.body.code, own.headers.get('retry-after')]).toEqual([
        429,
        'TOO_MANY_APPROVAL_REQUESTS',
        '60',
      ])
      expect((await ask(anAction({ authority: { principalId: 'bot' } }), {}, bot)).status).toBe(201)
      await copies(900, 'others')
      const all = await ask(anAction({ authority: { principalId: 'bot' } }), { note: 'more' }, bot)
      expect([all.status, all.body.error]).toEqual([
        429,
        '1000 approval requests wait for the approvers: try again when some are decided.',
      ])
    } finally {
      await database.pool.query(`DELETE FROM approval_requests WHERE asked_hash = 'x'`)
    }
  })
})

describe('GET /approval-requests/{id} 200', () => {
  test('follows the approvals until it is used', async () => {
    const request = await asked(byTwo())
    expect(request).toMatchObject({ status: 'PENDING', missing: 2 })
    await approve(alice, request)
    expect(await read(request)).toMatchObject({
      status: 'PENDING',
      missing: 1,
      eligible: ['bob'],
      approvals: [{ approverId: 'alice', keyId: 'k1' }],
    })
    expect(await eventsOf('approval_request.approved', request)).toEqual([])
    await approve(bob, request)
    expect(await read(request)).toMatchObject({ status: 'APPROVED', missing: 0, eligible: [] })
    expect(await eventsOf('approval_request.approved', request)).toHaveLength(1)
    const execution = byTwo()
    const { status, body } = await service.post('/execute', execution)
    expect(status).toBe(200)
    expect(body.executions[0].decision.verifiedSignals.approved.request).toEqual(request.request)
    expect(body.verifications[0].status).toBe('VERIFIED')
    expect(await read(request)).toMatchObject({ status: 'USED', missing: 0, eligible: [] })
    // The way back from an execution, also while it has no record.
    const find = async (filter: string, id: string) => (await service.get(`/${filter}=${id}`, maker)).body
    const { businessTransactionId: id } = execution
    const { approvals } = await find('approvals?consumedBy', id)
    expect(approvals.map((one: { consumedBy: string }) => one.consumedBy)).toEqual([id, id])
    const { requests } = await find('approval-requests?usedBy', id)
    expect(requests).toMatchObject([{ request: request.request }])
    const { requestId } = request.request
    expect(await find('approvals?consumedBy', requestId)).toEqual({ approvals: [] })
    expect(await find('approval-requests?usedBy', requestId)).toEqual({ requests: [] })
    expect(await find('approvals?consumedBy', 'it')).toMatchObject({
      error: 'consumedBy must be a valid UUID.',
    })
    expect(await find('approval-requests?usedBy', 'it')).toMatchObject({
      error: 'usedBy must be a valid UUID.',
    })
  })

  test('waits for a change where it is asked to', async () => {
    const request = await asked(byTwo())
    const waiting = read(request, { headers: { Prefer: 'wait=20' } })
    await approve(alice, request)
    expect(await waiting).toMatchObject({ status: 'PENDING', missing: 1 })
    const longer = read(request, { headers: { Prefer: 'wait=20' } })
    await approve(bob, request)
    expect((await longer).status).toBe('APPROVED')
    expect((await read(request, { headers: { Prefer: 'wait=20' } })).status).toBe('APPROVED')
  })

  test('is for who asked, humans and auditors', async () => {
    const request = await asked()
    for (const who of [service, maker, guest, auditor])
      expect((await read(request, who)).status).toBe('PENDING')
  })
})

const judged = async ({ url }: ApprovalRequest, who: { key: string } = maker) => {
  const { status, text, body } = await service.get(`${url}/judgement`, who)
  expect(status, text).toBe(200)
  return body.decision
}

const spend = (amount: number, signals: object = {}) => under('seen-then-limited', signals, { amount })

describe('GET /approval-requests/{id}/judgement 200', () => {
  test('judges as the requester, whose limits nobody else has', async () => {
    const askedByBot = async (transaction: object) => {
      const { status, text, body } = await ask(transaction, {}, bot)
      expect(status, text).toBe(201)
      return body as ApprovalRequest
    }
    const first = await askedByBot(spend(60))
    const approved = { outcome: 'APPROVED', matchedRuleId: 'seen', presentState: { spent: { value: 0 } } }
    for (const who of [bot, maker, auditor]) expect(await judged(first, who)).toMatchObject(approved)
    await approve(alice, first)
    expect((await service.post('/execute', spend(60), bot)).status).toBe(200)

    const spent = { spent: { value: 60, by: 'history' }, approved: { value: false, by: 'approval' } }
    const second = await askedByBot(spend(60))
    const rejected = { outcome: 'REJECTED', reason: 'Spent.', matchedRuleId: 'spent', presentState: spent }
    expect(await judged(second)).toMatchObject(rejected)
    expect(await judged(await askedByBot(spend(40)))).toMatchObject({ outcome: 'APPROVED' })
    // The execution compares what is declared, also where the rules would approve it.
    const declared = await askedByBot(spend(30, { approved: true, spent: 0 }))
    expect(await judged(declared)).toMatchObject({
      outcome: 'DENIED',
      mismatches: [{ signal: 'spent', declared: 0, verified: 60, source: 'history' }],
    })
    const { body } = await service.post('/sandbox/evaluate', spend(60, { approved: true }), service)
    expect(body.decision.presentState.spent.value).toBe(0)
  })

  test.each([
    ['the cheapest approvals that the rules approve', 'one-or-two', 42, 'APPROVED', 'small'],
    ['more of them where it takes more', 'one-or-two', 142, 'APPROVED', 'large'],
    ['not more than it asks for', 'one-of-them', 42, 'APPROVED', 'one'],
  ])('takes as given %s', async (_title, name, amount, outcome, matchedRuleId) => {
    const request = await asked(under(name, {}, { amount }))
    expect(await judged(request)).toMatchObject({ outcome, matchedRuleId })
    // A judgement gives nothing.
    expect((await service.post('/execute', under(name, {}, { amount }))).status).not.toBe(200)
  })

  test("404: another caller's, an unknown one and what is no id", async () => {
    const { url } = await asked()
    const unknown = '/approval-requests/4f7b3b36-67b0-4a7a-9d1f-2d0f5e1a8f3c'
    for (const [path, who] of [
      [url, bot],
      [unknown, maker],
      ['/approval-requests/none', maker],
    ] as const)
      expect(reply(await service.get(`${path}/judgement`, who))).toMatchObject({ status: 404 })
  })
})

describe('GET /approval-requests/{id} 404 approvalRequestNotFound', () => {
  test("another caller's, an unknown one and what is no id", async () => {
    const { url } = await asked()
    const notFound = {
      status: 404,
      body: { error: 'Approval request not found.', code: 'APPROVAL_REQUEST_NOT_FOUND' },
    }
    expect(reply(await service.get(url, bot))).toEqual(notFound)
    for (const id of ['00000000-0000-4000-8000-000000000000', 'x', '%00'])
      expect(reply(await service.get(`/approval-requests/${id}`))).toEqual(notFound)
    expect(reply(await service.post(`${url}/withdraw`, {}, maker))).toEqual(notFound)
    expect(reply(await service.post('/approval-requests/x/decline', { reason: 'No.' }, maker))).toEqual(
      notFound,
    )
  })
})

const idsOf = ({ body }: { body: { requests: ApprovalRequest[] } }) =>
  body.requests.map(({ request }) => request.requestId)

/** Pays the target without asking anybody. */
async function done(amount: number, currency: string, approved = true): Promise<number> {
  const intent = { target, parameters: { amount, currency } }
  const transaction = { ...anAction({ intent, policy: { name: 'by-itself' } }), signals: { approved } }
  return (await service.post('/execute', transaction)).status
}

async function comparedFor(who: object) {
  const { body } = await service.get(`/approval-requests?target=${target}&status=PENDING&compared=true`, who)
  return (body as { requests: ApprovalRequest[] }).requests.map(({ compared }) => compared)
}

describe('GET /approval-requests 200', () => {
  test('says to those who decide what a request is compared with, in the list and alone', async () => {
    expect(await done(300, 'EUR')).toBe(200)
    expect(await done(100.5, 'EUR')).toBe(200)
    expect(await done(7, 'JPY')).toBe(200)
    // A refused one makes no target well known.
    expect(await done(9_000, 'EUR', false)).toBe(500)
    expect(await done(55, 'EUR')).toBe(200)
    await until(
      async () =>
        (
          await database.pool.query(
            "UPDATE catalogue_entries SET status = 'in_doubt' WHERE target = $1 AND amount = 55",
            [target],
          )
        ).rowCount === 1,
      'the catalogue to have it',
    )
    const { url } = await asked()
    const onTarget = [
      { status: 'completed', currency: 'EUR', count: 2, highest: 300, byCaller: 2 },
      { status: 'completed', currency: 'JPY', count: 1, highest: 7, byCaller: 1 },
      { status: 'in_doubt', currency: 'EUR', count: 1, highest: 55, byCaller: 1 },
    ]
    const onTargetNow = async () => (await comparedFor({ key: maker.key }))[0]?.onTarget
    await until(
      async () => JSON.stringify(await onTargetNow()) === JSON.stringify(onTarget),
      'the catalogue to have them',
    )
    const [compared] = await comparedFor(auditor)
    expect(compared).toMatchObject({
      onTarget,
      requests: { same: 0, pending: 0, approved: 0, declined: 0 },
      elsewhere: [],
    })
    expect(compared!.byCaller!.map(({ currency }) => currency)).toEqual(
      expect.arrayContaining(['EUR', 'JPY']),
    )
    expect((await service.get(url, maker)).body.compared).toEqual(compared)
    // Nobody decides on what is over, and what others did is not for a caller that reads its own alone.
    expect(await comparedFor({})).toEqual([undefined])
    const { body: without } = await service.get(`/approval-requests?target=${target}&status=PENDING`, maker)
    const { requests } = without as { requests: ApprovalRequest[] }
    expect(requests.length).toBeGreaterThan(0)
    expect(requests.filter((one) => 'compared' in one || 'usual' in one)).toEqual([])
    expect((await service.get(url)).body.compared).toBeUndefined()
  })

  test('finds the same invoice on another target, asked for or paid, and no value that many have', async () => {
    const invoice = randomUUID().toUpperCase()
    const here = randomUUID()
    const of = (where: string, parameters: object) =>
      anAction({
        intent: {
          target: where,
          parameters: {
            amount: 781,
            currency: 'EUR',
            invoice,
            centre: 'centre-4711',

            ...parameters,
          },
        },
        policy: { name: 'money-by-one' },
      })
    const paid = of(randomUUID(), {})
    await approve(alice, await asked(paid))
    expect((await service.post('/execute', paid)).status).toBe(200)
    // The same sum for the same cost centre is nothing that stands out: many targets have it.
    for (let i = 0; i < 4; i++) await asked(of(randomUUID(), { invoice: randomUUID() }))
    const signed = await asked(of(randomUUID(), {}))
    await approve(alice, signed)
    // Another sum, and the same on the same target, which is told as such.
    await asked(of(randomUUID(), { amount: 780 }))
    const again = await asked(of(here, { note: 'again' }))
    const { url } = await asked(of(here, {}))
    const elsewhere = async () =>
      ((await service.get(url, maker)).body as unknown as ApprovalRequest).compared!.elsewhere
    await until(async () => (await elsewhere()).length === 2, 'the catalogue to have it')
    expect(await elsewhere()).toEqual([
      {
        businessTransactionId: paid.businessTransactionId,
        target: paid.intent.target,
        status: 'completed',
        shared: [invoice],
      },
      {
        requestId: signed.request.requestId,
        target: signed.request.target,
        status: 'APPROVED',
        shared: [invoice],
      },
    ])
    const { requests } = ((await service.get(again.url, maker)).body as unknown as ApprovalRequest).compared!
    expect(requests).toEqual({ same: 0, pending: 1, approved: 0, declined: 0 })
  })

  test('an open request is found and compared, however many were asked for after it', async () => {
    const invoice = `INV-${randomUUID()}`
    const ofInvoice = (on: string) =>
      anAction({
        intent: { target: on, parameters: { amount: 782, currency: 'EUR', invoice } },
        policy: { name: 'money-by-one' },
      })
    const open = await asked(ofInvoice(target))
    try {
      await database.pool.query(
        `INSERT INTO approval_requests (request_id, request_hash, asked_hash, requested_by, principal_id, quorum, created_at, expires_at, status, body, seal)
         SELECT gen_random_uuid(), 'newer-' || n, 'newer', requested_by, principal_id, quorum, created_at + n * interval '1 ms', expires_at, 'WITHDRAWN',
           replace(body, $2, 'another'), seal
         FROM approval_requests, generate_series(1, 2100) AS n WHERE request_id = $1::uuid`,
        [idOf(open), invoice],
      )
      for (const q of [open.actionCode, invoice]) {
        const { status, text, body } = await service.get(`/search?q=${q}`, maker)
        expect(status, text).toBe(200)
        expect([q, (body['requests'] as { requestId: string }[]).map(({ requestId }) => requestId)]).toEqual([
          q,
          [idOf(open)],
        ])
      }
      const { body } = await service.get((await asked(ofInvoice(`${target}-other`))).url, maker)
      expect((body as unknown as ApprovalRequest).compared!.elsewhere).toMatchObject([
        { requestId: idOf(open) },
      ])
    } finally {
      await database.pool.query(`DELETE FROM approval_requests WHERE asked_hash = 'newer'`)
    }
  })

  test('a request with U+0000 in its parameters is found, compared and shown, and keeps nobody from another one', async () => {
    const parameters = { amount: 782, invoice: `INV-${randomUUID()}\u0000`, '\u0000': 'of-no-name' }
    const strange = await asked(
      anAction({ intent: { target: randomUUID(), parameters }, policy: { name: 'money-by-one' } }),
    )
    const alike = await asked(
      anAction({ intent: { target: randomUUID(), parameters }, policy: { name: 'money-by-one' } }),
    )
    for (const [one, twin] of [
      [strange, alike],
      [alike, strange],
    ] as const) {
      const { status, text, body } = await service.get(one.url, maker)
      expect(status, text).toBe(200)
      const { compared, request } = body as unknown as ApprovalRequest
      expect(request.parameters).toEqual(parameters)
      expect(compared!.elsewhere.map(({ requestId }) => requestId)).toEqual([twin.request.requestId])
      const path = `/approval-requests?target=${one.request.target}`
      expect(idsOf((await service.get(path, maker)) as never)).toEqual([one.request.requestId])
    }
    expect((await service.get('/approval-requests?capability=sandbox:echo&q=inv-', maker)).status).toBe(200)
    expect((await service.get('/search?q=inv-', maker)).status).toBe(200)
    const { url } = await asked()
    expect((await service.get(url, maker)).status).toBe(200)
  })

  test('says who has signed also once that counts no more, and why', async () => {
    const carol = anApprover(`carol-${randomUUID()}`)
    await enrolled(service, { maker, checker }, carol)
    const one = await asked(byTwo())
    await approve(carol, one)
    expect((await read(one)).approvals).toMatchObject([{ approverId: carol.approverId }])
    await putInEffect(service, { maker, checker }, '/approvers/changes', {
      action: 'revoke',
      approverId: carol.approverId,
      keyId: carol.keyId,
      reason: 'left',
    })
    await until(async () => (await read(one)).approvals.length === 0, 'the revocation to count')
    const { missing, notCounted } = await read(one)
    expect(missing).toBe(2)
    expect(notCounted).toMatchObject([
      { approverId: carol.approverId, keyId: carol.keyId, because: 'KEY_REVOKED', since: expect.any(String) },
    ])
  })

  test('newest first, by status, and what waits for me', async () => {
    const first = await asked()
    const second = await asked(byTwo())
    const own = await ask(anAction({ authority: { principalId: 'alice' } }), { note: 'of alice' }, bot)
    expect(own.status, own.text).toBe(201)
    const { requestId } = (own.body as ApprovalRequest).request
    expect(idsOf(await service.get('/approval-requests?pageSize=2'))).toEqual([
      second.request.requestId,
      first.request.requestId,
    ])
    expect(idsOf(await service.get('/approval-requests', bot))[0]).toBe(requestId)
    const inbox = async (who: { key: string }) =>
      idsOf(await service.get('/approval-requests?waitingFor=me&pageSize=100', who))
    expect(await inbox(maker)).toEqual(expect.arrayContaining([first.request.requestId]))
    // Neither what its own principal asks for, nor what it has signed.
    expect(await inbox(maker)).not.toContain(requestId)
    expect(await inbox(checker)).toContain(requestId)
    await approve(alice, second)
    expect(await inbox(maker)).not.toContain(second.request.requestId)
    expect(await inbox(checker)).toContain(second.request.requestId)
    await approve(alice, first)
    expect(await inbox(checker)).not.toContain(first.request.requestId)
    expect(idsOf(await service.get('/approval-requests?status=APPROVED&pageSize=100'))).toContain(
      first.request.requestId,
    )
    const page = await service.get('/approval-requests?pageSize=1&status=PENDING', maker)
    expect(page.headers.get('link')).toMatch(/rel="next"/)
  })

  test('order=ending_soon: what expires first comes first, page by page, and of a time in the order of the ids', async () => {
    let amount = 1
    const inSeconds = async (expiresInSeconds: number) =>
      idOf(await asked(ofAmount(amount++), { expiresInSeconds }))
    const late = await inSeconds(7_200)
    const early = await inSeconds(60)
    const ties = [await inSeconds(600), await inSeconds(600)].toSorted()
    await database.pool.query(
      `UPDATE approval_requests SET expires_at = date_trunc('second', now()) + interval '10 minutes' WHERE request_id = ANY ($1::uuid[])`,
      [ties],
    )
    const order = [early, ...ties, late]
    const found: string[] = []
    let next: string | undefined = `/approval-requests?target=${target}&order=ending_soon&pageSize=1`
    while (next !== undefined) {
      const answer = await service.get(next)
      expect(answer.status, answer.text).toBe(200)
      found.push(...idsOf(answer))
      next = /<([^>]+)>; *rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    expect(found).toEqual(order)
    const query = `&target=${target}&order=ending_soon`
    expect(
      idsOf(await service.get(`/approval-requests?status=PENDING&waitingFor=me${query}`, checker)),
    ).toEqual(order)
    const { createdAt } = (await read({ url: `/approval-requests/${early}` } as ApprovalRequest)).request
    expect(idsOf(await service.get(`/approval-requests?until=${createdAt}${query}`))).toEqual([late])
    expect(idsOf(await service.get(`/approval-requests?target=${target}&order=newest`)).at(-1)).toBe(late)
  })

  test('by each status: those that have it, and nobody waits for one that is not pending', async () => {
    const [used, expired, declined, withdrawn, approved] = [
      await asked(ofAmount(42)),
      await asked(ofAmount(43)),
      await asked(ofAmount(44)),
      await asked(ofAmount(45)),
      await asked(ofAmount(46)),
    ]
    const pending = await asked(ofAmount(47))
    await approve(alice, used)
    const executed = await service.post('/execute', ofAmount(42))
    expect(executed.status, executed.text).toBe(200)
    await expire(expired)
    expect((await decline(declined)).status).toBe(200)
    expect((await withdraw(withdrawn)).status).toBe(200)
    await approve(alice, approved)
    const having = {
      USED: used,
      EXPIRED: expired,
      DECLINED: declined,
      WITHDRAWN: withdrawn,
      APPROVED: approved,
      PENDING: pending,
    }
    for (const status of approvalRequestStatuses) {
      const those = status === 'ENDED' ? [] : [idOf(having[status])]
      const query = `/approval-requests?target=${target}&status=${status}`
      for (const order of ['', '&order=ending_soon'])
        expect([status, idsOf(await service.get(query + order))]).toEqual([status, those])
      const waiting = idsOf(await service.get(`${query}&waitingFor=me`, checker))
      expect([status, waiting]).toEqual([status, status === 'PENDING' ? those : []])
    }
  })

  test('by what it is about: each filter leaves the requests that it says, for those who may read them', async () => {
    const since = new Date().toISOString()
    const one = await asked(anAction(), { note: 'Invoice 2026-1147.' })
    const two = await asked(byTwo())
    const own = await ask(anAction({ authority: { principalId: 'bot' } }), {}, bot)
    expect(own.status, own.text).toBe(201)
    const names = new Map([one, two, own.body as ApprovalRequest].map((made, i) => [idOf(made), i + 1]))
    const found = async (query: string, who: { key: string } = maker) => {
      const { status, text, body } = await service.get(
        `/approval-requests?since=${since}&pageSize=100${query}`,
        who,
      )
      expect(status, text).toBe(200)
      return (body['requests'] as ApprovalRequest[]).map((each) => names.get(idOf(each)))
    }
    const cases: readonly (readonly [query: string, requests: readonly number[]])[] = [
      ['', [3, 2, 1]],
      [`&target=${target.toUpperCase()}`, [3, 2, 1]],
      [`&target=${target.slice(0, -1)}`, []],
      ['&capability=SANDBOX:echo', [3, 2, 1]],
      ['&capability=vendor:pay', []],
      ['&policy=by-two', [2]],
      ['&policy=by-one&policyVersion=1.0.0&callerId=tester', [1]],
      ['&policyVersion=9.9.9', []],
      ['&callerId=bot', [3]],
      [`&until=${since}`, []],
      [`&q=${target.slice(1)}&status=PENDING&policy=by-two`, [2]],
      ['&q=nothing-has-this', []],
    ]
    for (const [query, requests] of cases) expect([query, await found(query)]).toEqual([query, requests])
    expect(await found('&callerId=tester', bot)).toEqual([])
    expect(await found('', bot)).toEqual([3])
  })

  test.each([
    ['?status=GONE', 'status must be one of PENDING, APPROVED, DECLINED, EXPIRED, ENDED, USED, WITHDRAWN.'],
    ['?waitingFor=bob', 'waitingFor must be one of me.'],
    ['?order=expiresAt', 'order must be one of newest, ending_soon.'],
    ['?page=0', 'page must be a whole number, 1 or more.'],
    ['?pageSize=0', 'pageSize must be a whole number from 1 to 100.'],
  ])('%s is 400', async (query, error) => {
    expect(reply(await service.get(`/approval-requests${query}`))).toEqual({ status: 400, body: { error } })
  })
})

/** As if the decisions of the rows had been made so long after the opening of their request. */
function took(table: string, column: string, seconds: number, where: string, values: unknown[]) {
  return database.pool.query(
    `UPDATE ${table} AS d SET ${column} = r.created_at + ${seconds} * interval '1 s'
     FROM approval_requests AS r WHERE ${where}`,
    values,
  )
}

describe('GET /statistics/approvals 200', () => {
  test('counts requests by what they are now, and decisions by who made them and how long they took', async () => {
    const since = new Date().toISOString()
    const approved = await asked()
    const twice = await asked(byTwo())
    const [declined, withdrawn, expired] = [
      await asked(under('by-one', {}, { amount: 43 })),
      await asked(under('by-one', {}, { amount: 44 })),
      await asked(under('by-one', {}, { amount: 45 })),
    ]
    await asked(under('by-one', {}, { amount: 46 }))
    await approve(alice, approved)
    await approve(alice, twice)
    await approve(bob, twice)
    expect((await decline(declined)).status).toBe(200)
    expect((await withdraw(withdrawn)).status).toBe(200)
    await expire(expired)
    // Times that do not depend on the machine: of alice 10 and 30 seconds, of bob 30 to approve and 90 to decline.
    await took('approvals', 'delivered_at', 10, 'r.request_hash = d.request_hash AND d.request_hash = $1', [
      approved.requestHash,
    ])
    await took('approvals', 'delivered_at', 30, 'r.request_hash = d.request_hash AND d.request_hash = $1', [
      twice.requestHash,
    ])
    await took(
      'approval_request_closes',
      'closed_at',
      90,
      'r.request_id = d.request_id AND d.request_id = $1::uuid',
      [idOf(declined)],
    )
    const { status, text, body } = await service.get(`/statistics/approvals?since=${since}`, maker)
    expect(status, text).toBe(200)
    expect(body).toMatchObject({
      since,
      requests: {
        opened: 6,
        pending: 1,
        approved: 2,
        declined: 1,
        expired: 1,
        withdrawn: 1,
        ended: 0,
        used: 0,
      },
      decisions: { approved: 3, declined: 1, p50Seconds: 30, p90Seconds: 90 },
      approvers: [
        { approverId: 'alice', approved: 2, declined: 0, p50Seconds: 10, p90Seconds: 30 },
        { approverId: 'bob', approved: 1, declined: 1, p50Seconds: 30, p90Seconds: 90 },
      ],
    })
    const ofAnother = await service.get(`/statistics/approvals?since=${since}`, bot)
    expect(ofAnother.body).toMatchObject({
      requests: { opened: 0 },
      decisions: { approved: 0, declined: 0 },
      approvers: [],
    })
    expect(ofAnother.body['decisions']).not.toHaveProperty('p50Seconds')
    expect(reply(await service.get('/statistics/approvals?since=2026-01-01T00:00:00Z', maker)).status).toBe(
      400,
    )
  })
})

describe('POST /approval-requests/{id}/decline 200', () => {
  // proves abuse: A declined request executed
  test('ends it: what was approved before counts no more, and the reason is signed', async () => {
    const request = await asked(byTwo())
    await approve(alice, request)
    await approve(bob, request)
    const { status, body } = await decline(request)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'DECLINED',
      eligible: [],
      closed: {
        requestId: request.request.requestId,
        requestHash: request.requestHash,
        status: 'DECLINED',
        by: 'checker',
        reason: 'Not this one.',
      },
    })
    expect((await service.post('/execute', byTwo())).status).toBe(403)
    expect(await eventsOf('approval_request.declined', request)).toMatchObject([{ reason: 'Not this one.' }])
    expect(reply(await service.post('/approvals', anApprovalOf(alice, request)))).toEqual({
      status: 409,
      body: { error: 'The approval request is DECLINED already.', code: 'CONFLICT' },
    })
  })

  test('an approval says what became of its request: CLOSED where it was closed or used by others, EXPIRED where it is over', async () => {
    const statusOf = async (status: string) => {
      const { body } = await service.get(`/approvals?status=${status}&pageSize=100`, maker)
      const listed = (body as { approvals: { approvalId: string; approval: object }[] }).approvals
      return listed.filter(({ approval }) => JSON.stringify(approval).includes(`"target":"${target}"`))
    }
    const request = await asked(byTwo())
    await approve(alice, request)
    expect(await statusOf('UNUSED')).toHaveLength(1)
    await decline(request)
    const [closed] = await statusOf('CLOSED')
    expect([closed?.approvalId, await statusOf('UNUSED')]).toEqual([expect.any(String), []])
    expect((await service.get(`/approvals/${closed?.approvalId}`, maker)).body.status).toBe('CLOSED')

    const overdue = await asked(byTwo())
    await approve(alice, overdue)
    await expire(overdue)
    expect(await statusOf('EXPIRED')).toHaveLength(1)

    const used = await asked()
    await approve(alice, used)
    await approve(bob, used)
    expect((await service.post('/execute', anAction())).status).toBe(200)
    expect([await statusOf('USED'), await statusOf('CLOSED')]).toMatchObject([[{}], [{}, {}]])
  })

  test('needs a reason', async () => {
    const request = await asked()
    for (const body of [{}, { reason: ' ' }, { reason: 7 }, { why: 'No.' }]) {
      const { status, body: answered } = await service.post(`${request.url}/decline`, body, checker)
      expect([status, answered.error]).toEqual([400, expect.stringMatching(/^(reason|why) /)])
    }
    expect((await service.post(`${request.url}/withdraw`, { reason: 'x' })).body.error).toMatch(/^reason /)
    for (const path of ['decline', 'withdraw'])
      expect((await service.post(`${request.url}/${path}`, '{', checker)).status).toBe(400)
    expect((await read(request)).status).toBe('PENDING')
  })

  // proves abuse: A declined request executed
  test('races with an execution: one of them has the request', async () => {
    const request = await asked()
    await approve(alice, request)
    const [declined, executed] = await Promise.all([decline(request), other.post('/execute', anAction())])
    expect([
      [200, 403],
      [409, 200],
    ]).toContainEqual([declined.status, executed.status])
    expect((await read(request)).status).toBe(declined.status === 200 ? 'DECLINED' : 'USED')
  })
})

const note = (request: ApprovalRequest, text: unknown, by: object = checker) =>
  service.post(`${request.url}/notes`, { text }, by)

describe('POST /approval-requests/{id}/notes 201', () => {
  // proves abuse: Another person's words on an approval request
  test('is for its requester and who could sign it: signed, shown, in feed and log, and changes nothing that is signed', async () => {
    const request = await asked(byTwo())
    await approve(alice, request)
    const held = service.get(request.url, { headers: { Prefer: 'wait=10' } })
    const question = await note(request, 'Which \u202einvoice?')
    expect([question.status, question.text]).toEqual([201, expect.stringContaining('Which \u202einvoice?')])
    expect((await held).body.notes).toMatchObject([{ by: 'checker' }])
    expect((await note(request, 'That of May.', {})).status).toBe(201)
    const { notes = [], ...standing } = await read(request)
    expect(notes).toMatchObject([
      { by: 'checker', text: 'Which \u202einvoice?', requestHash: request.requestHash },
      { by: 'tester', text: 'That of May.', requestId: request.request.requestId },
    ])
    expect(standing).toMatchObject({
      ...request,
      missing: 1,
      eligible: ['bob'],
      approvals: [{}],
      signals: [{}],
    })
    expect((await eventsOf('approval_request.noted', request)).length).toBe(2)
    const keys = (await service.get('/.well-known/jwks.json')).text
    expect(verifyEvidence(JSON.stringify(await read(request)), keys).verdict).toBe('valid')
    const alone = verifyEvidence(JSON.stringify(notes[0]), keys)
    expect([alone.artifact, alone.verdict]).toEqual(['approval-request-note', 'valid'])
    const another = await asked()
    for (const moved of [
      { ...(await read(another)), notes },
      { ...(await read(request)), notes: [{ ...notes[0], by: 'guest' }] },
    ])
      expect(verifyEvidence(JSON.stringify(moved), keys).verdict).toBe('invalid')

    const { noteId } = notes[0]!
    const following = (key: string) =>
      service.get('/events?limit=1000&types=approval_request.noted', { key }).then(({ body }) => {
        const events = body.events as { requestId: string }[]
        return events.filter(({ requestId }) => requestId === request.request.requestId)
      })
    const events = await until(async () => {
      const found = await following(service.key)
      return found.length === 2 ? found : undefined
    }, 'the events')
    expect(events).toContainEqual(expect.objectContaining({ noteId, by: 'checker', callerId: 'tester' }))
    expect(JSON.stringify(events)).not.toContain('invoice')
    expect(await following(bot.key)).toEqual([])
    const proof = `/log/proofs/approval-request-note/${noteId}`
    expect((await service.get(proof, { headers: { Prefer: 'wait=10' } })).status).toBe(200)

    await approve(bob, request)
    expect((await service.post('/execute', byTwo())).status).toBe(200)
    expect(reply(await note(request, 'Too late?'))).toEqual({
      status: 409,
      body: { error: 'The approval request is USED already.', code: 'CONFLICT' },
    })
  })

  // proves abuse: Another person's words on an approval request; abuse: Notes without end
  test('is refused by anybody else, without a text, and past twenty, also of several at once', async () => {
    const request = await asked()
    expect(reply(await note(request, 'x', bot)).status).toBe(404)
    expect((await note(request, 'x', guest)).body.code).toBe('NOT_AN_ELIGIBLE_APPROVER')
    expect((await service.post('/approval-requests/x/notes', { text: 'x' }, checker)).status).toBe(404)
    expect((await service.post(`${request.url}/notes`, '{', checker)).status).toBe(400)
    for (const text of [undefined, '', ' \n', 7, 'x'.repeat(1_001)])
      expect(reply(await note(request, text))).toEqual({
        status: 400,
        body: { error: expect.stringMatching(/^text /) },
      })
    for (let n = 0; n < 10; n++) expect((await note(request, `${n}`)).status).toBe(201)
    expect((await note(request, 'An eleventh.')).body.error).toBe(
      'You have written 10 notes on the approval request, and can write no more.',
    )
    for (let n = 0; n < 8; n++) expect((await note(request, `${n}`, {})).status).toBe(201)
    const racing = await Promise.all(['a', 'b', 'c', 'd'].map((text) => note(request, text, {})))
    expect(racing.filter(({ status }) => status === 201)).toHaveLength(2)
    const { error } = racing.find(({ status }) => status === 409)!.body
    expect(error).toBe('The approval request has 20 notes, and takes no more.')
    expect((await read(request)).notes).toHaveLength(20)
  })
})

describe('an approval request as evidence', () => {
  test('verifies offline by the keys of the service, whatever became of it; a changed one does not', async () => {
    const keys = (await service.get('/.well-known/jwks.json')).text
    const declined = await asked()
    await decline(declined)
    const withdrawn = await asked()
    await withdraw(withdrawn)
    const approved = await asked()
    await approve(alice, approved)
    for (const request of [declined, withdrawn, approved]) {
      const text = JSON.stringify(await read(request))
      const { verdict, checks, subject } = verifyEvidence(text, keys)
      expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([])
      expect([verdict, subject]).toEqual(['valid', request.request.requestId])
    }
    const { closed, ...open } = await read(declined)
    const end = verifyEvidence(JSON.stringify(closed), keys)
    expect([end.artifact, end.verdict]).toEqual(['approval-request-close', 'valid'])
    const hidden = verifyEvidence(JSON.stringify(open), keys)
    expect(hidden.checks.filter(({ problem }) => problem !== undefined)).toMatchObject([{ name: 'standing' }])
    const page = verifyFile((await service.get('/approval-requests?pageSize=3')).text, keys)
    expect(page.map(({ verdict }) => verdict)).toEqual(['valid', 'valid', 'valid'])
    const changed = put(await read(approved), { quorum: 2 })
    expect(verifyEvidence(JSON.stringify(changed), keys).verdict).toBe('invalid')
  })
})

const put = (asking: ApprovalRequest, change: object) => ({
  ...asking,
  request: { ...asking.request, ...change },
})

describe('POST /approval-requests/{id}/decline 403 notAnEligibleApprover', () => {
  test('a human who is no approver, or whose own principal asks', async () => {
    const request = await asked()
    expect(reply(await decline(request, guest))).toEqual({
      status: 403,
      body: {
        error: 'This caller has no approverId in SERVICE_API_KEYS, which says which approver a human is.',
        code: 'NOT_AN_ELIGIBLE_APPROVER',
      },
    })
    expect((await decline(request, bot)).body.code).toBe('NON_HUMAN_CALLER_DENIED')
    expect((await service.get('/approval-requests?waitingFor=me', guest)).body.error).toMatch(
      /^waitingFor=me needs an approverId of this caller/,
    )
    const own = await ask(anAction({ authority: { principalId: 'alice' } }), { note: 'mine' }, bot)
    expect((await decline(own.body as ApprovalRequest, maker)).body.error).toBe(
      "Approver 'alice' has no key in effect, or is a person who asked for this approval.",
    )
  })
})

describe('POST /approval-requests/{id}/withdraw 200', () => {
  test('ends it for its caller; a second time is 409', async () => {
    const request = await asked()
    await approve(alice, request)
    const { status, body } = await withdraw(request)
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'WITHDRAWN', closed: { by: 'tester', reason: '' } })
    expect(reply(await withdraw(request))).toEqual({
      status: 409,
      body: { error: 'The approval request is WITHDRAWN already.', code: 'CONFLICT' },
    })
    expect((await service.post('/execute', anAction())).status).toBe(403)
  })
})

describe('an approval of a request', () => {
  // proves abuse: An approval bought under one request and used under another
  test.each<[string, (more: object) => object]>([
    ['other parameters', (more) => anAction({ ...more, intent: { target, parameters: { amount: 43 } } })],
    ['another policy', (more) => anAction({ ...more, policy: { name: 'by-two' } })],
    ['other signals', (more) => anAction({ ...more, signals: { approved: true, extra: 1 } })],
  ])('does not count for %s', async (_title, act) => {
    await approve(alice, await asked())
    expect((await service.post('/execute', act({}))).status).toBe(403)
    expect((await service.post('/execute', anAction())).status).toBe(200)
  })

  // proves abuse: An approval bought under one request and used under another
  test('does not count for another caller or another principal', async () => {
    await approve(alice, await asked())
    expect((await service.post('/execute', anAction(), bot)).status).toBe(403)
    const { body } = await ask(anAction({ authority: { principalId: 'bot' } }), {}, bot)
    await approve(alice, body as ApprovalRequest)
    expect((await service.post('/execute', anAction(), bot)).status).toBe(403)
    expect(
      (await service.post('/execute', anAction({ authority: { principalId: 'bot' } }), bot)).status,
    ).toBe(200)
  })

  // proves abuse: An approval bought under one request and used under another
  test('makes no quorum with one of another request', async () => {
    await approve(alice, await asked(byTwo(), { note: 'one' }))
    await approve(bob, await asked(byTwo(), { note: 'two' }))
    expect((await service.post('/execute', byTwo())).status).toBe(403)
  })

  // proves abuse: Hostile text in the reason of an approval
  test('may say why: whoever reads the request or the record sees it, as it was signed', async () => {
    const request = await asked(byTwo())
    const reason = '</bdi><script>alert(1)</script>\u202e\u0007\n{"approverId":"bob"}'
    const by = (members: object) => anApprovalOf(alice, request, { version: 3, ...members })
    const unreadable = await service.post('/approvals', by({ reason: 'a\0' }))
    expect([unreadable.status, unreadable.body.error]).toEqual([
      400,
      'payload.reason must be a text of 1 to 500 characters, without U+0000.',
    ])
    expect((await service.post('/approvals', by({ reason }))).status).toBe(201)
    await approve(bob, request)
    expect((await read(request)).approvals).toMatchObject([
      { approverId: 'alice', reason },
      { approverId: 'bob' },
    ])
    expect((await read(request)).approvals[1]).not.toHaveProperty('reason')
    const executed = await service.post('/execute', byTwo())
    expect(executed.status, executed.text).toBe(200)
    expect(executed.text).toContain(JSON.stringify(reason).slice(1, -1))
  })

  // proves abuse: Two approvers at once
  test('two that come at once: the request lets one execution through', async () => {
    const request = await asked()
    const delivered = await Promise.all([
      service.post('/approvals', anApprovalOf(alice, request)),
      other.post('/approvals', anApprovalOf(bob, request)),
    ])
    expect(delivered.map(({ status }) => status)).toEqual([201, 201])
    expect(await eventsOf('approval_request.approved', request)).toHaveLength(1)
    const executed = await Promise.all([
      service.post('/execute', anAction()),
      other.post('/execute', anAction()),
    ])
    expect(executed.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403])
    expect((await service.post('/execute', anAction())).status).toBe(403)
  })

  // proves abuse: Expired while signing
  test('signed while the request expired is refused, and what was delivered before counts no more', async () => {
    const request = await asked(byTwo())
    await approve(alice, request)
    await expire(request)
    const late = await service.post('/approvals', anApprovalOf(bob, request))
    expect([late.status, late.body.error]).toEqual([409, 'The approval request is EXPIRED already.'])
    expect((await decline(request)).body.error).toBe('The approval request is EXPIRED already.')
    expect(await read(request)).toMatchObject({ status: 'EXPIRED', eligible: [] })
    await until(
      async () => (await eventsOf('approval_request.expired', request)).length === 1,
      'the sweep to tell the audit',
    )
  })

  test('that expired in time does not let the execution through', async () => {
    const request = await asked()
    await approve(alice, request)
    await expire(request)
    expect((await service.post('/execute', anAction())).status).toBe(403)
  })

  // proves abuse: A request changed after it was shown
  test('of a request that was changed after it was shown is refused by the hash', async () => {
    const request = await asked()
    const shown = { ...request.request, parameters: { amount: 1 } }
    const { status, body } = await service.post(
      '/approvals',
      anApprovalOf(alice, {
        ...request,
        request: shown,
        requestHash: sha256(canonicalize(shown)),
      }),
    )
    expect([status, body.error]).toEqual([
      400,
      'payload.requestHash must be the hash of an approval request.',
    ])
  })

  test.each<[string, (request: ApprovalRequest) => Readonly<Record<string, Json>>, string]>([
    [
      'capability',
      () => ({ capability: 'vendor:pay' }),
      'payload.capability must be that of the approval request.',
    ],
    ['target', () => ({ target: 'elsewhere' }), 'payload.target must be that of the approval request.'],
    [
      'parameters',
      () => ({ scope: { parametersHash: '0'.repeat(64) } }),
      'payload.scope.parametersHash must be the hash of the parameters of the approval request.',
    ],
  ])('of another %s is refused by name', async (_member, members, error) => {
    const request = await asked()
    const { status, body } = await service.post('/approvals', anApprovalOf(alice, request, members(request)))
    expect([status, body.error]).toEqual([400, error])
  })

  test('by who asked is refused, and so is a second one of the same approver', async () => {
    const { body } = await ask(anAction({ authority: { principalId: 'alice' } }), {}, bot)
    const own = await service.post('/approvals', anApprovalOf(alice, body as ApprovalRequest))
    expect([own.status, own.body.error]).toEqual([
      400,
      'payload.approverId must not be a person who asked for the approval.',
    ])
    const request = await asked(byTwo())
    await approve(alice, request)
    const again = await service.post('/approvals', anApprovalOf(alice, request))
    expect([again.status, again.body.error]).toEqual([
      409,
      "Approver 'alice' has approved this request already.",
    ])
  })

  // proves abuse: A policy version that changed in between
  test('does not count under another version of the policy', async () => {
    await approve(alice, await asked())
    const { body } = await service.get('/policies/by-one/1.0.0')
    const proposedContent = { ...body.document, policyVersion: '1.0.1' }
    await putInEffect(service, { maker, checker }, '/policies/by-one/1.0.1/pending-changes', {
      reason: 'test',
      proposedContent,
    })
    const underAnother = anAction({ policy: { name: 'by-one', version: '1.0.1' } })
    expect((await service.post('/execute', underAnother)).status).toBe(403)
    expect((await service.post('/execute', anAction())).status).toBe(200)
  })

  test('ends with the policy version that it is bound to', async () => {
    await putInEffect(service, { maker, checker }, '/policies/ending/1.0.0/pending-changes', {
      reason: 'test',
      proposedContent: { ...(await service.get('/policies/by-two/1.0.0')).body.document, policyId: 'ending' },
    })
    const request = await asked(anAction({ policy: { name: 'ending' } }))
    await approve(alice, request)
    const overdue = await asked(anAction({ policy: { name: 'ending' } }), { note: 'overdue' })
    await expire(overdue)
    const { changeId } = await putInEffect(
      service,
      { maker, checker },
      '/policies/ending/1.0.0/pending-changes',
      { action: 'retire', reason: 'test' },
    )
    const ended = { status: 'ENDED', endedBy: { changeId }, eligible: [] }
    expect(await read(request)).toMatchObject(ended)
    const { text } = await service.get(`/approval-requests/${request.request.requestId}`)
    const { verdict } = verifyEvidence(text, (await service.get('/.well-known/jwks.json')).text)
    expect(verdict).toBe('valid')
    // The first to come ended it.
    expect((await read(overdue)).status).toBe('EXPIRED')
    expect((await read(overdue)).endedBy).toBeUndefined()
    const statusOf = async (status: string) => {
      const { body } = await service.get(`/approval-requests?status=${status}&pageSize=100`)
      return (body.requests as ApprovalRequest[]).map(({ request: { requestId } }) => requestId)
    }
    expect(await statusOf('ENDED')).toEqual([request.request.requestId])
    expect(await statusOf('EXPIRED')).not.toContain(request.request.requestId)
    expect(reply(await service.post('/approvals', anApprovalOf(bob, request)))).toEqual({
      status: 409,
      body: { error: 'The approval request is ENDED already.', code: 'CONFLICT' },
    })
    expect(reply(await ask(anAction({ policy: { name: 'ending' } })))).toEqual({
      status: 409,
      body: {
        error: "No approval would help: Policy 'ending' version '1.0.0' is retired.",
        code: 'NOT_APPROVABLE',
      },
    })
    // The sweep leaves those alone that an execution may still be using up.
    await database.pool.query(
      `UPDATE authority SET ended_at = ended_at - interval '15 s' WHERE key = 'ending/1.0.0'`,
    )
    const [event] = await until(async () => {
      const events = await eventsOf('approval_request.ended', request)
      return events.length > 0 ? events : undefined
    }, 'the sweep')
    expect(event!.detail).toMatchObject({ changeId, submittedBy: 'tester' })
    expect(await read(request)).toMatchObject(ended)
    expect(await eventsOf('approval_request.expired', request)).toEqual([])
    await until(async () => {
      const { body } = await service.get('/events?limit=1000&types=approval_request.ended')
      return (body.events as { requestId: string }[]).some(
        ({ requestId }) => requestId === request.request.requestId,
      )
    }, 'the feed')
  })

  test('leaves approvals without a request as they were: both kinds make a quorum', async () => {
    const request = await asked(byTwo())
    await approve(alice, request)
    const limits = aSignedApproval(bob, { target })
    expect((await service.post('/approvals', limits)).status).toBe(201)
    const { status, body } = await service.post('/execute', byTwo())
    expect(status).toBe(200)
    expect(body.verifications[0].status).toBe('VERIFIED')
    expect((await read(request)).status).toBe('USED')
  })
})

describe('the feed and the log', () => {
  test('have every request, its approval, its decline and its expiry, for whose it is', async () => {
    const approved = await asked(anAction(), { note: 'approved' })
    await approve(alice, approved)
    const declined = await asked(anAction(), { note: 'declined' })
    const { body } = await decline(declined)
    const { closeId } = (body as ApprovalRequest).closed!
    const overdue = await asked(anAction(), { note: 'overdue' })
    await expire(overdue)
    const requestIds = [approved, declined, overdue].map(({ request }) => request.requestId)
    const about = async (key: string) => {
      const types = ['opened', 'approved', 'declined', 'expired'].map((one) => `approval_request.${one}`)
      const { body: page } = await service.get(`/events?limit=1000&types=${types.join(',')}`, { key })
      const events = page.events as { type: string; requestId: string }[]
      return events.filter(({ requestId }) => requestIds.includes(requestId))
    }
    const events = await until(async () => {
      const found = await about(service.key)
      return found.length === 6 ? found : undefined
    }, 'the events')
    const typesOf = ({ request: { requestId } }: ApprovalRequest) =>
      events.filter((event) => event.requestId === requestId).map(({ type }) => type)
    expect(typesOf(approved)).toEqual(['approval_request.opened', 'approval_request.approved'])
    expect(typesOf(declined)).toEqual(['approval_request.opened', 'approval_request.declined'])
    expect(typesOf(overdue)).toEqual(['approval_request.opened', 'approval_request.expired'])
    expect(events).toContainEqual(expect.objectContaining({ closeId, by: 'checker', callerId: 'tester' }))
    expect(await about(maker.key)).toEqual(events)
    expect(await about(bot.key)).toEqual([])
    for (const path of [
      `approval-request/${declined.request.requestId}`,
      `approval-request-close/${closeId}`,
    ])
      expect((await service.get(`/log/proofs/${path}`, { headers: { Prefer: 'wait=10' } })).status).toBe(200)
  })
})

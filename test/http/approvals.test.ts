// Signed approvals (decisions §7): delivered once, and used up by the one execution that they cover.
import { beforeEach, describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aHuman, anApprover, aSignedApproval, enrolled, putInEffect, type Approver } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, reply, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const maker = aHuman('maker')
const checker = aHuman('checker')
const bot = aCaller('bot', { allowedPrincipalIds: ['tester', 'alice', 'bot'] })
const alice = anApprover('alice')
const bob = anApprover('bob')
const robert = anApprover('bob', 'k2')
const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'by-one',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
})
addPolicy(policyDir, {
  name: 'by-two',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 2 } },
})

let database: TestDatabase
let service: TestService
let other: TestService
/** Each test has its own, so that no approval of another can stand behind it. */
let target: string
let targets = 0

withDatabase(async ({ database: made, start }) => {
  database = made
  const options = {
    callers: [maker.entry, checker.entry, bot.entry],
    env: { POLICY_DIR: policyDir },
  }
  service = await start(options)
  other = await start({ ...options, signingKeyDir: service.signingKeyDir, key: service.key })
  for (const approver of [alice, bob, robert]) await enrolled(service, { maker, checker }, approver)
})

beforeEach(() => {
  target = `target-${targets++}`
})

const deliver = (approval: object) => service.post('/approvals', approval)
const delivered = async (approver: Approver, members: Readonly<Record<string, Json>> = {}) => {
  const approval = aSignedApproval(approver, { target, ...members })
  const { status, text } = await deliver(approval)
  expect(status, text).toBe(201)
  return approval
}
const stored = async (approvalId: Json | undefined) =>
  (await service.get(`/approvals/${approvalId as string}`, maker)).body as { status: string }
const statusOf = async (approvalId: Json | undefined) => (await stored(approvalId)).status

const anAction = (parameters: object = { amount: 42 }, more: object = {}) =>
  aTransaction({ intent: { target, parameters }, policy: { name: 'by-one' }, ...more })
const byTwo = () => anAction({ amount: 42 }, { policy: { name: 'by-two' } })

const denied = (signal = 'approved') => ({
  status: 403,
  body: {
    error: `Execution rejected: declared signals do not match independently verified state (${signal}=true != verified ${signal}=false).`,
    code: 'POLICY_DENIED',
  },
})

describe('POST /approvals 201', () => {
  test('a delivered approval stands as it was signed, and is not used', async () => {
    const approval = aSignedApproval(alice, { target })
    const { status, body } = await deliver(approval)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      approvalId: approval.payload['approvalId'],
      status: 'UNUSED',
      approval,
      deliveredBy: 'tester',
    })
  })

  test('is audited once, before it is answered; a delivery that is refused is not', async () => {
    const approval = aSignedApproval(alice, { target })
    const { approvalId = '' } = approval.payload
    expect((await deliver(approval)).status).toBe(201)
    expect((await deliver(approval)).status).toBe(409)
    const { body } = await service.get('/audit/events?type=approval.delivered&pageSize=100', maker)
    const events = (body.events as { event: { detail: object } }[]).map(({ event }) => event)
    expect(
      events.filter(({ detail }) => 'approvalId' in detail && detail.approvalId === approvalId),
    ).toMatchObject([
      {
        route: 'POST /approvals',
        callerId: 'tester',
        capability: 'sandbox:echo',
        severity: 'INFO',
        detail: { approvalId, approverId: 'alice', keyId: 'k1' },
      },
    ])
  })
})

describe('GET /approvals 200', () => {
  test('lists the newest first, by status', async () => {
    const first = await delivered(alice)
    const second = await delivered(bob)
    const { body } = await service.get('/approvals?pageSize=2', maker)
    expect(body.approvals.map(({ approvalId }: { approvalId: string }) => approvalId)).toEqual([
      second.payload['approvalId'],
      first.payload['approvalId'],
    ])
    const used = await service.get('/approvals?status=USED', maker)
    expect(new Set(used.body.approvals.map(({ status }: { status: string }) => status))).not.toContain(
      'UNUSED',
    )
    expect((await service.get('/approvals?page=0', maker)).body.error).toContain('page must be')
    expect((await service.get('/approvals?pageSize=0', maker)).body.error).toContain('pageSize must be')
    expect(reply(await service.get('/approvals?status=GONE', maker))).toEqual({
      status: 400,
      body: { error: 'status must be one of UNUSED, USED, EXPIRED, REVOKED, CLOSED.' },
    })
  })

  test('is for humans', async () => {
    expect((await service.get('/approvals')).body.code).toBe('NON_HUMAN_CALLER_DENIED')
  })
})

describe('GET /approvals/{id} 200', () => {
  test('says which execution used it', async () => {
    const { payload } = await delivered(alice)
    const action = anAction()
    expect((await service.post('/execute', action)).status).toBe(200)
    expect(await stored(payload['approvalId'])).toMatchObject({
      status: 'USED',
      consumedBy: action.businessTransactionId,
      consumedAt: expect.any(String) as string,
    })
  })
})

describe('GET /approvals/{id} 404 approvalNotFound', () => {
  test.each(['nobody-gave-this', '%00', 'a%2Fb'])('%s', async (id) => {
    expect(reply(await service.get(`/approvals/${id}`, maker))).toEqual({
      status: 404,
      body: { error: 'Approval not found.' },
    })
  })
})

const of = (members: Readonly<Record<string, Json>>, approver = alice) => aSignedApproval(approver, members)

describe('POST /approvals 400 invalidField', () => {
  const signed = of({})
  const { payload } = signed
  test.each<[string, object, string]>([
    ['a list', [], 'the body must be an object.'],
    ['no payload', { ...signed, payload: undefined }, 'payload is required.'],
    ['an unknown member', { ...signed, note: 'x' }, 'note is not a member that is known here.'],
    ['another version', of({ version: 4 }), 'payload.version must be 1, 2 or 3.'],
    ['no scope', { ...signed, payload: { ...payload, scope: undefined } }, 'payload.scope is required.'],
    // proves abuse: A scope or payload altered
    [
      'two scopes at once',
      of({ scope: { parametersHash: 'a'.repeat(64), limits: [{ path: 'amount', max: 1 }] } }),
      'payload.scope must be {parametersHash} or {limits: [{path, max}]}.',
    ],
    // proves abuse: A scope or payload altered
    [
      'no limits',
      of({ scope: { limits: [] } }),
      'payload.scope must be {parametersHash} or {limits: [{path, max}]}.',
    ],
    ['a short nonce', of({ nonce: 'short' }), 'payload.nonce must be 16 to 128 printable characters.'],
    // proves abuse: An approval from the future
    [
      '30 February',
      of({ issuedAt: '2026-02-30T10:00:00Z' }),
      'payload.issuedAt must be an RFC 3339 timestamp.',
    ],
    // proves abuse: An approval from the future
    [
      'the future',
      of({ issuedAt: '2098-01-01T00:00:00Z', expiresAt: '2099-01-01T00:00:00Z' }),
      'payload.issuedAt must not be in the future.',
    ],
    // proves abuse: An approval from the future
    [
      'what has expired',
      of({ expiresAt: '2026-01-01T00:00:00Z' }),
      'payload.expiresAt must be in the future.',
    ],
    // proves abuse: An approver or key that nobody
    [
      'an unknown approver',
      of({}, anApprover('mallory')),
      "payload.keyId must be an enrolled key of approver 'mallory'.",
    ],
    // proves abuse: An approver or key that nobody
    ['an unknown key', of({ keyId: 'k9' }), "payload.keyId must be an enrolled key of approver 'alice'."],
    // proves abuse: An approver or key that nobody
    [
      'the name of one and the signature of another',
      of({ approverId: 'bob' }),
      'signature must be the signature of bob:k1 over the payload.',
    ],
    // proves abuse: A scope or payload altered
    [
      'a payload that was changed',
      { ...signed, payload: { ...payload, target: 'other' } },
      'signature must be the signature of alice:k1 over the payload.',
    ],
    [
      'another algorithm',
      { ...signed, algorithm: 'ml-dsa-65' },
      'algorithm must be one of ed25519, webauthn-es256, webauthn-ed25519.',
    ],
    // proves abuse: An approver or key that nobody
    [
      'base64 that is not padded',
      { ...signed, signature: signed.signature.replace(/=+$/, '') },
      'signature must be base64 with padding.',
    ],
  ])('%s is refused and not stored', async (_title, body, error) => {
    const before = await database.pool.query('SELECT count(*) FROM approvals')
    expect(reply(await deliver(body))).toEqual({ status: 400, body: { error } })
    expect((await database.pool.query('SELECT count(*) FROM approvals')).rows).toEqual(before.rows)
  })
})

describe('POST /approvals 409 conflict', () => {
  // proves §7 Idempotency Authorization nonces and approval; abuse: An approval used twice: for a second
  test('the same approval again, and its nonce under another id', async () => {
    const approval = await delivered(alice)
    const { nonce = '', approvalId = '' } = approval.payload
    for (const again of [
      approval,
      aSignedApproval(alice, { target, nonce }),
      aSignedApproval(bob, { target, approvalId }),
    ])
      expect(reply(await deliver(again))).toEqual({
        status: 409,
        body: {
          error: 'An approval with this approvalId or this nonce was delivered before.',
          code: 'CONFLICT',
        },
      })
  })
})

describe('an execution whose policy asks for approvals', () => {
  // proves §5 Authentication proves only that a request
  test('carries the approval in its record, which verifies here and is receipted', async () => {
    const approval = await delivered(alice)
    const action = anAction()
    const { status, body } = await service.post('/execute', action)
    expect(status).toBe(200)
    expect(body.executions[0].decision.verifiedSignals).toEqual({
      approved: { value: true, by: 'approval', approvals: [approval], notCounted: [] },
    })
    expect(body.verifications[0].status).toBe('VERIFIED')
    const { businessTransactionId } = action
    expect((await service.post('/verify', { businessTransactionId })).body.status).toBe('VERIFIED')
  })

  // proves §5 Authentication proves only that a request
  test('is denied without one, with a Refusal Record that says why', async () => {
    const action = anAction()
    expect(reply(await service.post('/execute', action))).toEqual(denied())
    const refusal = await service.get(`/refusal/${action.businessTransactionId}`)
    expect(refusal.body.mismatches).toEqual([
      { signal: 'approved', declared: true, verified: false, source: 'approval' },
    ])
    expect(refusal.body.decision.verifiedSignals).toEqual({
      approved: { value: false, by: 'approval', notCounted: [] },
    })
  })

  // proves §7 403 · `POLICY_DENIED` · message; abuse: An approval used twice: for a second
  test('uses an approval up: a second execution under a new id is denied', async () => {
    await delivered(alice)
    expect((await service.post('/execute', anAction())).status).toBe(200)
    expect(reply(await service.post('/execute', anAction()))).toEqual(denied())
  })

  // proves abuse: A fresh approval to run
  test('that was a duplicate uses nothing up', async () => {
    const action = anAction()
    await delivered(alice)
    expect((await service.post('/execute', action)).status).toBe(200)
    const second = await delivered(bob)
    expect((await service.post('/execute', action)).status).toBe(409)
    expect(await statusOf(second.payload['approvalId'])).toBe('UNUSED')
  })

  // proves abuse: Burning an approval without an execution
  test('that its rules reject uses nothing up', async () => {
    const { payload } = await delivered(alice)
    const { status } = await service.post(
      '/execute',
      anAction({ amount: 42 }, { signals: { approved: false } }),
    )
    expect(status).toBe(500)
    expect(await statusOf(payload['approvalId'])).toBe('UNUSED')
  })

  // proves §7 403 · `POLICY_DENIED` · message; §7 Idempotency Authorization nonces and approval
  // proves abuse: An approval used twice: for a second
  test('races for one approval on two instances: one of forty gets it', async () => {
    await delivered(alice)
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? service : other).post('/execute', anAction())),
    )
    const count = (wanted: number) => replies.filter(({ status }) => status === wanted).length
    expect([count(200), count(403)]).toEqual([1, 39])
  })

  test.each<[string, object]>([
    // proves abuse: Approve A, execute B: another
    ['another target', { intent: { target: 'elsewhere', parameters: { amount: 42 } } }],
    // proves abuse: Approve A, execute B: another
    ['an amount over the limit', { intent: { parameters: { amount: 1000.01 } } }],
    // proves abuse: Approve A, execute B: another
    ['an amount that is text', { intent: { parameters: { amount: '42' } } }],
    ['no amount', { intent: { parameters: {} } }],
  ])('an approval within limits does not cover %s', async (_title, { intent }: { intent?: object }) => {
    await delivered(alice)
    const action = aTransaction({ policy: { name: 'by-one' }, intent: { target, ...intent } })
    expect(reply(await service.post('/execute', action))).toEqual(denied())
  })

  test.each<[string, object]>([
    // proves abuse: Approve A, execute B: another
    ['another value', { amount: 43, to: ['a', 'b'] }],
    // proves abuse: Approve A, execute B: another
    ['one more parameter', { amount: 42, to: ['a', 'b'], memo: '' }],
    ['one parameter less', { amount: 42 }],
    // proves abuse: Approve A, execute B: another
    ['a reordered list', { amount: 42, to: ['b', 'a'] }],
    ['text for a number', { amount: '42', to: ['a', 'b'] }],
  ])('an exact approval does not cover %s', async (_title, parameters) => {
    const parametersHash = sha256Hex(canonicalize({ amount: 42, to: ['a', 'b'] }))
    await delivered(alice, { scope: { parametersHash } })
    expect(reply(await service.post('/execute', anAction(parameters)))).toEqual(denied())
    expect((await service.post('/execute', anAction({ to: ['a', 'b'], amount: 4.2e1 }))).status).toBe(200)
  })

  // proves §5 Authentication proves only that a request; abuse: The initiator approves, or the executor
  test('never counts the approval of whoever proposes it: neither its principal nor its caller', async () => {
    await delivered(alice)
    const ofAlice = anAction({ amount: 42 }, { authority: { principalId: 'alice' } })
    expect(reply(await service.post('/execute', ofAlice, bot))).toEqual(denied())
    const botApprover = anApprover('bot')
    await enrolled(service, { maker, checker }, botApprover)
    target = `${target}-bot`
    await delivered(botApprover)
    expect(reply(await service.post('/execute', anAction(), bot))).toEqual(denied())
  })

  // proves abuse: A quorum by one human
  test('counts people, not keys: two keys of one person are one', async () => {
    const first = await delivered(bob)
    await delivered(robert)
    expect(reply(await service.post('/execute', byTwo()))).toEqual(denied())
    expect(await statusOf(first.payload['approvalId'])).toBe('UNUSED')
    await delivered(alice)
    const { status, body } = await service.post('/execute', byTwo())
    expect(status).toBe(200)
    expect(body.executions[0].decision.verifiedSignals.approved.approvals).toHaveLength(2)
  })

  // proves abuse: A quorum spliced from approvals
  test('does not splice a quorum of approvals for different actions', async () => {
    await delivered(alice, { scope: { parametersHash: sha256Hex(canonicalize({ amount: 42 })) } })
    await delivered(bob, { scope: { parametersHash: sha256Hex(canonicalize({ amount: 43 })) } })
    expect(reply(await service.post('/execute', byTwo()))).toEqual(denied())
  })

  // proves abuse: An approval from the future
  test('does not count what has expired since it was delivered', async () => {
    const { payload } = await delivered(alice)
    await database.pool.query(`UPDATE approvals SET expires_at = now() WHERE approval_id = $1`, [
      payload['approvalId'],
    ])
    expect(reply(await service.post('/execute', anAction()))).toEqual(denied())
    expect(await statusOf(payload['approvalId'])).toBe('EXPIRED')
  })

  // proves abuse: A revoked approver, also with an approval
  test('does not count the approval of a key that was revoked; a record from before still verifies', async () => {
    const carol = anApprover('carol')
    await enrolled(service, { maker, checker }, carol)
    await delivered(carol)
    const before = anAction()
    expect((await service.post('/execute', before)).status).toBe(200)
    const { payload } = await delivered(carol)
    await putInEffect(service, { maker, checker }, '/approvers/changes', {
      action: 'revoke',
      approverId: 'carol',
      keyId: 'k1',
      reason: 'left',
    })
    expect(reply(await service.post('/execute', anAction()))).toEqual(denied())
    expect(await statusOf(payload['approvalId'])).toBe('REVOKED')
    expect((await deliver(aSignedApproval(carol, { target }))).status).toBe(400)
    const { businessTransactionId } = before
    expect((await service.post('/verify', { businessTransactionId })).body.status).toBe('VERIFIED')
  })

  test('is carried out at once on another instance than the one that enrolled the approver', async () => {
    const dave = anApprover('dave')
    await enrolled(service, { maker, checker }, dave)
    expect((await other.post('/approvals', aSignedApproval(dave, { target }))).status).toBe(201)
    expect((await other.post('/execute', anAction())).status).toBe(200)
  })
})

// POST /sandbox/evaluate (decisions §9): the decision and every problem of a transaction, of any JSON at all, and nothing changes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import evaluation from '../../src/server/openapi/examples/sandbox-evaluation.json' with { type: 'json' }
import { badTransactions, changed } from '../bad-transactions.ts'
import { rowsOfEveryTable, type TestDatabase } from '../database.ts'
import { addPolicy } from '../policies.ts'
import { aCaller, reply, startService, type CallOptions, type TestService } from '../service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const narrow = aCaller('narrow', { allowedPrincipalIds: ['alice'], allowedCapabilities: ['vendor:pay'] })
const payer = { name: 'payer', version: '1.0.0' }
const refund = { name: 'refund', version: '1.0.0' }

let database: TestDatabase
let service: TestService
let policyDir: string

withService((made) => ({ database, service } = made), {
  callers: [narrow.entry],
  addPolicies(folder) {
    policyDir = folder
    addPolicy(folder, { ...payer, capability: 'vendor:pay' })
    addVerifyingPolicy(folder)
  },
})

function addVerifyingPolicy(folder: string): void {
  mkdirSync(join(folder, refund.name, refund.version), { recursive: true })
  writeFileSync(
    join(folder, refund.name, refund.version, 'policy.yaml'),
    `policyId: refund
policyVersion: 1.0.0
schemaVersion: 1.0.0
description: Made by a test.
capabilities: [sandbox:echo]
signals: { amount: number, humanApproved: boolean }
bindings: { amount: intent.parameters.amount }
verify: { humanApproved: { by: approval, quorum: 2 } }
rules:
  - { id: dated, when: 'has(metadata.submittedAt) && metadata.submittedAt < timestamp("2000-01-01T00:00:00Z")', outcome: reject, reason: Too old. }
  - { id: noted, when: 'intent.parameters.note == "no"', outcome: reject, reason: Noted. }
  - { id: approved, when: signals.humanApproved && signals.amount > 0.0, outcome: approve, reason: A human approved. }
`,
  )
}

const evaluate = async (body: unknown, options: CallOptions = {}) => {
  const answer = await service.post('/sandbox/evaluate', body, options)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const paths = (findings: { path: string }[]) => findings.map(({ path }) => path)
const wouldAnswer = (status: number, body: object) => ({ status, ...body })

describe('POST /sandbox/evaluate 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('a transaction that would be executed, with the trace of every rule', async () => {
    expect(await evaluate(aTransaction())).toEqual(evaluation)
  })

  test('a rejection, with the rules behind the one that decided', async () => {
    expect(await evaluate(aRejectedTransaction())).toMatchObject({
      valid: true,
      decision: {
        outcome: 'REJECTED',
        reason: 'Amount above 1000.',
        matchedRuleId: 'too-large',
        evaluatedRules: ['too-large'],
        rules: [
          { id: 'too-large', matched: true },
          { id: 'approved', matched: true },
        ],
      },
      wouldAnswer: {
        status: 500,
        error: 'Execution rejected: Amount above 1000.',
        code: 'RUNTIME_ERROR',
      },
    })
  })

  test('a mismatch, beside what the rules say', async () => {
    const answer = await evaluate(aMismatchedTransaction())
    expect(answer).toMatchObject({
      valid: false,
      problems: [
        {
          path: 'signals.amount',
          message: "Signal 'amount' must equal intent.parameters.amount: amount=42 != verified amount=7.",
        },
      ],
      decision: {
        outcome: 'DENIED',
        rules: [{ matched: false }, { matched: true }],
        mismatches: [{ signal: 'amount', declared: 42, verified: 7, source: 'intent.parameters.amount' }],
      },
      wouldAnswer: { status: 403, code: 'POLICY_DENIED' },
    })
  })

  test('state that would have to be verified, without verifying it', async () => {
    const transaction = {
      ...aTransaction({ policy: refund, intent: { parameters: { amount: 42, note: 'yes' } } }),
      signals: { amount: 42, humanApproved: true },
    }
    expect(await evaluate(transaction)).toMatchObject({
      valid: true,
      decision: {
        outcome: 'APPROVED',
        pendingVerification: [{ signal: 'humanApproved', by: 'approval', quorum: 2, declared: true }],
      },
      wouldAnswer: { status: 200 },
    })
  })

  test('a rule that cannot be evaluated, by its column', async () => {
    const transaction = { ...aTransaction({ policy: refund }), signals: { amount: 42, humanApproved: true } }
    const { decision } = await evaluate(transaction)
    expect(decision.outcome).toBe('REJECTED')
    expect(decision.rules).toEqual([
      { id: 'dated', outcome: 'reject', matched: false },
      {
        id: 'noted',
        outcome: 'reject',
        matched: null,
        error: expect.stringContaining('note'),
        column: expect.any(Number),
      },
      { id: 'approved', outcome: 'approve', matched: true },
    ])
  })

  test('signals that are missing, mistyped and undeclared, all at once', async () => {
    const transaction = { ...aTransaction(), signals: { approved: 1, amuont: 42 } }
    const answer = await evaluate(transaction)
    expect(answer.problems).toEqual([
      { path: 'signals.amount', message: "Signal 'amount' is missing." },
      { path: 'signals.approved', message: "Signal 'approved' must be a boolean." },
    ])
    expect(paths(answer.warnings)).toEqual(['signals.amuont'])
    expect(answer.wouldAnswer).toEqual({
      status: 500,
      error: "Execution rejected: Signal 'amount' is missing.",
      code: 'RUNTIME_ERROR',
    })
  })

  test('every problem of a broken body at once, and the decision it would get all the same', async () => {
    const whole = aTransaction({
      authority: { authorityId: 'x', issuedAt: 'yesterday', principalId: 'somebody' },
      intent: { target: ' ', createdAt: 5, parameters: { amount: 42, lines: [{ id: 1e300 }] } },
    })
    const { authorization: _, ...broken } = whole
    const answer = await evaluate({ ...broken, signlas: {} })
    expect(paths(answer.problems)).toEqual([
      'authorization',
      'authorization.authorityId',
      'intent.authorizationId',
      'intent.target',
      'authority.authorityId',
      'authority.issuedAt',
      'authorization.authorizationId',
      'authorization.authorityId',
      'authorization.issuedAt',
      'intent.createdAt',
      'intent.parameters.lines[0].id',
      'authority.principalId',
    ])
    expect(paths(answer.warnings)).toEqual(['signlas'])
    expect(answer.decision).toMatchObject({ outcome: 'APPROVED', matchedRuleId: 'approved' })
    expect(answer.wouldAnswer).toEqual({ status: 500, error: 'Internal Server Error' })
  })

  test('what is outside of the scope of its caller', async () => {
    const answer = await evaluate(aTransaction({ authority: { principalId: 'bob' } }), narrow)
    expect(answer.problems).toEqual([
      {
        path: 'authority.principalId',
        message: 'Caller is not permitted to assert this authority.principalId.',
      },
      { path: 'intent.action', message: 'Caller is not permitted to invoke this capability.' },
    ])
    expect(answer.decision.outcome).toBe('APPROVED')
    expect(answer.wouldAnswer).toEqual({ status: 403, error: answer.problems[0].message })
  })

  test('an action that the policy does not govern and that has no connector', async () => {
    const answer = await evaluate(aTransaction({ intent: { action: 'nobody:acts' } }))
    expect(answer.connector).toEqual({ registered: false })
    expect(answer.problems).toEqual([
      {
        path: 'intent.action',
        message: "Policy 'sandbox-echo' version '1.0.0' does not govern action 'nobody:acts'.",
      },
      { path: 'intent.action', message: 'No connector registered for action: nobody:acts.' },
    ])
  })

  test('a version that is not approved: the answer it would get, and what its rules would say', async () => {
    await database.pool.query(
      `INSERT INTO authority (kind, key, target, stated, stated_hash)
      SELECT kind, 'sandbox-echo/2.0.0', 'sandbox-echo/2.0.0',
        replace(stated, '"policyVersion":"1.0.0"', '"policyVersion":"2.0.0"'), stated_hash
      FROM authority WHERE key = 'sandbox-echo/1.0.0'`,
    )
    const other = await startService({ databaseUrl: database.url, env: { POLICY_DIR: policyDir } })
    const { body } = await other.post('/sandbox/evaluate', aTransaction({ policy: { version: '2.0.0' } }))
    const reason = "Policy 'sandbox-echo' version '2.0.0' is not approved."
    expect(body).toMatchObject({
      valid: false,
      problems: [{ path: 'policy.version', message: reason }],
      decision: {
        outcome: 'REJECTED',
        reason,
        evaluatedRules: [],
        rules: [{ matched: false }, { matched: true }],
      },
      wouldAnswer: { status: 500, error: `Execution rejected: ${reason}` },
    })
    expect(await other.stop()).toBe(0)
  })
})

describe('what POST /execute answers is what the sandbox said', () => {
  test.each<[string, unknown, CallOptions]>([
    ['approved', aTransaction(), {}],
    ['rejected', aRejectedTransaction(), {}],
    ['denied', aMismatchedTransaction(), {}],
    ['a signal missing', { ...aTransaction(), signals: { amount: 42 } }, {}],
    ['an unknown policy', aTransaction({ policy: { name: 'none' } }), {}],
    [
      'no connector',
      { ...aTransaction({ policy: payer, intent: { action: 'vendor:pay' } }), signals: { approved: true } },
      {},
    ],
    ['not governed', aTransaction({ policy: payer }), {}],
    ['principal', aTransaction({ authority: { principalId: 'bob' } }), narrow],
    ['capability', aTransaction({ authority: { principalId: 'alice' } }), narrow],
    ['a list', [aTransaction()], {}],
  ])('%s', async (_, transaction, caller) => {
    const said = (await evaluate(transaction, caller)).wouldAnswer
    const { status, body } = await service.post('/execute', transaction, caller)
    expect(said).toEqual(status === 200 ? { status } : wouldAnswer(status, body as object))
  })

  test('for every bad body, and its first problem is the one that is told', async () => {
    const bad = badTransactions()
    const seen = await Promise.all(
      bad.map(async ({ title, body }) => {
        const { problems, wouldAnswer: said, valid } = await evaluate(body)
        const executed = await service.post('/execute', body)
        return { title, valid, first: problems[0].message as string, said, executed: reply(executed) }
      }),
    )
    expect(bad.length).toBeGreaterThan(150)
    for (const [i, { title, valid, first, said, executed }] of seen.entries()) {
      const { status = 0, error = '' } = bad[i] ?? {}
      expect({ title, valid, executed }).toEqual({
        title,
        valid: false,
        executed: { status, body: { error } },
      })
      expect({ title, said }).toEqual({ title, said: { status, error } })
      // The sandbox says of an id which UUIDs are taken.
      if (error.startsWith('businessTransactionId ')) expect(first, title).toMatch(/version 1 to 5\.$/)
      else if (status === 400) expect({ title, first }).toEqual({ title, first: error })
      else expect(first, title).toMatch(/^\w+ (is required|must be an object)\.$/)
    }
  })
})

const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('JSON of any shape is answered 200', () => {
  test.each([
    'null',
    '[]',
    '{}',
    '5',
    '"text"',
    'true',
    '[[[null]]]',
    deep(64),
    '{"signals":null,"policy":{"name":["sandbox-echo"],"version":{}}}',
    '{"policy":{"name":"sandbox-echo","version":"1.0.0"},"intent":{"action":"sandbox:echo"},"signals":[1]}',
    '{"policy":{"name":"constructor","version":"toString"},"intent":{"action":"valueOf"}}',
    '{"metadata":5,"authority":"x","authorization":[],"intent":true,"policy":null,"signals":7}',
    `{"intent":{"action":"sandbox:echo","parameters":${deep(60)}},"policy":{"name":"sandbox-echo","version":"1.0.0"}}`,
    '{"constructor":{"name":1},"toString":[]}',
    JSON.stringify({ signals: { '\0': '\0', 'a\u2028b': [] }, '\0': 1 }),
  ])('%s', async (body) => {
    const answer = await evaluate(body)
    expect(answer.valid).toBe(false)
    expect(answer.problems[0].message).toBe('businessTransactionId must be a UUID of version 1 to 5.')
    expect(answer.wouldAnswer).toEqual({ status: 400, error: 'businessTransactionId must be a valid UUID.' })
  })

  test.each([
    ['01932B5E-7e6c-7000-8000-000000000000', ' This one is of version 7.'],
    ['1ef9c1de-5b10-6c2e-9c5d-000000000000', ' This one is of version 6.'],
    ['00000000-0000-0000-0000-000000000000', ''],
    ['6f9619ff-8b86-4d11-c42d-00c04fc964ff', ''],
  ])(
    'the id %s: which UUIDs are taken is said, and POST /execute answers as its contract has it',
    async (id, more) => {
      const answer = await evaluate(JSON.stringify({ ...aTransaction(), businessTransactionId: id }))
      expect(answer.problems[0].message).toBe(
        `businessTransactionId must be a UUID of version 1 to 5.${more}`,
      )
      expect(answer.wouldAnswer).toEqual({
        status: 400,
        error: 'businessTransactionId must be a valid UUID.',
      })
    },
  )

  test('and the answer stays bounded, however much is wrong', async () => {
    const name = 'n'.repeat(20_000)
    const bodies = [
      {
        ...aTransaction(),
        signals: Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`s${i}`, null])),
      },
      changed('intent.parameters', { [name]: { [name]: Array.from({ length: 2_000 }, () => 2 ** 60) } }),
      Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`f${i}`, 1])),
    ]
    for (const body of bodies) {
      const answer = await service.post('/sandbox/evaluate', JSON.stringify(body))
      expect(answer.status).toBe(200)
      expect(answer.text.length).toBeLessThan(1_000_000)
      const listed = [...answer.body.problems, ...answer.body.warnings] as { path: string }[]
      expect(paths(listed)).toContain('')
    }
  })
})

test('nothing changes: no row of any table, and the id stays free', async () => {
  const transaction = aTransaction()
  await service.post('/execute', aTransaction())
  const before = await rowsOfEveryTable(database)
  for (const body of [
    transaction,
    aRejectedTransaction(),
    aMismatchedTransaction(),
    aTransaction({ policy: { name: 'none' } }),
    aTransaction({ authority: { principalId: 'x' } }),
    'null',
  ])
    await evaluate(body)
  await evaluate(transaction, narrow)
  expect(await rowsOfEveryTable(database)).toEqual(before)
  expect(Object.keys(before)).toContain('audit_events')
  expect(before['business_transactions']).toBeGreaterThan(0)
  expect((await service.post('/execute', transaction)).status).toBe(200)
  // A taken id is not looked at.
  expect((await evaluate(transaction)).wouldAnswer).toEqual({ status: 200 })
})

test('of thousands of problems the first fifty are told, and that there are more', async () => {
  const signals = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`s${i}`, 'x']))
  const { problems } = await evaluate(aTransaction({ signals }))
  expect(problems).toHaveLength(51)
  expect(problems.at(-1)).toEqual({ path: '', message: 'More problems exist; fix these to see them.' })
})

// The formats of an approval request: its hash and its action code by vectors made with Python's json and hashlib, and the comparison of
// an execution with it.
import { describe, expect, test } from 'vitest'
import { actionCode } from '../../src/formats/approval-requests/action-code.ts'
import { requestHash } from '../../src/formats/approval-requests/request-hash.ts'
import { requestProblem, type RequestedAction } from '../../src/formats/artifacts/request-problem.ts'
import { shapeOf } from '../../src/core/json/shape.ts'
import { SignedApproval } from '../../src/formats/schemas/approval.ts'
import { ApprovalRequestContent } from '../../src/formats/schemas/approval-request.ts'
import { sha256Hex } from '../../src/store/sha256.ts'

const content: ApprovalRequestContent = {
  requestId: '3f2b8a53-0c1e-4d8e-9a55-6a7c1e0b7d11',
  requestedBy: 'payments-agent',
  principalId: 'erin',
  capability: 'sandbox:echo',
  target: 'invoice-7',
  parameters: { to: 'Zoë', amount: 250 },
  signals: { humanApproved: true },
  policy: { name: 'payments', version: '1.0.0', contentHash: 'ab'.repeat(32) },
  quorum: 1,
  note: 'Invoice 7, due Friday',
  createdAt: '2026-11-23T12:00:00.000Z',
  expiresAt: '2026-11-23T13:00:00.000Z',
}

test('the request hash is SHA-256 of the canonical content', () => {
  expect(shapeOf(ApprovalRequestContent)(content)).toEqual({ value: content })
  expect(requestHash(content, sha256Hex)).toBe(
    'd3cf3b47e719b53cbea9b931021d42f60e476f277d22cfed72c8f4468393d595',
  )
})

describe('the action code', () => {
  test('is three groups of four of Crockford’s base32', () => {
    expect(actionCode(content, sha256Hex)).toBe('J481-5QQ0-F067')
    expect(actionCode({ ...content, parameters: {} }, sha256Hex)).toBe('ZXYN-TWNM-4RTC')
  })

  test('is of the action alone: neither the time nor the signals nor the note change it', () => {
    const other = { ...content, note: '', signals: {}, quorum: 2, expiresAt: '2026-11-23T14:00:00.000Z' }
    expect(actionCode(other, sha256Hex)).toBe(actionCode(content, sha256Hex))
    const policy = { ...content.policy, contentHash: 'cd'.repeat(32) }
    expect(actionCode({ ...content, policy }, sha256Hex)).toBe(actionCode(content, sha256Hex))
  })
})

describe('an execution is compared with the request', () => {
  const asked: RequestedAction = {
    ...content,
    parameters: { amount: 250, to: 'Zoë' },
    verified: ['humanApproved'],
    evaluatedAt: '2026-11-23T12:30:00.000Z',
  }

  test('the one that was asked for', () => {
    expect(requestProblem(content, asked)).toBeUndefined()
    expect(requestProblem(content, { ...asked, evaluatedAt: content.createdAt })).toBeUndefined()
  })

  test('one with a verified signal that the service filled in', () => {
    const signals = { humanApproved: true, paidToday: 3 }
    const verified = ['humanApproved', 'paidToday']
    expect(requestProblem(content, { ...asked, signals, verified })).toBeUndefined()
  })

  // proves abuse: An approval bought under one request
  test.each<[string, Partial<RequestedAction>, string]>([
    ['by another caller', { requestedBy: 'other' }, 'was asked for by another caller'],
    ['for another principal', { principalId: 'other' }, 'was asked for by another principal'],
    ['of another capability', { capability: 'bank:pay' }, 'was asked for another capability'],
    ['of another target', { target: 'invoice-8' }, 'was asked for another target'],
    ['with other parameters', { parameters: { amount: 251, to: 'Zoë' } }, 'was asked for other parameters'],
    [
      'under another version of the policy',
      { policy: { ...content.policy, version: '1.0.1' } },
      'was asked for under another policy',
    ],
    [
      'under another content of the policy',
      { policy: { ...content.policy, contentHash: 'cd'.repeat(32) } },
      'was asked for under another content of the policy',
    ],
    [
      'with another value of a signal',
      { signals: { humanApproved: false } },
      'was asked for with other signals',
    ],
    ['without a signal', { signals: {} }, 'was asked for with other signals'],
    [
      'with one more declared signal',
      { signals: { humanApproved: true, urgent: true } },
      'was asked for with other signals',
    ],
    ['before it was asked for', { evaluatedAt: '2026-11-23T11:59:59.999Z' }, 'was asked for later'],
    ['at its end', { evaluatedAt: content.expiresAt }, 'is for a request that was expired'],
  ])('one %s', (_, changed, problem) => {
    expect(requestProblem(content, { ...asked, ...changed })).toBe(problem)
  })

  test('anything else than a request', () => {
    for (const request of [undefined, null, [], 'text', {}])
      expect(requestProblem(request, asked)).toMatch(/^(is|was) /)
  })
})

describe('an approval of version 2 or 3', () => {
  const shape = shapeOf(SignedApproval)
  const payload = {
    version: 2,
    approvalId: 'a',
    approverId: 'dana',
    keyId: 'laptop',
    capability: content.capability,
    target: content.target,
    scope: { parametersHash: 'ab'.repeat(32) },
    requestHash: 'cd'.repeat(32),
    issuedAt: content.createdAt,
    expiresAt: content.expiresAt,
    nonce: '0123456789abcdef',
  }
  const approval = (changed: object) => ({
    payload: { ...payload, ...changed },
    algorithm: 'ed25519',
    signature: '',
  })
  const problem =
    'payload must be of version 1 without requestHash and reason, of version 2 with requestHash and scope.parametersHash and without reason, or of version 3, which may have a reason too.'

  test('names its request and the parameters', () => {
    expect(shape(approval({}))).toHaveProperty('value')
    expect(shape(approval({ requestHash: undefined }))).toEqual({ problem })
    expect(shape(approval({ scope: { limits: [{ path: 'amount', max: 500 }] } }))).toEqual({ problem })
  })

  // proves abuse: Hostile text in the reason of an approval
  test('of version 3 says why, in 1 to 500 characters that PostgreSQL reads', () => {
    const reasoned = (reason: unknown) => shape(approval({ version: 3, reason }))
    for (const reason of [undefined, 'Right.', '\n\u202eRight.\u0007', '😀'.repeat(500)])
      expect(reasoned(reason)).toHaveProperty('value')
    for (const reason of ['', ' \n ', 'a'.repeat(501), `${'a\u0301'.repeat(250)}a`, 'a\0', 7, null])
      expect(reasoned(reason)).toEqual({
        problem: 'payload.reason must be a text of 1 to 500 characters, without U+0000.',
      })
    expect(shape(approval({ reason: 'Right.' }))).toEqual({ problem })
    expect(shape(approval({ version: 1, requestHash: undefined, reason: 'Right.' }))).toEqual({ problem })
    expect(shape(approval({ version: 3, requestHash: undefined }))).toEqual({ problem })
  })

  test('is the only one that names a request', () => {
    expect(shape(approval({ version: 1 }))).toEqual({ problem })
    expect(shape(approval({ version: 4 }))).toEqual({ problem: 'payload.version must be 1, 2 or 3.' })
  })
})

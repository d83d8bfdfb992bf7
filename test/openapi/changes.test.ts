// The other kinds are looked into as test/http/governance.test.ts does for changes of policies: one code path, and so one answer.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aHuman, anApprover, anEnrolment, aStepUp, proposed, resolved, type Change } from '../authority.ts'
import type { TestService } from '../service.ts'
import { withService } from '../with-service.ts'

const maker = aHuman('maker')
const checker = aHuman('checker')

let service: TestService

withService((made) => ({ service } = made), { callers: [maker.entry, checker.entry] })

let n = 0
const kinds: [path: string, proposal: () => object][] = [
  ['/approvers/changes', () => anEnrolment(anApprover(`approver-${n++}`))],
  [
    '/external-connectors/changes',
    () => ({
      action: 'register',
      capability: `kind:verb-${n++}`,
      endpointUrl: 'https://1.1.1.1/',
      policy: 'vendor-payment',
      allowedParameters: [],
      reason: 'test',
    }),
  ],
  [
    '/approver-groups/changes',
    () => ({ action: 'set', group: `group-${n++}`, members: ['alice'], reason: 'test' }),
  ],
  [
    '/stand-ins/changes',
    () => ({
      action: 'set',
      for: `approver-${n++}`,
      by: 'alice',
      from: '2027-01-01T00:00:00Z',
      until: '2027-01-15T00:00:00Z',
      reason: 'test',
    }),
  ],
  ['/webhook-rules/changes', () => ({ provider: `provider_${n++}`, rules: [], reason: 'test' })],
  [
    '/event-endpoints/changes',
    () => ({
      action: 'register',
      url: `http://127.0.0.1:9/${n++}`,
      types: ['change.resolved'],
      reason: 'test',
    }),
  ],
  [
    '/caller-keys/changes',
    () => ({
      action: 'issue',
      callerId: `caller-${n}`,
      keyHash: sha256Hex(`key ${n++}`),
      allowedCapabilities: ['sandbox:echo'],
      reason: 'test',
    }),
  ],
]

describe.each(kinds)('%s', (path, proposal) => {
  const aChange = () => proposed(service, maker, path, proposal())
  const post = (below: string, body: unknown) => service.post(`${path}/${below}`, body, { key: checker.key })

  test('are listed alone, newest first and by status, and each is shown as it was proposed', async () => {
    const read = (of: string) => service.get(`${path}${of}`, { key: checker.key })
    const [older, change] = [await aChange(), await aChange()]
    expect((await read('?status=PENDING_APPROVAL&pageSize=2')).body).toEqual({ changes: [change, older] })
    expect((await read(`/${change.changeId}`)).body).toEqual(change)
    await resolved(service, checker, older, 'reject', { rejectionReason: 'No.' })
    const { body } = await read('?status=REJECTED&pageSize=100')
    const listed = body.changes as Change[]
    expect(listed.map(({ changeId }) => changeId)).toContain(older.changeId)
    expect(new Set(listed.map(({ kind }) => kind)).size).toBe(1)
    expect((await read(`?status=REJECTED&page=${listed.length + 1}&pageSize=1`)).body).toEqual({
      changes: [],
    })
  })

  test('are none of another kind, and no other id is one', async () => {
    const [otherPath, other] = kinds.find(([of]) => of !== path)!
    const { changeId } = await proposed(service, maker, otherPath, other())
    for (const id of [changeId, randomUUID(), 'x', '%00', "'--"])
      expect((await service.get(`${path}/${id}`, { key: maker.key })).status).toBe(404)
  })

  test.each([
    ['page=0', 'page must be a whole number, 1 or more.'],
    ['pageSize=101', 'pageSize must be a whole number from 1 to 100.'],
    ['status=OPEN', 'status must be one of PENDING_APPROVAL, APPROVED, REJECTED.'],
  ])('lists nothing for %s', async (query, error) => {
    const { status, body } = await service.get(`${path}?${query}`, { key: checker.key })
    expect([status, body.error]).toEqual([400, error])
  })

  describe.each(['approve', 'reject'] as const)('%s', (action) => {
    const more = action === 'reject' ? { rejectionReason: 'No.' } : {}

    test('finds no change that is none', async () => {
      const none = { changeId: randomUUID(), changeHash: 'a'.repeat(64) }
      const body = { stepUpAuthorization: aStepUp(checker, none, action), ...more }
      expect((await post(`${none.changeId}/${action}`, body)).status).toBe(404)
    })

    test('is not for who proposed it', async () => {
      const { status, body } = await resolved(service, maker, await aChange(), action, more)
      expect([status, body.code]).toEqual([403, 'SAME_ACTOR_CANNOT_APPROVE_OWN_CHANGE'])
    })

    test('takes no step-up of somebody else', async () => {
      const change = await aChange()
      const body = { stepUpAuthorization: aStepUp(maker, change, action), ...more }
      const answer = await post(`${change.changeId}/${action}`, body)
      expect([answer.status, answer.body.code]).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
    })

    test('takes no member that nobody reads', async () => {
      const change = await aChange()
      const body = { stepUpAuthorization: aStepUp(checker, change, action), ...more, force: true }
      expect((await post(`${change.changeId}/${action}`, body)).status).toBe(400)
    })

    test('happens once', async () => {
      const change: Change = await aChange()
      expect((await resolved(service, checker, change, action, more)).status).toBe(200)
      const again = await resolved(service, checker, change, action, more)
      expect([again.status, again.body.code]).toEqual([409, 'CONFLICT'])
    })
  })

  test('rejects nothing without a reason', async () => {
    const answer = await resolved(service, checker, await aChange(), 'reject')
    expect([answer.status, answer.body.error]).toEqual([400, 'rejectionReason is required.'])
  })
})

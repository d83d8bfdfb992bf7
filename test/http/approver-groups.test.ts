// Groups of approvers: whose approvals count where a policy names groups, at the time of the execution, and what the evidence says of it.
import { beforeEach, describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import {
  aHuman,
  anApprovalOf,
  anApprover,
  aSignedApproval,
  enrolled,
  proposed,
  putInEffect,
  resolved,
  type Approver,
  type Change,
} from '../authority.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, reply, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const maker = aHuman('maker', { approverId: 'alice' })
const checker = aHuman('checker', { approverId: 'carol' })
const humans = { maker, checker }
const auditor = aCaller('auditor', { readAll: true })
const bot = aCaller('bot', { allowedPrincipalIds: ['bot', 'bob'] })
const [alice, bob, carol] = [anApprover('alice'), anApprover('bob'), anApprover('carol')]
const GROUPS = '/approver-groups/changes'

const bands = {
  name: 'bands',
  version: '1.0.0',
  capability: 'sandbox:echo',
  signals: { managerApproved: 'boolean', topApproved: 'boolean' },
  verify: {
    managerApproved: { by: 'approval', quorum: 1, from: ['managers'] },
    topApproved: { by: 'approval', quorum: 1, from: ['directors', 'owners'] },
  },
  rules: [
    {
      id: 'small',
      when: 'intent.parameters.amount <= 100.0 && signals.managerApproved',
      outcome: 'approve',
      reason: 'A manager has looked.',
    },
    {
      id: 'large',
      when: 'signals.managerApproved && signals.topApproved',
      outcome: 'approve',
      reason: 'A manager and a director have looked.',
    },
  ],
}
const policyDir = aPolicyFolder()
addPolicy(policyDir, bands)

let service: TestService
let target: string
let targets = 0

const set = (group: string, members: readonly string[]) =>
  putInEffect(service, humans, GROUPS, { action: 'set', group, members, reason: 'test' })

withDatabase(async ({ start }) => {
  service = await start({
    callers: [maker.entry, checker.entry, auditor.entry, bot.entry],
    env: { POLICY_DIR: policyDir },
  })
  for (const approver of [alice, bob, carol]) await enrolled(service, humans, approver)
  await set('managers', ['bob', 'alice'])
  await set('directors', ['bob'])
})

beforeEach(() => {
  target = `target-${targets++}`
})

/** The reply to a proposed change of a group. */
const post = async (body: object) =>
  reply(await service.post(GROUPS, { reason: 'test', ...body }, { key: maker.key }))

const waitsFor = async (one: { key: string }) => {
  const { body } = await service.get('/approval-requests?waitingFor=me', one)
  const { requests } = body as { requests: ApprovalRequest[] }
  return requests.some(({ request }) => request.target === target)
}

const anAction = (amount: number, more: object = {}) => ({
  ...aTransaction({ intent: { target, parameters: { amount } }, policy: { name: 'bands' }, ...more }),
  signals: {},
})

async function asked(transaction: object, options = {}): Promise<ApprovalRequest> {
  const { status, text, body } = await service.post('/approval-requests', { transaction }, options)
  expect(status, text).toBe(201)
  return body as ApprovalRequest
}

const sign = (approver: Approver, request: ApprovalRequest) =>
  service.post('/approvals', anApprovalOf(approver, request))

async function signed(approver: Approver, request: ApprovalRequest): Promise<ApprovalRequest> {
  const { status, text } = await sign(approver, request)
  expect(status, text).toBe(201)
  return read(request)
}

const read = async ({ url }: ApprovalRequest) =>
  (await service.get(url, { key: maker.key })).body as ApprovalRequest

describe('changes of a group', () => {
  test('a body that is wrong is a 400 that names the field', async () => {
    const group = { action: 'set', group: 'auditors', members: ['alice'], reason: 'test' }
    expect(await post({ ...group, group: 'The Board' })).toEqual({
      status: 400,
      body: { error: 'group must be a name of small letters, digits and -, such as managers.' },
    })
    expect(await post({ ...group, members: ['alice', 'alice'] })).toEqual({
      status: 400,
      body: { error: 'members must be an array of 1 to 100 different approverIds.' },
    })
    expect(await post({ ...group, members: [] })).toMatchObject({ status: 400 })
    expect(await post({ ...group, action: 'add' })).toMatchObject({ status: 400 })
  })

  test('one that changes nothing is a 409', async () => {
    expect(await post({ action: 'remove', group: 'nobody' })).toEqual({
      status: 409,
      body: { code: 'CONFLICT', error: 'There is no group nobody.' },
    })
    expect(await post({ action: 'set', group: 'managers', members: ['alice', 'bob'] })).toEqual({
      status: 409,
      body: { code: 'CONFLICT', error: 'The group managers has these members already.' },
    })
  })

  test('its checker sees who comes and goes, who has no key, and which policy nobody can meet', async () => {
    const change = await proposed(service, maker, GROUPS, {
      action: 'set',
      group: 'managers',
      members: ['bob', 'zoe'],
      reason: 'test',
    })
    expect(change).toMatchObject({
      target: 'managers',
      proposed: { action: 'set', group: 'managers', members: ['bob', 'zoe'] },
      warnings: ['No approver zoe has a key in effect.'],
      diff: { members: { added: { zoe: 'member' }, removed: { alice: 'member' }, changed: {} } },
    })
    expect((await resolved(service, checker, change, 'reject', { rejectionReason: 'no' })).status).toBe(200)
    const removal = await proposed(service, maker, GROUPS, {
      action: 'remove',
      group: 'managers',
      reason: 'test',
    })
    expect(removal['warnings']).toEqual([
      "Policy 'bands' version '1.0.0': verify.managerApproved asks for 1 approval of managers, and there is no group managers: nobody can meet it.",
    ])
    expect((await resolved(service, checker, removal, 'reject', { rejectionReason: 'no' })).status).toBe(200)
  })

  test('a policy that names a group which does not exist is proposed with a warning', async () => {
    const { name: policyId, version: _, capability, ...document } = bands
    const proposedContent = {
      policyId,
      policyVersion: '1.1.0',
      schemaVersion: '1.0.0',
      description: 'Made by a test.',
      capabilities: [capability],
      ...document,
      verify: {
        ...document.verify,
        topApproved: { by: 'approval', quorum: 2, from: ['directors', 'board'] },
      },
    }
    const path = `/policies/${policyId}/1.1.0/pending-changes`
    const change = await proposed(service, maker, path, { proposedContent, reason: 'test' })
    expect(change['warnings']).toContainEqual(
      'verify.topApproved asks for 2 approvals of directors or board, and there is no group board: nobody can meet it.',
    )
    expect((await resolved(service, checker, change, 'reject', { rejectionReason: 'no' })).status).toBe(200)
  })

  test('the groups in effect are listed for humans and auditors', async () => {
    const { status, body } = await service.get('/approver-groups', auditor)
    expect([status, body]).toMatchObject([
      200,
      {
        approverGroups: [
          { group: 'directors', members: ['bob'], approvedBy: 'checker' },
          { group: 'managers', members: ['alice', 'bob'] },
        ],
      },
    ])
    expect((await service.get('/approver-groups', bot)).status).toBe(403)
  })
})

describe('a request under a policy of two bands', () => {
  test('says for each signal who signed and who can, and each person stands for one', async () => {
    const request = await asked(anAction(500))
    expect(request).toMatchObject({
      missing: 2,
      eligible: ['alice', 'bob'],
      signals: [
        {
          signal: 'managerApproved',
          quorum: 1,
          from: ['managers'],
          approvedBy: [],
          eligible: ['alice', 'bob'],
        },
        {
          signal: 'topApproved',
          quorum: 1,
          from: ['directors', 'owners'],
          approvedBy: [],
          eligible: ['bob'],
        },
      ],
    })
    expect(reply(await sign(carol, request))).toEqual({
      status: 400,
      body: {
        error:
          'payload.approverId must be in one of the groups whose approvals the request asks for (managers, directors, owners).',
      },
    })
    // Bob is in both groups: he stands for whichever leaves fewer missing, and for one alone.
    expect(await signed(bob, request)).toMatchObject({
      status: 'PENDING',
      missing: 1,
      eligible: ['alice'],
      // Alice is no director, but once she has signed, Bob's approval counts as one of a director.
      signals: [{ approvedBy: ['bob'] }, { approvedBy: [], eligible: ['alice'] }],
    })
    expect(await signed(alice, request)).toMatchObject({
      status: 'APPROVED',
      missing: 0,
      signals: [{ approvedBy: ['alice'] }, { approvedBy: ['bob'] }],
    })
    const { status, text } = await service.post('/execute', anAction(500))
    expect(status, text).toBe(200)
    const signedBy = async (approverId: string) =>
      (await service.get(`/approval-requests?signedBy=${approverId}`, maker)).body as {
        requests: ApprovalRequest[]
      }
    expect(
      (await signedBy('bob')).requests.map(({ request: { requestId }, status: now }) => [requestId, now]),
    ).toEqual([[request.request.requestId, 'USED']])
    expect((await signedBy('carol')).requests).toEqual([])
  })

  test('waits for those whose approval is missing, and lets others decline', async () => {
    const request = await asked(anAction(50))
    expect(request.signals).toMatchObject([{ signal: 'managerApproved', eligible: ['alice', 'bob'] }])
    expect([await waitsFor(maker), await waitsFor(checker)]).toEqual([true, false])
    const decline = (by: { key: string }) =>
      service.post(`${request.url}/decline`, { reason: 'no' }, { key: by.key })
    expect(reply(await decline(checker))).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining("Approver 'carol' is not in one of the groups") },
    })
    expect((await decline(maker)).status).toBe(200)
  })

  test('is not opened where too few members could sign, persons behind it not counted', async () => {
    const behind = { authority: { principalId: 'bob' } }
    expect(
      reply(await service.post('/approval-requests', { transaction: anAction(500, behind) }, bot)),
    ).toEqual({
      status: 409,
      body: {
        code: 'NOT_APPROVABLE',
        error: expect.stringMatching(
          /The policy asks for 1 approval of directors or owners\. Enrolled members who could sign, .*: 0\.$/,
        ),
      },
    })
  })
})

describe('an execution', () => {
  test('takes approvals for the signals that they count for, whichever was signed first', async () => {
    for (const approver of [bob, alice])
      expect((await service.post('/approvals', aSignedApproval(approver, { target }))).status).toBe(201)
    const { status, text, body } = await service.post('/execute', anAction(500))
    expect(status, text).toBe(200)
    const { businessTransactionId } = body as { businessTransactionId: string }
    const record = await service.get(`/trust-records/${businessTransactionId}`)
    const { body: groups } = await service.get('/approver-groups', auditor)
    const changeOf = (name: string) =>
      (groups as { approverGroups: { group: string; approvedByChange: string }[] }).approverGroups.find(
        ({ group }) => group === name,
      )?.approvedByChange
    expect(record.body).toMatchObject({
      executions: [
        {
          decision: {
            verifiedSignals: {
              managerApproved: {
                approvals: [{ payload: { approverId: 'alice' } }],
                groups: [{ group: 'managers', changeId: changeOf('managers') }],
              },
              topApproved: {
                approvals: [{ payload: { approverId: 'bob' } }],
                groups: [{ group: 'directors', changeId: changeOf('directors') }],
              },
            },
          },
        },
      ],
    })
  })

  // proves abuse: A director who is a manager too
  test('of one person in both groups has one approval', async () => {
    for (let count = 0; count < 2; count++)
      expect((await service.post('/approvals', aSignedApproval(bob, { target }))).status).toBe(201)
    expect((await service.post('/execute', anAction(500))).text).toContain('No rule matched')
  })

  // proves abuse: An approval by somebody who left the group
  test('counts members at its time: a former member’s approval is none', async () => {
    const request = await asked(anAction(50))
    expect(await signed(alice, request)).toMatchObject({ status: 'APPROVED' })
    await set('managers', ['bob'])
    expect(await read(request)).toMatchObject({
      status: 'PENDING',
      missing: 1,
      approvals: [],
      eligible: ['bob'],
    })
    expect((await service.post('/execute', anAction(50))).text).toContain('No rule matched')
    await set('managers', ['alice', 'bob'])
    expect(await read(request)).toMatchObject({ status: 'APPROVED' })
    expect((await service.post('/execute', anAction(50))).status).toBe(200)
  })
})

const STAND_INS = '/stand-ins/changes'
const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()
const away = { action: 'set', for: 'bob', by: 'carol', from: days(-1), until: days(1), reason: 'test' }
const over = ({ for: who, from }: { for: string; from: string }) =>
  putInEffect(service, humans, STAND_INS, { action: 'remove', for: who, from, reason: 'test' })
const postStandIn = async (body: object) => reply(await service.post(STAND_INS, body, { key: maker.key }))

describe('a stand-in', () => {
  test('that is wrong is a 400 that names the field, and one that overlaps a 409', async () => {
    const errorOf = async (more: object) =>
      ((await postStandIn({ ...away, ...more })).body as { error: string }).error
    expect(await errorOf({ by: 'bob' })).toBe('by must be another approver than for.')
    expect(await errorOf({ until: days(-1.5) })).toBe('until must be after from.')
    expect(await errorOf({ until: days(90) })).toBe('until must be at most 90 days after from.')
    expect(await errorOf({ from: days(-3), until: days(-2) })).toBe('until must be in the future.')
    expect(await errorOf({ from: 'tomorrow' })).toBe('from must be an RFC 3339 timestamp.')
    await putInEffect(service, humans, STAND_INS, away)
    expect(await postStandIn({ ...away, from: days(0.5), until: days(2) })).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/^carol stands in for bob from .*, which overlaps\.$/) },
    })
    const { body } = await service.get('/stand-ins', auditor)
    expect(body).toMatchObject({
      standIns: [{ for: 'bob', by: 'carol', from: away.from, until: away.until }],
    })
    await over(away)
    expect(
      await postStandIn({ action: 'remove', for: 'bob', from: away.from, reason: 'test' }),
    ).toMatchObject({
      status: 409,
      body: { error: `There is no stand-in for bob from ${away.from}.` },
    })
  })

  test('counts in place of the member, who does not count meanwhile, and the bundle shows it', async () => {
    const request = await asked(anAction(500))
    await putInEffect(service, humans, STAND_INS, away)
    expect(await read(request)).toMatchObject({
      missing: 2,
      signals: [{ eligible: ['alice', 'carol'] }, { eligible: ['carol'] }],
    })
    expect((await sign(bob, request)).status).toBe(400)
    await signed(carol, request)
    expect(await signed(alice, request)).toMatchObject({ status: 'APPROVED' })
    const { status, text, body } = await service.post('/execute', anAction(500))
    expect(status, text).toBe(200)
    const { businessTransactionId: id } = body as { businessTransactionId: string }
    const [keys = '', log = ''] = await Promise.all(
      ['jwks.json', 'countersign-log'].map(
        async (name) => (await service.get(`/.well-known/${name}`, { key: null })).text,
      ),
    )
    const { text: bundle } = await service.get(`/trust-records/${id}?bundle`, {
      headers: { prefer: 'wait=10' },
    })
    expect(bundle).toContain('"standsInFor":"bob"')
    const { verdict, checks } = verifyEvidence(bundle, keys, { log })
    expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([])
    expect(verdict).toBe('valid')
    await over(away)
    expect(await asked(anAction(501))).toMatchObject({ eligible: ['alice', 'bob'] })
  })

  // proves abuse: A stand-in for the person who asks
  test('of a person behind the execution counts for nothing', async () => {
    await putInEffect(service, humans, STAND_INS, away)
    const ofBob = anAction(50, { authority: { principalId: 'bob' } })
    const request = await asked(ofBob, bot)
    expect(request.eligible).toEqual(['alice'])
    expect((await sign(carol, request)).status).toBe(400)
    expect((await service.post('/approvals', aSignedApproval(carol, { target }))).status).toBe(201)
    expect((await service.post('/execute', ofBob, bot)).text).toContain('No rule matched')
    await over(away)
  })

  test('that leaves nobody who can sign is warned of, and so is the policy that is shown after it', async () => {
    const { name: policyId, version: _, capability, ...document } = bands
    const proposedContent = {
      policyId,
      policyVersion: '1.2.0',
      schemaVersion: '1.0.0',
      description: 'Made by a test.',
      capabilities: [capability],
      ...document,
    }
    const path = `/policies/${policyId}/1.2.0/pending-changes`
    const policyChange = await proposed(service, maker, path, { proposedContent, reason: 'test' })
    const warningsOf = async (change: { kind: unknown; changeId: string }, key = maker.key) => {
      const { body } = await service.get(
        `${change.kind === 'policy' ? '/policies/pending-changes' : STAND_INS}/${change.changeId}`,
        { key },
      )
      return (body as { warnings: string[] }).warnings
    }
    expect(policyChange['warnings']).not.toContainEqual(expect.stringContaining('who can sign'))

    const withoutKey = { ...away, by: 'zoe', from: days(1), until: days(2) }
    const span = `from ${withoutKey.from} until ${withoutKey.until}: zoe, in the place of bob, has no key in effect.`
    const why = `verify.topApproved asks for 1 approval of directors or owners, which have nobody who can sign ${span}`
    const change = await proposed(service, maker, STAND_INS, withoutKey)
    expect(change['warnings']).toEqual([
      'No approver zoe has a key in effect.',
      `directors has nobody who can sign ${span}`,
      `Policy 'bands' version '1.0.0': ${why}`,
    ])
    expect((await resolved(service, checker, change, 'approve')).status).toBe(200)

    expect(await warningsOf(policyChange)).toContainEqual(why)
    const { body: listed } = await service.get('/changes?status=PENDING_APPROVAL', { key: maker.key })
    expect((listed as { changes: Change[] }).changes).toMatchObject([
      { changeId: policyChange.changeId, warnings: policyChange['warnings'] },
    ])
    await over(withoutKey)
    expect(await warningsOf(policyChange)).toEqual(policyChange['warnings'])
    await resolved(service, checker, policyChange, 'reject', { rejectionReason: 'no' })
    // A resolved change keeps the advice of its proposal.
    expect(await warningsOf(policyChange)).toEqual(policyChange['warnings'])

    // Carol is the approver of who looks, and somebody stands in for her.
    const forHer = { ...away, for: 'carol', by: 'alice' }
    await putInEffect(service, humans, STAND_INS, forHer)
    const open = await proposed(service, maker, STAND_INS, { ...away, from: days(3), until: days(4) })
    expect(await warningsOf(open, checker.key)).toContainEqual(
      `alice stands in for you, carol, until ${forHer.until}: your signature on a change counts all the same.`,
    )
    expect(await warningsOf(open)).not.toContainEqual(expect.stringContaining('stands in for you'))
    await resolved(service, checker, open, 'reject', { rejectionReason: 'no' })
    await over(forHer)

    const revoking = await proposed(service, maker, '/approvers/changes', {
      action: 'revoke',
      approverId: 'bob',
      keyId: 'k1',
      reason: 'test',
    })
    expect(revoking['warnings']).toEqual([
      'It is the only key of bob, who approves nothing any more.',
      'directors has nobody who can sign: bob has no key in effect.',
      "Policy 'bands' version '1.0.0': verify.topApproved asks for 1 approval of directors or owners, which have nobody who can sign: bob has no key in effect.",
    ])
    await resolved(service, checker, revoking, 'reject', { rejectionReason: 'no' })
  })

  test('whose time has not come, or is over, changes nothing', async () => {
    const later = { ...away, from: days(1), until: days(2) }
    await putInEffect(service, humans, STAND_INS, later)
    expect(await asked(anAction(50))).toMatchObject({ eligible: ['alice', 'bob'] })
    await over(later)
  })
})

describe('the bundle', () => {
  // proves abuse: A bundle whose decision names a group
  test('brings the changes of the groups, and a verifier finds another member, group or time', async () => {
    const [keys, log] = await Promise.all(
      ['jwks.json', 'countersign-log'].map(
        async (name) => (await service.get(`/.well-known/${name}`, { key: null })).text,
      ),
    )
    for (const approver of [bob, alice])
      await service.post('/approvals', aSignedApproval(approver, { target }))
    const { body } = await service.post('/execute', anAction(500))
    const { businessTransactionId: id } = body as { businessTransactionId: string }
    const { text, body: bundle } = await service.get(`/trust-records/${id}?bundle`, {
      headers: { prefer: 'wait=10' },
    })
    const { verdict, checks } = verifyEvidence(text, keys!, { log: log! })
    expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([])
    expect(verdict).toBe('valid')
    const { changes, ...rest } = bundle as { changes: { target: string; kind: string }[] }
    const groups = changes.filter(({ kind }) => kind === 'approver-group').map((one) => one.target)
    expect(groups.toSorted()).toEqual(['directors', 'managers'])
    const without = { ...rest, changes: changes.filter((one) => one.target !== 'directors') }
    const problems = verifyEvidence(JSON.stringify(without), keys!, { log: log! }).checks.flatMap(
      ({ problem = [] }) => problem,
    )
    expect(problems).toContainEqual(
      expect.stringContaining(
        'signal "topApproved": "bob": no governance change in it set the group "directors"',
      ),
    )
  })
})

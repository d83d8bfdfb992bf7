// Persons (decisions §13): whatever names a human acts by, no approval of their own counts for what they do, and nobody is two people.
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { keyIdOf } from '../../src/formats/people/caller.ts'
import { readYaml } from '../../src/core/cel/yaml.ts'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { readPolicies } from '../../src/core/policy/load.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import {
  aHuman,
  aKeyPair,
  anApprovalOf,
  anApprover,
  anEnrolment,
  aSignedApproval,
  enrolled,
  proposed,
  putInEffect,
  resolved,
  type Approver,
  type Human,
} from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, startService, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const CALLER_KEYS = '/caller-keys/changes'
const APPROVERS = '/approvers/changes'
const alice = aHuman('alice')
const bob = aHuman('bob')
const humans = { maker: alice, checker: bob }
/** A human of the configuration, and of two names there: the entries share the callerId. */
const carol = aHuman('c.jones', { approverId: 'carol' })
const carolAgain = aCaller('c.jones', { credentialHolderType: 'USER', approverId: 'carol.phone' })
const agent = aCaller('lanes-agent', {
  allowedPrincipalIds: ['e.lane2', 'E.LANE2', 'evan2', 'EVAN2', 'c.jones', 'lanes-agent'],
})
const evan = anApprover('evan2')
const dana = anApprover('dana')
const fay = anApprover('fay')
const carols = anApprover('carol')
const carolsPhone = anApprover('carol.phone')
const byOne = {
  policyId: 'by-one',
  policyVersion: '1.0.0',
  schemaVersion: '1.0.0',
  description: 'One human approves.',
  capabilities: ['sandbox:echo'],
  signals: { approved: 'boolean' },
  verify: { approved: { by: 'approval', quorum: 1 } },
  rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' }],
}
const SHIPPED = join(import.meta.dirname, '..', '..', 'policies')
/** The shipped versions that ask for approvals, each with the transaction that its cases start from. */
const shipped = readPolicies(SHIPPED).flatMap(({ name, version, file, policy }) => {
  const signals = policy.verify.flatMap(({ by, signal }) => (by === 'approval' ? [signal] : []))
  const { value } = readYaml(join(dirname(file), 'cases.yaml'))
  return signals.length === 0 ? [] : [{ name, version, signals, given: (value as { given: object }).given }]
})
const policyDir = aPolicyFolder(['sandbox-echo', ...shipped.map(({ name }) => name)])
addPolicy(policyDir, { ...byOne, name: 'by-one', version: '1.0.0', capability: 'sandbox:echo' })
addPolicy(policyDir, {
  name: 'by-two',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 2 } },
})
addPolicy(policyDir, {
  name: 'by-four',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 4 } },
})

let database: TestDatabase
let service: TestService
let lane: { readonly key: string }
/** Each test has its own, so that no approval or request of another stands beside it. */
let target: string
let targets = 0

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({
    callers: [alice.entry, bob.entry, carol.entry, carolAgain.entry, agent.entry],
    env: { POLICY_DIR: policyDir },
  })
  for (const approver of [evan, dana, fay, carols, carolsPhone]) await enrolled(service, humans, approver)
  lane = await issued('e.lane2', { approverId: 'evan2' })
})

beforeEach(() => {
  target = `target-${targets++}`
})

/** Makes a proposal for a key that was made somewhere, and the key. */
function aKey(callerId: string, members: object = {}) {
  const key = makeRawKey()
  const keyHash = sha256Hex(key)
  const scope = { credentialHolderType: 'USER', allowedCapabilities: ['*'], ...members }
  return {
    key,
    issue: { action: 'issue', callerId, keyHash, reason: 'test', ...scope },
    revoke: { action: 'revoke', callerId, keyId: keyIdOf(keyHash), reason: 'test' },
  }
}

/** A key of a human by governance, in effect. */
async function issued(callerId: string, members: object = {}) {
  const made = aKey(callerId, members)
  await putInEffect(service, humans, CALLER_KEYS, made.issue)
  return made
}

const anAction = (principalId: string, more: object = {}) =>
  aTransaction({
    intent: { target, parameters: { amount: 42 } },
    authority: { principalId },
    policy: { name: 'by-one' },
    ...more,
  })

const byTwo = { policy: { name: 'by-two' } }

const deliver = (approval: object) => service.post('/approvals', approval, agent)

async function presentState(): Promise<object> {
  const { body } = await service.post('/sandbox/evaluate', anAction('e.lane2'), lane)
  return body.decision.presentState as object
}

/** A human of governance who can approve changes. */
async function aNewHuman(callerId: string, members: object = {}): Promise<Human> {
  const pair = aKeyPair()
  const made = await issued(callerId, { stepUpPublicKey: pair.publicKeyPem, ...members })
  return { callerId, key: made.key, entry: {}, ...pair }
}

const issueZoe = (members: object) => service.post(CALLER_KEYS, aKey('zoe', members).issue, alice)

const conflict = ({ status, body }: Called) => [status, body.code, body.error]
const withCrLf = (pem: string) => pem.replaceAll('\n', '\r\n')

/** Delivered by the agent: who delivers an approval says nothing about whose it is. */
async function approved(...approvers: Approver[]): Promise<void> {
  for (const approver of approvers) {
    const { status, text } = await deliver(aSignedApproval(approver, { target }))
    expect(status, text).toBe(201)
  }
}

interface By {
  readonly key: string
}

const execute = (by: By, principalId: string, more: object = {}, route = '/execute') =>
  service.post(route, anAction(principalId, more), by)

/** Refused for want of an approval, and the refusal says whose were not counted. */
async function expectNotCounted({ status, body, headers }: Called, notCounted: string[]): Promise<void> {
  expect([status, body.code]).toEqual([403, 'POLICY_DENIED'])
  const link = /<([^>]+)>; rel="refusal"/.exec(headers.get('link') ?? '')?.[1] ?? ''
  const refusal = await service.get(link, alice)
  expect(refusal.body.decision.verifiedSignals).toEqual({
    approved: { value: false, by: 'approval', notCounted },
  })
}

async function expectExecuted(reply: Called, approvedBy: string[], notCounted: string[]): Promise<void> {
  expect(reply.status, reply.text).toBe(200)
  const { approvals, ...verified } = reply.body.executions[0].decision.verifiedSignals.approved
  expect(verified).toMatchObject({ value: true, by: 'approval', notCounted })
  expect(approvals.map(({ payload }: { payload: Approver }) => payload.approverId).toSorted()).toEqual(
    approvedBy,
  )
  const keys = await Promise.all(
    ['/.well-known/jwks.json', '/.well-known/approver-keys.json'].map((path) => service.get(path)),
  )
  const report = verifyEvidence(
    reply.text,
    keys.map(({ text }) => text),
  )
  expect(report.verdict, JSON.stringify(report.checks)).toBe('valid')
  expect(report.notes.filter((note) => note.includes('approver names'))).toEqual([])
}

async function asked(by: By, principalId: string, more: object = {}): Promise<ApprovalRequest> {
  const transaction = anAction(principalId, more)
  const { status, text, body } = await service.post('/approval-requests', { transaction }, by)
  expect(status, text).toBe(201)
  return body as ApprovalRequest
}

async function standing({ url }: ApprovalRequest): Promise<Record<string, unknown>> {
  const { body } = await service.get(url, alice)
  const { status, missing, eligible, approvals } = body
  return {
    status,
    missing,
    eligible,
    approvals: approvals.map(({ approverId }: Approver) => approverId),
  }
}

test('approvers are asked only where there are persons enough: five names here are three others', async () => {
  const transaction = anAction('e.lane2', { policy: { name: 'by-four' } })
  const { status, body } = await service.post('/approval-requests', { transaction }, lane)
  expect([status, body.error]).toEqual([
    409,
    'No approval would help: The policy asks for 4 approvals; enrolled approvers who are other persons than the caller and the principal: 3.',
  ])
})

// proves abuse: A USER key whose approverId is another name
describe('an approval by a person behind an execution counts for nothing', () => {
  const by = {
    caller: () => lane,
    agent: () => agent,
    configured: () => carol,
  }
  test.each([
    ['the caller, by the approver name of its key', by.caller, 'e.lane2', evan, ['evan2']],
    ['the principal of an agent', by.agent, 'e.lane2', evan, ['evan2']],
    ['the principal in another case', by.agent, 'E.LANE2', evan, ['evan2']],
    ['the principal by its approver name in another case', by.agent, 'EVAN2', evan, ['evan2']],
    ['one who is configured', by.configured, 'c.jones', carols, ['carol', 'carol.phone']],
    [
      'the approver name of another entry of the caller',
      by.configured,
      'c.jones',
      carolsPhone,
      ['carol', 'carol.phone'],
    ],
    ['both names of a principal', by.agent, 'c.jones', carolsPhone, ['carol', 'carol.phone']],
  ] as const)('%s', async (_, caller, principalId, approver, notCounted) => {
    await approved(approver)
    for (const route of ['/execute', '/transactions'])
      await expectNotCounted(await execute(caller(), principalId, {}, route), [...notCounted])
    await approved(dana)
    await expectExecuted(await execute(caller(), principalId), ['dana'], [...notCounted])
  })

  test('nobody behind the execution is an approver: the list is empty', async () => {
    await approved(evan)
    await expectExecuted(await execute(agent, 'lanes-agent'), ['evan2'], [])
  })

  test('500 approvals of their own hide none of another', async () => {
    for (let i = 0; i < 10; i++) {
      const delivered = await Promise.all(
        Array.from({ length: 51 }, () => deliver(aSignedApproval(evan, { target }))),
      )
      expect(delivered.map(({ status }) => status)).toEqual(Array(51).fill(201))
    }
    await approved(dana)
    await expectExecuted(await execute(lane, 'e.lane2'), ['dana'], ['evan2'])
  })

  test('by a key that was enrolled after the others were revoked', async () => {
    const old = anApprover('gil', 'old')
    const key = await issued('g.hart', { approverId: 'gil' })
    await enrolled(service, humans, old)
    const { approverId, keyId } = old
    await putInEffect(service, humans, APPROVERS, { action: 'revoke', approverId, keyId, reason: 'test' })
    const rotated = anApprover('gil', 'new')
    await enrolled(service, humans, rotated)
    await approved(rotated)
    await expectNotCounted(await execute(key, 'g.hart'), ['gil'])
  })

  test('a key that was revoked still says who its caller is', async () => {
    const linking = await issued('h.ames', { approverId: 'hal' })
    const plain = await issued('h.ames')
    const hal = anApprover('hal')
    await enrolled(service, humans, hal)
    await putInEffect(service, humans, CALLER_KEYS, linking.revoke)
    await approved(hal)
    await expectNotCounted(await execute(plain, 'h.ames'), ['hal'])
  })

  test('joined over two callers and two keys of one of them', async () => {
    const first = await issued('ida.old', { approverId: 'ida' })
    await putInEffect(service, humans, CALLER_KEYS, first.revoke)
    await issued('ida.new', { approverId: 'ida' })
    const second = await issued('ida.new', { approverId: 'ida.phone' })
    const phone = anApprover('ida.phone')
    await enrolled(service, humans, phone)
    await approved(phone)
    await expectNotCounted(await execute(second, 'ida.new'), ['ida', 'ida.phone'])
    const old = await issued('ida.old')
    await expectNotCounted(await execute(old, 'ida.old'), ['ida', 'ida.phone'])
  })

  // proves abuse: A principal whose name looks like an approver’s
  test('nobody speaks for a principal that looks like the approver, also by a key of an earlier release', async () => {
    const names = ['evan2', 'evan2 ', 'ev\uff41n2', 'evan\u200b2', 'e\u0301van2', 'ev\u0430n2']
    const [plain, ...lookalikes] = names
    const bot = await issued('evans-bot', { credentialHolderType: 'SERVICE', allowedPrincipalIds: [plain] })
    await database.pool.query(
      `UPDATE authority SET stated = jsonb_set(stated::jsonb, $1, $2) WHERE unique_key = left($3, 16)`,
      ['{allowedPrincipalIds}', JSON.stringify(names), bot.issue.keyHash],
    )
    const upgraded = await startService({
      databaseUrl: database.url,
      callers: [alice.entry, bob.entry],
      env: { POLICY_DIR: policyDir },
    })
    await approved(evan)
    for (const route of ['/execute', '/transactions', '/approval-requests'])
      for (const name of lookalikes.slice(0, -1)) {
        const action = anAction(name)
        const reply = await upgraded.post(
          route,
          route === '/approval-requests' ? { transaction: action } : action,
          bot,
        )
        expect([reply.status, reply.body.error], JSON.stringify(name)).toEqual([
          403,
          'Caller is not permitted to assert this authority.principalId.',
        ])
      }
    const byName = await upgraded.post('/execute', anAction('evan2'), bot)
    expect([byName.status, byName.body.code]).toEqual([403, 'POLICY_DENIED'])
    expect((await upgraded.get('/callers/me', bot)).body.allowedPrincipalIds).toEqual(['evan2', 'ev\u0430n2'])
    const said = (await upgraded.get('/ready')).body.warnings as string[]
    const keyId = keyIdOf(bot.issue.keyHash)
    for (const sentence of [
      `evans-bot:${keyId} allowedPrincipalIds[1] "evan2 " begins or ends with white space. No caller may act under this name: issue the key again with another name.`,
      'The name "ev\\u0430n2" is easily taken for another one: use letters, digits and . _ - : @, and no dot at the end.',
    ]) {
      expect(said).toContain(sentence)
      expect(upgraded.output()).toContain(JSON.stringify(sentence).slice(1, -1))
    }
    expect(await upgraded.stop()).toBe(0)
  })

  test('the sandbox says so before', async () => {
    await approved(evan)
    expect(await presentState()).toEqual({ approved: { value: false, by: 'approval' } })
    await approved(dana)
    expect(await presentState()).toEqual({ approved: { value: true, by: 'approval' } })
  })
})

describe('a shipped policy does not count the approvals of who asks', () => {
  test.each(shipped)('$name $version', async ({ name, version, signals, given }) => {
    const { intent: stated, signals: declared } = given as {
      intent: { action: string; target: string; parameters: Json }
      signals: Record<string, Json>
    }
    // Approvals of one version are not left over for the next.
    const intent = { ...stated, target: `${stated.target}-${version}` }
    const transaction = anAction('e.lane2', {
      intent,
      policy: { name, version },
      signals: Object.fromEntries(Object.entries(declared).filter(([signal]) => !signals.includes(signal))),
    })
    const { action: capability, target: to, parameters } = transaction.intent
    const scope = { parametersHash: sha256Hex(canonicalize(parameters)) }
    const sign = async (...approvers: Approver[]) => {
      for (const approver of approvers) {
        const approval = aSignedApproval(approver, { capability, target: to, scope })
        expect((await service.post('/approvals', approval, agent)).status).toBe(201)
      }
    }
    const seen = async () => {
      const { body } = await service.post('/sandbox/evaluate', transaction, agent)
      const state = body.decision.presentState as Record<string, { value: unknown }>
      return signals.map((signal) => state[signal]?.value)
    }
    await sign(evan, evan, evan)
    expect(await seen()).toEqual(signals.map(() => false))
    await sign(dana, fay, carols)
    expect(await seen()).toEqual(signals.map(() => true))
  })

  test('there are nine', () => expect(shipped).toHaveLength(9))
})

// proves abuse: Two approvers who are one person
describe('two approvers who are one person count once', () => {
  test.each([
    ['by two keys of a caller', carols, carolsPhone],
    ['by names that differ only in case', anApprover('Kim'), anApprover('kim')],
  ])('%s', async (_, one, other) => {
    if (one.approverId === 'Kim')
      for (const approver of [one, other]) await enrolled(service, humans, approver)
    await approved(one, other)
    await expectNotCounted(await execute(lane, 'e.lane2', byTwo), ['evan2'])
    await approved(dana)
    const done = await execute(lane, 'e.lane2', byTwo)
    expect(done.status, done.text).toBe(200)
    const { approvals } = done.body.executions[0].decision.verifiedSignals.approved
    expect(approvals).toHaveLength(2)
    expect(JSON.stringify(approvals)).toContain('"approverId":"dana"')
  })

  test('also for a request', async () => {
    const request = await asked(lane, 'e.lane2', byTwo)
    const sign = (approver: Approver) => service.post('/approvals', anApprovalOf(approver, request))
    expect((await sign(carols)).status).toBe(201)
    expect(await standing(request)).toMatchObject({ status: 'PENDING', missing: 1, approvals: ['carol'] })
    expect((await standing(request))['eligible']).not.toContain('carol.phone')
    const { status, body } = await sign(carolsPhone)
    expect([status, body.error]).toEqual([
      409,
      "Approver 'carol.phone' has approved this request already, as 'carol'.",
    ])
    // Beside one for no request, too: the execution counts persons.
    await approved(carolsPhone)
    await expectNotCounted(await execute(lane, 'e.lane2', byTwo), ['evan2'])
  })
})

// proves abuse: A USER key whose approverId is another name
describe('an approval request', () => {
  test('asks nobody who asks: neither eligible nor able to sign or decline', async () => {
    for (const [by, principalId] of [
      [lane, 'e.lane2'],
      [agent, 'e.lane2'],
    ] as const) {
      const request = await asked(by, principalId)
      expect(request.eligible).toEqual(expect.arrayContaining(['carol', 'dana', 'fay']))
      expect(request.eligible).not.toContain('evan2')
      const { status, body } = await service.post('/approvals', anApprovalOf(evan, request), agent)
      expect([status, body.error]).toEqual([
        400,
        'payload.approverId must not be a person who asked for the approval.',
      ])
      const declined = await service.post(`${request.url}/decline`, { reason: 'no' }, lane)
      expect([declined.status, declined.body.code]).toEqual([403, 'NOT_AN_ELIGIBLE_APPROVER'])
      const mine = await service.get('/approval-requests?waitingFor=me', lane)
      expect(mine.status).toBe(200)
      expect(mine.text).not.toContain(request.request.requestId)
      expect((await service.get('/approval-requests?waitingFor=me', carol)).text).toContain(
        request.request.requestId,
      )
    }
  })

  test('that was opened and approved before its caller was known to be the approver waits again', async () => {
    const late = await issued('l.moss')
    const lou = anApprover('lou')
    await enrolled(service, humans, lou)
    const request = await asked(late, 'l.moss')
    expect((await service.post('/approvals', anApprovalOf(lou, request))).status).toBe(201)
    expect(await standing(request)).toEqual({
      status: 'APPROVED',
      missing: 0,
      eligible: expect.anything(),
      approvals: ['lou'],
    })
    await issued('l.moss', { approverId: 'lou' })
    const now = await standing(request)
    expect(now).toMatchObject({ status: 'PENDING', missing: 1, approvals: [] })
    expect(now['eligible']).not.toContain('lou')
    await expectNotCounted(await execute(late, 'l.moss'), ['lou'])
    expect((await service.post('/approvals', anApprovalOf(dana, request))).status).toBe(201)
    await expectExecuted(await execute(late, 'l.moss'), ['dana'], ['lou'])
  })
})

test('a simulation does not count what a person approved who is known to be the caller by now', async () => {
  const late = await issued('m.reed')
  const max = anApprover('max')
  await enrolled(service, humans, max)
  await approved(max)
  const done = await execute(late, 'm.reed')
  expect(done.status).toBe(200)
  const id = done.body.businessTransactionId as string
  const flips = async () => {
    const { status, text, body } = await service.post('/sandbox/policies/simulate', { policy: byOne }, alice)
    expect(status, text).toBe(200)
    return (body.flips as { businessTransactionId: string }[]).filter(
      (flip) => flip.businessTransactionId === id,
    )
  }
  expect(await flips()).toEqual([])
  await issued('m.reed', { approverId: 'max' })
  expect(await flips()).toMatchObject([{ was: { outcome: 'APPROVED' }, wouldBe: { outcome: 'REJECTED' } }])
})

// proves abuse: Maker and checker who are one person
describe('maker and checker are two persons', () => {
  test.each([
    ['approvers', APPROVERS, () => anEnrolment(anApprover('someone'))],
    ['caller keys', CALLER_KEYS, () => aKey('someone').issue],
    [
      'external connectors',
      '/external-connectors/changes',
      () => ({
        action: 'register',
        capability: 'once:verb',
        endpointUrl: 'https://1.1.1.1/releases',
        policy: 'by-one',
        allowedParameters: ['amount'],
        reason: 'test',
      }),
    ],
    [
      'event endpoints',
      '/event-endpoints/changes',
      () => ({
        action: 'register',
        url: 'https://1.1.1.1/events',
        types: ['execution.completed'],
        reason: 'test',
      }),
    ],
    ['webhook rules', '/webhook-rules/changes', () => ({ provider: 'razorpay', rules: [], reason: 'test' })],
  ])('%s: not by a second callerId of the same approver', async (kind, path, body) => {
    const name = kind.replace(' ', '-')
    const before = await aNewHuman(`${name}-old`, { approverId: `${name}-approver` })
    const change = await proposed(service, before, path, body())
    const { body: keys } = await service.get('/caller-keys', alice)
    const { keyId } = (keys.callerKeys as { callerId: string; keyId: string }[]).find(
      ({ callerId }) => callerId === before.callerId,
    )!
    await putInEffect(service, humans, CALLER_KEYS, {
      action: 'revoke',
      callerId: before.callerId,
      keyId,
      reason: 'test',
    })
    const after = await aNewHuman(`${name}-new`, { approverId: `${name}-approver` })
    for (const action of ['approve', 'reject'] as const) {
      const refused = await resolved(
        service,
        after,
        change,
        action,
        action === 'reject' ? { rejectionReason: 'no' } : {},
      )
      expect([refused.status, refused.body.code]).toEqual([403, 'SAME_ACTOR_CANNOT_APPROVE_OWN_CHANGE'])
    }
    const rejected = await resolved(service, bob, change, 'reject', { rejectionReason: 'test' })
    expect(rejected.status, rejected.text).toBe(200)
  })
})

// proves abuse: One public key as two persons
describe('a public key is one person’s', () => {
  test('a caller’s step-up key is enrolled as no other approver', async () => {
    for (const [{ publicKeyPem }, callerId] of [
      [alice, 'alice'],
      [carol, 'c.jones'],
    ] as const)
      for (const pem of [publicKeyPem, withCrLf(publicKeyPem)]) {
        const enrolment = anEnrolment({ ...anApprover('zed2'), publicKeyPem: pem })
        expect(conflict(await service.post(APPROVERS, enrolment, alice))).toEqual([
          409,
          'CONFLICT',
          `This public key is that of '${callerId}', another person. If it is the same one, the approverId of their caller says so.`,
        ])
      }
    const own = await service.post(
      APPROVERS,
      anEnrolment({ ...carols, keyId: 'k2', publicKeyPem: carol.publicKeyPem }),
      alice,
    )
    expect(own.status, own.text).toBe(201)
  })

  test('an approver’s key is the step-up key of no other caller', async () => {
    for (const pem of [dana.publicKeyPem, withCrLf(dana.publicKeyPem)]) {
      const passkey = {
        publicKeyPem: pem,
        rpId: 'a.example',
        origins: ['https://a.example'],
        backupEligible: false,
      }
      for (const members of [{ stepUpPublicKey: pem }, { stepUpPasskey: passkey }])
        expect(conflict(await issueZoe(members))).toEqual([
          409,
          'CONFLICT',
          "The step-up key is that of approver 'dana', another person.",
        ])
    }
    const own = await issueZoe({ stepUpPublicKey: dana.publicKeyPem, approverId: 'dana' })
    expect(own.status, own.text).toBe(201)
  })

  test.each(['approver first', 'caller first'])('of two proposals one is approved: %s', async (first) => {
    const { publicKeyPem } = aKeyPair()
    const name = first.replace(' ', '-')
    const enrolling = await proposed(
      service,
      alice,
      APPROVERS,
      anEnrolment({ ...anApprover(`${name}-a`), publicKeyPem }),
    )
    const issuing = await proposed(
      service,
      alice,
      CALLER_KEYS,
      aKey(`${name}-c`, { stepUpPublicKey: publicKeyPem }).issue,
    )
    const changes = first === 'approver first' ? [enrolling, issuing] : [issuing, enrolling]
    const replies = []
    for (const change of changes) replies.push(await resolved(service, bob, change, 'approve'))
    expect(replies.map(({ status }) => status)).toEqual([200, 409])
  })

  test('of two that are approved at once one is', async () => {
    const { publicKeyPem } = aKeyPair()
    const changes = [
      await proposed(service, alice, APPROVERS, anEnrolment({ ...anApprover('at-once-a'), publicKeyPem })),
      await proposed(service, alice, CALLER_KEYS, aKey('at-once-c', { stepUpPublicKey: publicKeyPem }).issue),
    ]
    const replies = await Promise.all(changes.map((change) => resolved(service, bob, change, 'approve')))
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  })

  test('in the configuration it is warned of, and both names are one person', async () => {
    const lara = aHuman('lara', { stepUpPublicKey: fay.publicKeyPem })
    const other = await startService({
      databaseUrl: database.url,
      callers: [lara.entry],
      env: { POLICY_DIR: policyDir },
    })
    const sentence =
      "SERVICE_API_KEYS[1] has the step-up key of approver 'fay', another name: both count as one person. If they are two, one of them needs another key."
    expect((await other.get('/ready')).body.warnings).toContain(sentence)
    expect(other.output()).toContain(sentence)
    await approved(fay)
    const refused = await other.post('/execute', anAction('lara'), lara)
    expect([refused.status, refused.body.code]).toEqual([403, 'POLICY_DENIED'])
    const executed = await service.post('/execute', anAction('lanes-agent'), agent)
    await expectExecuted(executed, ['fay'], [])
    expect(await other.stop()).toBe(0)
  })
})

// Policies, their changes and how they take effect (decisions §6, §7); how a change is resolved at all: governance.test.ts.
import { describe, expect, test } from 'vitest'
import type { Static } from 'typebox'
import { yamlOf } from '../../src/core/cel/yaml.ts'
import type { PolicyCheck } from '../../src/formats/schemas/sandbox.ts'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import {
  aHuman,
  aProposalStepUp,
  aStepUp,
  proposed,
  putInEffect,
  resolved,
  type Change,
} from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const maker = aHuman('maker')
const checker = aHuman('checker')
const humans = { maker, checker }
const narrow = aCaller('narrow', { allowedCapabilities: [] })
const callers = [maker, checker, narrow].map(({ entry }) => entry)

/** The first start approves what is there; what stands in the second one's folder besides is shipped by an upgrade. */
const shipped = aPolicyFolder()
addPolicy(shipped, { name: 'shipped', version: '1.0.0', capability: 'sandbox:echo' })
addPolicy(shipped, { name: 'moving', version: '1.0.0', capability: 'sandbox:echo' })
addPolicy(shipped, { name: 'twice', version: '1.0.0', capability: 'sandbox:echo' })

let database: TestDatabase
let service: TestService
let upgraded: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({ callers })
  upgraded = await start({
    callers,
    signingKeyDir: service.signingKeyDir,
    key: service.key,
    env: { POLICY_DIR: shipped, WORKER_THREADS: '2' },
  })
})

function aDocument(members: object = {}) {
  return {
    policyId: 'echoes',
    policyVersion: '1.0.0',
    schemaVersion: '1.0.0',
    description: 'Made by a test.',
    capabilities: ['sandbox:echo'],
    signals: { approved: 'boolean' },
    rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' }],
    ...members,
  }
}

const place = (name: string, version: string) => `/policies/${name}/${version}/pending-changes`

function propose(document: Record<string, unknown>, to = service) {
  const { policyId, policyVersion } = document as { policyId: string; policyVersion: string }
  return to.post(
    place(policyId, policyVersion),
    { reason: 'test', proposedContent: document },
    { key: maker.key },
  )
}

const execute = (to: TestService, name: string) =>
  to.post('/execute', aTransaction({ policy: { name, version: '1.0.0' } }))

const notApproved = (name: string) => ({
  status: 500,
  body: {
    error: `Execution rejected: Policy '${name}' version '1.0.0' is not approved.`,
    code: 'RUNTIME_ERROR',
  },
})

describe('POST /policies/{name}/{version}/pending-changes 201', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('a document of a new name, with what its author should look at', async () => {
    const document = aDocument({
      policyId: 'looked-at',
      signals: { approved: 'boolean', amount: 'number', unused: 'boolean' },
      bindings: { amount: 'intent.parameters.amount' },
      rules: [
        { id: 'too-large', when: 'signals.amount > 100.0', outcome: 'reject', reason: 'Too large.' },
        { id: 'again', when: 'signals.amount > 100.0', outcome: 'reject', reason: 'Again.' },
        { id: 'small', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' },
      ],
    })
    const { status, body } = await propose(document)
    expect(status).toBe(201)
    expect(body.warnings).toEqual([
      "No rule reads the signal 'unused'.",
      "Nothing checks the signal 'approved'; it is the caller's word.",
      "Nothing checks the signal 'unused'; it is the caller's word.",
      'Rule again never decides: whenever it matches, an earlier rule has matched.',
      "For sandbox:echo callers may name 'sandbox-echo' 1.0.0 in the place of this policy.",
    ])
    expect(body).not.toHaveProperty('diff')
  })

  test('a next version, with what it changes against the newest approved one', async () => {
    const first = aDocument({
      policyId: 'compared',
      signals: { approved: 'boolean', amount: 'number' },
      bindings: { amount: 'intent.parameters.amount' },
      verify: { approved: { by: 'approval', quorum: 2 } },
      rules: [
        { id: 'cheap', when: 'signals.amount < 5.0', outcome: 'approve', reason: 'Cheap.' },
        { id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' },
      ],
    })
    await putInEffect(service, humans, place('compared', '1.0.0'), { reason: 'x', proposedContent: first })
    const rules = [
      { id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' },
      { id: 'cheap', when: 'signals.amount < 50.0', outcome: 'approve', reason: 'Cheap.' },
      { id: 'weekend', when: 'now.getDayOfWeek() == 0', outcome: 'reject', reason: 'Sunday.' },
    ]
    const next = aDocument({
      policyId: 'compared',
      policyVersion: '1.1.0',
      capabilities: ['sandbox:echo', 'vendor:pay'],
      signals: { approved: 'boolean', amount: 'number', known: 'boolean' },
      bindings: {},
      verify: { approved: { by: 'approval', quorum: 1 } },
      rules,
    })
    expect((await propose(next)).body.diff).toEqual({
      against: '1.0.0',
      capabilities: { added: { 'vendor:pay': true }, removed: {}, changed: {} },
      signals: { added: { known: 'boolean' }, removed: {}, changed: {} },
      bindings: { added: {}, removed: { amount: 'intent.parameters.amount' }, changed: {} },
      verify: {
        added: {},
        removed: {},
        changed: { approved: { from: { by: 'approval', quorum: 2 }, to: { by: 'approval', quorum: 1 } } },
      },
      rules: {
        added: { weekend: { when: 'now.getDayOfWeek() == 0', outcome: 'reject', reason: 'Sunday.' } },
        removed: {},
        changed: {
          cheap: {
            from: { when: 'signals.amount < 5.0', outcome: 'approve', reason: 'Cheap.' },
            to: { when: 'signals.amount < 50.0', outcome: 'approve', reason: 'Cheap.' },
          },
        },
      },
      rulesAfter: { weekend: 'cheap' },
      rulesReordered: true,
    })
  })

  test('a loaded version as it stands, when the content is left out', async () => {
    const { status, body } = await service.post(
      place('twice', '1.0.0'),
      { reason: 'Shipped.' },
      { key: maker.key },
    )
    expect(status).toBe(201)
    const { body: shown } = await service.get('/policies/twice/1.0.0')
    expect(body.proposed).toEqual(shown.document)
    expect(sha256Hex(canonicalize(body.proposed as Json))).toBe(shown.contentHash)
  })

  test('a hundred rules of a thousand characters each are looked at and answered', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `s${i}`)
    const all = names.map((name) => `signals.${name}`)
    const when = [all.join(' && '), ...Array<string>(12).fill(`(${all.slice(0, 4).join(' || ')})`)].join(
      ' && ',
    )
    const rules = Array.from({ length: 100 }, (_, i) => ({
      id: `r${i}`,
      when,
      outcome: 'reject',
      reason: 'No.',
    }))
    const signals = Object.fromEntries(names.map((name) => [name, 'boolean']))
    const { status, text } = await propose(aDocument({ policyId: 'huge', signals, rules }))
    expect([status, text.length > 64_000]).toEqual([201, true])
  })
})

const onAllWorkers = async (to: TestService) => {
  const statuses = await Promise.all(Array.from({ length: 16 }, () => execute(to, 'shipped')))
  return statuses.every(({ status }) => status === 200)
}

describe('a version that an upgrade has shipped', () => {
  // proves abuse: Changing a version after its
  test('rejects until it is approved, then is in effect on every instance and worker within a second', async () => {
    await until(
      async () => (await service.get('/policies/shipped/1.0.0')).status === 200,
      'the other instance to know it',
    )
    for (const to of [service, upgraded])
      expect(reply(await execute(to, 'shipped'))).toEqual(notApproved('shipped'))

    const change = await proposed(service, maker, place('shipped', '1.0.0'), { reason: 'Shipped.' })
    for (const to of [service, upgraded]) expect((await execute(to, 'shipped')).status).toBe(500)
    expect((await resolved(service, checker, change, 'approve')).status).toBe(200)

    const both = () => Promise.all([onAllWorkers(service), onAllWorkers(upgraded)])
    await until(async () => (await both()).every(Boolean), 'both instances')
    expect(await both()).toEqual([true, true])
  })

  // proves abuse: Changing a version after its
  test('one whose content has moved since it was proposed is not approved', async () => {
    await until(
      async () => (await service.get('/policies/moving/1.0.0')).status === 200,
      'the other instance to know it',
    )
    const change = await proposed(service, maker, place('moving', '1.0.0'), { reason: 'Shipped.' })
    const { description: _, ...document } = change['proposed'] as { [name: string]: Json }
    const content = canonicalize({ ...document, description: 'Moved by an upgrade.' })
    // As the next start with another file does.
    await database.pool.query(
      `UPDATE authority SET stated = $1, stated_hash = $2 WHERE key = 'moving/1.0.0'`,
      [content, sha256Hex(content)],
    )
    const stepUpAuthorization = aStepUp(checker, change)
    const approve = () =>
      service.post(
        `/policies/pending-changes/${change.changeId}/approve`,
        { stepUpAuthorization },
        { key: checker.key },
      )
    expect(reply(await approve())).toEqual({
      status: 409,
      body: {
        error: "Policy 'moving' version '1.0.0' is loaded with other content than is proposed.",
        code: 'CONFLICT',
      },
    })
    expect(reply(await execute(service, 'moving'))).toEqual(notApproved('moving'))
    const { nonce } = stepUpAuthorization.payload
    const { rows } = await database.pool.query('SELECT FROM step_up_nonces WHERE nonce = $1', [nonce])
    expect(rows).toEqual([])
    const shown = await service.get(`/policies/pending-changes/${change.changeId}`, { key: maker.key })
    expect((shown.body as Change)['status']).toBe('PENDING_APPROVAL')
  })
})

async function check(body: object, key = maker.key) {
  const answer = await service.post('/sandbox/policies/check', body, { key })
  return answer.body as Static<typeof PolicyCheck> & { error?: string }
}

describe('POST /sandbox/policies/check', () => {
  const text = `policyId: sandbox-echo
policyVersion: 9.0.0
schemaVersion: 1.0.0
description: Echoes small parameters.
capabilities: ['sandbox:echo']
signals: { approved: boolean, amount: number }
rules:
  - id: too-large
    when: signals.amount > 10.0
    outcome: reject
    reason: Too large.
  - { id: approved, when: signals.approved, outcome: approve, reason: Approved. }
`

  test('the document, the warnings and the answer that its proposal gets', async () => {
    const checked = await check({ policy: text, retires: ['1.0.0'] })
    expect(checked).toMatchObject({ mistakes: [], wouldAnswer: { status: 201 } })
    const { document } = checked
    expect(checked.contentHash).toBe(sha256Hex(canonicalize(document as Json)))
    const path = place('sandbox-echo', '9.0.0')
    const body = { reason: 'test', proposedContent: document, retires: ['1.0.0'] }
    const change = (await proposed(service, maker, path, body)) as Change & { warnings: string[] }
    expect(change.warnings).toEqual(checked.warnings)
    // Once it is open, the check says so, and which change it is.
    const { wouldAnswer, openChange } = await check({ policy: text })
    expect(openChange).toBe(change.changeId)
    expect(wouldAnswer).toMatchObject({ status: 409, code: 'CONFLICT' })
    const again = await service.post(path, body, { key: maker.key })
    expect(again.body).toEqual({ error: wouldAnswer?.error, code: wouldAnswer?.code })
    const known = await check({ policy: text.replace('9.0.0', '1.0.0') })
    expect(known.wouldAnswer?.error).toBe(
      "Policy 'sandbox-echo' version '1.0.0' is approved and never changes.",
    )
  })

  test.each<[string, string, object]>([
    [
      'a mistake of a rule',
      text.replace('signals.amount >', 'signals.amuont >'),
      { line: 9, rule: 'too-large' },
    ],
    [
      'a member that is missing',
      text.replace('    reason: Too large.\n', ''),
      { line: 8, rule: 'too-large' },
    ],
    ['a tab', text.replace('    when', '\twhen'), { message: expect.stringMatching(/[Tt]ab/) }],
    ['a key twice', `${text}policyId: again\n`, { line: 13, message: 'Map keys must be unique.' }],
    [
      'an alias',
      text.replace('Too large.', '*other'),
      { line: 11, message: expect.stringContaining('alias') },
    ],
    ['no mapping', 'just words', { message: expect.any(String) }],
    ['JSON with a mistake', '{"policyId": ', { message: expect.any(String) }],
    ['too many levels', '['.repeat(20_000), { message: 'It is nested too deeply.' }],
  ])('%s is named with its place', async (_, policy, mistake) => {
    const { mistakes, document, wouldAnswer } = await check({ policy })
    expect(mistakes[0]).toMatchObject(mistake)
    expect([document, wouldAnswer]).toEqual([undefined, undefined])
  })

  test('cases are run, and rules without one are named', async () => {
    const cases = `given:
  now: 2026-03-02T10:00:00Z
  intent: { action: 'sandbox:echo', target: a, parameters: {} }
  signals: { approved: true, amount: 5 }
cases:
  - { case: Small ones pass., outcome: approved, rule: approved }
  - { case: Large ones do not., signals: { amount: 10 }, outcome: rejected, rule: too-large }
`
    const { cases: ran } = await check({ policy: text, cases })
    expect(ran).toMatchObject({ count: 2, undecided: ['too-large'] })
    expect(ran?.failures).toEqual([expect.stringMatching(/^cases.yaml, line 7.*Expected rejected/)])
    expect((await check({ policy: text, cases: 'cases: 1' })).cases?.failures[0]).toContain('cases.yaml')
    const many = cases + '  - { case: Again., outcome: approved, rule: approved }\n'.repeat(199)
    expect((await check({ policy: text, cases: many })).cases?.failures).toEqual([
      'cases.yaml: 201 cases are more than the 200 that are run here.',
    ])
  })

  test('is for humans, and refuses what no check can read', async () => {
    const byMachine = await service.post('/sandbox/policies/check', { policy: text })
    expect([byMachine.status, byMachine.body['code']]).toEqual([403, 'NON_HUMAN_CALLER_DENIED'])
    const long = { policy: '#'.repeat(65_537) }
    expect((await check(long)).error).toBe('policy must be a policy as YAML text of 1 to 65536 characters.')
    expect((await check({})).error).toMatch(/policy/)
  })
})

test('a version is read as the text to write the next one from', async () => {
  const { headers, text } = await service.get('/policies/sandbox-echo/1.0.0/policy.yaml', maker)
  expect(headers.get('content-type')).toBe('application/yaml')
  expect(text).toMatch(/^policyId: sandbox-echo\npolicyVersion: 1.0.0\n/)
  const { body } = await service.get('/policies/sandbox-echo/1.0.0', maker)
  expect(yamlOf(text, 'policy.yaml').value).toEqual(body['document'])
  const none = await service.get('/policies/sandbox-echo/7.0.0/policy.yaml', maker)
  expect(none.status, none.text).toBe(404)
})

describe('POST /policies/{name}/{version}/pending-changes 403 stepUpInvalid', () => {
  test('a signature that comes with a key counts for exactly this proposal too', async () => {
    const proposedContent = aDocument({ policyId: 'signed' })
    const said = {
      kind: 'policy',
      target: 'signed/1.0.0',
      proposed: proposedContent,
      reason: 'test',
    } as const
    const post = (stepUpAuthorization: unknown) =>
      service.post(
        place('signed', '1.0.0'),
        { reason: 'test', proposedContent, stepUpAuthorization },
        { key: maker.key },
      )
    const wrong = await post(aProposalStepUp(maker, { ...said, proposed: aDocument() }))
    expect([wrong.status, wrong.body['code']]).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
    expect((await post(aProposalStepUp(maker, said))).status).toBe(201)
  })
})

describe('409 conflict', () => {
  // proves abuse: Changing a version after its
  test('an approved version never changes, nor is it proposed again', async () => {
    const approved = {
      status: 409,
      body: {
        error: "Policy 'sandbox-echo' version '1.0.0' is approved and never changes.",
        code: 'CONFLICT',
      },
    }
    const asItStands = service.post(place('sandbox-echo', '1.0.0'), { reason: 'x' }, { key: maker.key })
    expect(reply(await asItStands)).toEqual(approved)
    expect(reply(await propose(aDocument({ policyId: 'sandbox-echo' })))).toEqual(approved)
  })

  // proves abuse: Changing a version after its
  test('other content than is loaded is refused: file and database would differ from the first day', async () => {
    await until(async () => (await service.get('/policies/twice/1.0.0')).status === 200, 'the upgrade')
    expect(reply(await propose(aDocument({ policyId: 'twice' })))).toEqual({
      status: 409,
      body: {
        error: "Policy 'twice' version '1.0.0' is loaded with other content than is proposed.",
        code: 'CONFLICT',
      },
    })
  })
})

describe('404 policyNotFound', () => {
  test.each([
    ['none', '1.0.0'],
    ['sandbox-echo', '9.9.9'],
    ['a%2Fb', '1.0.0'],
    ['sandbox-echo%2F1.0.0', 'x'],
    ['sandbox-echo', '1.0.0%2Fx'],
    ['a%00b', '1.0.0'],
    ['__proto__', 'constructor'],
  ])('%s version %s', async (name, version) => {
    const shown = {
      status: 404,
      body: {
        error: `Policy '${decodeURIComponent(name)}' version '${decodeURIComponent(version)}' was not found.`,
      },
    }
    expect(reply(await service.post(place(name, version), { reason: 'x' }, { key: maker.key }))).toEqual(
      shown,
    )
    expect(reply(await service.get(`/policies/${name}/${version}`))).toEqual(shown)
  })
})

describe('400 fieldRequired', () => {
  test.each([{}, { reason: null }, { reason: '' }, { reason: ' \n' }, { proposedContent: {} }])(
    '%j has no reason',
    async (body) => {
      expect(reply(await service.post(place('x', '1.0.0'), body, { key: maker.key }))).toEqual({
        status: 400,
        body: { error: 'reason is required.' },
      })
    },
  )
})

const ask = async (body: unknown, path = place('echoes', '1.0.0')) => {
  const { status, body: answer } = await service.post(path, body, { key: maker.key })
  return [status, answer.error]
}

const rule = (when: string) => ({ id: 'r', when, outcome: 'approve', reason: 'x' })

describe('400 invalidField', () => {
  test.each<[unknown, string]>([
    ['[]', 'the body must be an object.'],
    [{ reason: 7 }, 'reason must be a text of 1 to 1000 characters.'],
    [{ reason: 'x'.repeat(1001) }, 'reason must be a text of 1 to 1000 characters.'],
    [{ reason: 'x', proposedcontent: {} }, 'proposedcontent is not a member that is known here.'],
    [{ reason: 'x', proposedContent: null }, 'proposedContent must be a policy document.'],
    [{ reason: 'x', proposedContent: 'policyId: echoes' }, 'proposedContent must be a policy document.'],
    [
      { reason: 'x', proposedContent: { policyId: 'other' } },
      'proposedContent.policyId must be echoes, as in the path.',
    ],
    [
      { reason: 'x', proposedContent: aDocument({ policyVersion: '1.0.1' }) },
      'proposedContent.policyVersion must be 1.0.0, as in the path.',
    ],
  ])('%j', async (body, error) => {
    expect(await ask(body)).toEqual([400, error])
  })

  // proves abuse: A name that is a path
  test.each(['pending-changes', 'in-effect', 'validate'])('%s is no name of a policy', async (name) => {
    const body = { reason: 'x', proposedContent: aDocument({ policyId: name }) }
    expect(await ask(body, place(name, '1.0.0'))).toEqual([
      400,
      `policyId must not be ${name}: the name is reserved.`,
    ])
    expect((await ask({ reason: 'x' }, place(name, '1.0.0')))[0]).toBe(400)
  })

  test.each<[string, object, RegExp]>([
    ['an unknown key', { approvers: 0 }, /unknown key: approvers/],
    // proves abuse: An expression that backtracks for ever
    [
      'an expression that backtracks for ever',
      { rules: [rule(`'a'.matches('(a+)+$')`)] },
      /rule r, column 1: Rules have no matches\(\)/,
    ],
    // proves abuse: An expression that backtracks for ever
    ['loops in loops', { rules: [rule('[1].all(x, [1].all(y, true))')] }, /nested loops multiply/],
    // proves abuse: Deep nesting, long expressions, hundreds
    [
      'an expression deeper than it may be',
      { rules: [rule(`${'('.repeat(400)}true${')'.repeat(400)}`)] },
      /rule r, column \d+: /,
    ],
    // proves abuse: Deep nesting, long expressions, hundreds
    [
      'an expression longer than it may be',
      { rules: [rule(`${'true && '.repeat(200)}true`)] },
      /: when must not have more than 1000/,
    ],
    [
      'a signal that is not declared',
      { rules: [rule('signals.aproved')] },
      /rule r, column 1: Unknown signal 'aproved'/,
    ],
    ['a syntax error', { rules: [rule('signals.approved &&')] }, /rule r, column \d+: /],
    // proves abuse: Deep nesting, long expressions, hundreds
    [
      'more rules than it may have',
      { rules: Array(101).fill(rule('true')) },
      /rules must not have more than 100/,
    ],
    // proves abuse: A name that is a path
    ['a name in which a path hides', { capabilities: ['../x'] }, /capabilities\.0 /],
  ])('a document with %s', async (_what, members, error) => {
    const [status, message] = await ask({ reason: 'x', proposedContent: aDocument(members) })
    expect(status).toBe(400)
    expect(message).toMatch(error)
    expect(String(message).startsWith('proposedContent')).toBe(true)
  })

  test('all mistakes at once, but no more than a reader takes in', async () => {
    const rules = Array.from({ length: 60 }, (_, i) => ({ ...rule('signals.none'), id: `r${i}` }))
    const [, message] = await ask({ reason: 'x', proposedContent: aDocument({ rules }) })
    const lines = String(message).split('\n')
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toBe('and 40 more mistakes.')
  })
})

describe('400 malformedJson', () => {
  test.each([
    `{"reason":"x","proposedContent":{"policyId":"echoes","policyId":"echoes"}}`,
    `{"reason":"x","proposedContent":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`,
    `{"reason":"x","proposedContent":{"__proto__":{"policyId":"echoes"}}}`,
  ])('%s', async (body) => {
    const answer = await service.post(place('echoes', '1.0.0'), body, { key: maker.key })
    expect(reply(answer)).toEqual({ status: 400, body: { error: 'Malformed JSON body.' } })
  })
})

describe('413 payloadTooLarge', () => {
  // proves abuse: Deep nesting, long expressions, hundreds
  test('a document over the limit', async () => {
    expect((await propose(aDocument({ description: 'x'.repeat(110_000) }))).status).toBe(413)
  })
})

const summary = {
  name: 'sandbox-echo',
  version: '1.0.0',
  status: 'APPROVED',
  contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  approvedBy: 'genesis',
  approvedAt: expect.any(String) as string,
  description: expect.any(String) as string,
  capabilities: ['sandbox:echo'],
}

interface Listed {
  readonly name: string
  readonly version: string
  readonly status: string
}

describe('GET /policies 200', () => {
  test('lists every version by name, the highest first, to any caller', async () => {
    for (const version of ['1.9.0', '1.10.0']) {
      const document = aDocument({ policyId: 'sorted', policyVersion: version })
      await putInEffect(service, humans, place('sorted', version), { reason: 'x', proposedContent: document })
    }
    const { body } = await service.get('/policies?pageSize=100', narrow)
    const listed = body.policies as Listed[]
    expect(listed.find(({ name }) => name === 'sandbox-echo')).toEqual(summary)
    expect(listed.filter(({ name }) => name === 'sorted').map(({ version }) => version)).toEqual([
      '1.10.0',
      '1.9.0',
    ])
    const names = listed.map(({ name }) => name)
    expect(names).toEqual(names.toSorted())
    expect(listed.find(({ name }) => name === 'twice')).toMatchObject({ status: 'LOADED' })
    expect(listed.find(({ name }) => name === 'twice')).not.toHaveProperty('approvedBy')
    const second = (await service.get('/policies?pageSize=1&page=2')).body.policies as Listed[]
    expect(second).toEqual([listed[1]])
  })
})

describe('GET /policies/{name}/{version} 200', () => {
  test('answers the document, who approved it, and what a caller has to send', async () => {
    const { body } = await service.get('/policies/sandbox-echo/1.0.0', narrow)
    const { document, ...more } = body
    expect(more).toEqual({
      ...summary,
      toSend: [
        { signal: 'amount', type: 'number', mustEqual: 'intent.parameters.amount' },
        { signal: 'approved', type: 'boolean' },
      ],
    })
    expect(sha256Hex(canonicalize(document as Json))).toBe(more.contentHash)
  })

  test('says what will be verified, and how', async () => {
    const { body } = await service.get('/policies/vendor-payment/2.0.0', narrow)
    expect(body.toSend).toContainEqual(
      expect.objectContaining({ verified: expect.objectContaining({ by: 'approval' }) as object }),
    )
  })

  test('one that is only loaded has no approval', async () => {
    const { body } = await upgraded.get('/policies/twice/1.0.0')
    expect(body.status).toBe('LOADED')
    expect(Object.keys(body as object).filter((member) => member.startsWith('approved'))).toEqual([])
  })
})

const list = async (query: string) =>
  (await service.get(`/policies/in-effect${query}`, narrow)).body.policies as Listed[]

describe('GET /policies/in-effect 200', () => {
  test('lists what is approved, the newest approval first', async () => {
    for (const name of ['earlier', 'later']) {
      const document = aDocument({ policyId: name, capabilities: ['vendor:pay'] })
      await putInEffect(service, humans, place(name, '1.0.0'), { reason: 'x', proposedContent: document })
    }
    const all = await list('?pageSize=100')
    expect(all.slice(0, 2).map(({ name }) => name)).toEqual(['later', 'earlier'])
    expect(all.every(({ status }) => status === 'APPROVED')).toBe(true)
    expect(all.at(-1)).toMatchObject({ approvedBy: 'genesis' })
    expect(all.map(({ name }) => name)).not.toContain('twice')

    const paying = await list('?capability=vendor:pay')
    expect(paying.slice(0, 2).map(({ name }) => name)).toEqual(['later', 'earlier'])
    expect(paying.map(({ name }) => name)).not.toContain('sandbox-echo')
    expect(await list('?capability=vendor:pay&pageSize=1&page=2')).toEqual([paying[1]])
    expect(await list('?capability=nothing:known')).toEqual([])
    expect(await list('?capability=%00')).toEqual([])
  })
})

const underLimits = (version: string) => aTransaction({ policy: { name: 'limits', version } })
const limits = (version: string, members: object = {}) =>
  aDocument({ policyId: 'limits', policyVersion: version, ...members })
const isRetired = (version: string, name = 'limits') => `Policy '${name}' version '${version}' is retired.`
const retire = (version: string, name = 'limits') =>
  service.post(place(name, version), { action: 'retire', reason: 'Too wide.' }, { key: maker.key })
const versionOf = async (version: string) => (await service.get(`/policies/limits/${version}`)).body
const conflict = (error: string) => ({ status: 409, body: { error, code: 'CONFLICT' } })

describe('retirement', () => {
  // proves abuse: Naming an older, more generous version
  test('a successor and the end of its predecessors take effect in one commit, on every instance within a second', async () => {
    for (const version of ['1.0.0', '1.1.0'])
      await putInEffect(service, humans, place('limits', version), {
        reason: 'x',
        proposedContent: limits(version),
      })
    const executed = await service.post('/execute', underLimits('1.0.0'))
    expect(executed.status).toBe(200)
    const successor = limits('2.0.0', {
      signals: { approved: 'boolean', amount: 'number' },
      rules: [{ id: 'few', when: 'signals.amount < 40.0', outcome: 'approve', reason: 'Few.' }],
    })
    const change = await proposed(service, maker, place('limits', '2.0.0'), {
      reason: 'Tighter.',
      proposedContent: successor,
      retires: ['1.0.0', '1.1.0'],
    })
    // The checker's signature covers the retirement.
    expect(change['proposed']).toEqual({ ...successor, retires: ['1.0.0', '1.1.0'] })
    expect((await resolved(service, checker, change, 'approve')).status).toBe(200)

    const { error } = (await service.post('/execute', underLimits('1.0.0'))).body
    expect(error).toBe(`Execution rejected: ${isRetired('1.0.0')}`)
    await until(
      async () => {
        const { body } = await upgraded.post('/execute', underLimits('1.1.0'))
        return body.error === `Execution rejected: ${isRetired('1.1.0')}`
      },
      'the retirement on the second instance',
      1_000,
    )
    const { changeId: retiredByChange } = change
    expect(await versionOf('1.0.0')).toMatchObject({
      status: 'RETIRED',
      approvedBy: 'checker',
      retiredBy: 'checker',
      retiredAt: expect.any(String),
      retiredByChange,
      replacedBy: '2.0.0',
      document: limits('1.0.0'),
    })
    const inEffect = (await service.get('/policies/in-effect?pageSize=100')).body.policies as {
      name: string
      version: string
      replaces?: string[]
    }[]
    expect(inEffect.filter(({ name }) => name === 'limits')).toMatchObject([
      { version: '2.0.0', replaces: ['1.0.0', '1.1.0'] },
    ])
    // It can be loaded, which is all that is asked.
    const named = { policyId: 'limits', policyVersion: '1.0.0' }
    expect((await service.post('/policies/validate', named)).status).toBe(200)
    const { businessTransactionId } = executed.body
    expect((await service.post('/verify', { businessTransactionId })).body.status).toBe('VERIFIED')
    const tried = await service.post('/sandbox/evaluate', underLimits('1.0.0'))
    expect(tried.body.problems).toContainEqual({
      path: 'policy.version',
      message: `${isRetired('1.0.0')} Version '2.0.0' took its place.`,
    })
  })

  test('a rejection under a retired version is a signed Refusal Record', async () => {
    const transaction = underLimits('1.0.0')
    expect((await service.post('/execute', transaction)).status).toBe(500)
    const { body } = await service.get(`/refusal/${transaction.businessTransactionId}`)
    expect(body.decision).toMatchObject({ outcome: 'REJECTED', reason: isRetired('1.0.0') })
    expect((await service.post('/refusal/verify', body)).body.valid).toBe(true)
  })

  test('a version alone is retired too, and who looks at it is told what is left without a policy', async () => {
    const capabilities = ['test:only']
    const only = limits('1.0.0', { policyId: 'only', capabilities })
    await putInEffect(service, humans, place('only', '1.0.0'), { reason: 'x', proposedContent: only })
    const change = await proposed(service, maker, place('only', '1.0.0'), {
      action: 'retire',
      reason: 'Nobody needs it.',
    })
    expect(change).toMatchObject({
      target: 'only/1.0.0',
      proposed: { action: 'retire', policyId: 'only', policyVersion: '1.0.0' },
      warnings: ['No version in effect governs test:only any more.'],
    })
    expect((await resolved(service, checker, change, 'approve')).status).toBe(200)
    const { body } = await service.get('/policies/only/1.0.0')
    expect(body).toMatchObject({ status: 'RETIRED' })
    expect(body).not.toHaveProperty('replacedBy')
  })

  test('a change of a policy beside which others govern the same action names them', async () => {
    const capabilities = ['test:shared']
    const proposal = (policyId: string) => limits('1.0.0', { policyId, capabilities })
    await putInEffect(service, humans, place('strict', '1.0.0'), {
      reason: 'x',
      proposedContent: proposal('strict'),
    })
    const said = "For test:shared callers may name 'strict' 1.0.0 in the place of this policy."
    const change = await proposed(service, maker, place('lax', '1.0.0'), {
      reason: 'x',
      proposedContent: proposal('lax'),
    })
    expect(change['warnings']).toContain(said)
    expect((await resolved(service, checker, change, 'approve')).status).toBe(200)
    const retiring = await proposed(service, maker, place('lax', '1.0.0'), {
      action: 'retire',
      reason: 'Too lax.',
    })
    expect(retiring['warnings']).toEqual([said])
    const reject = { rejectionReason: 'No.' }
    expect((await resolved(service, checker, retiring, 'reject', reject)).status).toBe(200)
  })

  test('a proposal that leaves older versions in effect says so', async () => {
    const { body } = await propose(limits('3.0.0'))
    expect(body.warnings).toContain(
      'Callers may go on naming 2.0.0, which stays in effect: the same change can retire it.',
    )
    const reject = { rejectionReason: 'No.' }
    expect((await resolved(service, checker, body as Change, 'reject', reject)).status).toBe(200)
  })

  test('of two changes that retire the same version, the second is told so and changes nothing', async () => {
    for (const version of ['4.0.0', '4.1.0', '4.2.0'])
      await putInEffect(service, humans, place('limits', version), {
        reason: 'x',
        proposedContent: limits(version),
      })
    const first = await proposed(service, maker, place('limits', '4.0.0'), { action: 'retire', reason: 'x' })
    const second = await proposed(service, maker, place('limits', '5.0.0'), {
      reason: 'x',
      proposedContent: limits('5.0.0'),
      retires: ['4.2.0', '4.0.0'],
    })
    const replies = await Promise.all([
      resolved(service, checker, first, 'approve'),
      resolved(upgraded, checker, second, 'approve'),
    ])
    expect(new Set(replies.map((one) => one.status))).toEqual(new Set([200, 409]))
    const loser = replies.find((one) => one.status === 409)!
    expect(reply(loser)).toEqual(conflict("Policy 'limits' version '4.0.0' is retired already."))
    const undone = loser === replies[1]
    expect((await versionOf('4.2.0'))['status']).toBe(undone ? 'APPROVED' : 'RETIRED')
    expect((await service.get('/policies/limits/5.0.0')).status).toBe(undone ? 404 : 200)
  })

  // proves abuse: Naming an older, more generous version
  test('409: what is retired, or was never approved, and what is retired is never approved again', async () => {
    expect(reply(await retire('1.0.0'))).toEqual(
      conflict("Policy 'limits' version '1.0.0' is retired already."),
    )
    expect(reply(await retire('1.0.0', 'twice'))).toEqual(
      conflict("Policy 'twice' version '1.0.0' is not approved, so it cannot be retired."),
    )
    const again = { reason: 'x', proposedContent: limits('1.0.0') }
    expect(reply(await service.post(place('limits', '1.0.0'), again, { key: maker.key }))).toEqual(
      conflict("Policy 'limits' version '1.0.0' is retired and never changes."),
    )
    const twice = { reason: 'x', proposedContent: limits('6.0.0'), retires: ['1.0.0'] }
    expect(reply(await service.post(place('limits', '6.0.0'), twice, { key: maker.key }))).toEqual(
      conflict("Policy 'limits' version '1.0.0' is retired already."),
    )
  })

  test('404: a version that nobody knows', async () => {
    const unknown = { status: 404, body: { error: "Policy 'limits' version '9.9.9' was not found." } }
    expect(reply(await retire('9.9.9'))).toEqual(unknown)
    const proposal = { reason: 'x', proposedContent: limits('6.0.0'), retires: ['9.9.9'] }
    expect(reply(await service.post(place('limits', '6.0.0'), proposal, { key: maker.key }))).toEqual(unknown)
  })

  test.each<[object, string]>([
    [{ action: 'end' }, 'action must be retire'],
    [{ action: 'retire', retires: ['1.0.0'] }, 'retires must be left out where action is retire.'],
    [{ action: 'retire', proposedContent: limits('6.0.0') }, 'proposedContent must be left out where action'],
    [{ retires: ['6.0.0'] }, 'retires must not name 6.0.0, which is the version that is proposed.'],
    [{ retires: [] }, 'retires must'],
    [{ retires: ['1.0.0', '1.0.0'] }, 'retires must'],
    [{ retires: ['1.0'] }, 'retires.0 must be a version such as 1.0.0'],
  ])('400: %j', async (body, message) => {
    const answer = await service.post(place('limits', '6.0.0'), { reason: 'x', ...body }, { key: maker.key })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(message)
  })
})

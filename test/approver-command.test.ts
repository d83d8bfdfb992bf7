// countersign approver (decisions §7): what its commands print is what the service takes, and what they refuse is never signed.
import { spawnSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { approverKeygen, signApproval, signStepUp, type ApprovalToSign } from '../src/cli/approver.ts'
import { impactReport } from '../src/formats/impact-report.ts'
import { canonicalize, type Json } from '../src/formats/json/canonical.ts'
import type { ApprovalRequest } from '../src/formats/schemas/approval-request.ts'
import { preAuthEncoding } from '../src/core/signing/dsse.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import {
  aHuman,
  anApprover,
  anEnrolment,
  enrolled,
  proposed,
  putInEffect,
  resolved,
  type Change,
} from './authority.ts'
import { answer, openFlakyNetwork } from './clients/flaky-network.ts'
import { runCommand } from './command.ts'
import type { TestService } from './service.ts'
import { bundledEnvironment } from './run/environment.ts'
import { aTransaction } from './transactions.ts'
import { withService } from './with-service.ts'

const CLI = join(import.meta.dirname, '..', 'src', 'cli', 'index.ts')
const maker = aHuman('maker')
/** This human is an approver too. */
const checker = aHuman('checker', { approverId: 'dana' })

let folder: string
let service: TestService

withService((made) => ({ service } = made), { callers: [maker.entry, checker.entry] })
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-approver-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** The command as a process of its own, in an empty folder. */
function run(args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    cwd: folder,
    env: bundledEnvironment,
    encoding: 'utf8',
    input,
  })
  return { status, stdout, stderr }
}
const approver = (args: string[], input?: string) => run(['approver', ...args], input)

function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** Signs by the command. `args` replace the default arguments of the same name; undefined leaves one out. */
function approvalBy(args: Readonly<Record<string, string | undefined>>, input = '') {
  const all: Readonly<Record<string, string | undefined>> = {
    '--approver': 'alice',
    '--key-id': 'k1',
    '--capability': 'vendor:pay',
    '--target': 'vendor-4711',
    '--limit': 'amount=500',
    ...args,
  }
  const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
  return approver(['sign-approval', ...given], input)
}

const deliver = (stdout: string) => service.post('/approvals', stdout)

/** The message of a command that refuses, run without a process of its own. Throws when it prints a signature. */
function refusal(command: () => void): string {
  const stdout = vi.spyOn(console, 'log').mockReturnValue()
  const stderr = vi.spyOn(console, 'error').mockReturnValue()
  try {
    command()
    throw new Error('It was not refused.')
  } catch (error) {
    expect(stdout).not.toHaveBeenCalled()
    return error instanceof Error ? error.message : String(error)
  } finally {
    stdout.mockRestore()
    stderr.mockRestore()
  }
}

describe('keygen', () => {
  test('writes a private key for its owner alone, and prints the public half of it', () => {
    const { status, stdout, stderr } = approver(['keygen', '--dir', 'a/b', '--name', 'alice'])
    expect(status).toBe(0)
    const dir = join(folder, 'a', 'b')
    expect(readdirSync(dir).toSorted()).toEqual(['alice.private.pem', 'alice.public.pem'])
    expect(statSync(join(dir, 'alice.private.pem')).mode & 0o777).toBe(0o600)
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    expect(readFileSync(join(dir, 'alice.public.pem'), 'utf8')).toBe(stdout)
    const half = createPublicKey(createPrivateKey(readFileSync(join(dir, 'alice.private.pem'), 'utf8')))
    expect(half.equals(createPublicKey(stdout))).toBe(true)
    expect(stderr).toContain('POST /approvers/changes')
    expect(stdout + stderr).not.toContain('PRIVATE KEY')
  })

  test.each(['approver.private.pem', 'approver.public.pem'])('leaves %s as it is', (name) => {
    file(name, 'precious')
    const said = refusal(() => approverKeygen({ dir: folder, name: 'approver' }))
    expect(said).toContain(`${name} exists and was left as it is.`)
    expect(readdirSync(folder)).toEqual([name])
    expect(readFileSync(join(folder, name), 'utf8')).toBe('precious')
  })

  test.each(['../alice', 'a/b', '.hidden', '', 'a b'])('%j is no name of a key', (name) => {
    expect(refusal(() => approverKeygen({ dir: join(folder, 'keys'), name }))).toMatch(/^--name must be/)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('sign-approval', () => {
  const alice = anApprover('alice')

  beforeAll(async () => {
    await enrolled(service, { maker, checker }, alice)
  })

  const key = () => file('alice.pem', alice.privateKeyPem)

  test('an approval within limits is one that the service takes', async () => {
    const { status, stdout, stderr } = approvalBy({ '--key': key(), '--limit': 'invoice.total=99.5' })
    expect(status, stderr).toBe(0)
    const { payload, algorithm, signature } = JSON.parse(stdout) as {
      payload: Readonly<Record<string, Json>> & { issuedAt: string; expiresAt: string }
      algorithm: string
      signature: string
    }
    expect(payload).toEqual({
      version: 1,
      approvalId: expect.any(String),
      approverId: 'alice',
      keyId: 'k1',
      capability: 'vendor:pay',
      target: 'vendor-4711',
      scope: { limits: [{ path: 'invoice.total', max: 99.5 }] },
      issuedAt: expect.any(String),
      expiresAt: expect.any(String),
      nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect(Date.parse(payload.expiresAt) - Date.parse(payload.issuedAt)).toBe(900_000)
    expect(algorithm).toBe('ed25519')
    const message = preAuthEncoding('approval', canonicalize(payload))
    expect(verify(null, message, alice.publicKeyPem, Buffer.from(signature, 'base64'))).toBe(true)
    const delivered = await deliver(stdout)
    expect(delivered.status, delivered.text).toBe(201)
  })

  test('an approval of exact parameters holds their hash, whatever the order and spacing of the file', async () => {
    const parameters = file('parameters.json', '{ "b": 2.0,\n "a": {"c": "é"} }')
    const { stdout, stderr } = approvalBy({
      '--key': key(),
      '--limit': undefined,
      '--parameters': parameters,
    })
    const { payload } = JSON.parse(stdout) as { payload: { scope: unknown } }
    expect(payload.scope).toEqual({ parametersHash: sha256Hex('{"a":{"c":"é"},"b":2}') })
    expect(stderr).toContain('"c": "é"')
    expect((await deliver(stdout)).status).toBe(201)
  })

  test('parameters come from stdin too, and the same approval is never signed twice', () => {
    const args = { '--key': key(), '--limit': undefined, '--parameters': '-' }
    const [one, two] = [1, 2].map(() => {
      const { stdout } = approvalBy(args, '{"amount":1}')
      return JSON.parse(stdout) as { payload: { nonce: string; approvalId: string } }
    })
    expect(one?.payload.nonce).not.toBe(two?.payload.nonce)
    expect(one?.payload.approvalId).not.toBe(two?.payload.approvalId)
  })

  test('shows the human everything that is signed, and nothing that moves the cursor or turns a line around', () => {
    const { stdout, stderr } = approvalBy({ '--key': key(), '--target': 'vendor\u202e\u009b2K-4711' })
    const { payload } = JSON.parse(stdout) as { payload: Record<string, unknown> }
    for (const name of Object.keys(payload)) expect(stderr).toContain(`"${name}"`)
    expect(stderr).toContain('"amount"')
    expect(stderr).toContain('500')
    expect(stderr).not.toMatch(/[\u202e\u009b]/)
  })

  test.each<[string, Partial<Record<keyof ApprovalToSign, unknown>>, string]>([
    ['no scope', { limit: undefined }, '--parameters'],
    ['two scopes', { parameters: 'parameters.json' }, '--parameters'],
    ['a limit without a value', { limit: ['amount'] }, 'path=max'],
    ['a limit that is no number', { limit: ['amount=all'] }, 'path=max'],
    ['an infinite limit', { limit: ['amount=Infinity'] }, 'path=max'],
    ['a limit beyond every number', { limit: [`amount=${'9'.repeat(400)}`] }, 'payload.scope'],
    ['a limit in hexadecimal', { limit: ['amount=0xff'] }, 'path=max'],
    ['a limit of a list', { limit: ['items[0]=5'] }, 'payload.scope'],
    ['an approver with a colon', { approver: 'alice:k1' }, 'payload.approverId'],
    ['no capability', { capability: '' }, 'payload.capability'],
    ['a target of two lines', { target: 'a\nb' }, 'payload.target'],
    ['an approval for ever', { expiresIn: 'never' }, '--expires-in'],
    ['an approval of no time', { expiresIn: '0s' }, '--expires-in'],
  ])('%s: nothing is signed', (_, members, named) => {
    const request = {
      key: key(),
      approver: 'alice',
      keyId: 'k1',
      capability: 'vendor:pay',
      target: 'vendor-4711',
      limit: ['amount=500'],
      expiresIn: '15m',
      ...members,
    } as ApprovalToSign
    expect(refusal(() => signApproval(request, new Date()))).toContain(named)
  })

  test.each([
    ['that are a list', '[]'],
    ['that are no JSON', '{'],
    ['that could be read in two ways', '{"amount":1,"amount":1000}'],
    ['with a number that is none', '{"amount":1e999}'],
  ])('parameters %s: nothing is signed', (_, text) => {
    const { status, stdout, stderr } = approvalBy(
      { '--key': key(), '--limit': undefined, '--parameters': '-' },
      text,
    )
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^countersign: (--parameters|Standard input) /)
  })

  test.each([
    ['the public half', alice.publicKeyPem],
    [
      'a key of another kind',
      generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ],
    ['no key', 'not a key'],
  ])('signs with %s: never, and says no word of it', (_, pem) => {
    const { status, stdout, stderr } = approvalBy({ '--key': file('key.pem', pem) })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^countersign: The key /)
    expect(stderr).not.toContain(String(pem).split('\n')[1] ?? String(pem))
  })
})

async function asked(transaction: object, note = ''): Promise<ApprovalRequest> {
  const { status, text, body } = await service.post('/approval-requests', { transaction, note })
  expect(status, text).toBe(201)
  return body as ApprovalRequest
}

const at = () => ['--url', service.url, '--api-key', checker.key]
describe('requests and sign-request', () => {
  const dana = anApprover('dana')
  const policy = { name: 'asks-dana', version: '1.0.0' }
  const key = () => file('dana.pem', dana.privateKeyPem)

  beforeAll(async () => {
    const humans = { maker, checker }
    await enrolled(service, humans, dana)
    await inEffect(policy)
  })

  const inEffect = ({ name, version }: typeof policy) =>
    putInEffect(service, { maker, checker }, `/policies/${name}/${version}/pending-changes`, {
      reason: 'test',
      proposedContent: {
        policyId: name,
        policyVersion: version,
        schemaVersion: '1.0.0',
        description: 'Made by a test.',
        capabilities: ['sandbox:echo'],
        signals: { approved: 'boolean' },
        verify: { approved: { by: 'approval', quorum: 1 } },
        rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' }],
      },
    })

  const needing = (target: string) =>
    aTransaction({ intent: { target }, policy, signals: { amount: undefined } })

  const by = () => ['--key', key(), '--approver', 'dana', '--key-id', 'k1']

  test('lists what waits, shows all of it before it asks, and signs exactly that', async () => {
    const transaction = needing('invoice\u202e7')
    const { request, requestHash, actionCode } = await asked(transaction, 'Due on Friday.')
    const listed = approver(['requests', ...at()])
    expect(listed.stderr).toBe('1 waiting.\n')
    const shown = [request.requestId, actionCode, 'tester', 'sandbox:echo → invoice\ufffd7', '42']
    expect(listed.stdout).toBe(
      `${[request.expiresAt, ...shown, '1 approval missing', 'Due on Friday.'].join('  ')}\n`,
    )

    for (const no of ['', 'n\n', 'yep\n']) {
      const { status, stdout, stderr } = approver(['sign-request', request.requestId, ...at(), ...by()], no)
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(
        /Sign it\? \[y\/N\] Nothing was signed\. The request stays open; `countersign approver decline-request` declines it\.\n$/,
      )
    }
    const signing = approver(['sign-request', request.requestId, ...at(), ...by()], 'y\n')
    expect(signing.status, signing.stderr).toBe(0)
    const [before = ''] = signing.stderr.split('Sign it?')
    for (const name of Object.keys(request)) expect(before).toContain(`"${name}"`)
    expect(before).toContain(requestHash)
    expect(before).toContain(`\n  ${actionCode}\n`)
    expect(before).not.toContain('\u202e')
    const { payload } = JSON.parse(signing.stdout) as { payload: object }
    expect(payload).toMatchObject({
      version: 2,
      approverId: 'dana',
      requestHash,
      expiresAt: request.expiresAt,
    })
    expect((await service.post('/execute', transaction)).status).toBe(200)
    const again = approver(['sign-request', request.requestId, ...at(), ...by()], 'y\n')
    expect([again.status, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toContain('The request is USED: there is nothing to sign.')
  })

  test('a profile names the service and the key, and without an id what ends first is shown; another is declined', async () => {
    const { request: later } = await asked(needing('later'))
    const body = { transaction: needing('soonest'), expiresInSeconds: 60 }
    const { body: soonest } = await service.post('/approval-requests', body)
    const profile = file('dana.json', '')
    const saved = {
      url: service.url,
      apiKey: checker.key,
      approver: { approverId: 'dana', keyId: 'k1', key: basename(key()) },
    }
    writeFileSync(profile, JSON.stringify(saved))
    const signing = approver(['sign-request', '--profile', profile], 'y\n Due today. \n')
    expect([signing.status, signing.stderr]).toEqual([
      0,
      expect.stringMatching(/^1 more waiting after this one\.\n/),
    ])
    expect(JSON.parse(signing.stdout)).toMatchObject({
      payload: { version: 3, requestHash: soonest.requestHash, reason: 'Due today.' },
    })
    expect(signing.stderr).toContain('Why, for later readers? (Enter: no reason) ')
    const text = 'Which \u202einvoice?'
    const asking = ['note-request', later.requestId, '--profile', profile, '--text', text]
    expect(approver(asking)).toMatchObject({ status: 0, stderr: `Wrote the note on ${later.requestId}.\n` })
    const { body: noted } = await service.get(`/approval-requests/${later.requestId}`)
    expect(noted.notes).toMatchObject([{ text }])
    const showing = approver(['sign-request', later.requestId, '--profile', profile], 'n\n')
    expect(showing.stderr).toMatch(
      /which your signature does not cover:\n {2}\S+ {2}checker: Which \S+invoice\?\n/,
    )
    expect(showing.stderr).not.toContain('\u202e')
    const declining = [
      'decline-request',
      later.requestId,
      '--profile',
      profile,
      '--reason',
      'No such invoice.',
    ]
    expect(approver(declining)).toMatchObject({ status: 0, stderr: `Declined ${later.requestId}.\n` })
    const { body: declined } = await service.get(`/approval-requests/${later.requestId}`)
    expect(declined).toMatchObject({ status: 'DECLINED', closed: { reason: 'No such invoice.' } })

    const listing = () => approver(['requests', '--profile', profile]).stderr
    expect(listing()).toBe('Nothing waits.\n')
    writeFileSync(profile, '{')
    expect(listing()).toContain(`${profile} is not JSON`)
    writeFileSync(profile, JSON.stringify({ ...saved, approver: undefined, more: 1 }))
    expect(listing()).toContain(`${profile}: more`)
    writeFileSync(profile, JSON.stringify({ ...saved, approver: undefined }))
    const without = approver(['sign-request', later.requestId, '--profile', profile])
    expect([without.status, without.stderr]).toEqual([
      1,
      'countersign: Give --key, or a --profile that has it.\n',
    ])
    expect(approver(['requests']).stderr).toContain('Give --api-key, or a --profile that has it.')
  })

  test('the end of a version is signed for with all open requests under it, the signed ones too, and their sums', async () => {
    const ending = { name: 'ends', version: '1.0.0' }
    await inEffect(ending)
    const worth = (amount: number, currency: string) =>
      asked(
        aTransaction({
          intent: { parameters: { amount, currency } },
          policy: ending,
          signals: { amount: undefined },
        }),
      )
    const signed = await worth(1200.5, 'EUR')
    const open = [signed, await worth(80, 'EUR'), await worth(7, 'USD')]
    const signing = approver(['sign-request', signed.request.requestId, ...at(), ...by()], 'y\n')
    expect(signing.status, signing.stderr).toBe(0)
    const retiring = await proposed(
      service,
      maker,
      `/policies/${ending.name}/${ending.version}/pending-changes`,
      { action: 'retire', reason: 'test' },
    )
    const { stderr } = run(
      ['changes', 'approve', retiring.changeId, '--without-impact', ...as(checker)],
      'n\n',
    )
    expect(stderr).toContain('  3 open requests under version 1.0.0 end (7 USD, 1,280.50 EUR).\n')
    await resolved(service, checker, retiring, 'reject', { rejectionReason: 'test' })
    for (const { request } of open) await service.post(`/approval-requests/${request.requestId}/withdraw`, {})
  })

  test('groups and stand-ins are listed with the changes that set them', async () => {
    const humans = { maker, checker }
    expect(approver(['groups', ...at()])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: 'There is no group.\n',
    })
    const group = await putInEffect(service, humans, '/approver-groups/changes', {
      action: 'set',
      group: 'board',
      members: ['frank', 'dana'],
      reason: 'test',
    })
    expect(approver(['groups', ...at()]).stdout).toMatch(
      new RegExp(`^board  dana,frank  since \\S+  ${group.changeId}\n$`),
    )
    const [from, until] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
    const standIn = await putInEffect(service, humans, '/stand-ins/changes', {
      action: 'set',
      for: 'frank',
      by: 'dana',
      from,
      until,
      reason: 'test',
    })
    expect(approver(['stand-ins', ...at()]).stdout).toBe(
      `frank  dana stands in  from ${from}  until ${until}  now  ${standIn.changeId}\n`,
    )
  })

  // proves abuse: A request changed after it was shown
  test.each<[string, (reply: ApprovalRequest) => object]>([
    ['another target', (reply) => ({ ...reply, request: { ...reply.request, target: 'elsewhere' } })],
    ['another action code', (reply) => ({ ...reply, actionCode: '0000-0000-0000' })],
    ['another hash', (reply) => ({ ...reply, requestHash: 'ab'.repeat(32) })],
  ])('a reply with %s is not signed', async (_, change) => {
    const reply = await asked(needing('changed'))
    const network = await openFlakyNetwork(service.url)
    const { requestId } = reply.request
    network.plan(`GET /approval-requests/${requestId}`, answer(200, change(reply)))
    const given = ['--url', network.url, '--api-key', checker.key, ...by()]
    const { status, stdout, stderr } = await runCommand(['approver', 'sign-request', requestId, ...given], {})
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toContain('Nothing was signed.')
    await network.close()
    await service.post(`/approval-requests/${requestId}/withdraw`, {})
  })
})

const checkerKey = () => file('checker.pem', checker.privateKeyPem)
const send = (change: Change, action: string, body: string) =>
  service.post(`/approvers/changes/${change.changeId}/${action}`, body, { key: checker.key })

const refusedStepUp = (change: unknown, members: { action?: 'approve' | 'reject'; reason?: string } = {}) => {
  const request = {
    key: checkerKey(),
    change: file('change.json', change),
    action: 'approve',
    keyId: 'k',
    reason: undefined,
    impact: undefined,
  } as const
  return refusal(() => signStepUp({ ...request, ...members }, new Date()))
}
const stepUpBy = (change: unknown, args: string[]) =>
  approver(['sign-step-up', '--key', checkerKey(), '--change', file('change.json', change), ...args])

const seeing = (report: object) => ['--action', 'approve', '--impact', file('report.json', report)]

describe('sign-step-up', () => {
  let n = 0
  const aChange = () =>
    proposed(service, maker, '/approvers/changes', anEnrolment(anApprover(`step-up-${n++}`)))

  test('approves a change for real: what it prints is the body', async () => {
    const change = await aChange()
    const { status, stdout, stderr } = stepUpBy(change, ['--action', 'approve'])
    expect(status, stderr).toBe(0)
    const { status: answered, body } = await send(change, 'approve', stdout)
    expect([answered, body.status, body.resolvedBy]).toEqual([200, 'APPROVED', 'checker'])
  })

  test('rejects a change for real, with its reason, from stdin', async () => {
    const change = await aChange()
    const args = ['--key', checkerKey(), '--change', '-', '--action', 'reject', '--reason', 'Not ours.']
    const { stdout } = approver(['sign-step-up', ...args, '--key-id', 'mine'], JSON.stringify(change))
    const { status, body } = await send(change, 'reject', stdout)
    expect([status, body.status, body.rejectionReason]).toEqual([200, 'REJECTED', 'Not ours.'])
    expect(body.stepUpAuthorization.keyId).toBe('mine')
  })

  test('shows the human what is approved and the warnings', async () => {
    const change = await aChange()
    const warned = { ...change, warnings: ['Look twice.'] }
    const { stderr } = stepUpBy(warned, ['--action', 'approve'])
    const { publicKeyPem } = change['proposed'] as { publicKeyPem: string }
    for (const text of [change.changeId, '"maker"', JSON.stringify(publicKeyPem), 'Look twice.'])
      expect(stderr).toContain(text)
  })

  // proves abuse: An approval used to reject
  test('a step-up for the one is none for the other: an approval does not reject', async () => {
    const change = await aChange()
    const { stdout } = stepUpBy(change, ['--action', 'approve'])
    const body = JSON.stringify({ ...JSON.parse(stdout), rejectionReason: 'turned around' })
    const { status, body: refused } = await send(change, 'reject', body)
    expect([status, refused.code]).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
  })

  // proves abuse: A change that is swapped
  test('a change whose content was swapped under its hash is not signed', async () => {
    const change = await aChange()
    const other = anApprover('mallory').publicKeyPem
    const swapped = [
      { ...change, proposed: { ...(change['proposed'] as object), publicKeyPem: other } },
      { ...change, target: 'mallory:k1' },
      { ...change, reason: 'nothing to see' },
      { ...change, proposedBy: 'checker' },
      { ...change, changeHash: 'a'.repeat(64) },
    ]
    for (const one of swapped) expect(refusedStepUp(one)).toContain('Nothing was signed')
    const { status, stdout, stderr } = stepUpBy(swapped[0], ['--action', 'approve'])
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toContain('Nothing was signed')
  })

  // proves abuse: A change that is swapped
  test('a change that was swapped together with its hash is shown, and refused by the service', async () => {
    const change = await aChange()
    const { changeId, kind, target, reason, proposedBy, proposedAt } = change as unknown as Record<
      string,
      Json
    >
    const shown = { changeId, kind, target, reason, proposedBy, proposedAt, proposed: { harmless: true } }
    const forged = { ...change, ...shown, changeHash: sha256Hex(canonicalize(shown as Json)) }
    const { stdout, stderr } = stepUpBy(forged, ['--action', 'approve'])
    expect(stderr).toContain('harmless')
    const { status, body } = await send(change, 'approve', stdout)
    expect([status, body.code]).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
  })

  test('covers the impact report of a policy that the human saw, and none of another change', async () => {
    const proposedContent = {
      policyId: `step-up-${n++}`,
      policyVersion: '1.0.0',
      schemaVersion: '1.0.0',
      description: 'Made by a test.',
      capabilities: ['sandbox:echo'],
      signals: { approved: 'boolean' },
      rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' }],
    }
    const path = `/policies/${proposedContent.policyId}/1.0.0/pending-changes`
    const change = await proposed(service, maker, path, { reason: 'test', proposedContent })
    const nothing = { examined: 3, decided: 3, skipped: 0, share: 1, complete: true, flips: [], retired: [] }
    const range = { since: '2026-11-01T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z' }
    const counts = { approvedToRejected: 0, rejectedToApproved: 0, refusedAsRetired: 0 }
    const sums = { toRejected: {}, toApproved: {}, retired: {} }
    const found = { ...nothing, ...range, ...counts, sums, flippedAndRetired: 0, unknownSignals: [] }
    const report = impactReport(change, found, new Date().toISOString())
    const foreign = stepUpBy(change, seeing({ ...report, changeId: randomUUID() }))
    expect([foreign.status, foreign.stdout]).toEqual([1, ''])
    expect(foreign.stderr).toContain('The impact report is of another change. Nothing was signed')

    const { stdout, stderr } = stepUpBy(change, seeing(report))
    expect(stderr).toContain('"examined": 3')
    const { status, text, body } = await service.post(
      `/policies/pending-changes/${change.changeId}/approve`,
      stdout,
      { key: checker.key },
    )
    expect(status, text).toBe(200)
    const impactHash = sha256Hex(canonicalize(report))
    expect(body).toMatchObject({ impactReport: report, stepUpAuthorization: { payload: { impactHash } } })
  })

  test('a change that is resolved is not signed again', async () => {
    const change = await aChange()
    const { stdout } = stepUpBy(change, ['--action', 'approve'])
    const { body } = await send(change, 'approve', stdout)
    expect(refusedStepUp(body)).toBe('The change is APPROVED already.')
  })

  test('a reason belongs to a rejection, and is needed there: else nothing is signed', async () => {
    const change = await aChange()
    expect(refusedStepUp(change, { action: 'reject' })).toContain('--reason')
    expect(refusedStepUp(change, { reason: 'x' })).toContain('--reason')
  })

  test('without a choice between the two actions nothing is signed', async () => {
    const { status, stdout, stderr } = stepUpBy(await aChange(), [])
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain('--action')
  })

  test.each(['[]', '{}', '{"changeId":"x"}', '{', ''])('%j is no change', (text) => {
    expect(refusedStepUp(text)).toMatch(/--change must be|is not JSON/)
  })
})

/** The profile of a human, as `setup humans` writes it. */
function profileOf(name: string, human: typeof maker): string {
  const stepUpKey = basename(file(`${name}.step-up.pem`, human.privateKeyPem))
  return file(`${name}.json`, { url: service.url, apiKey: human.key, stepUpKey })
}
const as = (human: typeof maker) => ['--profile', profileOf(human.callerId, human)]

const paying = (version: string, max: number) => `policyId: by-command
policyVersion: ${version}
schemaVersion: 1.0.0
description: Made by a test.
capabilities: ['sandbox:echo']
signals:
  amount: number
rules:
  - id: small
    when: signals.amount <= ${max}.0
    outcome: approve
    reason: At most ${max}.
`

const refusing = (args: string[], input = 'y\n') => {
  const { status, stdout, stderr } = run(['changes', 'approve', ...args], input)
  expect([status, stdout]).toEqual([1, ''])
  return stderr
}

describe('changes and policy propose', () => {
  let n = 0
  const enrolment = () => anEnrolment(anApprover(`by-command-${n++}`))
  const aChange = () => proposed(service, maker, '/approvers/changes', enrolment())

  test('a policy is proposed from its file, shown with its consequences, and approved with a signature over them', async () => {
    const first = run([
      'policy',
      'propose',
      file('policy.yaml', paying('1.0.0', 100)),
      '--reason',
      'First.',
      ...as(maker),
    ])
    expect(first.status, first.stderr).toBe(0)
    const { changeId } = JSON.parse(first.stdout) as Change
    expect(first.stderr).toContain(`bin/countersign changes approve ${changeId} --profile <their profile>\n`)
    expect(run(['changes', 'approve', changeId, ...as(checker)], 'y\n').status).toBe(0)
    const transaction = aTransaction({
      policy: { name: 'by-command', version: '1.0.0' },
      intent: { parameters: { amount: 80 } },
      signals: { amount: 80 },
    })
    expect((await service.post('/execute', transaction)).status).toBe(200)

    const second = run([
      'policy',
      'propose',
      file('policy.yaml', paying('2.0.0', 40)),
      '--retires',
      '1.0.0',
      '--reason',
      'Less.',
      ...as(maker),
    ])
    expect(second.status, second.stderr).toBe(0)
    const { changeId: next } = JSON.parse(second.stdout) as Change
    const listed = run(['changes', 'list', '--kind', 'policy', ...as(checker)])
    expect(listed.stdout).toContain(
      `${next}  Put policy by-command 2.0.0 in effect and retire 1.0.0  maker  Less.\n`,
    )

    const no = run(['changes', 'approve', next, ...as(checker)], 'no\n')
    expect([no.status, no.stdout]).toEqual([1, ''])
    expect(no.stderr).toMatch(/Nothing was signed\. The change stays open\.\n$/)
    const approved = run(['changes', 'approve', next, ...as(checker)], 'y\n')
    expect(approved.status, approved.stderr).toBe(0)
    const [before = ''] = approved.stderr.split('Sign it, to approve the change? [y/N]')
    for (const text of [
      '"policyVersion": "2.0.0"',
      'rules.small.when\n    - signals.amount <= 100.0\n    + signals.amount <= 40.0\n',
      'Version 1.0.0 rejects every execution.',
      'No open request is under version 1.0.0.\n\nPast decisions since ',
      'APPROVED -> REJECTED',
      '1 of 1 past decisions under by-command would flip: 1 approved would be rejected (80), 0 rejected would be approved.\n',
      '1 of 1 were approved under 1.0.0, and sent so again they would be refused as retired (80). 1 of these would flip too, and is listed there alone.\n',
      ' of any policy examined.\n',
      'Your signature covers this report too.',
    ])
      expect(before).toContain(text)
    // No line break is taken for a stranger's character, no progress is in a file, and what was found twice is listed once.
    expect(before).not.toMatch(/\ufffd|% |refused as retired\n/)
    expect(JSON.parse(approved.stdout)).toMatchObject({
      status: 'APPROVED',
      resolvedBy: 'checker',
      impactReport: { approvedToRejected: 1, refusedAsRetired: 1 },
    })
    expect((await service.get('/policies/by-command/1.0.0')).body).toMatchObject({ status: 'RETIRED' })
  })

  test('a version is retired without a successor, and a rejection has its reason', async () => {
    const retiring = run(['policy', 'retire', 'by-command', '2.0.0', '--reason', 'Not used.', ...as(maker)])
    const { changeId } = JSON.parse(retiring.stdout) as Change
    const rejected = run(['changes', 'reject', changeId, '--reason', 'It is used.', ...as(checker)], 'y\n')
    expect(rejected.stderr).toContain('Retire policy by-command 2.0.0')
    expect(JSON.parse(rejected.stdout)).toMatchObject({ status: 'REJECTED', rejectionReason: 'It is used.' })
    expect((await service.get('/policies/by-command/2.0.0')).body).toMatchObject({ status: 'APPROVED' })
  })

  test('any other kind is proposed from the body that the API takes', async () => {
    const body = file('body.json', enrolment())
    const { stdout, stderr } = run(['changes', 'propose', 'approver', body, ...as(maker)])
    const { changeId, target } = JSON.parse(stdout) as Change & { target: string }
    expect(stderr).toContain(`changes approve ${changeId}`)
    const shown = run(['changes', 'show', changeId.toUpperCase(), ...as(checker)])
    expect(shown.stdout).toMatch(new RegExp(`^Add approver ${target}\n[^]*\n  proposed  by maker at `))
    expect(shown.stdout).toContain('"publicKeyPem": "-----BEGIN')
    const { text } = await service.get(`/approvers/changes/${changeId}`, { key: checker.key })
    expect(run(['changes', 'show', changeId, '--json', ...as(checker)]).stdout).toBe(`${text}\n`)
    const list = file('list.json', [])
    expect(run(['changes', 'propose', 'approver', list, ...as(maker)]).stderr).toContain(
      `${list} must hold a JSON object: the body of POST /approvers/changes.`,
    )
  })

  test('nothing is signed of a change that is unknown, one’s own, resolved, or shown to nobody who answers', async () => {
    const change = await aChange()
    const unknown = randomUUID()
    expect(refusing(['tomorrow', ...as(checker)])).toContain('The id must be that of a change, a UUID.')
    expect(refusing([unknown, ...as(checker)])).toContain(`There is no change with the id ${unknown}`)
    expect(refusing([change.changeId, ...as(maker)])).toMatch(/^countersign: You proposed this change/)
    expect(refusing([change.changeId, ...as(checker)], '')).toContain('Nothing was signed.')
    const withoutKey = file('reader.json', { url: service.url, apiKey: checker.key })
    expect(refusing([change.changeId, '--profile', withoutKey])).toContain(
      'Give --key, or a --profile that has a step-up key.',
    )
    await resolved(service, checker, change, 'reject', { rejectionReason: 'No.' })
    expect(refusing([change.changeId, ...as(checker)])).toContain('The change is REJECTED already.')
  })

  // proves abuse: A change that is swapped
  test.each<[string, (change: Change) => object, string]>([
    ['with another reason', (change) => ({ ...change, reason: 'Nothing to see.' }), 'changeHash'],
    ['of another id', (change) => ({ ...change, changeId: randomUUID() }), 'another change'],
    [
      'that moved under its id',
      (change) => rehashed({ ...change, target: 'mallory:k1' }),
      'service answers 403',
    ],
  ])('a reply %s gets no approval', async (_, swapped, said) => {
    const change = await aChange()
    const network = await openFlakyNetwork(service.url)
    const path = `/approvers/changes/${change.changeId}`
    const { body } = await service.get(path, { key: checker.key })
    network.plan(`GET ${path}`, answer(200, swapped(body as Change)))
    const args = ['changes', 'approve', change.changeId, ...as(checker), '--url', network.url]
    const { status, stdout, stderr } = await runCommand(args, {}, (child) => child.stdin?.end('y\n'))
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toContain(said)
    await network.close()
    expect((await service.get(path, { key: checker.key })).body).toMatchObject({ status: 'PENDING_APPROVAL' })
  })
})

/** The change as a service would answer it that had swapped its hash too. */
function rehashed(change: Change): object {
  const {
    changeId,
    kind,
    target,
    proposed: content,
    reason,
    proposedBy,
    proposedAt,
  } = change as Change & Record<string, Json>
  const shown = { changeId, kind, target, proposed: content, reason, proposedBy, proposedAt }
  return { ...change, changeHash: sha256Hex(canonicalize(shown as Json)) }
}

// Callers' keys by governance: two humans issue and revoke them, on every instance within a second and under load, and no key is ever sent.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { keyIdOf } from '../../src/formats/people/caller.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aHuman, aKeyPair, proposed, putInEffect, resolved, type Change, type Human } from '../authority.ts'
import { CLI, runCommand } from '../command.ts'
import { atConsole, CONSOLE_ORIGIN, logIn } from '../console.ts'
import type { TestDatabase } from '../database.ts'
import { askForExport, readUntilCut, storeWideRecords } from '../exports.ts'
import { startLoad } from '../load.ts'
import { bundledEnvironment } from '../run/environment.ts'
import { aCaller, startService, until, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const CHANGES = '/caller-keys/changes'
const alice = aHuman('alice')
const bob = aHuman('bob')
const auditor = aCaller('auditor', { readAll: true })
const leaving = aCaller('leaving')
const humans = { maker: alice, checker: bob }
const options = {
  callers: [alice.entry, bob.entry, auditor.entry, leaving.entry],
  env: { CONSOLE_ORIGIN },
}

let database: TestDatabase
/** Two instances of one database. */
let service: TestService
let other: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({ ...options, databaseUrl: database.url })
  const { signingKeyDir } = service
  other = await start({ ...options, databaseUrl: database.url, signingKeyDir, key: service.key })
})

/** A key that was made somewhere, and what is proposed of it. */
function aKey(callerId: string, members: object = {}) {
  const key = makeRawKey()
  const keyHash = sha256Hex(key)
  return {
    key,
    callerId,
    keyId: keyIdOf(keyHash),
    issue: { action: 'issue', callerId, keyHash, reason: 'test', ...members },
    revoke: { action: 'revoke', callerId, keyId: keyIdOf(keyHash), reason: 'test' },
  }
}

/** A key in effect that executes as `tester`, as the transactions of the tests say. */
async function anAgent(callerId: string, members: object = {}) {
  const scope = { allowedCapabilities: ['sandbox:echo'], allowedPrincipalIds: ['tester'], ...members }
  const agent = aKey(callerId, scope)
  await putInEffect(service, humans, CHANGES, agent.issue)
  return agent
}

/** A human by governance. */
async function aNewHuman(callerId: string, members: object = {}): Promise<Human & ReturnType<typeof aKey>> {
  const pair = aKeyPair()
  const human = aKey(callerId, {
    credentialHolderType: 'USER',
    stepUpPublicKey: pair.publicKeyPem,
    ...members,
  })
  await putInEffect(service, humans, CHANGES, human.issue)
  return { ...human, ...pair, entry: {} }
}

const propose = (body: object, by: { readonly key: string } = alice) => service.post(CHANGES, body, by)
const me = (instance: TestService, { key }: { readonly key: string }) => instance.get('/callers/me', { key })
const execute = (instance: TestService, { key }: { readonly key: string }) =>
  instance.post('/execute', aTransaction(), { key })

const codeOf = ({ status, body }: Called) => [status, body.code]
const human = () => ({ credentialHolderType: 'USER', stepUpPublicKey: aKeyPair().publicKeyPem })

/** Reads the warnings of a change, which is rejected. */
async function warningsOf(change: Change) {
  await resolved(service, bob, change, 'reject', { rejectionReason: 'test' })
  return change['warnings']
}

/** The instance, called with a key. */
const by = (instance: TestService, key: string) => ({
  post: (path: string, body: unknown) => instance.post(path, body, { key }),
})

interface Listed {
  readonly callerId: string
  readonly keyId: string
  readonly [member: string]: unknown
}

async function listed(keyId: string): Promise<Listed | undefined> {
  const { body } = await service.get('/caller-keys', auditor)
  return (body.callerKeys as Listed[]).find((row) => row.keyId === keyId)
}

describe('POST /caller-keys/changes/{id}/approve 200', () => {
  test('two humans issue it by its hash; it calls within its scope, on every instance within a second', async () => {
    const agent = aKey('agent', { allowedCapabilities: ['sandbox:echo'], allowedPrincipalIds: ['tester'] })
    const change = await proposed(service, alice, CHANGES, agent.issue)
    expect(change).toMatchObject({
      kind: 'caller-key',
      target: `agent:${agent.keyId}`,
      proposed: {
        action: 'issue',
        callerId: 'agent',
        allowedPrincipalIds: ['tester'],
        allowedCapabilities: ['sandbox:echo'],
        credentialHolderType: 'SERVICE',
        readAll: false,
      },
      warnings: ['It speaks for principals of other names: "tester".'],
    })
    expect((await me(service, agent)).status).toBe(401)
    expect((await resolved(service, alice, change, 'approve')).body.code).toBe(
      'SAME_ACTOR_CANNOT_APPROVE_OWN_CHANGE',
    )
    expect((await resolved(service, bob, change, 'approve')).status).toBe(200)

    expect((await me(service, agent)).body).toEqual({
      callerId: 'agent',
      allowedPrincipalIds: ['tester'],
      allowedCapabilities: ['sandbox:echo'],
      unrestrictedCapabilities: false,
    })
    await until(async () => (await me(other, agent)).status === 200, 'the other instance')
    const { status, body } = await execute(other, agent)
    expect([status, body.authorization.payload.callerId]).toEqual([200, 'agent'])
    const outside = aTransaction({ intent: { action: 'vendor:pay' } })
    expect((await service.post('/execute', outside, agent)).status).toBe(403)
    expect((await service.get('/audit/events', agent)).status).toBe(403)

    expect(await listed(agent.keyId)).toMatchObject({
      callerId: 'agent',
      source: 'governance',
      status: 'IN_EFFECT',
      issuedBy: 'bob',
      issuedByChange: change.changeId,
    })
    const { text } = await service.get('/caller-keys', alice)
    expect(text).not.toContain(sha256Hex(agent.key))
  })

  test('a caller has several keys at once, whose limits are shared, until the old one is revoked', async () => {
    const first = await anAgent('rotating')
    const second = await anAgent('rotating')
    for (const key of [first, second]) expect((await execute(service, key)).status).toBe(200)
    await putInEffect(service, humans, CHANGES, first.revoke)
    expect((await execute(service, first)).status).toBe(401)
    expect((await execute(service, second)).status).toBe(200)
    const mine = await service.get('/trust-records', second)
    expect(mine.body).toHaveLength(3)
  })

  test('a key ends when it expires', async () => {
    const expiresAt = new Date(Date.now() + 5_000).toISOString()
    const agent = await anAgent('passing', { expiresAt })
    await until(async () => (await me(service, agent)).status === 401, 'the end')
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt))
    expect(await listed(agent.keyId)).toMatchObject({ status: 'EXPIRED', expiresAt })
  })

  test('a human who is issued by governance approves what others propose', async () => {
    const carol = await aNewHuman('carol')
    const agent = aKey('by-carol')
    const change = await proposed(service, alice, CHANGES, agent.issue)
    expect((await resolved(service, carol, change, 'approve')).status).toBe(200)
    expect((await me(service, agent)).status).toBe(200)
  })
})

test('the commands issue a key by two humans, and list what each may', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-callers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const made = await runCommand(['callers', 'issue', '--read-all', 'reader'], {})
  writeFileSync(join(folder, 'reader.txt'), made.stdout)
  const env = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: alice.key }
  const change = await runCommand(
    ['callers', 'propose', join(folder, 'reader.txt'), '--reason', 'The auditor comes.'],
    env,
  )
  expect([change.status, change.stderr]).toEqual([
    0,
    expect.stringContaining('It reads what every caller has submitted'),
  ])

  writeFileSync(join(folder, 'step-up.private.pem'), bob.privateKeyPem)
  const [, approve = ''] = / bin\/countersign (changes approve \S+) --profile/m.exec(change.stderr) ?? []
  const key = ['--key', 'step-up.private.pem']
  const approved = spawnSync(process.execPath, [CLI, ...approve.split(' '), ...key], {
    cwd: folder,
    env: { ...bundledEnvironment, ...env, COUNTERSIGN_API_KEY: bob.key },
    input: 'y\n',
    encoding: 'utf8',
  })
  expect(approved.stdout).toContain('"status":"APPROVED"')

  const { stdout } = await runCommand(['callers', 'list'], env)
  const line = (callerId: string) => stdout.split('\n').find((one) => one.startsWith(`${callerId}  `))
  expect(line('reader')).toMatch(/  reads everything  issued by bob$/)
  expect(line('alice')).toMatch(/  USER  .*  step-up key$/)
})

describe('a key that has leaked', () => {
  // proves abuse: A caller’s key that has leaked
  test('is 401 once it is revoked, on every instance and under load', async () => {
    const agent = await anAgent('leaked')
    await until(async () => (await me(other, agent)).status === 200, 'the other instance')
    const loads = [startLoad(by(service, agent.key), 24), startLoad(by(other, agent.key), 24)]
    const neighbour = startLoad(by(service, service.key), 4)
    await until(() => loads.every((load) => load.count(200) > 50), 'the load')

    await putInEffect(service, humans, CHANGES, agent.revoke)
    const revokedAt = performance.now()
    // The other instance looks three times a second.
    await until(() => loads.every((load) => load.count(401) > 50), 'the end of the key')
    const outcomes = await Promise.all(loads.map((load) => load.stop()))
    // On each instance the key has ended for good once it has ended.
    for (const seen of outcomes) {
      const refused = seen.filter(({ reply }) => reply?.status === 401)
      const firstRefusedAt = Math.min(...refused.map(({ endedAt }) => endedAt))
      const later = seen.filter(({ sentAt }) => sentAt > firstRefusedAt)
      expect(new Set(later.map(({ reply }) => reply?.status))).toEqual(new Set([401]))
    }
    // This instance had it in effect before it answered the approval.
    const here = (outcomes[0] ?? []).filter(({ sentAt }) => sentAt > revokedAt)
    expect(new Set(here.map(({ reply }) => reply?.status))).toEqual(new Set([401]))
    expect(new Set(outcomes.flat().map(({ reply }) => reply?.status))).toEqual(new Set([200, 401]))
    const unharmed = await neighbour.stop()
    expect(new Set(unharmed.map(({ reply }) => reply?.status))).toEqual(new Set([200]))
  })

  test('ends sessions of the console and replies that are held back', async () => {
    const dave = await aNewHuman('dave')
    await until(async () => (await me(other, dave)).status === 200, 'the other instance')
    const { cookie } = await logIn(service, dave.key)
    const look = (instance: TestService) => atConsole(instance, 'GET', '/transactions', { cookie })
    expect([(await look(service)).status, (await look(other)).status]).toEqual([200, 200])
    const held = service.get('/events?after=now&types=execution.in_doubt', {
      key: dave.key,
      headers: { Prefer: 'wait=10' },
    })
    await putInEffect(service, humans, CHANGES, dave.revoke)
    expect((await look(service)).status).toBe(401)
    await until(async () => (await look(other)).status === 401, 'the other instance')
    expect((await held).status).toBe(401)
  })

  test('cuts an export that streams', async () => {
    const reader = aKey('reader', { readAll: true })
    await putInEffect(service, humans, CHANGES, reader.issue)
    const deleteThem = await storeWideRecords(database, 'reader')
    onTestFinished(deleteThem)
    const streamed = await askForExport(service, reader.key)
    expect(streamed.status).toBe(200)
    await putInEffect(service, humans, CHANGES, reader.revoke)
    expect(await readUntilCut(streamed)).not.toContain('exportEnd')
  })

  test('an entry of SERVICE_API_KEYS is revoked too, and refused at later starts', async () => {
    expect((await me(service, leaving)).status).toBe(200)
    const keyId = keyIdOf(sha256Hex(leaving.key))
    const body = { action: 'revoke', callerId: 'leaving', keyId, reason: 'It was in a screenshot.' }
    const change = await proposed(service, alice, CHANGES, body)
    expect(change['warnings']).toEqual([
      'It is the only key of leaving, who cannot call any more.',
      'It is an entry of SERVICE_API_KEYS: remove it there, where it is refused from now on.',
    ])
    expect((await resolved(service, bob, change, 'approve')).status).toBe(200)
    expect((await me(service, leaving)).status).toBe(401)
    expect(await listed(keyId)).toMatchObject({
      source: 'configuration',
      status: 'REVOKED',
      revokedBy: 'bob',
    })

    const restarted = await startService({ ...options, databaseUrl: database.url })
    onTestFinished(async () => void (await restarted.stop()))
    expect((await me(restarted, leaving)).status).toBe(401)
    const refused = 'SERVICE_API_KEYS[4] is refused: governance has revoked its key.'
    expect(restarted.lines().map(({ msg }) => msg)).toContain(refused)
    expect((await restarted.get('/ready')).body.warnings).toContain(refused)
    // A key that is revoked comes back by nobody's doing.
    const again = await propose({ ...aKey('leaving').issue, keyHash: sha256Hex(leaving.key) })
    expect(again.body.error).toContain('is known already; a key is issued once')
  })
})

describe('POST /caller-keys/changes 400 and 409', () => {
  const pem = aKeyPair().publicKeyPem
  // proves abuse: A second name for one human
  test.each([
    ['a raw key', { keyHash: makeRawKey() }, /^keyHash must be the SHA-256 of the raw key/],
    ['no hash', { keyHash: undefined }, /^keyHash is required/],
    ['an unknown member', { key: 'csk_secret' }, /^key is not a member/],
    ['a name with a space', { callerId: 'a b' }, /^callerId must be 1 to 128/],
    ['anonymous', { callerId: 'anonymous' }, /^callerId must be .* not 'anonymous'/],
    ['a step-up key of a program', { stepUpPublicKey: pem }, /^stepUpPublicKey is for callers whose/],
    [
      'no step-up key',
      { credentialHolderType: 'USER', stepUpPublicKey: 'x' },
      /^stepUpPublicKey must be a PEM/,
    ],
    ['an approver that is a program', { approverId: 'dana' }, /^approverId is for callers whose/],
    ['all principals', { allowedPrincipalIds: ['*'] }, /^allowedPrincipalIds has no '\*'/],
    [
      'a principal that looks like another one',
      { allowedPrincipalIds: ['bob', 'bo\u200bb'] },
      /^allowedPrincipalIds\[1\] "bo\\u200bb" has a character that is not visible\.$/,
    ],
    ['a time that is over', { expiresAt: '2020-01-01T00:00:00Z' }, /^expiresAt must be in the future/],
    ['a scope without end', { allowedCapabilities: Array(64).fill('x'.repeat(256)) }, /^the scope must be/],
    ['another case', { callerId: 'Alice' }, /callerId 'Alice' and 'alice' differ only in case/],
    ['a key of the configuration', { keyHash: sha256Hex(alice.key) }, /^The key alice:.* is known already/],
    [
      'the step-up key of another human',
      { credentialHolderType: 'USER', stepUpPublicKey: alice.publicKeyPem },
      /^stepUpPublicKey is that of 'alice'/,
    ],
  ])('%s', async (_, members, error) => {
    const { status, body } = await propose({ ...aKey('mallory').issue, ...members })
    expect([400, 409]).toContain(status)
    expect(body.error).toMatch(error)
  })

  // proves abuse: A second name for one human
  test('what two changes must not both do, only the first one does', async () => {
    const pair = aKeyPair()
    const twin = { credentialHolderType: 'USER', stepUpPublicKey: pair.publicKeyPem }
    const [one, two] = [aKey('erin', twin), aKey('frank', twin)]
    const first = await proposed(service, alice, CHANGES, one.issue)
    const second = await proposed(service, alice, CHANGES, two.issue)
    expect((await resolved(service, bob, first, 'approve')).status).toBe(200)
    const refused = await resolved(service, bob, second, 'approve')
    expect([refused.status, refused.body.error]).toEqual([
      409,
      "stepUpPublicKey is that of 'erin', another caller.",
    ])
    // Also when its key is gone: a step-up key stays one human's.
    await putInEffect(service, humans, CHANGES, one.revoke)
    expect((await resolved(service, bob, second, 'approve')).status).toBe(409)
    expect((await me(service, two)).status).toBe(401)
    await resolved(service, bob, second, 'reject', { rejectionReason: 'One human, two names.' })
  })

  test('a key that nobody has cannot be revoked, nor one twice', async () => {
    const unknown = await propose(aKey('nobody').revoke)
    expect([unknown.status, unknown.body.error]).toEqual([409, expect.stringMatching(/^No key nobody:/)])
    const agent = await anAgent('once')
    await putInEffect(service, humans, CHANGES, agent.revoke)
    expect((await propose(agent.revoke)).body.error).toBe(`No key once:${agent.keyId} is in effect.`)
  })
})

describe('POST /caller-keys/changes/{id}/reject 200', () => {
  test('leaves the key unknown', async () => {
    const agent = aKey('rejected')
    const change = await proposed(service, alice, CHANGES, agent.issue)
    expect((await resolved(service, bob, change, 'reject', { rejectionReason: 'No.' })).status).toBe(200)
    expect((await me(service, agent)).status).toBe(401)
    expect(await listed(agent.keyId)).toBeUndefined()
  })
})

describe('what is read', () => {
  const agent = aKey('read')
  let change: Change
  beforeAll(async () => {
    change = await proposed(service, alice, CHANGES, agent.issue)
  })

  test('GET /caller-keys/changes 200', async () => {
    const { body } = await service.get(`${CHANGES}?status=PENDING_APPROVAL`, bob)
    expect(body.changes).toEqual([change])
  })

  test('GET /caller-keys/changes/{id} 200', async () => {
    expect((await service.get(`${CHANGES}/${change.changeId}`, auditor)).body).toEqual(change)
  })

  test('GET /caller-keys 200', async () => {
    await resolved(service, bob, change, 'approve')
    const { text } = await service.get('/caller-keys', bob)
    expect(text).toContain(agent.keyId)
    expect(text).not.toContain(sha256Hex(agent.key))
  })
})

describe('POST /caller-keys/changes 201', () => {
  // proves abuse: A human who gives themselves more
  test.each([
    [
      'a new human',
      () => aKey('grace', human()),
      [
        'It makes grace a human, who reads everything, and approves what others propose: be sure that this is another person than every human there is.',
        'alice proposes it, not grace: ask grace whether the key is theirs.',
      ],
    ],
    [
      'every capability and all evidence',
      () => aKey('harry', { allowedCapabilities: ['*'], readAll: true }),
      [
        'It may invoke every capability, also later ones.',
        'It reads what every caller has submitted, and the audit.',
      ],
    ],
    [
      'more for oneself',
      () =>
        aKey('alice', {
          ...human(),
          allowedCapabilities: ['*'],
          allowedPrincipalIds: ['alice', 'bob'],
          approverId: 'dana',
        }),
      [
        'Its step-up key is not one that alice has: whoever holds it approves changes as alice.',
        'It says for good that alice and approver dana are one person: what alice asks for dana does not approve.',
        'alice proposes more for themselves than they have.',
        'It may invoke every capability, also later ones.',
        'It speaks for principals of other names: "bob".',
        'alice has another key in effect: revoke what is not used any more.',
        'It allows more than the other keys of alice: principal "bob", approver dana.',
      ],
    ],
    [
      'a name that is easily taken for another one',
      () => aKey('alice.', { allowedPrincipalIds: ['alice.', 'b\u043eb'] }),
      [
        'The name "alice." is easily taken for another one: use letters, digits and . _ - : @, and no dot at the end.',
        'The name "b\\u043eb" is easily taken for another one: use letters, digits and . _ - : @, and no dot at the end.',
        'It speaks for principals of other names: "b\\u043eb".',
      ],
    ],
    [
      'a key of another human',
      () => aKey('bob', { credentialHolderType: 'USER' }),
      [
        'It has no step-up key: with it bob can propose changes, and approve none.',
        'alice proposes it, not bob: ask bob whether the key is theirs.',
        'bob has another key in effect: revoke what is not used any more.',
      ],
    ],
  ])('%s', async (_, keyOf, warnings) => {
    expect(await warningsOf(await proposed(service, alice, CHANGES, keyOf().issue))).toEqual(warnings)
  })

  // proves abuse: The last humans are locked out
  test('the last humans are not revoked unknowingly', async () => {
    const { body } = await service.get('/caller-keys', auditor)
    const spare = (body.callerKeys as Listed[]).filter(
      (row) => row['credentialHolderType'] === 'USER' && row['status'] === 'IN_EFFECT' && 'issuedBy' in row,
    )
    for (const { callerId, keyId } of spare)
      await putInEffect(service, humans, CHANGES, { action: 'revoke', callerId, keyId, reason: 'test' })
    const ivan = await aNewHuman('ivan')
    // Each leaves two humans, as both say; the second one would leave one.
    const first = await proposed(service, alice, CHANGES, ivan.revoke)
    expect(first['proposed']).toMatchObject({ humansLeft: 2 })
    const keyId = keyIdOf(sha256Hex(bob.key))
    const ofBob = { action: 'revoke', callerId: 'bob', keyId, reason: 'Bob leaves.' }
    const second = await proposed(service, alice, CHANGES, ofBob)
    expect(second).toMatchObject({
      proposed: { humansLeft: 2 },
      warnings: expect.not.arrayContaining([/leaves/]),
    })
    expect((await resolved(service, bob, first, 'approve')).status).toBe(200)
    const refused = await resolved(service, bob, second, 'approve')
    expect([refused.status, refused.body.error]).toEqual([
      409,
      'It leaves one human who can approve changes by now, fewer than the change says: propose it again.',
    ])
    await resolved(service, bob, second, 'reject', { rejectionReason: 'test' })
    const knowingly = await proposed(service, alice, CHANGES, ofBob)
    expect(knowingly).toMatchObject({
      proposed: { humansLeft: 1 },
      warnings: expect.arrayContaining([
        expect.stringMatching(/^It leaves one human who can approve changes: then nothing can be changed/),
      ]),
    })
    await resolved(service, bob, knowingly, 'reject', { rejectionReason: 'test' })
    expect((await me(service, bob)).status).toBe(200)
  })

  test('changes that its caller has proposed are open', async () => {
    const carol = await aNewHuman('judy')
    const rogue = await proposed(service, carol, CHANGES, aKey('rogue', { allowedCapabilities: ['*'] }).issue)
    const change = await proposed(service, alice, CHANGES, carol.revoke)
    expect(await warningsOf(change)).toContain(
      'Changes that judy has proposed are open: 1. If the key has leaked, look at them.',
    )
    await resolved(service, bob, rogue, 'reject', { rejectionReason: 'test' })
  })
})

describe('GET /caller-keys 403 and /caller-keys/changes 403', () => {
  test('programs neither read nor propose, whatever they may invoke', async () => {
    expect(codeOf(await service.get('/caller-keys'))).toEqual([403, 'NON_HUMAN_CALLER_DENIED'])
    expect(codeOf(await propose(aKey('x').issue, service))).toEqual([403, 'NON_HUMAN_CALLER_DENIED'])
    expect(codeOf(await propose(aKey('x').issue, auditor))[0]).toBe(403)
  })
})

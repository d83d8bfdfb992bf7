// Passkeys of approvers and of those who resolve changes (decisions §12): enrolled with a proof, and used as raw keys are.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { aHuman, aKeyPair, anApprover, aStepUp, proposed, putInEffect } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { aPasskeyApproval, aPasskeyEnrolment } from '../passkeys.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import type { Members } from '../vectors/edit.ts'
import {
  asserted,
  FLAGS,
  passkeyJson,
  passkeys,
  ORIGIN,
  type Otherwise,
  type PasskeyOwner,
} from '../vectors/passkeys.ts'
import { withService } from '../with-service.ts'

const CHANGES = '/approvers/changes'
const frank = passkeyJson(passkeys.frank)
const maker = aHuman('maker')
const checker = aHuman('checker')
const byPasskey = aHuman('frank', {
  stepUpPublicKey: undefined,
  stepUpPasskey: { publicKeyPem: frank['pem'], ...(frank['passkey'] as Members) },
})
const bot = aCaller('bot', { allowedPrincipalIds: ['tester', 'bot'] })
const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'by-one',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
})

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [maker.entry, checker.entry, byPasskey.entry, bot.entry],
  env: { POLICY_DIR: policyDir, CONSOLE_ORIGIN: ORIGIN },
})

/** As if its page stood elsewhere. */
function aPasskey(owner: PasskeyOwner, site: Members) {
  const enrolment = aPasskeyEnrolment(owner)
  return { ...enrolment, passkey: { ...enrolment.passkey, ...site } }
}

const deliver = (approval: object) => service.post('/approvals', approval)

describe('a passkey', () => {
  test.each([
    ['es256', passkeys.dana],
    ['ed25519', passkeys.erik],
  ] as const)(
    'of %s is enrolled, approves, and its record verifies offline by the published keys',
    async (algorithm, owner) => {
      const change = await putInEffect(service, { maker, checker }, CHANGES, aPasskeyEnrolment(owner))
      expect(change['warnings']).toEqual([
        ...(owner.backupEligible
          ? ['This passkey may be kept in a cloud account: it can be copied to other devices.']
          : []),
        'This passkey signs at https://console.approve.example:8443 too, which is not the console of this service.',
      ])
      const key = await service.get(`/keys/${encodeURIComponent(owner.keyId)}`, { key: null })
      expect(key.body).toMatchObject({ algorithm, passkey: passkeyJson(owner)['passkey'] })

      const target = randomUUID()
      const { status, text } = await deliver(aPasskeyApproval(owner, target))
      expect(status, text).toBe(201)
      const executed = await service.post(
        '/execute',
        aTransaction({ intent: { target, parameters: { amount: 42 } }, policy: { name: 'by-one' } }),
      )
      expect(executed.status, executed.text).toBe(200)
      const jwks = await service.get('/.well-known/jwks.json', { key: null })
      const report = verifyEvidence(executed.text, [jwks.text, key.text])
      expect(report.verdict, JSON.stringify(report.checks)).toBe('valid')
      expect(report.keys.map(({ keyId }) => keyId)).toContain(owner.keyId)
      const listed = await service.get('/approvers', { key: maker.key })
      expect(listed.text).toContain('"credentialId":"Y3JlZGVudGlhbA"')
    },
  )

  // proves abuse: A login by a passkey; abuse: The challenge of a step-up; abuse: A passkey’s signature that
  test.each<[string, Otherwise]>([
    ['another challenge', { artifact: 'step-up' }],
    ['another challenge', { clientData: { challenge: Buffer.alloc(32, 7).toString('base64url') } }],
    ['another one', { clientData: { type: 'webauthn.create' } }],
    ["not one of the key's", { clientData: { origin: 'https://evil.example' } }],
    ["another site's page", { clientData: { crossOrigin: true } }],
    ['another rpId', { rpId: 'evil.example' }],
    ['(UV)', { flags: FLAGS.UP | FLAGS.BE }],
    ['(UP)', { flags: FLAGS.UV | FLAGS.BE }],
    ['does not verify', { signature: (der) => Buffer.concat([der.subarray(0, -1), Buffer.of(0)]) }],
    ['webauthn-es256', { algorithm: 'webauthn-ed25519' }],
  ])('approves nothing where it says: %s', async (why, how) => {
    const { status, body } = await deliver(aPasskeyApproval(passkeys.dana, randomUUID(), how))
    expect(status).toBe(400)
    expect(body.error).toContain('signature must be the signature of dana:passkey over the payload: ')
    expect(body.error).toContain(why)
  })

  test('signs nothing as a raw key does', async () => {
    const { webauthn: _, ...approval } = aPasskeyApproval(passkeys.erik, randomUUID()) as Members
    const { status, body } = await deliver({ ...approval, algorithm: 'ed25519' })
    expect(status).toBe(400)
    expect(body.error).toContain('which signs as webauthn-ed25519')
  })
})

/** Signs with so many counters, seconds after each other in this order. */
async function signedWith(counters: readonly number[], deliveredInOrder: readonly number[]) {
  const owner: PasskeyOwner = { ...passkeys.unpublished, keyId: `n${randomUUID().slice(0, 8)}:phone` }
  // One public key is enrolled once: that of the test before is another approver's.
  await database.pool.query(`DELETE FROM authority WHERE key LIKE '%:phone'`)
  await putInEffect(service, { maker, checker }, CHANGES, aPasskeyEnrolment(owner))
  const approvals = counters.map((signCount, n) => {
    const issuedAt = new Date(Date.now() - 60_000 + n * 1_000).toISOString()
    return aPasskeyApproval(owner, randomUUID(), { signCount }, { issuedAt })
  })
  for (const n of deliveredInOrder) expect((await deliver(approvals[n]!)).status).toBe(201)
  const { body } = await service.get('/audit/events?type=approval.counter_went_back&pageSize=100', maker)
  const events = body.events as { event: { severity: string; detail: Members } }[]
  return events
    .map(({ event }) => event.detail)
    .filter(({ approverId }) => approverId === owner.keyId.split(':')[0])
    .map(({ counter, otherCounter }) => [counter, otherCounter])
}

describe('the signature counter of a passkey', () => {
  // proves abuse: A copy of a passkey
  test.each<[string, number[], number[], number[][]]>([
    ['that grows', [1, 2, 300, 70_000, 4_294_967_295], [0, 1, 2, 3, 4], []],
    ['that grows, delivered in another order', [1, 2, 3], [2, 0, 1], []],
    ['of an authenticator that does not count', [0, 0, 0], [0, 1, 2], []],
    ['that goes back', [5, 6, 3], [0, 1, 2], [[3, 6]]],
    ['that stands still', [5, 5], [0, 1], [[5, 5]]],
    ['that goes back to nothing', [5, 0], [0, 1], [[0, 5]]],
    ['that goes back, delivered first', [5, 3], [1, 0], [[5, 3]]],
  ])('%s', async (_, counters, order, expected) => {
    const found = await signedWith(counters, order)
    expect(found.map((pair) => pair.map(Number))).toEqual(expected)
  })
})

describe('POST /approvers/changes 400 invalidField', () => {
  const owner: PasskeyOwner = { ...passkeys.unpublished, keyId: 'zoe:phone' }
  test.each<[string, object]>([
    ['must name this approver, key and site', aPasskeyEnrolment(owner, {}, { approverId: 'mallory' })],
    [
      'must name this approver, key and site',
      aPasskeyEnrolment(owner, {}, { origin: 'https://evil.example' }),
    ],
    [
      'by the passkey: the passkey signed another challenge',
      aPasskeyEnrolment(owner, { artifact: 'approval' }),
    ],
    [
      'by the passkey: the passkey did not verify its user (UV)',
      aPasskeyEnrolment(owner, { flags: FLAGS.UP }),
    ],
    ['by the passkey: whether the passkey can be copied', aPasskeyEnrolment(passkeys.dana, { flags: 0x05 })],
    [
      'publicKeyPem must be a PEM public key of Ed25519 or P-256.',
      { ...aPasskeyEnrolment(owner), publicKeyPem: 'none' },
    ],
    ['publicKeyPem must be a PEM Ed25519 public key.', { ...aPasskeyEnrolment(owner), passkey: undefined }],
    [
      'passkey.origins.1 must be at rpId approve.example or a subdomain of it.',
      aPasskey(owner, { origins: [ORIGIN, 'https://evil.example'] }),
    ],
    ['passkey.rpId must not be a public suffix', aPasskey(owner, { rpId: 'com' })],
    ['passkey.origins.0 must be https', aPasskey(owner, { origins: ['http://approve.example'] })],
    [
      'must name this approver, key and site',
      { ...aPasskeyEnrolment(owner), publicKeyPem: aKeyPair().publicKeyPem },
    ],
  ])('%s', async (why, body) => {
    const answer = await service.post(CHANGES, body, { key: maker.key })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(why)
  })
})

/** A change that waits for another human. */
function aChange() {
  const { approverId, keyId, publicKeyPem } = anApprover(`a-${randomUUID()}`)
  return proposed(service, maker, CHANGES, { action: 'add', approverId, keyId, publicKeyPem, reason: 'test' })
}

async function resolve(how?: Otherwise) {
  const open = await aChange()
  const { payload } = aStepUp(maker, open)
  const stepUpAuthorization = {
    payload,
    keyId: 'step-up',
    ...asserted('step-up', canonicalize(payload), passkeys.frank, how),
  }
  const path = `${CHANGES}/${open.changeId}/approve`
  return service.post(path, { stepUpAuthorization }, { key: byPasskey.key })
}

describe('a step-up by a passkey', () => {
  test('approves a change, which verifies offline', async () => {
    const { status, text } = await resolve()
    expect(status, text).toBe(200)
    const jwks = await service.get('/.well-known/jwks.json', { key: null })
    const report = verifyEvidence(text, [jwks.text, JSON.stringify(frank)])
    expect(report.verdict, JSON.stringify(report.checks)).toBe('valid')
    expect(report.keys.map(({ keyId }) => keyId)).toContain('frank:step-up')
  })

  // proves abuse: The challenge of a step-up
  test.each<[string, Otherwise]>([
    ['another challenge', { artifact: 'approval' }],
    ['(UV)', { flags: FLAGS.UP }],
    ["not one of the key's", { clientData: { origin: 'https://evil.example' } }],
  ])('approves nothing where it says: %s', async (why, how) => {
    const { status, body } = await resolve(how)
    expect(status).toBe(403)
    expect(body.code).toBe('STEP_UP_AUTHORIZATION_INVALID')
    expect(body.error).toContain(why)
  })

  test('a raw signature is none of a caller who has a passkey', async () => {
    const open = await aChange()
    const path = `${CHANGES}/${open.changeId}/approve`
    const body = { stepUpAuthorization: aStepUp(byPasskey, open) }
    expect((await service.post(path, body, { key: byPasskey.key })).status).toBe(403)
  })
})

/** The passkey that frank resolves changes by, enrolled for an approver. */
const asApprover = (keyId: string): PasskeyOwner => ({ ...passkeys.frank, keyId })

// proves abuse: A USER key whose approverId is another name; abuse: One public key as two persons
describe('a passkey of who asks', () => {
  test('is enrolled for no approver of another name', async () => {
    const { status, body } = await service.post(CHANGES, aPasskeyEnrolment(asApprover('frida:phone')), maker)
    expect([status, body.code]).toEqual([409, 'CONFLICT'])
    expect(body.error).toMatch(/^This public key is that of 'frank', another person\./)
  })

  test('approves nothing that its human asks for', async () => {
    const owner = asApprover('frank:phone')
    await putInEffect(service, { maker, checker }, CHANGES, aPasskeyEnrolment(owner))
    const target = randomUUID()
    expect((await deliver(aPasskeyApproval(owner, target))).status).toBe(201)
    const execute = (principalId: string, by: { readonly key: string }) =>
      service.post(
        '/execute',
        aTransaction({
          intent: { target, parameters: { amount: 42 } },
          authority: { principalId },
          policy: { name: 'by-one' },
        }),
        by,
      )
    const refused = await execute('frank', byPasskey)
    expect([refused.status, refused.body.code]).toEqual([403, 'POLICY_DENIED'])
    expect((await execute('bot', bot)).status).toBe(200)
  })
})

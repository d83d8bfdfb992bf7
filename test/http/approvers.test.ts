// The keys of approvers, and the changes of them that two humans make (decisions §7).
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/formats/json/canonical.ts'
import { keyIds } from '../../src/core/signing/keys.ts'
import { readKeySet } from '../../src/formats/verifier/keys.ts'
import { fingerprintOf } from '../../src/store/tables/authority.ts'
import {
  aHuman,
  aKeyPair,
  anApprover,
  anEnrolment,
  aStepUp,
  enrolled,
  proposed,
  putInEffect,
  resolved,
  type Approver,
} from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { aCaller, reply, until, type TestService } from '../service.ts'
import { withDatabase } from '../with-service.ts'

const CHANGES = '/approvers/changes'
const maker = aHuman('maker')
const checker = aHuman('checker')
const robot = aCaller('robot')
const humans = { maker, checker }
const open = { key: null }

let database: TestDatabase
let service: TestService
let other: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  const options = { callers: [maker.entry, checker.entry, robot.entry] }
  service = await start(options)
  other = await start({ ...options, signingKeyDir: service.signingKeyDir, key: service.key })
})

const propose = (body: unknown, human = maker) => service.post(CHANGES, body, { key: human.key })
const revocation = ({ approverId, keyId }: Approver) => ({
  action: 'revoke',
  approverId,
  keyId,
  reason: 'test',
})
const revoked = (approver: Approver) => putInEffect(service, humans, CHANGES, revocation(approver))

async function listed(approver: Approver): Promise<unknown> {
  const { body } = await service.get('/approvers', { key: maker.key })
  return (body.approvers as Approver[]).find(
    ({ approverId, keyId }) => approverId === approver.approverId && keyId === approver.keyId,
  )
}

function published({ approverId, keyId }: Approver, at: TestService = service) {
  return at.get(`/keys/${encodeURIComponent(`${approverId}:${keyId}`)}`, open)
}

const spki = (key: 'x25519' | 'ed448') =>
  generateKeyPairSync(key as 'x25519').publicKey.export({ type: 'spki', format: 'pem' })

/** SPKI of 32 bytes, whatever point they are. */
const point = (hex: string) =>
  `-----BEGIN PUBLIC KEY-----\n${Buffer.from(`302a300506032b6570032100${hex}`, 'hex').toString('base64')}\n-----END PUBLIC KEY-----\n`

describe('POST /approvers/changes 201', () => {
  test('answers what a checker is to be shown; nothing is in effect yet', async () => {
    const alice = anApprover('alice')
    const { status, body } = await propose(anEnrolment(alice))
    expect(status).toBe(201)
    expect(body).toMatchObject({
      kind: 'approver',
      target: 'alice:k1',
      proposed: { action: 'add', approverId: 'alice', keyId: 'k1', publicKeyPem: alice.publicKeyPem },
      status: 'PENDING_APPROVAL',
      proposedBy: 'maker',
      warnings: [],
    })
    expect(await listed(alice)).toBeUndefined()
    expect((await published(alice)).status).toBe(404)
  })

  test('takes the key in any notation and shows the one that will be published', async () => {
    const pair = aKeyPair()
    const odd = `\n${pair.publicKeyPem.replaceAll('\n', '\r\n')}\r\n\n`
    const { body } = await propose(anEnrolment({ ...anApprover('odd'), publicKeyPem: odd }))
    expect(body.proposed.publicKeyPem).toBe(pair.publicKeyPem)
  })

  test.each(['alice@example.com', '.', '..', 'A-z_0.9', 'x'.repeat(64)])(
    '%s is an approverId',
    async (name) => {
      expect((await propose(anEnrolment(anApprover(name, '..')))).status).toBe(201)
    },
  )
})

describe('POST /approvers/changes 400 invalidField', () => {
  const good = anEnrolment(anApprover('refused'))
  const pem = 'publicKeyPem must be a PEM Ed25519 public key.'
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
  test.each<[string, object, string]>([
    ['an unknown action', { action: 'replace' }, 'action must be one of add, revoke.'],
    ['an action in upper case', { action: 'ADD' }, 'action must be one of add, revoke.'],
    ...['a:b', 'a/b', '../x', 'a b', 'ä', 'a\0', 'a\n', 'x'.repeat(65), '%2e', '{}'].flatMap(
      (name): [string, object, string][] => [
        [
          `approverId ${JSON.stringify(name)}`,
          { approverId: name },
          'approverId must be 1 to 64 letters, digits or . _ @ -.',
        ],
        [
          `keyId ${JSON.stringify(name)}`,
          { keyId: name },
          'keyId must be 1 to 64 letters, digits or . _ @ -.',
        ],
      ],
    ),
    ['the name of step-up keys', { keyId: 'step-up' }, 'keyId must not be step-up: the name is reserved.'],
    ['a keyId that is no text', { keyId: 7 }, 'keyId must be 1 to 64 letters, digits or . _ @ -.'],
    ['a text for a key', { publicKeyPem: 'x' }, pem],
    ['an object for a key', { publicKeyPem: {} }, pem],
    ['a private key', { publicKeyPem: aKeyPair().privateKeyPem }, pem],
    [
      'a public key with a private one behind it',
      { publicKeyPem: aKeyPair().publicKeyPem + aKeyPair().privateKeyPem },
      pem,
    ],
    ['two public keys', { publicKeyPem: aKeyPair().publicKeyPem + aKeyPair().publicKeyPem }, pem],
    ['an X25519 key', { publicKeyPem: spki('x25519') }, pem],
    ['an Ed448 key', { publicKeyPem: spki('ed448') }, pem],
    ['an RSA key', { publicKeyPem: rsa.export({ type: 'spki', format: 'pem' }) }, pem],
    ['a key of zeros', { publicKeyPem: point('00'.repeat(32)) }, pem],
    // proves abuse: A weak key, or a key
    ['the neutral point', { publicKeyPem: point(`01${'00'.repeat(31)}`) }, pem],
    [
      'a point of order 8',
      { publicKeyPem: point('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05') },
      pem,
    ],
    ['a point in another notation', { publicKeyPem: point(`ee${'ff'.repeat(30)}7f`) }, pem],
  ])('%s is refused', async (_, members, error) => {
    expect(reply(await propose({ ...good, ...members }))).toEqual({ status: 400, body: { error } })
  })

  test('a member that nobody reads is named', async () => {
    expect(reply(await propose({ ...good, publicKey: good.publicKeyPem }))).toEqual({
      status: 400,
      body: { error: 'publicKey is not a member that is known here.' },
    })
  })

  // proves abuse: A weak key, or a key
  test('a signing key of the service is refused: it would sign approvals of itself', async () => {
    const own = keyIds(service.signingKeyDir, 'public').find((keyId) => keyId.endsWith('-ed25519'))
    const publicKeyPem = readFileSync(join(service.signingKeyDir, `${own}.public.pem`), 'utf8')
    expect(reply(await propose({ ...good, publicKeyPem }))).toEqual({
      status: 400,
      body: { error: 'publicKeyPem must not be a signing key of this service.' },
    })
  })
})

describe('POST /approvers/changes 400 fieldRequired', () => {
  test.each(['action', 'approverId', 'keyId', 'publicKeyPem', 'reason'])('%s is required', async (name) => {
    const body = { ...anEnrolment(anApprover('nobody')), [name]: ' ' }
    expect(reply(await propose(body))).toEqual({ status: 400, body: { error: `${name} is required.` } })
  })
})

describe('POST /approvers/changes 409 conflict', () => {
  test('a key id is taken for good, revoked or not', async () => {
    const first = anApprover('taken')
    await enrolled(service, humans, first)
    const second = anEnrolment(anApprover('taken'))
    expect(reply(await propose(second)).body).toEqual({
      error: 'taken:k1 is enrolled already.',
      code: 'CONFLICT',
    })
    await revoked(first)
    expect(reply(await propose(second))).toEqual({
      status: 409,
      body: { error: 'taken:k1 is enrolled already, and revoked.', code: 'CONFLICT' },
    })
  })

  // proves abuse: A quorum by one human
  test('one key has one name: under another approver or another key id it is refused, revoked or not', async () => {
    const one = anApprover('one')
    await enrolled(service, humans, one)
    const again = [anEnrolment({ ...one, approverId: 'two' }), anEnrolment({ ...one, keyId: 'k2' })]
    const refusal = {
      status: 409,
      body: { error: 'This public key is enrolled already, as one:k1.', code: 'CONFLICT' },
    }
    for (const body of again) expect(reply(await propose(body))).toEqual(refusal)
    await revoked(one)
    for (const body of again) expect(reply(await propose(body))).toEqual(refusal)
  })

  test('a key that is not enrolled, or was revoked, cannot be revoked', async () => {
    const gone = anApprover('gone')
    const refusal = { status: 409, body: { error: 'No key gone:k1 is in effect.', code: 'CONFLICT' } }
    expect(reply(await propose(revocation(gone)))).toEqual(refusal)
    await enrolled(service, humans, gone)
    await revoked(gone)
    expect(reply(await propose(revocation(gone)))).toEqual(refusal)
  })

  test('one change of a key is open at a time', async () => {
    const twice = anEnrolment(anApprover('twice'))
    expect((await propose(twice)).status).toBe(201)
    expect((await propose(twice, checker)).status).toBe(409)
  })
})

describe('POST /approvers/changes/{id}/approve 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('the key is in effect at once here, soon elsewhere, and published under its own name only', async () => {
    const carol = anApprover('carol@example.com', '2026-11')
    const change = await enrolled(service, humans, carol)
    expect(change).toMatchObject({ status: 'APPROVED', resolvedBy: 'checker' })
    expect(await listed(carol)).toEqual({
      approverId: 'carol@example.com',
      keyId: '2026-11',
      publicKeyPem: carol.publicKeyPem,
      enrolledAt: change['resolvedAt'],
    })
    const { status, body, headers } = await published(carol)
    expect(status).toBe(200)
    expect(body).toEqual({
      keyId: 'carol@example.com:2026-11',
      algorithm: 'ed25519',
      use: 'sig',
      pem: carol.publicKeyPem,
      jwk: expect.objectContaining({ kty: 'OKP', crv: 'Ed25519', kid: 'carol@example.com:2026-11' }),
    })
    expect(
      createPublicKey({ key: body.jwk, format: 'jwk' }).equals(createPublicKey(carol.publicKeyPem)),
    ).toBe(true)
    expect(headers.get('cache-control')).toBe('public, max-age=5')
    await until(
      async () => (await published(carol, other)).status === 200,
      'the other instance to publish it',
    )
    // An approver's key must never pass for the service's.
    const { keys } = (await service.get('/.well-known/jwks.json', open)).body as { keys: { keyId: string }[] }
    expect(keys.map(({ keyId }) => keyId).filter((keyId) => keyId.includes(':'))).toEqual([])
    for (const part of ['carol@example.com', '2026-11'])
      expect((await service.get(`/keys/${part}`, open)).status).toBe(404)
  })

  // proves §4.1 GET /keys/{keyId} · path
  test('a revoked key stays published and says since when', async () => {
    const dave = anApprover('dave')
    await enrolled(service, humans, dave)
    const { resolvedAt } = await revoked(dave)
    const { revokedAt } = (await listed(dave)) as { revokedAt: string }
    // Not before it was approved, and behind whatever was being executed by it then.
    expect(Date.parse(revokedAt)).toBeGreaterThanOrEqual(Date.parse(resolvedAt as string))
    const { status, body } = await published(dave)
    expect(status).toBe(200)
    expect(body).toMatchObject({ pem: dave.publicKeyPem, revokedAt })
    await until(async () => {
      const there = await published(dave, other)
      return (there.body as { revokedAt?: string }).revokedAt === revokedAt
    }, 'the other instance to say so')
  })

  test('an approver may have several keys; whoever lost one gets another under another id', async () => {
    const [lost, found] = [anApprover('erin'), anApprover('erin', 'k2')]
    await enrolled(service, humans, lost)
    await enrolled(service, humans, found)
    await revoked(lost)
    expect(await listed(found)).not.toHaveProperty('revokedAt')
    expect(await listed(lost)).toHaveProperty('revokedAt')
  })
})

describe('POST /approvers/changes/{id}/approve 409 conflict', () => {
  // proves abuse: A quorum by one human
  test('two changes that were open at once cannot enrol one key under two names', async () => {
    const key = anApprover('first')
    const changes = [
      await proposed(service, maker, CHANGES, anEnrolment(key)),
      await proposed(service, maker, CHANGES, anEnrolment({ ...key, approverId: 'second' })),
    ]
    const answers = await Promise.all(changes.map((change) => resolved(service, checker, change, 'approve')))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    const { rows } = await database.pool.query('SELECT FROM authority WHERE unique_key = $1', [
      fingerprintOf(key.publicKeyPem),
    ])
    expect(rows).toHaveLength(1)
  })

  test('a change is approved once, however many approve it at once', async () => {
    const change = await proposed(service, maker, CHANGES, anEnrolment(anApprover('race')))
    const answers = await Promise.all([1, 2, 3].map(() => resolved(service, checker, change, 'approve')))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409])
  })
})

describe('POST /approvers/changes/{id}/approve 403 sameActor', () => {
  // proves abuse: Approving one’s own change: directly
  test('nobody enrols himself: who proposed it does not approve it', async () => {
    const mine = anApprover('maker')
    const change = await proposed(service, maker, CHANGES, anEnrolment(mine))
    const { status, body } = await resolved(service, maker, change, 'approve')
    expect([status, body.code]).toEqual([403, 'SAME_ACTOR_CANNOT_APPROVE_OWN_CHANGE'])
    expect(await listed(mine)).toBeUndefined()
  })
})

describe('POST /approvers/changes/{id}/approve 403 stepUpInvalid', () => {
  // proves abuse: Approving one’s own change: directly
  test('a step-up by the approver’s own new key is none', async () => {
    const intruder = anApprover('intruder')
    const change = await proposed(service, maker, CHANGES, anEnrolment(intruder))
    const stepUpAuthorization = aStepUp(intruder, change)
    const path = `${CHANGES}/${change.changeId}/approve`
    const { status, body } = await service.post(path, { stepUpAuthorization }, { key: checker.key })
    expect([status, body.code]).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
    expect(await listed(intruder)).toBeUndefined()
  })
})

describe('POST /approvers/changes/{id}/reject 200', () => {
  test('what was rejected never takes effect, and can be proposed again', async () => {
    const frank = anApprover('frank')
    const change = await proposed(service, maker, CHANGES, anEnrolment(frank))
    const rejected = await resolved(service, checker, change, 'reject', { rejectionReason: 'Not ours.' })
    expect(rejected.status).toBe(200)
    expect(rejected.body).toMatchObject({ status: 'REJECTED', rejectionReason: 'Not ours.' })
    expect((await resolved(service, checker, change, 'approve')).status).toBe(409)
    expect(await listed(frank)).toBeUndefined()
    expect((await propose(anEnrolment(frank))).status).toBe(201)
  })
})

describe('GET /approvers 200', () => {
  test('a human sees every key with exactly the members of decisions §7', async () => {
    const grace = anApprover('grace')
    await enrolled(service, humans, grace)
    const { status, body } = await service.get('/approvers', { key: checker.key })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['approvers'])
    expect((await listed(grace)) as object).toEqual({
      approverId: 'grace',
      keyId: 'k1',
      publicKeyPem: grace.publicKeyPem,
      enrolledAt: expect.any(String),
    })
  })
})

describe('GET /.well-known/approver-keys.json 200', () => {
  test('is a key set of every approver’s key, the revoked ones included, as each is read alone', async () => {
    const [heidi, ivan] = [anApprover('heidi'), anApprover('ivan')]
    for (const approver of [heidi, ivan]) await enrolled(service, humans, approver)
    await revoked(ivan)
    const { body } = await service.get('/.well-known/approver-keys.json', open)
    const { keys } = body as { keys: { keyId: string; revokedAt?: string }[] }
    const shown = (id: string) => keys.find(({ keyId }) => keyId === id)
    for (const id of ['heidi:k1', 'ivan:k1'])
      expect(shown(id)).toEqual((await service.get(`/keys/${id}`, open)).body)
    expect(shown('ivan:k1')).toHaveProperty('revokedAt')
    expect([...readKeySet(body as Json).keys()]).toEqual(keys.map(({ keyId }) => keyId).toSorted())
  })
})

describe('GET /keys/{keyId} 404 keyNotFound', () => {
  test.each(['nobody:k1', 'carol@example.com:2026-11:', ':k1', ':', '__proto__:constructor'])(
    '%s is nobody’s key',
    async (id) => {
      expect(reply(await service.get(`/keys/${encodeURIComponent(id)}`, open))).toEqual({
        status: 404,
        body: { error: `Key not found: ${id}` },
      })
    },
  )
})

// Passkeys that log in to the console: registered with the key, good for a session and for nothing else.
import { describe, expect, test } from 'vitest'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aHuman, putInEffect } from '../authority.ts'
import { aChallenge, atConsole, CONSOLE_ORIGIN, logIn } from '../console.ts'
import type { TestDatabase } from '../database.ts'
import { aLoginRegistration, aPasskeyApproval, aPasskeyEnrolment, aPasskeyLogin } from '../passkeys.ts'
import { aCaller, until, type TestService } from '../service.ts'
import { FLAGS, passkeyJson, passkeys, type Otherwise, type PasskeyOwner } from '../vectors/passkeys.ts'
import type { Members } from '../vectors/edit.ts'
import { withService } from '../with-service.ts'

const frank = passkeyJson(passkeys.frank)
const human = aHuman('human')
const other = aHuman('other')
const checker = aHuman('checker', {
  stepUpPublicKey: undefined,
  stepUpPasskey: { publicKeyPem: frank['pem'], ...(frank['passkey'] as Members) },
})
const auditor = aCaller('auditor', { readAll: true })
const LIST = '/console/data/login-passkeys'

let database: TestDatabase
let service: TestService
withService((made) => ({ database, service } = made), {
  callers: [human.entry, other.entry, checker.entry, auditor.entry],
  env: { CONSOLE_ORIGIN },
  addPolicies: () => undefined,
})

const origin = CONSOLE_ORIGIN
const post = (path: string, body: object, session: { cookie?: string } = {}) =>
  atConsole(service, 'POST', path, { ...session, body })

async function register(
  owner: PasskeyOwner,
  { key, callerId }: { readonly key: string; readonly callerId: string } = human,
) {
  const session = await logIn(service, key)
  const challenge = await aChallenge(service)
  return post(LIST, aLoginRegistration(owner, { key, callerId, origin, challenge }), session)
}

async function tryLogin(owner: PasskeyOwner, how?: Parameters<typeof aPasskeyLogin>[2]) {
  return post(
    '/console/login/passkey',
    aPasskeyLogin(owner, { origin, challenge: await aChallenge(service) }, how),
  )
}

async function listed(session: { cookie: string }) {
  const { status, body } = await atConsole(service, 'GET', LIST, session)
  expect(status).toBe(200)
  return body.loginPasskeys as {
    loginPasskeyId: string
    name: string
    usedAt: string | null
    isInEffect: boolean
  }[]
}

test('a passkey that is registered with the key logs in without it, until it is removed', async () => {
  expect((await register(passkeys.erik)).status).toBe(204)
  const session = await tryLogin(passkeys.erik)
  expect(session.status).toBe(204)
  const cookie = { cookie: session.cookie ?? '' }
  expect((await atConsole(service, 'GET', '/console/me', cookie)).body.callerId).toBe('human')
  const [mine] = await listed(cookie)
  expect(mine).toMatchObject({ name: 'phone', usedAt: expect.any(String), isInEffect: true })
  const remove = `${LIST}/${mine!.loginPasskeyId}/remove`
  const stranger = await logIn(service, other.key)
  expect(await listed(stranger)).toEqual([])
  expect((await post(remove, {}, stranger)).status).toBe(404)

  const byKey = await logIn(service, human.key)
  expect((await post(remove, {}, byKey)).status).toBe(204)
  expect((await atConsole(service, 'GET', '/transactions', cookie)).status).toBe(401)
  expect((await atConsole(service, 'GET', '/transactions', byKey)).status).toBe(200)
  expect((await tryLogin(passkeys.erik)).status).toBe(401)
  expect((await post(`${LIST}/none/remove`, {}, byKey)).status).toBe(404)
})

const isTold = async () => {
  const { body } = await service.get('/audit/events?type=session.opened', { key: human.key })
  const events = body.events as { event: { reason: string } }[]
  return events.filter(({ event }) => event.reason.includes('counter did not grow')).length === 1
}

describe('a passkey that logs in', () => {
  // proves abuse: The assertion of a login
  test('signs one login with one challenge', async () => {
    expect((await register(passkeys.grace)).status).toBe(204)
    const sent = aPasskeyLogin(passkeys.grace, { origin, challenge: await aChallenge(service) })
    expect((await post('/console/login/passkey', sent)).status).toBe(204)
    expect((await post('/console/login/passkey', sent)).status).toBe(401)
    const invented = aPasskeyLogin(passkeys.grace, { origin, challenge: 'A'.repeat(43) })
    expect((await post('/console/login/passkey', invented)).status).toBe(401)
    const late = await aChallenge(service)
    await database.pool.query(`UPDATE login_challenges SET expires_at = now() - interval '1 s'`)
    const tooLate = aPasskeyLogin(passkeys.grace, { origin, challenge: late })
    expect((await post('/console/login/passkey', tooLate)).status).toBe(401)
    expect(await aChallenge(service)).not.toBe(late)
    expect((await database.pool.query('SELECT FROM login_challenges')).rowCount).toBe(1)
  })

  test('is not asked for while ten thousand others have not answered, until their two minutes are over', async () => {
    await database.pool.query(
      `INSERT INTO login_challenges SELECT 'unanswered ' || n, now() + interval '2 min' FROM generate_series(1, 10000) AS n`,
    )
    const { status, body } = await post('/console/login/challenge', {})
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED'])
    await database.pool.query(`UPDATE login_challenges SET expires_at = now() - interval '1 s'`)
    expect(await aChallenge(service)).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect((await database.pool.query('SELECT FROM login_challenges')).rowCount).toBe(1)
  })

  test('is one of ten at most, also where two are registered in the same moment', async () => {
    const session = await logIn(service, human.key)
    for (const { loginPasskeyId } of await listed(session))
      await post(`${LIST}/${loginPasskeyId}/remove`, {}, session)
    await database.pool.query(
      `INSERT INTO login_passkeys (login_passkey_id, credential_id, caller_id, key_hash, name, public_key_pem, backup_eligible, sign_count)
       SELECT gen_random_uuid(), 'filled ' || n, 'human', '', 'filled', '', false, 0 FROM generate_series(1, 9) AS n`,
    )
    const answers = await Promise.all([passkeys.grace, passkeys.erik].map((owner) => register(owner)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 409])
    await database.pool.query(`DELETE FROM login_passkeys WHERE caller_id = 'human'`)
  })

  // proves abuse: The assertion of a login
  test.each<[string, Otherwise & { credentialId?: string }]>([
    ['is for another artifact', { artifact: 'approval' }],
    ['is a step-up', { artifact: 'step-up' }],
    ['is of another origin', { clientData: { origin: 'https://evil.example' } }],
    ['is of another rpId', { rpId: 'evil.example' }],
    ['is made inside another site’s page', { clientData: { crossOrigin: true } }],
    ['is by nobody who was verified', { flags: FLAGS.UP | FLAGS.BE }],
    ['is under the name of another passkey', { credentialId: 'YW5vdGhlcg' }],
    [
      'does not verify',
      { signature: (made) => Buffer.concat([made.subarray(0, -1), Buffer.of(made.at(-1)! ^ 1)]) },
    ],
  ])('opens nothing where its signature %s', async (_, how) => {
    await register(passkeys.grace)
    const { status, cookie } = await tryLogin(passkeys.grace, how)
    expect([status, cookie]).toEqual([401, undefined])
  })

  // proves abuse: The assertion of a login
  test('opens the session of its own human, whoever’s passkey is named', async () => {
    await register(passkeys.grace)
    const theirs = await register(passkeys.dana, { key: other.key, callerId: 'other' })
    expect(theirs.status).toBe(204)
    const credentialId = Buffer.from(passkeys.dana.keyId).toString('base64url')
    expect((await tryLogin(passkeys.grace, { credentialId })).status).toBe(401)
    const { cookie = '' } = await tryLogin(passkeys.dana)
    expect((await atConsole(service, 'GET', '/console/me', { cookie })).body.callerId).toBe('other')
  })

  // proves abuse: A copy of a login’s passkey
  test('is told of in the audit where its counter goes back', async () => {
    await register(passkeys.grace)
    for (const signCount of [7, 8, 3])
      expect((await tryLogin(passkeys.grace, { signCount })).status).toBe(204)
    expect(await until(isTold, 'the audit to have the login')).toBe(true)
  })

  // proves abuse: A passkey that logs in used
  test('approves nothing, and one that approves or resolves logs nobody in', async () => {
    await register(passkeys.unpublished)
    const approval = await service.post('/approvals', aPasskeyApproval(passkeys.unpublished))
    expect(approval.status).toBe(400)
    // The passkey of a caller's entry.
    const stepUp = await register(passkeys.frank)
    expect([stepUp.status, stepUp.body.error]).toEqual([
      409,
      'This passkey signs approvals or changes: make another one to log in.',
    ])
    // The passkey of an approver who is enrolled after the passkey was registered here.
    expect((await tryLogin(passkeys.unpublished)).status).toBe(204)
    await putInEffect(
      service,
      { maker: human, checker: other },
      '/approvers/changes',
      aPasskeyEnrolment(passkeys.unpublished),
    )
    const { status, body } = await tryLogin(passkeys.unpublished)
    expect([status, body.code]).toEqual([403, 'CONSOLE_REFUSED'])
  })

  test('ends with the key that registered it', async () => {
    await register(passkeys.grace)
    await database.pool.query(`UPDATE login_passkeys SET key_hash = $1 WHERE caller_id = 'human'`, [
      sha256Hex('the key before'),
    ])
    expect((await tryLogin(passkeys.grace)).status).toBe(401)
    const session = await logIn(service, human.key)
    expect((await listed(session)).every(({ isInEffect }) => !isInEffect)).toBe(true)
  })

  // proves abuse: A session that makes itself a way in
  test('is registered with the key of its human alone, and of no other page', async () => {
    const session = await logIn(service, other.key)
    const body = async (members: object = {}) => ({
      ...aLoginRegistration(passkeys.erik, {
        key: other.key,
        callerId: 'other',
        origin,
        challenge: await aChallenge(service),
      }),
      ...members,
    })
    for (const key of ['csk_unknown', human.key]) {
      const { status, body: answer } = await post(LIST, await body({ key }), session)
      expect([status, answer.error]).toEqual([400, 'key must be a key of yours that is in effect.'])
    }
    for (const [member, value] of Object.entries({
      key: undefined,
      name: 'a b',
      challenge: 'x',
      proof: {},
    })) {
      const { status, body: answer } = await post(LIST, await body({ [member]: value }), session)
      expect([status, answer.error.startsWith(member)]).toEqual([400, true])
    }
    const proofOfAnother = aLoginRegistration(passkeys.grace, {
      key: other.key,
      callerId: 'other',
      origin,
      challenge: await aChallenge(service),
    }).proof
    const unproven = await post(LIST, await body({ proof: proofOfAnother }), session)
    expect(unproven.body.error).toContain('proof must be a signature by the passkey: ')
    expect((await post(LIST, await body())).status).toBe(401)
    for (const path of ['/console/login/challenge', '/console/login/passkey']) {
      const headers = { 'sec-fetch-site': 'cross-site' }
      expect((await atConsole(service, 'POST', path, { body: {}, headers })).body.code).toBe(
        'CONSOLE_REFUSED',
      )
    }
    expect(await listed(session)).toHaveLength(1)
  })
})

// Tokens of sessions that nobody opened: made here with the keys of the service, to stand at the bounds of what it accepts.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { SESSION_IDLE_MS, SESSION_MS, signSession } from '../../src/core/callers/console-session.ts'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { readPublicKeys, readSigningKeys } from '../../src/core/signing/keys.ts'
import { revokeKey } from '../../src/core/signing/revocation.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import { aHuman } from '../authority.ts'
import { atConsole, CONSOLE_ORIGIN, logIn } from '../console.ts'
import type { TestDatabase } from '../database.ts'
import { startService, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

const MINUTE_MS = 60_000
const human = aHuman('human')
const options = { callers: [human.entry], env: { CONSOLE_ORIGIN } }

let service: TestService
let database: TestDatabase
withService((made) => ({ service, database } = made), { ...options, addPolicies: () => undefined })

function aPayload(members: object = {}) {
  const nowMs = Date.now()
  return {
    version: 1 as const,
    sessionId: randomUUID(),
    callerId: 'human',
    keyHash: sha256Hex(sha256Hex(human.key)),
    origin: CONSOLE_ORIGIN,
    // The helper `atConsole` says this for a session that did not log in.
    pageHash: sha256Hex('login'),
    startedMs: nowMs,
    usedMs: nowMs,
    ...members,
  }
}

const signingKey = () => readSigningKeys(service.signingKeyDir, []).ed25519
const aToken = (members: object = {}) => signSession(aPayload(members), signingKey())
const look = (cookie: string, headers: Record<string, string> = {}) =>
  atConsole(service, 'GET', '/transactions', { cookie, headers })

// proves abuse: A session that is over
test.each([
  ['of eight hours ago, however lately used', () => ({ startedMs: Date.now() - SESSION_MS })],
  ['idle for half an hour', () => ({ usedMs: Date.now() - SESSION_IDLE_MS })],
  ['of a key that is not configured', () => ({ keyHash: sha256Hex(sha256Hex('csk_removed')) })],
  ['of a caller by the key of another', () => ({ callerId: 'tester' })],
  ['of another console', () => ({ origin: 'https://elsewhere.example' })],
])('a session %s is none', async (_, members) => {
  expect((await look(aToken())).status).toBe(200)
  expect((await look(aToken(members()))).status).toBe(401)
})

// proves abuse: A session that is over
test('what the service signed as something else is no session', async () => {
  const text = canonicalize(aPayload())
  const { keyId, value } = signEd25519('audit-event', text, signingKey())
  const parts = [text, keyId].map((part) => Buffer.from(part).toString('base64url'))
  const signature = Buffer.from(value, 'base64').toString('base64url')
  expect((await look([...parts, signature].join('.'))).status).toBe(401)
})

// proves abuse: A page left open
test('a page that only watches does not keep its session alive; one that is used does', async () => {
  const used = aToken({ usedMs: Date.now() - 10 * MINUTE_MS })
  const watched = await look(used, { prefer: 'wait=1' })
  expect([watched.status, watched.cookie]).toEqual([200, undefined])
  const renewed = await look(used)
  expect((await look(renewed.cookie ?? '')).status).toBe(200)
})

// proves abuse: A page left open
test('a browser keeps no evidence of a session that it would show without asking', async () => {
  const transaction = aTransaction()
  const executed = await service.post('/execute', transaction)
  expect(executed.status).toBe(200)
  const path = `/trust-records/${transaction.businessTransactionId}`
  const { cookie } = await logIn(service, human.key)
  const { status, headers } = await atConsole(service, 'GET', path, { cookie })
  expect(status).toBe(200)
  expect(headers['cache-control']).toMatch(/no-cache|no-store/)
})

// proves abuse: A session that is over
test('another instance takes a session, and knows of its logout', async () => {
  const { signingKeyDir } = service
  const other = await startService({ ...options, databaseUrl: database.url, signingKeyDir, key: service.key })
  const session = await logIn(service, human.key)
  expect((await atConsole(other, 'GET', '/console/me', session)).status).toBe(200)
  expect((await atConsole(service, 'POST', '/console/logout', { ...session, body: {} })).status).toBe(204)
  const refused = async () => (await atConsole(other, 'GET', '/console/me', session)).status === 401
  expect(await until(refused, 'the other instance to see the logout')).toBe(true)
  expect(await other.stop()).toBe(0)
})

// proves abuse: Evidence signed by a stolen signing key
test('a session is over once the key that signed it is revoked, though it was taken just before', async () => {
  const { signingKeyDir } = service
  const { keyId } = signingKey().public
  const stolen = aToken()
  expect((await look(stolen)).status).toBe(200)
  const now = new Date()
  revokeKey(signingKeyDir, readPublicKeys(signingKeyDir).get(keyId)!, { at: now.toISOString(), now })
  const refused = async () => (await look(stolen)).status === 401
  expect(await until(refused, 'the revocation to be seen')).toBe(true)
})

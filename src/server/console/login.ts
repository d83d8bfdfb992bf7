// Login to the console: with a key, or with a passkey that was registered for it (docs/handbook/console.md). Such a passkey only logs in: it
// signs artifacts of its own kind, and a key that approves or resolves anything cannot be a login passkey.
import { createPublicKey, randomBytes, randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { Failure, failures, type Audited } from '../../core/errors/errors.ts'
import { bodyOf } from '../../core/json/shape.ts'
import { SESSION_MS } from '../../core/callers/console-session.ts'
import type { LoginPasskeyAct } from '../../core/operations/keep-login-passkey.ts'
import { humanKeyJson, humanSignatureProblem, readHumanKey } from '../../core/signing/human-key.ts'
import { fromBase64 } from '../../core/signing/signature.ts'
import { loginPayload, registrationPayload } from '../../formats/console-login.ts'
import { canonicalize } from '../../formats/json/canonical.ts'
import { readsEverything, type Caller } from '../../formats/people/caller.ts'
import { ApproverName, humanSignature } from '../../formats/schemas/approval.ts'
import { passkeyMembers, PublicKeyPem } from '../../formats/schemas/approver.ts'
import { closed, isUuid } from '../../formats/schemas/primitives.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { readApprovers } from '../../store/tables/approvers.ts'
import { endSession } from '../../store/tables/ended-sessions.ts'
import {
  findLoginPasskey,
  keepChallenge,
  LOGIN_PASSKEYS_MAX,
  noteLogin,
  readLoginPasskeys,
  takeChallenge,
} from '../../store/tables/login-passkeys.ts'
import type { Answer } from '../answer.ts'
import { tryOwnWork } from '../dispatch/own-work.ts'
import { json, type RouteRequest } from '../route.ts'
import type { Service } from '../service.ts'
import { PAGE_HEADER } from './gate.ts'

const Key = Type.String({ minLength: 1, maxLength: 512, description: 'the text csk_… of your key' })
const Challenge = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'a challenge of this service' })

/** The algorithm follows from the passkey's registered key, which the page does not know at a login. */
const { algorithm: _algorithm, ...assertion } = humanSignature

const loginBody = bodyOf(closed({ key: Key }))
const passkeyLoginBody = bodyOf(
  closed({ challenge: Challenge, credentialId: passkeyMembers.credentialId, ...assertion }),
)
const registrationBody = bodyOf(
  closed({
    key: Key,
    name: ApproverName,
    challenge: Challenge,
    publicKeyPem: PublicKeyPem,
    credentialId: passkeyMembers.credentialId,
    backupEligible: passkeyMembers.backupEligible,
    proof: closed(humanSignature),
  }),
)

/** Long enough to find the security key, too short to be carried anywhere. */
const CHALLENGE_MS = 120_000

/** A login has no session cookie to check, and a page of another site must not log anybody in. */
function pageProblem({ header }: RouteRequest): Failure | undefined {
  return header('sec-fetch-site') !== 'same-origin' || header(PAGE_HEADER) === undefined
    ? failures.consoleRefused('a login comes from the page of the console')
    : undefined
}

export async function login(request: RouteRequest, service: Service): Promise<Answer | Failure> {
  const given = pageProblem(request) ?? loginBody(request.body)
  if (given instanceof Failure) return given
  const found = service.console.sessions.callerOf(given.key)
  return found === undefined ? failures.authenticationRequired() : opened(service, found.caller)
}

/** The challenge that a passkey signs at login or registration: random, valid for two minutes, accepted once. */
export async function challenge(request: RouteRequest, { pool }: Service): Promise<Answer | Failure> {
  const problem = pageProblem(request)
  if (problem !== undefined) return problem
  const made = randomBytes(32).toString('base64url')
  const isKept = await keepChallenge(pool, { challenge: made, lastsMs: CHALLENGE_MS })
  if (!isKept) return failures.rateLimited('login challenges', CHALLENGE_MS / 1000)
  return json({ challenge: made }, { headers: { 'Cache-Control': 'no-store' } })
}

/**
 * The challenge is used up before any other check, so a signature that somebody has seen, even a refused one, logs nobody in.
 * Guessing reveals nothing: an unknown passkey, a signature by another passkey and an ended key are all answered 401.
 */
export async function loginByPasskey(request: RouteRequest, service: Service): Promise<Answer | Failure> {
  const given = pageProblem(request) ?? passkeyLoginBody(request.body)
  if (given instanceof Failure) return given
  const { pool, console } = service
  const origin = console.origin() ?? ''
  if (!(await takeChallenge(pool, given.challenge))) return failures.authenticationRequired()
  const passkey = await findLoginPasskey(pool, given.credentialId)
  const found = passkey && console.sessions.keyBy(passkey)
  if (passkey === undefined || found === undefined) return failures.authenticationRequired()
  const { publicKeyPem, backupEligible, loginPasskeyId, name } = passkey
  const key = readHumanKey(name, publicKeyPem, siteOf(origin, backupEligible))
  const text = canonicalize(loginPayload({ challenge: given.challenge, origin }))
  const algorithm = `webauthn-${humanKeyJson(key).algorithm}`
  if (humanSignatureProblem('console-login', text, signatureOf({ ...given, algorithm }), key) !== undefined)
    return failures.authenticationRequired()
  // The passkey may have become a key that approves or resolves after it was registered here.
  if (await isAuthority(publicKeyPem, service))
    return failures.consoleRefused('this passkey signs approvals or changes by now, so it logs nobody in')
  const signCount = counterOf(given)
  if (!(await noteLogin(pool, { loginPasskeyId, signCount }))) return failures.authenticationRequired()
  const wentBack = passkey.signCount > 0 && signCount <= passkey.signCount
  return opened(service, found.caller, { loginPasskeyId, name, wentBack })
}

async function opened(
  { console }: Service,
  caller: Caller,
  by?: { readonly loginPasskeyId: string; readonly name: string; readonly wentBack: boolean },
): Promise<Answer | Failure> {
  if (!readsEverything(caller))
    return failures.consoleRefused('the console is for humans (USER) and auditors (readAll)')
  const { callerId } = caller
  const { sessionId, token, pageSecret } = await console.sessions.open(caller, by?.loginPasskeyId)
  const copied = by?.wentBack === true
  return empty(
    { 'Set-Cookie': console.cookie(token), 'X-Countersign-Console': pageSecret },
    {
      type: 'session.opened',
      reason: copied
        ? 'A session of the console was opened by a passkey whose signature counter did not grow: somebody may have a copy of it.'
        : 'A session of the console was opened.',
      detail: { callerId, sessionId, ...(by === undefined ? {} : { loginPasskey: by.name }) },
    },
  )
}

export async function logout({ session }: RouteRequest, { pool, console }: Service) {
  if (session === undefined) return failures.authenticationRequired()
  await endSession(pool, session)
  console.sessions.noteEnded(session.sessionId)
  return empty(
    // The storage is not cleared: the page removes its secret itself, and the human's saved filters stay there.
    { 'Set-Cookie': console.cookie(undefined), 'Clear-Site-Data': '"cache"' },
    {
      type: 'session.ended',
      reason: 'A session of the console was ended.',
      detail: { callerId: session.caller.callerId, sessionId: session.sessionId },
    },
  )
}

/** Lists the login passkeys of the session's human. */
export async function loginPasskeys({ session }: RouteRequest, { pool, console }: Service) {
  if (session === undefined) return failures.authenticationRequired()
  const registered = await readLoginPasskeys(pool, session.caller.callerId)
  return json({
    loginPasskeys: registered.map((passkey) => {
      const { loginPasskeyId, name, backupEligible, registeredAt, usedAt } = passkey
      const isInEffect = console.sessions.keyBy(passkey) !== undefined
      return { loginPasskeyId, name, backupEligible, registeredAt, usedAt, isInEffect }
    }),
  })
}

/** Asks for the key again: a stolen session must not turn into lasting access. */
export async function registerPasskey(
  { session, body }: RouteRequest,
  service: Service,
): Promise<Answer | Failure> {
  if (session === undefined) return failures.authenticationRequired()
  const given = registrationBody(body)
  if (given instanceof Failure) return given
  const { pool, console } = service
  const { key: rawKey, name, credentialId, backupEligible, proof } = given
  const { callerId, keyHash } = console.sessions.callerOf(rawKey)?.caller ?? {}
  if (keyHash === undefined || callerId !== session.caller.callerId)
    return failures.invalidField('key must be a key of yours that is in effect.')
  if (!(await takeChallenge(pool, given.challenge)))
    return failures.invalidField('challenge must be one that is two minutes old at most and was not used.')
  const origin = console.origin() ?? ''
  const publicKeyPem = normalized(given.publicKeyPem)
  if (publicKeyPem === undefined)
    return failures.invalidField('publicKeyPem must be a PEM public key of Ed25519 or P-256.')
  const spki = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' }).toString('base64')
  const text = canonicalize(registrationPayload({ challenge: given.challenge, origin, callerId, name, spki }))
  const key = readHumanKey(name, publicKeyPem, siteOf(origin, backupEligible))
  const why = humanSignatureProblem('console-login', text, signatureOf(proof), key)
  if (why !== undefined) return failures.invalidField(`proof must be a signature by the passkey: ${why}.`)
  if (await isAuthority(publicKeyPem, service))
    return failures.conflict('This passkey signs approvals or changes: make another one to log in.')
  const passkey = {
    loginPasskeyId: randomUUID(),
    credentialId,
    callerId,
    keyHash: sha256Hex(keyHash),
    name,
    publicKeyPem,
    backupEligible,
    signCount: counterOf(proof),
  }
  const done = await keep({ act: 'register', passkey }, service)
  if (done.kind !== 'done') return done.answer
  if (!done.result)
    return failures.conflict(
      `This passkey is registered already, or you have ${LOGIN_PASSKEYS_MAX}: remove one first.`,
    )
  return empty()
}

/** The passkey's sessions end with it, here at once and on other instances within about a second. */
export async function removePasskey(
  { session, params }: RouteRequest,
  service: Service,
): Promise<Answer | Failure> {
  if (session === undefined) return failures.authenticationRequired()
  const { callerId } = session.caller
  const loginPasskeyId = params['loginPasskeyId']?.toLowerCase()
  if (!isUuid(loginPasskeyId)) return failures.pathNotFound()
  const sessionsEndAt = new Date(Date.now() + SESSION_MS).toISOString()
  const done = await keep({ act: 'remove', loginPasskeyId, callerId, sessionsEndAt }, service)
  if (done.kind !== 'done') return done.answer
  if (!done.result) return failures.pathNotFound()
  service.console.sessions.noteEnded(loginPasskeyId)
  return empty()
}

function keep(act: LoginPasskeyAct, { dispatcher }: Service) {
  return tryOwnWork(dispatcher.submit, 'keep-login-passkey', act)
}

/** Whether a key has ever been an approver's, or resolves changes now. */
async function isAuthority(publicKeyPem: string, { pool, callers }: Service): Promise<boolean> {
  const all = [...callers.configured, ...callers.inEffect().map(({ caller }) => caller)]
  return (
    all.some(
      ({ stepUpPublicKey, stepUpPasskey }) =>
        stepUpPublicKey === publicKeyPem || stepUpPasskey?.publicKeyPem === publicKeyPem,
    ) || (await readApprovers(pool)).some((approver) => approver.publicKeyPem === publicKeyPem)
  )
}

/** A passkey logs in only on the origin where it was made, not on subdomains of it. */
function siteOf(origin: string, backupEligible: boolean) {
  return { rpId: URL.parse(origin)?.hostname ?? '', origins: [origin], backupEligible }
}

function normalized(pem: string): string | undefined {
  try {
    return humanKeyJson(readHumanKey('', pem, siteOf('https://any.example', false))).pem
  } catch {
    return undefined
  }
}

function signatureOf({
  algorithm,
  signature,
  webauthn,
}: {
  readonly algorithm: string
  readonly signature: string
  readonly webauthn?: { readonly authenticatorData: string; readonly clientDataJSON: string } | undefined
}) {
  return { algorithm, value: signature, webauthn }
}

/** The last four bytes of the authenticator data, once they are known to be a passkey's (Web Authentication Level 3 §6.1). */
function counterOf({
  webauthn,
}: {
  readonly webauthn?: { readonly authenticatorData: string } | undefined
}): number {
  const data = fromBase64(webauthn?.authenticatorData ?? '')
  return data === undefined || data.length < 4 ? 0 : Buffer.from(data).readUInt32BE(data.length - 4)
}

function empty(headers: Readonly<Record<string, string>> = {}, audit?: Audited): Answer {
  const answer = { status: 204, headers: { 'Cache-Control': 'no-store', ...headers }, body: '' }
  return audit === undefined ? answer : { ...answer, audit }
}

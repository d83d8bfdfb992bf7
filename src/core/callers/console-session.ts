// The token of a console session (docs/handbook/console.md): signed by the service as an artifact of its own, so that every instance can check
// it and no other signature passes for a session. It identifies the user and gives no authority.
import { canonicalize } from '../../formats/json/canonical.ts'
import type { PublicKey, SigningKey } from '../signing/keys.ts'
import { signEd25519, verifySignature } from '../signing/signature.ts'

const ARTIFACT = 'console-session'
/** Lifetime of a session, from login. */
export const SESSION_MS = 8 * 3600 * 1000
/** Lifetime of a session without a request. */
export const SESSION_IDLE_MS = 30 * 60 * 1000

/** The payload of a session, which is signed. Times are milliseconds since 1970. */
export type SessionPayload = {
  readonly version: 1
  readonly sessionId: string
  readonly callerId: string
  /** SHA-256 of the hash of the key: the session ends with the key, and the cookie reveals nothing about the key. */
  readonly keyHash: string
  /** CONSOLE_ORIGIN: a token of another console is refused. */
  readonly origin: string
  /** SHA-256 of the secret of its page. No browser binds a cookie to a port: another server of the host gets the cookie, but not the secret. */
  readonly pageHash: string
  /** The passkey that logged in: the session ends with it. Undefined: the key itself logged in. */
  readonly loginPasskeyId?: string
  readonly startedMs: number
  /** Time at which this token was made. A session in use gets newer tokens. */
  readonly usedMs: number
}

/** @param key Ed25519 */
export function signSession(payload: SessionPayload, key: SigningKey): string {
  const text = canonicalize(payload)
  const { keyId, value } = signEd25519(ARTIFACT, text, key)
  return (
    [text, keyId].map((part) => Buffer.from(part).toString('base64url')).join('.') + `.${fromBase64(value)}`
  )
}

/** Several times the length of a token; a header may be longer. */
const TOKEN_MAX = 2_048

/**
 * @param isOurs whether the session could belong to this console. Called before the signature is verified, so also with unsigned text:
 *   invented tokens must not make the front end verify signatures
 * @param findKey a published key of the service
 * @returns the token's payload and the key that signed it; undefined if it is not a token, is not signed by the service, or has expired
 */
export function readSession(
  token: string,
  {
    isOurs,
    findKey,
    nowMs,
  }: {
    readonly isOurs: (claimed: Partial<SessionPayload>) => boolean
    readonly findKey: (keyId: string) => PublicKey | undefined
    readonly nowMs: number
  },
): { readonly payload: SessionPayload; readonly key: PublicKey } | undefined {
  if (token.length > TOKEN_MAX) return undefined
  const [text, keyId, signature, ...more] = token.split('.')
  if (text === undefined || keyId === undefined || signature === undefined || more.length > 0)
    return undefined
  const signed = Buffer.from(text, 'base64url').toString()
  const payload = claimedOf(signed)
  if (payload === undefined || !isOurs(payload)) return undefined
  const key = findKey(Buffer.from(keyId, 'base64url').toString())
  if (key?.algorithm !== 'ed25519') return undefined
  const value = Buffer.from(signature, 'base64url').toString('base64')
  if (!verifySignature(ARTIFACT, signed, { algorithm: 'ed25519', keyId: key.keyId, value }, key))
    return undefined
  // The service made the token itself, so a valid signature guarantees its shape.
  const made = payload as SessionPayload
  return isOver(made, nowMs) ? undefined : { payload: made, key }
}

function claimedOf(text: string): Partial<SessionPayload> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

export function isOver({ startedMs, usedMs }: SessionPayload, nowMs: number): boolean {
  return nowMs >= startedMs + SESSION_MS || nowMs >= usedMs + SESSION_IDLE_MS
}

function fromBase64(value: string): string {
  return Buffer.from(value, 'base64').toString('base64url')
}

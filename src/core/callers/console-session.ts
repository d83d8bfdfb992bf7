// The token of a console session (docs/handbook/console.md): signed by the service as an artifact of its own, so that every instance can check
// it and no other signature passes for one. It says who looks; it is no authority for anything.
import { canonicalize } from '../../formats/json/canonical.ts'
import type { PublicKey, SigningKey } from '../signing/keys.ts'
import { signEd25519, verifySignature } from '../signing/signature.ts'

const ARTIFACT = 'console-session'
/** From login. */
export const SESSION_MS = 8 * 3600 * 1000
/** Without a request. */
export const SESSION_IDLE_MS = 30 * 60 * 1000

/** The payload of a session, which is signed. Times are milliseconds since 1970. */
export type SessionPayload = {
  readonly version: 1
  readonly sessionId: string
  readonly callerId: string
  /** SHA-256 of the hash of the key: the session ends when the key does, and the cookie tells nothing about the key. */
  readonly keyHash: string
  /** CONSOLE_ORIGIN: a token of another console is none. */
  readonly origin: string
  /** SHA-256 of the secret of its page. Another server of the same host name gets the cookie, which no browser binds to a port; this it does not get. */
  readonly pageHash: string
  /** The passkey that logged in: the session ends with it. Undefined: the key itself did. */
  readonly loginPasskeyId?: string
  readonly startedMs: number
  /** When this token was made; a session that is used gets newer ones. */
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
 * @param isOurs whether the session could be one of this console. Called before the signature is verified: invented tokens must not make
 *   the front end verify signatures. It gets unsigned text too
 * @param findKey a published key of the service
 * @returns what the token says and the key that it is signed by; undefined if it is not a token, is not signed by the service, or has expired
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
  // Made by the service itself: its shape is known once it is signed.
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

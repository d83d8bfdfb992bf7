// The token of a console session (docs/handbook/console.md): signed by the service as an artifact of its own, so that every instance can check
// it and no other signature passes for one. It says who looks; it is no authority for anything.
import { canonicalize } from './json/canonical.ts'
import type { PublicKey, SigningKey } from './signing/keys.ts'
import { signEd25519, verifySignature } from './signing/signature.ts'

const ARTIFACT = 'console-session'
/** From login. */
export const SESSION_MS = 8 * 3600 * 1000
/** Without a request. */
export const SESSION_IDLE_MS = 30 * 60 * 1000

/** What is signed. Times are milliseconds since 1970. */
export type SessionPayload = {
  readonly version: 1
  readonly sessionId: string
  readonly callerId: string
  /** The caller's key that was used to log in, as the configuration has it: the session ends when it goes. */
  readonly keyHash: string
  /** CONSOLE_ORIGIN: a token of another console is none. */
  readonly origin: string
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

/**
 * @param findKey a published key of the service
 * @returns what the token says and the key that it is signed by; undefined where it is none, is not signed by the service, or is over
 */
export function readSession(
  token: string,
  findKey: (keyId: string) => PublicKey | undefined,
  nowMs: number,
): { readonly payload: SessionPayload; readonly key: PublicKey } | undefined {
  const [text, keyId, signature, ...more] = token.split('.')
  if (text === undefined || keyId === undefined || signature === undefined || more.length > 0)
    return undefined
  const signed = Buffer.from(text, 'base64url').toString()
  const key = findKey(Buffer.from(keyId, 'base64url').toString())
  if (key?.algorithm !== 'ed25519') return undefined
  const value = Buffer.from(signature, 'base64url').toString('base64')
  if (!verifySignature(ARTIFACT, signed, { algorithm: 'ed25519', keyId: key.keyId, value }, key))
    return undefined
  // Made by the service itself: its shape is known once it is signed.
  const payload = JSON.parse(signed) as SessionPayload
  return isOver(payload, nowMs) ? undefined : { payload, key }
}

export function isOver({ startedMs, usedMs }: SessionPayload, nowMs: number): boolean {
  return nowMs >= startedMs + SESSION_MS || nowMs >= usedMs + SESSION_IDLE_MS
}

function fromBase64(value: string): string {
  return Buffer.from(value, 'base64').toString('base64url')
}

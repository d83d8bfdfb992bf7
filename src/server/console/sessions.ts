// The cookie of a request to the console, its session, and the caller whose session it is.
import { randomBytes, randomUUID } from 'node:crypto'
import { isOver, readSession, SESSION_MS, type SessionPayload } from '../../core/callers/console-session.ts'
import { readsEverything, type Caller } from '../../formats/people/caller.ts'
import type { CallerKey } from '../../core/callers/caller-keys.ts'
import type { PublicKey } from '../../core/signing/keys.ts'
import type { Authenticate, Callers } from '../callers.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { readEndedSessions } from '../../store/tables/ended-sessions.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { doOwnWork } from '../dispatch/own-work.ts'

/** A session with a valid token, opened by a key that is in effect. */
export interface Session {
  readonly sessionId: string
  readonly caller: Caller
  /** The index of the key, as in `CallerKey`. */
  readonly index: number
  /** ISO 8601: when the session ends, however much it is used. */
  readonly expiresAt: string
  readonly payload: SessionPayload
}

export interface Sessions {
  /** @returns undefined for an invalid or expired token. `isEnded` tells whether somebody has ended the session */
  readonly find: (token: string) => Session | undefined
  /** Whether somebody logged out, here or on another instance. A logout elsewhere is seen within a second. */
  readonly isEnded: (session: Session) => Promise<boolean>
  /** Notes the end of a session, or of every session of a passkey, on this instance at once. */
  readonly noteEnded: (id: string) => void
  /** Finds the caller of a raw key; undefined: the key is unknown. */
  readonly callerOf: (rawKey: string) => ReturnType<Authenticate>
  /** Finds a key that is in effect by the hash of its hash. */
  readonly keyBy: (claimed: { readonly callerId: string; readonly keyHash: string }) => CallerKey | undefined
  /** @param loginPasskeyId the passkey that logged in; undefined: the key itself did */
  readonly open: (
    caller: Caller,
    loginPasskeyId?: string,
  ) => Promise<{ readonly sessionId: string; readonly token: string; readonly pageSecret: string }>
  /** @returns a newer token where this one is some minutes old */
  readonly renew: (session: Session) => Promise<string | undefined>
}

/** A second of CPU verifies some 15,000 tokens; a page that loads sends ten requests with the same token. */
const TOKENS_KEPT_MAX = 1_000
const RENEW_AFTER_MS = 5 * 60 * 1000
const ENDED_MAX_AGE_MS = 1_000

export function openSessions({
  callers,
  findKey,
  sql,
  submit,
  origin,
}: {
  readonly callers: Pick<Callers, 'authenticate' | 'inEffect'>
  readonly findKey: (keyId: string) => PublicKey | undefined
  readonly sql: Sql
  readonly submit: Dispatcher['submit']
  /** CONSOLE_ORIGIN. */
  readonly origin: () => string | undefined
}): Sessions {
  /** Sessions by token, oldest first. */
  const kept = new Map<string, NonNullable<ReturnType<typeof readSession>>>()
  let ended: ReadonlySet<string> = new Set()
  let endedAtMs = -Infinity
  let reading: Promise<void> | undefined

  function payloadOf(token: string): SessionPayload | undefined {
    const before = kept.get(token)
    // A key that is no longer published verifies nothing.
    if (
      before !== undefined &&
      findKey(before.key.keyId) === before.key &&
      !isOver(before.payload, Date.now())
    )
      return before.payload
    kept.delete(token)
    const read = readSession(token, { isOurs, findKey, nowMs: Date.now() })
    if (read === undefined) return undefined
    if (kept.size >= TOKENS_KEPT_MAX) kept.delete(kept.keys().next().value!)
    kept.set(token, read)
    return read.payload
  }

  const isOurs = (claimed: Partial<SessionPayload>) =>
    claimed.origin === origin() && keyOf(claimed) !== undefined

  /** The key that logged in; undefined where it is no longer in effect. */
  const keyOf = (claimed: Partial<SessionPayload>) =>
    callers
      .inEffect()
      .find(
        ({ caller }) =>
          caller.callerId === claimed.callerId &&
          readsEverything(caller) &&
          sha256Hex(caller.keyHash) === claimed.keyHash,
      )

  async function readEnded(): Promise<void> {
    ended = await readEndedSessions(sql)
    endedAtMs = performance.now()
  }

  async function sign(payload: SessionPayload): Promise<string> {
    return (await doOwnWork(submit, 'sign-session', payload)).token
  }

  return {
    callerOf: (rawKey) => callers.authenticate(`Bearer ${rawKey}`),
    find(token) {
      const payload = payloadOf(token)
      if (payload === undefined || payload.origin !== origin()) return undefined
      const key = keyOf(payload)
      if (key === undefined) return undefined
      const expiresAt = new Date(payload.startedMs + SESSION_MS).toISOString()
      return { ...key, sessionId: payload.sessionId, expiresAt, payload }
    },
    async isEnded({ sessionId, payload: { loginPasskeyId = '' } }) {
      if (performance.now() - endedAtMs > ENDED_MAX_AGE_MS)
        await (reading ??= readEnded().finally(() => (reading = undefined)))
      return ended.has(sessionId) || ended.has(loginPasskeyId)
    },
    noteEnded(id) {
      ended = new Set([...ended, id])
    },
    keyBy: keyOf,
    async open({ callerId, keyHash }, loginPasskeyId) {
      const [now, sessionId] = [Date.now(), randomUUID()]
      const pageSecret = randomBytes(32).toString('base64url')
      const token = await sign({
        version: 1,
        sessionId,
        callerId,
        keyHash: sha256Hex(keyHash),
        origin: origin() ?? '',
        pageHash: sha256Hex(pageSecret),
        ...(loginPasskeyId === undefined ? {} : { loginPasskeyId }),
        startedMs: now,
        usedMs: now,
      })
      return { sessionId, token, pageSecret }
    },
    async renew({ payload }) {
      const now = Date.now()
      return now - payload.usedMs < RENEW_AFTER_MS ? undefined : sign({ ...payload, usedMs: now })
    },
  }
}

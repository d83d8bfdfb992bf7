// Who looks at the console: the cookie of a request, its session, and the caller whose session it is.
import { randomUUID } from 'node:crypto'
import { isOver, readSession, SESSION_MS, type SessionPayload } from '../../core/console-session.ts'
import type { Caller } from '../../core/callers.ts'
import type { PublicKey } from '../../core/signing/keys.ts'
import { openAuthentication, type Authenticate } from '../http/authenticate.ts'
import { sha256Hex } from '../../core/signing/sha256.ts'
import { readEndedSessions } from '../../core/tables/ended-sessions.ts'
import type { Sql } from '../../core/tables/sql.ts'
import { SERVICE_CLIENT, type Dispatcher } from '../dispatch/dispatcher.ts'

/** A session whose token holds, of a caller that is configured. */
export interface Session {
  readonly sessionId: string
  readonly caller: Caller
  /** Position in the configured list. */
  readonly index: number
  /** ISO 8601: when it is over, however much it is used. */
  readonly expiresAt: string
  readonly payload: SessionPayload
}

export interface Sessions {
  /** @returns undefined for a token that is none, or is over. Whether somebody ended it, `isEnded` says */
  readonly find: (token: string) => Session | undefined
  /** Somebody logged out, here or on another instance, at most a second ago. */
  readonly isEnded: (session: Session) => Promise<boolean>
  /** Ended here and now. */
  readonly noteEnded: (session: Session) => void
  /** Who a raw key makes somebody; undefined: nobody. */
  readonly callerOf: (rawKey: string) => ReturnType<Authenticate>
  readonly open: (caller: Caller) => Promise<{ readonly sessionId: string; readonly token: string }>
  /** @returns a newer token where this one is some minutes old */
  readonly renew: (session: Session) => Promise<string | undefined>
}

/** A second of CPU verifies some 15,000 tokens; a page that loads sends ten requests with one. */
const TOKENS_KEPT_MAX = 1_000
const RENEW_AFTER_MS = 5 * 60 * 1000
const ENDED_MAX_AGE_MS = 1_000

export function openSessions({
  callers,
  findKey,
  sql,
  submit,
  origin,
  nowMs = Date.now,
}: {
  readonly callers: readonly Caller[]
  readonly findKey: (keyId: string) => PublicKey | undefined
  readonly sql: Sql
  readonly submit: Dispatcher['submit']
  /** CONSOLE_ORIGIN. */
  readonly origin: () => string | undefined
  readonly nowMs?: () => number
}): Sessions {
  const known = callers.map((caller) => ({ caller, nameOfKey: sha256Hex(caller.keyHash) }))
  /** By token, oldest first. */
  const kept = new Map<string, NonNullable<ReturnType<typeof readSession>>>()
  let ended: ReadonlySet<string> = new Set()
  let endedAtMs = -Infinity
  let reading: Promise<void> | undefined

  function payloadOf(token: string): SessionPayload | undefined {
    const before = kept.get(token)
    // A key that is published no more verifies nothing.
    if (before !== undefined && findKey(before.key.keyId) === before.key && !isOver(before.payload, nowMs()))
      return before.payload
    kept.delete(token)
    const read = readSession(token, { isOurs, findKey, nowMs: nowMs() })
    if (read === undefined) return undefined
    if (kept.size >= TOKENS_KEPT_MAX) kept.delete(kept.keys().next().value!)
    kept.set(token, read)
    return read.payload
  }

  const isOurs = (claimed: Partial<SessionPayload>) => claimed.origin === origin() && indexOf(claimed) !== -1

  /** Of the caller and key that logged in, -1 where they are configured no more. */
  const indexOf = (claimed: Partial<SessionPayload>) =>
    known.findIndex(
      ({ caller, nameOfKey }) =>
        caller.callerId === claimed.callerId && nameOfKey === claimed.keyHash && mayLook(caller),
    )

  async function readEnded(): Promise<void> {
    ended = await readEndedSessions(sql)
    endedAtMs = performance.now()
  }

  async function sign(payload: SessionPayload): Promise<string> {
    const body = Buffer.from(JSON.stringify(payload))
    const reply = await submit({ operation: 'sign-session', client: SERVICE_CLIENT, callerIndex: -1, body })
    if (reply.status !== 200) throw new Error('the session cannot be signed')
    return (JSON.parse(Buffer.from(reply.body).toString()) as { token: string }).token
  }

  const authenticate = openAuthentication(callers)
  return {
    callerOf: (rawKey) => authenticate(`Bearer ${rawKey}`),
    find(token) {
      const payload = payloadOf(token)
      if (payload === undefined || payload.origin !== origin()) return undefined
      const index = indexOf(payload)
      const caller = callers[index]
      if (caller === undefined) return undefined
      const expiresAt = new Date(payload.startedMs + SESSION_MS).toISOString()
      return { sessionId: payload.sessionId, caller, index, expiresAt, payload }
    },
    async isEnded({ sessionId }) {
      if (performance.now() - endedAtMs > ENDED_MAX_AGE_MS)
        await (reading ??= readEnded().finally(() => (reading = undefined)))
      return ended.has(sessionId)
    },
    noteEnded({ sessionId }) {
      ended = new Set([...ended, sessionId])
    },
    async open({ callerId, keyHash }) {
      const [now, sessionId] = [nowMs(), randomUUID()]
      const token = await sign({
        version: 1,
        sessionId,
        callerId,
        keyHash: sha256Hex(keyHash),
        origin: origin() ?? '',
        startedMs: now,
        usedMs: now,
      })
      return { sessionId, token }
    },
    async renew({ payload }) {
      const now = nowMs()
      return now - payload.usedMs < RENEW_AFTER_MS ? undefined : sign({ ...payload, usedMs: now })
    },
  }
}

/** Whoever may read what everybody does: programs have no use for a page. */
export function mayLook({ credentialHolderType, readAll }: Caller): boolean {
  return credentialHolderType === 'USER' || readAll
}

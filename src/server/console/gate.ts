// Which requests are the console's, and which of them a session may make (docs/handbook/console.md "Sessions").
import type { Config } from '../../core/config/config.ts'
import { failures, type Failure } from '../../core/errors/errors.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { LiveCounts } from './live.ts'
import type { Session, Sessions } from './sessions.ts'

/** @param name in lower case */
interface WithHeader {
  readonly header: (name: string) => string | undefined
}

/** Without a configured origin, the embedded service has its console at localhost. */
export function hasLocalConsole({ consoleOrigin, databaseUrl, authDisabled }: Config): boolean {
  return consoleOrigin === undefined && databaseUrl === undefined && !authDisabled
}

export interface ConsoleGate {
  readonly sessions: Sessions
  readonly live: LiveCounts
  /** Executions in doubt; undefined: not known. */
  readonly inDoubt: () => Promise<number | undefined>
  /** CONSOLE_ORIGIN, or the default of the embedded service; undefined: there is no console. */
  readonly origin: () => string | undefined
  /** The origin of the pages that the console's host does not serve; undefined: only the operator knows it. */
  readonly pagesOrigin: () => string | undefined
  /** Whether a Host header is the console's. */
  readonly isHost: (host: string | undefined) => boolean
  /** The value of a Set-Cookie header. @param token undefined: the browser forgets the cookie */
  readonly cookie: (token: string | undefined) => string
  /** The session token of a Cookie header. */
  readonly tokenIn: (cookies: string | undefined) => string | undefined
}

/** Browsers accept a cookie with this prefix only from this very host and over TLS. Over http, on this machine, they differ about it. */
const nameOf = (secure: boolean) => `${secure ? '__Host-' : ''}countersign-console`

export function openConsoleGate(
  given: Pick<ConsoleGate, 'sessions' | 'origin' | 'pagesOrigin' | 'live' | 'inDoubt'>,
): ConsoleGate {
  let known: { readonly origin: string; readonly host: string; readonly secure: boolean } | undefined
  const current = () => {
    const now = given.origin()
    if (now !== known?.origin)
      known =
        now === undefined
          ? undefined
          : { origin: now, host: new URL(now).host, secure: now.startsWith('https:') }
    return known
  }
  return {
    ...given,
    isHost: (host) => host !== undefined && host === current()?.host,
    cookie(token) {
      const { secure = true } = current() ?? {}
      const ends = token === undefined ? '; Max-Age=0' : ''
      return `${nameOf(secure)}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}${ends}`
    },
    tokenIn(cookies) {
      const name = nameOf(current()?.secure ?? true)
      for (const pair of cookies?.split(';') ?? []) {
        const [key, ...value] = pair.trim().split('=')
        if (key === name && value.length > 0) return value.join('=')
      }
      return undefined
    },
  }
}

/** The header's value is the secret of the page, which the login answers under the same name. */
export const PAGE_HEADER = 'x-countersign-console'

/**
 * Checks that a request comes from our own page: browsers state the origin of a request, and no page can change it (Fetch Metadata).
 * @returns the refusal; undefined where the request may pass
 */
function crossSiteProblem(request: WithHeader): Failure | undefined {
  return request.header('sec-fetch-site') === 'same-origin'
    ? undefined
    : failures.consoleRefused('the request does not come from a page of the console (Sec-Fetch-Site)')
}

/** A client that was only sent the cookie does not know the secret. */
function pageProblem(request: WithHeader, { payload }: Session): Failure | undefined {
  const secret = request.header(PAGE_HEADER) ?? ''
  return sha256Hex(secret) === payload.pageHash
    ? undefined
    : failures.consoleRefused('the page is not the one that logged in (X-Countersign-Console): log in again')
}

/** A session identifies the viewer. Changing anything else needs a human's signature, or a key. */
export function sessionProblem(route: {
  readonly method: string
  readonly session?: true
}): Failure | undefined {
  if (route.method === 'GET' || route.session === true) return undefined
  return failures.consoleRefused(
    'a session may look, decline, withdraw and write notes, and deliver what a human has signed; this request needs a key',
  )
}

/** The session of a request of the console; undefined: it has no session cookie. */
type FoundSession = Session | Failure | undefined

export function sessionOf(gate: ConsoleGate, request: WithHeader): FoundSession {
  const token = gate.tokenIn(request.header('cookie'))
  if (token === undefined) return undefined
  if (request.header('authorization') !== undefined)
    return failures.invalidQuery('A request has either a session cookie or an Authorization header.')
  const problem = crossSiteProblem(request)
  if (problem !== undefined) return problem
  const session = gate.sessions.find(token)
  if (session === undefined) return failures.authenticationRequired()
  return pageProblem(request, session) ?? session
}

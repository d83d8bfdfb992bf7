// The credential of a request: a caller's key or token, or a session of the console.
import type { CallerKey } from '../../core/callers/caller-keys.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { failureOf } from '../../core/errors/failure-of.ts'
import { sessionOf, type ConsoleGate } from '../console/gate.ts'
import type { Session } from '../console/sessions.ts'
import type { Route } from '../route.ts'
import type { People } from '../service.ts'
import type { Tokens } from '../../core/callers/tokens.ts'
import type { Head } from './listen/listener.ts'

const BEARER = /^Bearer +([\x21-\x7e]+)$/i

export interface Credential {
  /** Undefined on an open route without a key, and with authentication disabled. */
  readonly authenticated: CallerKey | undefined
  readonly session: Session | undefined
}

/** A token that was not seen before: whose it is, is known when its signature has been verified. */
export class UnverifiedToken {
  readonly verify: () => Promise<Credential | Failure>

  constructor(verify: UnverifiedToken['verify']) {
    this.verify = verify
  }
}

export interface Credentials {
  /** 401 without a key that is in effect, on a route that needs one; 403 for a request that no page of the console made. */
  readonly identify: (
    request: Head,
    route: Route,
    onConsole: boolean,
  ) => Credential | UnverifiedToken | Failure
  /** 401 once the key was revoked or has expired, the token has expired, or the session has ended. */
  readonly ended: (credential: Credential) => Promise<Failure | undefined>
  /** A session lasts while it is used: now and then the header that replaces its cookie. */
  readonly renew: (session: Session) => Promise<Readonly<Record<string, string>>>
}

export function openCredentials({
  gate,
  callers,
  tokens,
  authDisabled,
}: {
  readonly gate: ConsoleGate
  readonly callers: People['callers']
  /** Undefined: no issuer is configured. */
  readonly tokens: Tokens | undefined
  readonly authDisabled: boolean
}): Credentials {
  /** @returns undefined for a header that holds no token; keys are written otherwise */
  function tokenOf(authorization: string | undefined): string | undefined {
    const credential = BEARER.exec(authorization ?? '')?.[1]
    return credential !== undefined && tokens?.isToken(credential) === true ? credential : undefined
  }

  function byToken(token: string, route: Route): Credential | UnverifiedToken {
    const known = tokens?.known(token)
    if (known !== undefined) return { authenticated: known, session: undefined }
    return new UnverifiedToken(async () => {
      const caller = await tokens?.verify(token)
      if (typeof caller === 'object') return { authenticated: caller, session: undefined }
      return route.open === undefined
        ? failures.authenticationRequired(caller)
        : { authenticated: undefined, session: undefined }
    })
  }

  return {
    identify(request, route, onConsole) {
      const session = onConsole && route.open !== true ? sessionOf(gate, request) : undefined
      if (session instanceof Failure) return session
      if (session !== undefined) return { authenticated: session, session }
      // A key is ignored then: every caller is anonymous (interface §5.6).
      if (authDisabled) return { authenticated: undefined, session }
      const authenticated = callers.authenticate(request.header('authorization'))
      if (authenticated !== undefined) return { authenticated, session }
      const token = tokens && tokenOf(request.header('authorization'))
      if (token !== undefined) return byToken(token, route)
      return route.open === undefined ? failures.authenticationRequired() : { authenticated, session }
    },
    async ended({ authenticated, session }) {
      const isOver =
        authenticated !== undefined &&
        (authenticated.token === undefined
          ? !callers.isInEffect(authenticated.index)
          : authenticated.token.untilMs <= Date.now())
      if (isOver) return failures.authenticationRequired()
      try {
        const isEnded = session !== undefined && (await gate.sessions.isEnded(session))
        return isEnded ? failures.authenticationRequired() : undefined
      } catch (error) {
        return failureOf(error)
      }
    },
    async renew(session) {
      const token = await gate.sessions.renew(session).catch(() => undefined)
      return token === undefined ? {} : { 'Set-Cookie': gate.cookie(token) }
    },
  }
}

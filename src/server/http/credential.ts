// The credential of a request: a caller's key, or a session of the console.
import type { CallerKey } from '../../core/callers/caller-keys.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { failureOf } from '../../core/errors/failure-of.ts'
import { sessionOf, type ConsoleGate } from '../console/gate.ts'
import type { Session } from '../console/sessions.ts'
import type { Route } from '../route.ts'
import type { People } from '../service.ts'
import type { Head } from './listen/listener.ts'

export interface Credential {
  /** Undefined on an open route without a key, and with authentication disabled. */
  readonly authenticated: CallerKey | undefined
  readonly session: Session | undefined
}

export interface Credentials {
  /** 401 without a key that is in effect, on a route that needs one; 403 for a request that no page of the console made. */
  readonly identify: (request: Head, route: Route, onConsole: boolean) => Credential | Failure
  /** 401 once the key was revoked or has expired, or the session has ended. */
  readonly ended: (credential: Credential) => Promise<Failure | undefined>
  /** A session lasts while it is used: now and then the header that replaces its cookie. */
  readonly renew: (session: Session) => Promise<Readonly<Record<string, string>>>
}

export function openCredentials({
  gate,
  callers,
  authDisabled,
}: {
  readonly gate: ConsoleGate
  readonly callers: People['callers']
  readonly authDisabled: boolean
}): Credentials {
  return {
    identify(request, route, onConsole) {
      const session = onConsole && route.open !== true ? sessionOf(gate, request) : undefined
      if (session instanceof Failure) return session
      if (session !== undefined) return { authenticated: session, session }
      // A key is ignored then: every caller is anonymous (interface §5.6).
      if (authDisabled) return { authenticated: undefined, session }
      const authenticated = callers.authenticate(request.header('authorization'))
      if (authenticated === undefined && route.open === undefined) return failures.authenticationRequired()
      return { authenticated, session }
    },
    async ended({ authenticated, session }) {
      if (authenticated !== undefined && !callers.isInEffect(authenticated.index))
        return failures.authenticationRequired()
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

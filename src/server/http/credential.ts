// The credential of a request: a caller's key or token, or a session of the console.
import type { CallerKey } from '../../core/callers/caller-keys.ts'
import { proofAlgorithms } from '../../core/callers/proof-algorithms.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { failureOf } from '../../core/errors/failure-of.ts'
import { sessionOf, type ConsoleGate } from '../console/gate.ts'
import type { Session } from '../console/sessions.ts'
import type { Route } from '../route.ts'
import type { People } from '../service.ts'
import type { Tokens, TokenUse } from '../../core/callers/tokens.ts'
import type { Head } from './listen/listener.ts'

const CREDENTIAL = /^(?<scheme>Bearer|DPoP) +(?<token>[\x21-\x7e]+)$/i
/** The challenge of RFC 9449 §7.1, §9. */
const proofChallenge = (error: 'invalid_dpop_proof' | 'use_dpop_nonce') => ({
  'WWW-Authenticate': `DPoP realm="countersign", error="${error}", algs="${proofAlgorithms.join(' ')}"`,
})

export interface Credential {
  /** Undefined on an open route without a key, and with authentication disabled. */
  readonly authenticated: CallerKey | undefined
  readonly session: Session | undefined
  /** Header fields of every reply to the request. */
  readonly headers?: Readonly<Record<string, string>>
}

type SentToken = Omit<TokenUse, 'client'>

/** A token that was not seen before: its caller is known once its signature is verified. */
export class UnverifiedToken {
  /** @param client the sender: checks of one client wait for each other */
  readonly verify: (client: string) => Promise<Credential | Failure>

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
  /** A session lasts while it is used: now and then this returns the header that replaces its cookie. */
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
  return {
    identify(request, route, onConsole) {
      const session = onConsole && route.open !== true ? sessionOf(gate, request) : undefined
      if (session instanceof Failure) return session
      if (session !== undefined) return { authenticated: session, session }
      // With authentication disabled a key is ignored: every caller is anonymous (interface §5.6).
      if (authDisabled) return { authenticated: undefined, session }
      const use = tokens && tokenOf(request, tokens)
      // Known tokens come first: such a token is hashed once, and compared with no key.
      const known = use && tokens?.known(use.token)
      const authenticated =
        known === undefined ? callers.authenticate(request.header('authorization')) : undefined
      if (authenticated !== undefined) return { authenticated, session }
      if (tokens !== undefined && use !== undefined) return byToken({ use, known }, route, tokens)
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

/** @returns undefined where no token is sent; keys have another form */
function tokenOf({ header, method, path }: Head, tokens: Tokens): SentToken | undefined {
  const { scheme = '', token = '' } = CREDENTIAL.exec(header('authorization') ?? '')?.groups ?? {}
  if (!tokens.isToken(token)) return undefined
  return { scheme, token, proof: header('dpop'), method, path }
}

/** A known bearer token is accepted without a wait. */
function byToken(
  { use, known }: { readonly use: SentToken; readonly known: CallerKey | undefined },
  route: Route,
  { verify, use: useToken }: Tokens,
): Credential | UnverifiedToken {
  const isBearer = use.scheme.toLowerCase() === 'bearer'
  if (known?.token?.authentication.method !== 'dpop' && known !== undefined && isBearer)
    return { authenticated: known, session: undefined }
  const refused = (cause: string, headers?: Readonly<Record<string, string>>) =>
    route.open === undefined
      ? failures.authenticationRequired(cause, headers)
      : { authenticated: undefined, session: undefined }
  return new UnverifiedToken(async (client) => {
    const caller = known ?? (await verify(use.token, client))
    if (typeof caller === 'string') return refused(caller)
    try {
      const { refused: notProven, nonce } = await useToken(caller, { ...use, client })
      const headers = nonce === undefined ? {} : { 'DPoP-Nonce': nonce }
      if (notProven === undefined) return { authenticated: caller, session: undefined, headers }
      const { why, lacksNonce } = notProven
      const error = lacksNonce === true ? 'use_dpop_nonce' : 'invalid_dpop_proof'
      return refused(why, { ...proofChallenge(error), ...headers })
    } catch (error) {
      return failureOf(error)
    }
  })
}

// Every check that needs only the head of a request.
import { randomUUID } from 'node:crypto'
import type { Config } from '../../core/config/config.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import type { PathParams } from '../../core/threads/thread-messages.ts'
import { sessionProblem } from '../console/gate.ts'
import { wantsTiming } from '../metrics/server-timing.ts'
import type { Spans } from '../metrics/spans.ts'
import type { Route } from '../route.ts'
import type { Service } from '../service.ts'
import { clientAddress } from './client-address.ts'
import { openCredentials, UnverifiedToken, type Credential, type Credentials } from './credential.ts'
import type { Exchange } from './exchange.ts'
import { addressClient, ANONYMOUS } from './gates/client.ts'
import type { Head } from './listen/listener.ts'
import { openMatching, type Matching } from './match.ts'
import { prefersHtml } from './negotiate.ts'

/** Accepts any UUID version, unlike the ids of interface §2: tracers send version 7. */
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The head of a request that has passed every check of the head. */
export interface CheckedHead extends Exchange {
  readonly route: Route
  readonly params: PathParams
  readonly query: URLSearchParams
  readonly header: Head['header']
  readonly credential: Credential
}

export interface RefusedHead extends Exchange {
  readonly refused: Failure
  /** The connection ends with the reply. */
  readonly endsConnection?: true
}

/** A head whose token has yet to be verified. Its client is its address until then. */
export interface UnverifiedHead extends Exchange {
  /** The route, by which the body is read. */
  readonly route: Route
  /** Whether its body is longer than its route takes. */
  readonly isTooLarge: boolean
  /** Verifies the token, and makes the checks that come after. */
  readonly verify: () => Promise<CheckedHead | RefusedHead>
}

/** The rows of the route table, by host. */
export interface RouteTables {
  /** The rows on every host but the console's. */
  readonly elsewhere: readonly Route[]
  readonly onConsole: readonly Route[]
}

/** The parts that heads are checked with. */
export interface HeadChecks {
  readonly service: Service
  readonly spans?: Spans | undefined
  readonly credentials: Credentials
  readonly match: Matching
  readonly matchOnConsole: Matching
}

export function openHeadChecks(
  { config, callers, tokens, console: gate }: Service,
  { elsewhere, onConsole }: RouteTables,
): Pick<HeadChecks, 'credentials' | 'match' | 'matchOnConsole'> {
  const isMounted = (route: Route, params: PathParams) => route.mounted?.(params, config) ?? true
  return {
    credentials: openCredentials({ gate, callers, tokens, authDisabled: config.authDisabled }),
    match: openMatching(elsewhere, isMounted),
    matchOnConsole: openMatching(onConsole, isMounted),
  }
}

/** Decisions §3, the first part: 404 or 405 → 401 → 400 or 403 from the head alone → 413. */
export function checkHead(head: Head, checks: HeadChecks): CheckedHead | RefusedHead | UnverifiedHead {
  const { service, credentials } = checks
  const onConsole = service.console.isHost(head.header('host'))
  const matched = (onConsole ? checks.matchOnConsole : checks.match)(head.method, head.path)
  if (matched.kind !== 'route') {
    const refused =
      matched.kind === 'no such path' ? failures.pathNotFound() : failures.methodNotAllowed(matched.allow)
    return { ...exchangeOf(head, {}, checks), refused }
  }
  const { route } = matched
  const credential = credentials.identify(head, route, onConsole)
  if (!(credential instanceof UnverifiedToken)) return checkAs(credential, head, matched, checks)
  const exchange = exchangeOf(head, { route }, checks)
  // The listener tells the address only while it hands over the head.
  const remoteAddress = head.remoteAddress()
  const later: Head = { ...head, remoteAddress: () => remoteAddress }
  return {
    ...exchange,
    route,
    isTooLarge: isTooLarge(head, route, service.config),
    async verify() {
      const checked = checkAs(await credential.verify(exchange.client), later, matched, checks)
      return { ...checked, requestId: exchange.requestId, startedMs: exchange.startedMs }
    },
  }
}

/** The checks of a head whose credential is known. */
function checkAs(
  credential: Credential | Failure,
  head: Head,
  { route, params: ofPath }: { readonly route: Route; readonly params: PathParams },
  checks: HeadChecks,
): CheckedHead | RefusedHead {
  const { config } = checks.service
  const callerId = credential instanceof Failure ? undefined : credential.authenticated?.caller.callerId
  const checked = exchangeOf(head, { route, callerId }, checks)
  if (credential instanceof Failure) return { ...checked, refused: credential }

  const params = route.fromHead?.(ofPath, head, config) ?? ofPath
  if (params instanceof Failure) return { ...checked, refused: params }
  const notForSessions = credential.session && sessionProblem(route)
  if (notForSessions !== undefined) return { ...checked, refused: notForSessions }
  if (isTooLarge(head, route, config))
    return { ...checked, refused: failures.payloadTooLarge(), endsConnection: true }
  return {
    ...checked,
    route,
    params,
    query: new URLSearchParams(head.query),
    header: head.header,
    credential,
  }
}

function isTooLarge({ bodyBytes }: Head, { body, bodyBytesMax }: Route, config: Config): boolean {
  return body !== undefined && bodyBytes > (bodyBytesMax ?? config.maxBodyBytes)
}

function exchangeOf(
  head: Head,
  { route, callerId }: Pick<Exchange, 'route' | 'callerId'>,
  { service, spans }: HeadChecks,
): Exchange {
  const { trustProxyHops, authDisabled } = service.config
  const address = clientAddress(head.remoteAddress(), head.header('x-forwarded-for'), trustProxyHops)
  const requestId = head.header('x-request-id')
  return {
    requestId: requestId !== undefined && REQUEST_ID.test(requestId) ? requestId : randomUUID(),
    method: head.method,
    path: head.path,
    ifNoneMatch: head.header('if-none-match'),
    startedMs: performance.now(),
    wantsTiming: wantsTiming(head.header('prefer')),
    traceParent: spans?.parentOf(head.header),
    route,
    page: route?.page && prefersHtml(head.header('accept')) ? route.page(service) : undefined,
    callerId,
    client: callerId ?? (authDisabled ? ANONYMOUS : addressClient(address)),
    address,
    clientAddress: callerId === undefined ? address : undefined,
  }
}

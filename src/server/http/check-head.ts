// Every check that needs the head of a request alone.
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
import { openCredentials, type Credential } from './credential.ts'
import type { Exchange } from './exchange.ts'
import { addressClient, ANONYMOUS } from './gates/client.ts'
import type { Head } from './listen/listener.ts'
import { openMatching } from './match.ts'
import { prefersHtml } from './negotiate.ts'

/** Accepts any UUID version, unlike the ids of interface §2: tracers send version 7. */
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The facts that the head of a request tells. */
interface Checked {
  readonly exchange: Exchange
  /** The name by which queues, shares and budgets are divided. */
  readonly client: string
  readonly address: string
}

/** The head of a request that has passed every check that needs nothing else. */
export interface CheckedHead extends Checked {
  readonly route: Route
  readonly params: PathParams
  readonly query: URLSearchParams
  readonly header: Head['header']
  readonly credential: Credential
}

export interface RefusedHead extends Checked {
  readonly refused: Failure
  /** The connection ends with the reply. */
  readonly endsConnection?: true
}

/** The parts by which heads are checked. */
export interface HeadChecks {
  readonly service: Service
  readonly credentials: ReturnType<typeof openCredentials>
  readonly match: ReturnType<typeof openMatching>
  readonly matchOnConsole: ReturnType<typeof openMatching>
  readonly spans: Spans | undefined
}

/** The rows that are served. */
export interface RouteTables {
  /** On every host but the console's. */
  readonly elsewhere: readonly Route[]
  readonly onConsole: readonly Route[]
}

export function openHeadChecks(
  service: Service,
  { elsewhere, onConsole }: RouteTables,
  spans: Spans | undefined,
): HeadChecks {
  const { config, callers, console: gate } = service
  const isMounted = (route: Route, params: PathParams) => route.mounted?.(params, config) ?? true
  return {
    service,
    credentials: openCredentials({ gate, callers, authDisabled: config.authDisabled }),
    match: openMatching(elsewhere, isMounted),
    matchOnConsole: openMatching(onConsole, isMounted),
    spans,
  }
}

/** Decisions §3, the first part: 404 or 405 → 401 → 400 or 403 by what the head alone says → 413. */
export function checkHead(head: Head, checks: HeadChecks): CheckedHead | RefusedHead {
  const { service, credentials } = checks
  const { config } = service
  const address = clientAddress(head.remoteAddress(), head.header('x-forwarded-for'), config.trustProxyHops)
  const came = checkedOf(openExchange(head, address, checks.spans), address, config)
  const onConsole = service.console.isHost(head.header('host'))
  const matched = (onConsole ? checks.matchOnConsole : checks.match)(head.method, head.path)
  if (matched.kind === 'no such path') return { ...came, refused: failures.pathNotFound() }
  if (matched.kind === 'wrong method') return { ...came, refused: failures.methodNotAllowed(matched.allow) }

  const { route } = matched
  const credential = credentials.identify(head, route, onConsole)
  const caller = credential instanceof Failure ? undefined : credential.authenticated?.caller
  const page = route.page && prefersHtml(head.header('accept')) ? route.page(service) : undefined
  const whose = caller === undefined ? {} : { callerId: caller.callerId, clientAddress: undefined }
  const known = checkedOf({ ...came.exchange, route, page, ...whose }, address, config)
  if (credential instanceof Failure) return { ...known, refused: credential }

  const params = route.fromHead?.(matched.params, head, config) ?? matched.params
  if (params instanceof Failure) return { ...known, refused: params }
  const notForSessions = credential.session && sessionProblem(route)
  if (notForSessions !== undefined) return { ...known, refused: notForSessions }
  if (route.body !== undefined && head.bodyBytes > (route.bodyBytesMax ?? config.maxBodyBytes))
    return { ...known, refused: failures.payloadTooLarge(), endsConnection: true }
  return { ...known, route, params, query: new URLSearchParams(head.query), header: head.header, credential }
}

function checkedOf(exchange: Exchange, address: string, { authDisabled }: Config): Checked {
  const { callerId } = exchange
  return { exchange, address, client: callerId ?? (authDisabled ? ANONYMOUS : addressClient(address)) }
}

function openExchange(head: Head, address: string, spans: Spans | undefined): Exchange {
  const given = head.header('x-request-id')
  return {
    requestId: given !== undefined && REQUEST_ID.test(given) ? given : randomUUID(),
    method: head.method,
    path: head.path,
    ifNoneMatch: head.header('if-none-match'),
    startedMs: performance.now(),
    wantsTiming: wantsTiming(head.header('prefer')),
    traceParent: spans?.parentOf(head.header),
    clientAddress: address,
  }
}

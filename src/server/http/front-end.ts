// The HTTP front end: one function from a request's head to its reply.
import { randomUUID } from 'node:crypto'
import type { CallerKey } from '../../core/caller-keys.ts'
import { onlyReads, readsEverything, type Caller } from '../../core/callers.ts'
import type { Config } from '../../core/config.ts'
import { Failure, failures } from '../../core/errors.ts'
import { sessionOf, sessionProblem } from '../console/gate.ts'
import { consoleRoutes } from '../console/routes.ts'
import type { Session } from '../console/sessions.ts'
import { prefersHtml } from '../pages/html.ts'
import { wantsTiming } from '../metrics/server-timing.ts'
import type { Spans } from '../metrics/spans.ts'
import { failureOf } from '../../core/failure-of.ts'
import { routes } from '../routes/index.ts'
import type { Answer, RouteRequest, Route, Service } from '../routes/route.ts'
import { NOBODY, type PathParams } from '../../core/thread-messages.ts'
import type { Audit } from './audit.ts'
import { clientAddress } from './client-address.ts'
import { addressClient, type Compute } from './compute.ts'
import { limitHeaders, type Limit, type Limits, type LimitVerdict } from './limit.ts'
import type { Exchange } from './exchange.ts'
import type { HttpRequest, OnRequest, Reply } from './listen/listener.ts'
import { openMatching } from './match.ts'
import type { Admission } from './admission.ts'
import { respond, type Observers } from './respond.ts'
import { openSending } from './sending.ts'

const NO_BODY: Received = { body: new Uint8Array(0), leave: () => undefined }
/** `Prefer: wait=20` (RFC 7240). */
const WAITS = /(^|[,;\s])wait\s*=/i
/** The client of every request where authentication is disabled. */
const ANONYMOUS = 'anonymous'
/** Accepts any UUID version, unlike the ids of interface §2: tracers send version 7. */
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface FrontEndParts extends Observers {
  readonly service: Service
  readonly limits: Limits
  readonly compute: Compute
  readonly admission: Admission
  readonly audit: Audit
}

/** The credential of a request: a caller's key, or a session of the console. */
interface Credential {
  /** Undefined on an open route without a key, and with authentication disabled. */
  readonly authenticated: CallerKey | undefined
  readonly session: Session | undefined
}

/** A body that has arrived; `leave` gives its place back. */
interface Received {
  readonly body: Uint8Array
  readonly leave: () => void
}

/**
 * @returns the handler of every request. It resolves to undefined where the client went away before its body came, and never rejects.
 */
export function openFrontEnd(parts: FrontEndParts): OnRequest {
  const { service, limits, compute, admission, audit, ...observers } = parts
  const { config, callers } = service
  const isMounted = (route: Route, params: PathParams) => route.mounted?.(params, config) ?? true
  const match = openMatching(routes, isMounted)
  const matchOnConsole = openMatching(consoleRoutes, isMounted)
  const gate = service.console
  const send = openSending({ compute, admission, stopping: service.stopping, log: observers.log })
  const limitOf = configuredLimits(config)

  /** The contract's order (decisions §3): 404/405 → 401 → 413 → 429 → 403 for those who are not human → 503 → the route's handler. */
  async function handle(request: HttpRequest): Promise<Reply | undefined> {
    const exchange = openExchange(request, observers.spans)
    const onConsole = gate.isHost(request.header('host'))
    const matched = (onConsole ? matchOnConsole : match)(request.method, request.path)
    if (matched.kind === 'no such path') return reply(failures.pathNotFound(), exchange)
    if (matched.kind === 'wrong method') return reply(failures.methodNotAllowed(matched.allow), exchange)
    const { route } = matched
    exchange.route = route
    if (route.page !== undefined && prefersHtml(request.header('accept'))) exchange.page = route.page(service)

    const address = clientAddress(
      request.remoteAddress(),
      request.header('x-forwarded-for'),
      config.trustProxyHops,
    )
    const credential = identify(request, route, onConsole)
    if (credential instanceof Failure) {
      exchange.clientAddress = address
      return reply(credential, exchange)
    }
    const { authenticated, session } = credential
    exchange.callerId = authenticated?.caller.callerId
    if (authenticated === undefined) exchange.clientAddress = address

    const { headers } = request
    const params =
      route.fromHead?.(matched.params, (name) => request.header(name), { headers, config }) ?? matched.params
    if (params instanceof Failure) return reply(params, exchange)
    const notForSessions = session && sessionProblem(route)
    if (notForSessions !== undefined) return reply(notForSessions, exchange)
    const takesBody = route.body !== undefined
    if (takesBody && request.bodyBytes > (route.bodyBytesMax ?? config.maxBodyBytes)) {
      request.endConnection()
      return reply(failures.payloadTooLarge(), exchange)
    }

    const client = clientNameOf(exchange, config)
    // No await above this line: readBody() must be called before the first. The body arrives while the limit is checked.
    const receiving = takesBody ? receive(request, client, admission) : undefined
    const refused =
      (await overLimit(route, exchange, address)) ??
      overBudget(route, exchange, client, compute) ??
      notForCaller(route, authenticated?.caller) ??
      (session && (await notInEffect(credential)))
    if (refused !== undefined) {
      if (receiving !== undefined) void giveBack(receiving)
      return reply(refused, exchange)
    }

    const received = receiving === undefined ? NO_BODY : await receiving
    if (received === undefined) return undefined
    if (received instanceof Failure) return reply(received, exchange)
    try {
      const outcome = await answered(
        route,
        {
          params,
          query: new URLSearchParams(request.query),
          caller: authenticated?.caller,
          callerIndex: authenticated?.index ?? NOBODY,
          client,
          body: received.body,
          session,
        },
        service,
      )
      const over = mayLapse(route, session) ? await notInEffect(credential) : undefined
      if (over !== undefined) return await reply(over, exchange)
      // A request that waits is a page that only watches: an open page must not keep its session alive.
      if (session !== undefined && !WAITS.test(request.header('prefer') ?? '')) await renew(session, exchange)
      exchange.bySession = session !== undefined
      if (takesBody) return await reply(outcome, exchange)
      const isOver = async () => (await notInEffect(credential)) !== undefined
      return await reply(send(outcome, exchange, { client, isOver }), exchange)
    } finally {
      received.leave()
    }
  }

  /** With authentication disabled a key is ignored: every caller is anonymous (interface §5.6). */
  function identify(request: HttpRequest, route: Route, onConsole: boolean): Credential | Failure {
    const session = onConsole && route.open !== true ? sessionOf(gate, request, request.method) : undefined
    if (session instanceof Failure) return session
    if (session !== undefined) return { authenticated: session, session }
    if (config.authDisabled) return { authenticated: undefined, session }
    const authenticated = callers.authenticate(request.header('authorization'))
    if (authenticated === undefined && route.open === undefined) return failures.authenticationRequired()
    return { authenticated, session }
  }

  async function overLimit(route: Route, exchange: Exchange, address: string): Promise<Failure | undefined> {
    if (route.limit === undefined) return undefined
    const key = route.limit === 'execute' ? exchange.callerId : address
    // Without authentication there is no caller to count by: the execute limiter is not mounted (interface §8).
    if (key === undefined) return undefined
    const limit = limitOf[route.limit]
    const verdict = await limits.take(limit, key, performance.now())
    exchange.replyHeaders = limitHeaders(limit, verdict)
    return verdict.allowed ? undefined : refusedBy(limit, verdict, exchange)
  }

  /** Whether the key is not in effect any more, or somebody has logged out of the session. */
  async function notInEffect({ authenticated, session }: Credential): Promise<Failure | undefined> {
    if (authenticated !== undefined && !callers.isInEffect(authenticated.index))
      return failures.authenticationRequired()
    try {
      const isEnded = session !== undefined && (await gate.sessions.isEnded(session))
      return isEnded ? failures.authenticationRequired() : undefined
    } catch (error) {
      return failureOf(error)
    }
  }

  /** A session lasts while it is used: its cookie is replaced now and then. */
  async function renew(session: Session, exchange: Exchange): Promise<void> {
    const token = await gate.sessions.renew(session).catch(() => undefined)
    if (token !== undefined)
      exchange.replyHeaders = { ...exchange.replyHeaders, 'Set-Cookie': gate.cookie(token) }
  }

  /** What the audit must know is stored before the caller is answered. */
  async function reply(outcome: Answer | Failure, exchange: Exchange): Promise<Reply> {
    if (outcome.audit !== undefined) {
      const stored = audit.record(outcome.audit, exchange)
      observers.watch?.audited(outcome.audit.type, stored !== undefined)
      await stored
    }
    return respond(outcome, exchange, observers)
  }

  return handle
}

/** Undefined: the client went away first. A body takes its place when all of it is there. */
async function receive(
  request: HttpRequest,
  client: string,
  admission: Admission,
): Promise<Received | Failure | undefined> {
  const announced = admission.announce(request.bodyBytes, client)
  if (announced === undefined) return failures.overloaded()
  const body = await request.readBody()
  if (body === undefined) {
    announced.aborted()
    return undefined
  }
  const leave = announced.arrived()
  return leave === undefined ? failures.overloaded() : { body, leave }
}

/** For a request that was refused while its body was still read. */
async function giveBack(receiving: Promise<Received | Failure | undefined>): Promise<void> {
  const received = await receiving
  if (received !== undefined && !(received instanceof Failure)) received.leave()
}

/** What the row says of its callers; without authentication nobody is a human or an auditor. */
function notForCaller({ human, readers, appends }: Route, caller: Caller | undefined): Failure | undefined {
  const isMissing =
    (human && caller?.credentialHolderType !== 'USER') ||
    (readers && (caller === undefined || !readsEverything(caller)))
  if (isMissing) return failures.nonHumanCaller()
  return appends && caller !== undefined && onlyReads(caller) ? failures.readOnlyCaller() : undefined
}

/**
 * Whether its reply must not go to a key that was revoked, or a session that ended, while it was held back or read for long. A key that posted is
 * answered: its caller must know what was done.
 */
function mayLapse(route: Route, session: Session | undefined): boolean {
  if (session !== undefined) return route.path !== '/console/logout'
  return route.method === 'GET' && route.open === undefined
}

/** Checked after the limits that count requests: a budget is in memory. */
function overBudget(
  { cost }: Route,
  exchange: Exchange,
  client: string,
  compute: Compute,
): Failure | undefined {
  if (cost === undefined) return undefined
  const { budget, verdict } = compute.look(cost, client)
  exchange.replyHeaders = limitHeaders(budget, verdict, exchange.replyHeaders)
  return verdict.allowed ? undefined : refusedBy(budget, verdict, exchange)
}

/** The one catch of the main thread: whatever a handler throws is answered, logged and goes no further. */
async function answered(route: Route, incoming: RouteRequest, service: Service): Promise<Answer | Failure> {
  try {
    return await route.handle(incoming, service)
  } catch (error) {
    return failureOf(error)
  }
}

function refusedBy({ name }: Limit, { retryAfterSeconds }: LimitVerdict, exchange: Exchange): Failure {
  exchange.refusedBy = name
  return failures.rateLimited(retryAfterSeconds)
}

/** The name by which queues, shares and budgets are divided. */
function clientNameOf({ callerId, clientAddress: address }: Exchange, { authDisabled }: Config): string {
  if (callerId !== undefined) return callerId
  return authDisabled || address === undefined ? ANONYMOUS : addressClient(address)
}

function openExchange(head: HttpRequest, spans: Spans | undefined): Exchange {
  const given = head.header('x-request-id')
  return {
    requestId: given !== undefined && REQUEST_ID.test(given) ? given : randomUUID(),
    method: head.method,
    path: head.path,
    ifNoneMatch: head.header('if-none-match'),
    page: undefined,
    startedMs: performance.now(),
    route: undefined,
    callerId: undefined,
    bySession: false,
    clientAddress: undefined,
    replyHeaders: {},
    refusedBy: undefined,
    wantsTiming: wantsTiming(head.header('prefer')),
    traceParent: spans?.parentOf((name) => head.header(name)),
  }
}

/** POST /execute and POST /transactions share one budget, GET /health and GET /ready another (decisions §1). */
function configuredLimits({ rateLimits }: Config): Record<NonNullable<Route['limit']>, Limit> {
  return {
    execute: { name: 'execute', perMinute: rateLimits.executePerMinute },
    health: { name: 'health', perMinute: rateLimits.healthPerMinute },
    public: { name: 'public', perMinute: rateLimits.publicPerMinute },
  }
}

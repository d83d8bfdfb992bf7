// The HTTP front end: one function from a request's head to its reply.
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { onlyReads, readsEverything, type Caller } from '../../core/callers.ts'
import type { Config } from '../../core/config.ts'
import { Failure, failures } from '../../core/errors.ts'
import { sessionProblem } from '../console/gate.ts'
import { consoleElsewhere, consoleRoutes } from '../console/routes.ts'
import { wantsTiming } from '../metrics/server-timing.ts'
import type { Spans } from '../metrics/spans.ts'
import { failureOf } from '../../core/failure-of.ts'
import { routes } from '../routes/index.ts'
import type { Answer, Route, Service } from '../routes/route.ts'
import { NOBODY, type PathParams } from '../../core/thread-messages.ts'
import type { Audit } from './audit.ts'
import { clientAddress } from './client-address.ts'
import { addressClient, isAddress, type Compute } from './compute.ts'
import { openCredentials, type Credential } from './credential.ts'
import { limitHeaders, type Limit, type Limits, type LimitVerdict } from './limit.ts'
import type { Exchange } from './exchange.ts'
import type { HttpRequest, OnRequest, Reply } from './listen/listener.ts'
import { openMatching } from './match.ts'
import { prefersHtml } from './negotiate.ts'
import type { Admission } from './admission.ts'
import { queryProblem } from './query.ts'
import { openReads, openTurns, TooManyReads } from './reads.ts'
import { giveBack, NO_BODY, openReceive, refuseBody } from './receive.ts'
import { respond, type Observers } from './respond.ts'
import { openReplyAdmission } from './reply-admission.ts'

/** The reads of one client: one of the four connections is always left to the others. */
const CLIENT_READS_MAX = 3
/** A request takes 0.1 to 0.2 ms; 48 of them at once would hold up each of the three steps of an execution by 7. */
const ADDRESS_REQUESTS_PER_TURN = 4

/** `Prefer: wait=20` (RFC 7240). */
const WAITS = /(^|[,;\s])wait\s*=/i
/** The client of every request where authentication is disabled. */
const ANONYMOUS = 'anonymous'
/** Accepts any UUID version, unlike the ids of interface §2: tracers send version 7. */
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The budget that a request is charged to, with what is left of it. */
type Funds = ReturnType<Compute['look']>

interface FrontEndParts extends Observers {
  readonly service: Service
  readonly limits: Limits
  readonly compute: Compute
  readonly admission: Admission
  readonly audit: Audit
}

/** The head of a request that has passed every check that needs nothing else. */
interface CheckedHead {
  readonly route: Route
  readonly params: PathParams
  readonly query: URLSearchParams
  readonly header: HttpRequest['header']
  readonly credential: Credential
  readonly address: string
  /** The name by which queues, shares and budgets are divided. */
  readonly client: string
}

/**
 * @returns the handler of every request. It resolves to undefined where the client went away before its body came, and never rejects.
 */
export function openFrontEnd(parts: FrontEndParts): OnRequest {
  const { service, limits, compute, admission, audit, ...observers } = parts
  const { config, callers } = service
  const isMounted = (route: Route, params: PathParams) => route.mounted?.(params, config) ?? true
  const match = openMatching([...routes, ...consoleElsewhere], isMounted)
  const matchOnConsole = openMatching(consoleRoutes, isMounted)
  const gate = service.console
  const credentials = openCredentials({ gate, callers, authDisabled: config.authDisabled })
  const receive = openReceive(admission)
  const admitReply = openReplyAdmission({
    compute,
    admission,
    stopping: service.stopping,
    log: observers.log,
  })
  const limitOf = configuredLimits(config)
  const readsOf = openReads(service.pool, CLIENT_READS_MAX)
  const turns = openTurns(ADDRESS_REQUESTS_PER_TURN)

  /**
   * Decisions §3: 404 or 405 → 401 → 400 or 403 by what the head alone says → 413 → 429 → 403 by who the caller is → 401 for a session
   * that was ended → 503 → the route's handler → 401 for a key or session that ended meanwhile.
   */
  async function handle(request: HttpRequest): Promise<Reply | undefined> {
    const exchange = openExchange(request, observers.spans)
    const head = checkHead(request, exchange)
    if (head instanceof Failure) {
      refuseBody(request, clientNameOf(exchange, config), compute)
      await inTurn(exchange)
      return reply(head, exchange)
    }
    const { route, credential } = head
    const funds = route.cost && compute.look(route.cost, head.client)

    // No await above this line: readBody() must be called before the first. The body arrives while the limit is checked; who has nothing left
    // to pay for it is not read.
    const isRead = route.body !== undefined && funds?.verdict.allowed !== false
    const receiving = isRead ? receive(request, head.client) : undefined
    if (!isRead) refuseBody(request, head.client, compute)
    await inTurn(exchange)
    const refused = await refusalOf(head, funds, exchange)
    if (refused !== undefined) {
      if (receiving !== undefined) {
        // Executions have no budget: their limit counts what a caller sends.
        if (route.cost !== undefined) compute.chargeBody(route.cost, head.client, request.bodyBytes)
        void giveBack(receiving)
      }
      return reply(refused, exchange)
    }

    const received = receiving === undefined ? NO_BODY : await receiving
    if (received === undefined) return undefined
    if (received instanceof Failure) return reply(received, exchange)
    try {
      const outcome = await handled(
        head,
        received.body,
        route.method === 'GET' ? { ...service, pool: readsOf(head.client) } : service,
      )
      const ended = mustStillBeAuthenticated(head) ? await credentials.ended(credential) : undefined
      if (ended !== undefined) return await reply(ended, exchange)
      const { session } = credential
      // A request that waits is a page that only watches: an open page must not keep its session alive.
      if (session !== undefined && !WAITS.test(request.header('prefer') ?? ''))
        exchange.replyHeaders = { ...exchange.replyHeaders, ...(await credentials.renew(session)) }
      exchange.bySession = session !== undefined
      const isOver = async () => (await credentials.ended(credential)) !== undefined
      const hasPlace = receiving !== undefined
      return await reply(admitReply(outcome, exchange, { client: head.client, hasPlace, isOver }), exchange)
    } finally {
      received.leave()
    }
  }

  /** Nobody waits behind all that an address without a key asks for at once: a few of its requests go on in each turn of the event loop. */
  async function inTurn(exchange: Exchange): Promise<void> {
    const client = clientNameOf(exchange, config)
    if (isAddress(client)) await turns(client, () => nextTurn())
  }

  /** Every check that needs the head alone; what it learns of the request on the way stands in `exchange`. */
  function checkHead(request: HttpRequest, exchange: Exchange): CheckedHead | Failure {
    const address = clientAddress(
      request.remoteAddress(),
      request.header('x-forwarded-for'),
      config.trustProxyHops,
    )
    exchange.clientAddress = address
    const onConsole = gate.isHost(request.header('host'))
    const matched = (onConsole ? matchOnConsole : match)(request.method, request.path)
    if (matched.kind === 'no such path') return failures.pathNotFound()
    if (matched.kind === 'wrong method') return failures.methodNotAllowed(matched.allow)
    const { route } = matched
    exchange.route = route
    if (route.page !== undefined && prefersHtml(request.header('accept'))) exchange.page = route.page(service)

    const credential = credentials.identify(request, route, onConsole)
    const caller = credential instanceof Failure ? undefined : credential.authenticated?.caller
    if (caller !== undefined) {
      exchange.callerId = caller.callerId
      exchange.clientAddress = undefined
    }
    if (credential instanceof Failure) return credential

    const params = route.fromHead?.(matched.params, request, config) ?? matched.params
    if (params instanceof Failure) return params
    const notForSessions = credential.session && sessionProblem(route)
    if (notForSessions !== undefined) return notForSessions
    if (route.body !== undefined && request.bodyBytes > (route.bodyBytesMax ?? config.maxBodyBytes)) {
      request.endConnection()
      return failures.payloadTooLarge()
    }
    const query = new URLSearchParams(request.query)
    const client = clientNameOf(exchange, config)
    return { route, params, query, header: request.header, credential, address, client }
  }

  /** 429 → 403 → 401: the checks that take time, or count the request. */
  async function refusalOf(
    { route, credential, address }: CheckedHead,
    funds: Funds | undefined,
    exchange: Exchange,
  ): Promise<Failure | undefined> {
    return (
      (await overLimit(route, exchange, address)) ??
      overBudget(funds, exchange) ??
      notForCaller(route, credential.authenticated?.caller) ??
      (credential.session && (await credentials.ended(credential)))
    )
  }

  async function overLimit(route: Route, exchange: Exchange, address: string): Promise<Failure | undefined> {
    if (route.limit === undefined) return undefined
    const key = route.limit === 'execute' ? exchange.callerId : address
    // Without authentication there is no caller to count by: the execute limiter is not mounted (interface §8).
    if (key === undefined) return undefined
    const limit = limitOf[route.limit]
    const verdict = await limits.take(limit, key, performance.now())
    exchange.replyHeaders = limitHeaders(limit, verdict)
    return verdict.allowed ? undefined : rateLimited(limit, verdict, exchange)
  }

  /** The audit stores its event before the caller is answered. */
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

/** Checks the row's demands on its callers; without authentication nobody is a human or an auditor. */
function notForCaller({ human, readers, appends }: Route, caller: Caller | undefined): Failure | undefined {
  const isMissing =
    (human && caller?.credentialHolderType !== 'USER') ||
    (readers && (caller === undefined || !readsEverything(caller)))
  if (isMissing) return failures.nonHumanCaller()
  return appends && caller !== undefined && onlyReads(caller) ? failures.readOnlyCaller() : undefined
}

/**
 * Whether the credential is checked again before the reply: what a GET shows must not go to a key that was revoked, or a session that ended,
 * while it waited. A key that posted is answered: its caller must know what was done.
 */
function mustStillBeAuthenticated({ route, credential }: CheckedHead): boolean {
  if (credential.session !== undefined) return route.path !== '/console/logout'
  return route.method === 'GET' && route.open === undefined
}

/** Answered after the limits that count requests, and reported beside them. */
function overBudget(funds: Funds | undefined, exchange: Exchange): Failure | undefined {
  if (funds === undefined) return undefined
  const { budget, verdict } = funds
  exchange.replyHeaders = limitHeaders(budget, verdict, exchange.replyHeaders)
  return verdict.allowed ? undefined : rateLimited(budget, verdict, exchange)
}

/** The one catch of the main thread: whatever a handler throws is answered, logged and goes no further. */
async function handled(
  { route, params, query, header, credential, client }: CheckedHead,
  body: Uint8Array,
  service: Service,
): Promise<Answer | Failure> {
  const { authenticated, session } = credential
  const problem = queryProblem(route, query)
  if (problem !== undefined) return failures.invalidQuery(problem)
  try {
    return await route.handle(
      {
        params,
        query,
        header,
        caller: authenticated?.caller,
        callerIndex: authenticated?.index ?? NOBODY,
        client,
        body,
        session,
      },
      service,
    )
  } catch (error) {
    return error instanceof TooManyReads ? failures.overloaded('reads') : failureOf(error)
  }
}

function rateLimited({ name }: Limit, { retryAfterSeconds }: LimitVerdict, exchange: Exchange): Failure {
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
    traceParent: spans?.parentOf(head.header),
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

// The door: from a request's head to the handler of its route, in the order of decisions §3:
// 404/405 → 401 → 413 → 429 → 503 when its client has too much under way; only then is a body read, and takes a place when it is complete.
import { randomUUID } from 'node:crypto'
import type { Config } from '../../core/config.ts'
import { Failure, failures } from '../../core/errors.ts'
import { prefersHtml } from '../pages/html.ts'
import { wantsTiming } from '../metrics/server-timing.ts'
import type { Spans } from '../metrics/spans.ts'
import { failureOf } from '../../core/tables/sql.ts'
import { routes } from '../routes/index.ts'
import type { Answer, Incoming, Route, Service } from '../routes/route.ts'
import type { Audit } from './audit.ts'
import type { Authenticate, AuthenticatedCaller } from './authenticate.ts'
import { clientAddress } from './client-address.ts'
import { addressClient, type Compute } from './compute.ts'
import { limitHeaders, type Limit, type Limits, type Verdict } from './limit.ts'
import type { Exchange } from './exchange.ts'
import type { Head, OnHead, Reply } from './listen/listener.ts'
import { openMatching } from './match.ts'
import type { Room } from './room.ts'
import { respond, type Told } from './respond.ts'

const NO_BODY = new Uint8Array(0)
/** Smaller ones are left to the sockets' own buffers. */
const LARGE_REPLY_BYTES = 64 * 1024
/** The client of every request where authentication is disabled. */
const ANONYMOUS = 'anonymous'
/** Of any version, unlike the ids of interface §2: tracers hand out version 7. */
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export interface DoorWith extends Told {
  readonly service: Service
  readonly authenticate: Authenticate
  readonly limits: Limits
  readonly compute: Compute
  readonly room: Room
  readonly audit: Audit
}

type Replying = (outcome: Answer | Failure) => Reply | Promise<Reply>

export function openDoor({ service, authenticate, limits, compute, room, audit, ...told }: DoorWith): OnHead {
  const match = openMatching(routes, (route, params) => route.mounted?.(params, service.config) ?? true)
  const limitOf = configuredLimits(service.config)

  return (head) => {
    const exchange = openExchange(head, told.spans)
    const reply: Replying = (outcome) => {
      // What the audit must know is answered when it does.
      const stored = outcome.audit && audit.record(outcome.audit, exchange)
      if (outcome.audit !== undefined) told.watch?.audited(outcome.audit.type, stored !== undefined)
      const replied = () => respond(outcome, exchange, told)
      return stored === undefined ? replied() : stored.then(replied)
    }
    const matched = match(head.method, head.path)
    if (matched.kind === 'no such path') return reply(failures.pathNotFound())
    if (matched.kind === 'wrong method') return reply(failures.methodNotAllowed(matched.allow))
    const { route } = matched
    exchange.route = route
    if (route.page !== undefined) exchange.prefersHtml = prefersHtml(head.header('accept'))

    // Disabled, a key that would have been known makes nobody of its bearer either (interface §5.6).
    const authenticated = service.config.authDisabled ? undefined : authenticate(head.header('authorization'))
    exchange.callerId = authenticated?.caller.callerId
    // Now, while the head is there.
    if (authenticated === undefined) exchange.clientAddress = clientOf(head)
    const client = clientNameOf(exchange, service.config)
    if (authenticated === undefined && route.open === undefined && !service.config.authDisabled) {
      return reply(failures.authenticationRequired())
    }
    const params = route.fromHead?.(matched.params, (name) => head.header(name)) ?? matched.params
    if (params instanceof Failure) return reply(params)
    if (route.takesBody && head.bodyBytes > (route.bodyBytesMax ?? service.config.maxBodyBytes))
      return reply(failures.payloadTooLarge())

    const limited = checkLimit(route, head, authenticated, exchange)
    if (limited instanceof Failure) return reply(limited)
    const overBudget = checkBudget(route, client, exchange)
    if (overBudget !== undefined) return reply(overBudget)
    // What comes behind the limit waits where the verdict does. A body is read meanwhile, and looked at afterwards.
    const withinLimit = (proceed: () => Reply | Promise<Reply>) =>
      limited === undefined ? proceed() : limited.then((failure) => (failure ? reply(failure) : proceed()))

    if (route.human && authenticated?.caller.credentialHolderType !== 'USER')
      return withinLimit(() => reply(failures.nonHumanCaller()))

    const incoming: Incoming = {
      params,
      query: new URLSearchParams(head.query),
      caller: authenticated?.caller,
      callerIndex: authenticated?.index ?? -1,
      client,
      body: NO_BODY,
    }
    if (!route.takesBody) return withinLimit(() => answer(route, incoming, reply))
    const announced = room.announce(head.bodyBytes, client)
    if (announced === undefined) return withinLimit(() => reply(failures.overloaded()))
    return {
      aborted: announced.aborted,
      take(body) {
        const leave = announced.arrived()
        if (leave === undefined) return withinLimit(() => reply(failures.overloaded()))
        const outcome = withinLimit(() => answer(route, { ...incoming, body }, reply))
        if (outcome instanceof Promise) return outcome.finally(leave)
        leave()
        return outcome
      },
    }
  }

  /** The one catch of the main thread: whatever a handler throws is answered, logged and goes no further. */
  function answer(route: Route, incoming: Incoming, reply: Replying): Reply | Promise<Reply> {
    const thrown = (error: unknown) => reply(failureOf(error))
    const handled = (outcome: Answer | Failure) =>
      route.takesBody || outcome instanceof Failure ? reply(outcome) : read(route, outcome, incoming, reply)
    try {
      const outcome = route.handle(incoming, service)
      return outcome instanceof Promise ? outcome.then(handled, thrown) : handled(outcome)
    } catch (error) {
      return thrown(error)
    }
  }

  /** A large reply takes room until it has been sent: a client that does not read it must not fill the memory. */
  function read(
    { cost }: Route,
    outcome: Answer,
    { client }: Incoming,
    reply: Replying,
  ): Reply | Promise<Reply> {
    const bodyBytes = Buffer.byteLength(outcome.body)
    if (cost !== undefined) compute.chargePage(cost, client, bodyBytes)
    if (bodyBytes < LARGE_REPLY_BYTES) return reply(outcome)
    const sent = room.take(bodyBytes, client)
    return reply(sent === undefined ? failures.overloaded() : { ...outcome, sent })
  }

  function checkLimit(
    route: Route,
    head: Head,
    authenticated: AuthenticatedCaller | undefined,
    exchange: Exchange,
  ): Failure | undefined | Promise<Failure | undefined> {
    if (route.limit === undefined) return undefined
    const key = route.limit === 'execute' ? authenticated?.caller.callerId : clientOf(head)
    // Without authentication there is no caller to count by: the execute limiter is not mounted (interface §8).
    if (key === undefined) return undefined
    const limit = limitOf[route.limit]
    const judge = (verdict: Verdict): Failure | undefined => {
      exchange.limitHeaders = limitHeaders(limit, verdict)
      return verdict.allowed ? undefined : refusedBy(limit, verdict, exchange)
    }
    const verdict = limits.take(limit, key, performance.now())
    return verdict instanceof Promise ? verdict.then(judge) : judge(verdict)
  }

  /** The limits that count requests come first: a budget is asked of memory, and never late. */
  function checkBudget({ cost }: Route, client: string, exchange: Exchange): Failure | undefined {
    if (cost === undefined) return undefined
    const { budget, verdict } = compute.look(cost, client)
    exchange.limitHeaders = limitHeaders(budget, verdict, exchange.limitHeaders)
    return verdict.allowed ? undefined : refusedBy(budget, verdict, exchange)
  }

  function clientOf(head: Head): string {
    return clientAddress(head.remoteAddress(), head.header('x-forwarded-for'), service.config.trustProxyHops)
  }
}

function refusedBy({ name }: Limit, { retryAfterSeconds }: Verdict, exchange: Exchange): Failure {
  exchange.refusedBy = name
  return failures.rateLimited(retryAfterSeconds)
}

/** By whom queues, shares and budgets are divided. */
function clientNameOf({ callerId, clientAddress: address }: Exchange, { authDisabled }: Config): string {
  if (callerId !== undefined) return callerId
  return authDisabled || address === undefined ? ANONYMOUS : addressClient(address)
}

function openExchange(head: Head, spans: Spans | undefined): Exchange {
  const given = head.header('x-request-id')
  return {
    requestId: given !== undefined && REQUEST_ID.test(given) ? given : randomUUID(),
    method: head.method,
    path: head.path,
    ifNoneMatch: head.header('if-none-match'),
    prefersHtml: false,
    startedMs: performance.now(),
    route: undefined,
    callerId: undefined,
    clientAddress: undefined,
    limitHeaders: {},
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

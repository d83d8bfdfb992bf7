// The HTTP front end: from a request's head to its reply.
import { onlyReads, readsEverything, type Caller } from '../../formats/people/caller.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { failureOf } from '../../core/errors/failure-of.ts'
import { NOBODY } from '../../core/threads/thread-messages.ts'
import type { Route } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Service } from '../service.ts'
import type { Audit } from './audit.ts'
import { arrival, unwantedBody, wantedBody, type BodyPlan } from './body.ts'
import {
  checkHead,
  openHeadChecks,
  type CheckedHead,
  type HeadChecks,
  type RouteTables,
  type UnverifiedHead,
} from './check-head.ts'
import type { Exchange } from './exchange.ts'
import type { Funds } from './gates/compute.ts'
import type { Gates } from './gates/open.ts'
import { TooManyReads } from './gates/reads.ts'
import type { Reception, Head, OnRequest, Reply } from './listen/listener.ts'
import { queryProblem } from './query.ts'
import { admitReply } from './reply-admission.ts'
import { respond, type Observers } from './respond.ts'

/** `Prefer: wait=20` (RFC 7240). */
const WAITS = /(^|[,;\s])wait\s*=/i

interface FrontEndParts extends Observers {
  readonly service: Service
  readonly routes: RouteTables
  readonly gates: Gates
  readonly audit: Audit
}

interface FrontEnd extends FrontEndParts, HeadChecks {}

/** Header fields that every reply to a request has, whatever its outcome. */
type Fields = Readonly<Record<string, string>>

/** A request whose head is checked, and whose body may be on its way. */
interface Arriving {
  readonly head: CheckedHead
  /** The request's budget, as it was when the request came; undefined: its route has none. */
  readonly funds: Funds | undefined
  readonly plan: BodyPlan
  readonly bodyBytes: number
}

/** @returns the handler of every request */
export function openFrontEnd(parts: FrontEndParts): OnRequest {
  const front = { ...parts, ...openHeadChecks(parts.service, parts.routes) }
  return (request) => receive(request, front)
}

/**
 * Decisions §3: the checks of the head alone (`checkHead`) → 429 → 403 by the caller → 401 for a session that was ended → 503 → the
 * route's handler → 401 for a key or session that ended meanwhile.
 */
function receive(request: Head, front: FrontEnd): Reception {
  const { gates } = front
  const { bodyBytes } = request
  const head = checkHead(request, front)
  if ('verify' in head) return receiveUnverified(request, head, front)
  const { client } = head
  if ('refused' in head) {
    const { refused, endsConnection } = head
    const { body } = unwantedBody(bodyBytes, client, gates)
    return { body, endsConnection, reply: () => replyInTurn(refused, head, front) }
  }
  const { cost, body: taken } = head.route
  const funds = cost && gates.compute.look(cost, client)
  // The body arrives while the limit is checked; the body of a client with no budget left is not read.
  const isPaidFor = funds === undefined || funds.verdict.allowed
  const plan = (taken !== undefined && isPaidFor ? wantedBody : unwantedBody)(bodyBytes, client, gates)
  return {
    body: plan.body,
    turn: plan.turn,
    reply: (reading) => answer({ head, funds, plan, bodyBytes }, reading, front),
  }
}

/** Until its token is verified, a request is counted for its address: an invented token uses up nothing of any caller. */
function receiveUnverified(
  { bodyBytes }: Head,
  { route, client, isTooLarge, verify }: UnverifiedHead,
  front: FrontEnd,
): Reception {
  const { gates } = front
  const isWanted = route.body !== undefined && !isTooLarge
  const plan = (isWanted ? wantedBody : unwantedBody)(bodyBytes, client, gates)
  return {
    body: plan.body,
    turn: plan.turn,
    endsConnection: isTooLarge ? true : undefined,
    async reply(reading) {
      await gates.pace.request(client)
      const head = await verify()
      if ('refused' in head) {
        plan.place?.[Symbol.dispose]()
        return await reply(head.refused, head, front)
      }
      const { cost } = head.route
      const funds = cost && gates.compute.look(cost, head.client)
      return await answer({ head, funds, plan, bodyBytes }, reading, front)
    },
  }
}

async function replyInTurn(refused: Failure, exchange: Exchange, front: FrontEnd): Promise<Reply> {
  await front.gates.pace.request(exchange.client)
  return reply(refused, exchange, front)
}

/** @returns undefined where the client went away before its body came; never rejects */
async function answer(
  { head, funds, plan, bodyBytes }: Arriving,
  reading: Promise<Uint8Array | undefined>,
  front: FrontEnd,
): Promise<Reply | undefined> {
  const { route, callerId, client, address } = head
  const { gates } = front
  using place = plan.place
  const arriving = arrival(reading, plan)
  await gates.pace.request(client)
  const passed = await gates.pass({ limit: route.limit, callerId, address, funds })
  const fields = { ...head.credential.headers, ...(passed instanceof Failure ? {} : passed) }
  const refused = passed instanceof Failure ? passed : await whyNotServed(head, front)
  if (refused !== undefined) {
    // The body of an execution is not charged: its length has a bound of its own, and its refusal is counted.
    if (plan.body === 'read' && route.cost !== undefined)
      gates.compute.chargeBody(route.cost, client, bodyBytes)
    return await reply(refused, head, front, fields)
  }
  const body = await arriving
  if (body === undefined) return undefined
  if (body instanceof Failure) return await reply(body, head, front, fields)
  return await perform(head, body, { fields, hasPlace: place !== undefined, front })
}

/** 403 → 401: the checks of the caller that come after the limits. */
async function whyNotServed(
  { route, credential }: CheckedHead,
  { credentials }: FrontEnd,
): Promise<Failure | undefined> {
  return (
    notForCaller(route, credential.authenticated?.caller) ??
    (credential.session && (await credentials.ended(credential)))
  )
}

/** Runs the route's handler, and admits its reply. */
async function perform(
  head: CheckedHead,
  body: Uint8Array,
  {
    fields,
    hasPlace,
    front,
  }: { readonly fields: Fields; readonly hasPlace: boolean; readonly front: FrontEnd },
): Promise<Reply> {
  const { route, credential, client } = head
  const { service, gates, credentials } = front
  const outcome = await handled(
    head,
    body,
    route.method === 'GET' ? { ...service, pool: gates.reads(client) } : service,
  )
  const ended = mustStillBeAuthenticated(head) ? await credentials.ended(credential) : undefined
  if (ended !== undefined) return reply(ended, head, front, fields)
  const cookie = await renewedCookie(head, front)
  const isOver = async () => (await credentials.ended(credential)) !== undefined
  const admitted = admitReply(outcome, head, { hasPlace, isOver }, front)
  const isOfSession = credential.session !== undefined && !(admitted instanceof Failure)
  return reply(isOfSession ? askedAgain(admitted) : admitted, head, front, { ...fields, ...cookie })
}

/** A session lasts while it is used. A waiting request comes from a page that only watches, so it does not keep the session alive. */
async function renewedCookie(
  { credential: { session }, header }: CheckedHead,
  { credentials }: FrontEnd,
): Promise<Fields> {
  return session === undefined || WAITS.test(header('prefer') ?? '') ? {} : await credentials.renew(session)
}

/** A browser must fetch each page of a session again: its next user may read less. */
function askedAgain(shown: Answer): Answer {
  const cache = shown.headers?.['Cache-Control']
  if (cache === undefined || cache.includes('no-store')) return shown
  return { ...shown, headers: { ...shown.headers, 'Cache-Control': 'private, no-cache' } }
}

/** The catch of all handlers: an error of a handler is answered, logged and goes no further. */
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
        token: authenticated?.token,
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

/** The audit stores an event of its own before the caller is answered, or the reply has waited as long as `Audit.record` allows. */
async function reply(
  outcome: Answer | Failure,
  exchange: Exchange,
  front: FrontEnd,
  fields: Fields = {},
): Promise<Reply> {
  if (outcome.audit !== undefined) {
    const stored = front.audit.record(outcome.audit, exchange)
    front.watch?.audited(outcome.audit.type, stored !== undefined)
    await stored
  }
  return respond(outcome, exchange, fields, front)
}

/** Checks the row's demands on its callers; without authentication no caller is a human or an auditor. */
function notForCaller({ human, readers, appends }: Route, caller: Caller | undefined): Failure | undefined {
  const isMissing =
    (human && caller?.credentialHolderType !== 'USER') ||
    (readers && (caller === undefined || !readsEverything(caller)))
  if (isMissing) return failures.nonHumanCaller()
  return appends && caller !== undefined && onlyReads(caller) ? failures.readOnlyCaller() : undefined
}

/**
 * Whether the credential is checked again before the reply: the reply of a GET must not go to a key that was revoked, or a session that ended,
 * while it waited. A POST by key is answered in any case: its caller must know the outcome.
 */
function mustStillBeAuthenticated({ route, credential }: CheckedHead): boolean {
  if (credential.session !== undefined) return route.path !== '/console/logout'
  return route.method === 'GET' && route.open === undefined
}

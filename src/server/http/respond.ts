// The one place where an outcome becomes a reply and a log line (interface §7, decisions §11).
import { Failure } from '../../core/errors.ts'
import type { LiveCounts } from '../console/live.ts'
import { etagOf } from './etag.ts'
import type { ReplyWatch } from '../metrics/replies.ts'
import { timingHeaders } from '../metrics/server-timing.ts'
import type { Spans } from '../metrics/spans.ts'
import type { Answer, Route } from '../routes/route.ts'
import type { Exchange } from './exchange.ts'
import type { Reply } from './listen/listener.ts'

type LogRequest = (line: Record<string, unknown>, failed: boolean) => void

/** The observers of a reply: the log always, metrics and spans where they are configured. */
export interface Observers {
  readonly log: LogRequest
  readonly watch?: ReplyWatch | undefined
  readonly spans?: Spans | undefined
  readonly live?: LiveCounts | undefined
}

export function respond(
  outcome: Answer | Failure,
  exchange: Exchange,
  { log, watch, spans, live }: Observers,
): Reply {
  const ms = performance.now() - exchange.startedMs
  const times = outcome instanceof Failure ? undefined : outcome.times
  const { status, cause, ...json } =
    outcome instanceof Failure ? failureReply(outcome, exchange) : answerReply(outcome, exchange)
  const { headers, body } = represented(json, exchange)
  log(
    {
      requestId: exchange.requestId,
      method: exchange.method,
      path: exchange.path,
      status,
      ms: Math.round(ms * 100) / 100,
      ...(exchange.callerId === undefined ? {} : { caller: exchange.callerId }),
      ...(outcome instanceof Failure ? outcome.log() : outcome.log),
      ...(cause === undefined ? {} : { cause }),
    },
    status >= 500 &&
      (cause !== undefined || (!(outcome instanceof Failure) && outcome.log?.['cause'] !== undefined)),
  )
  watch?.replied({
    method: exchange.method,
    path: exchange.path,
    route: exchange.route,
    outcome,
    status,
    // What is not refused when it comes can have used up its budget by the time it would be sent to a thread.
    limit: exchange.refusedBy ?? exchange.route?.cost,
    ms,
  })
  if (exchange.route?.limit === 'execute') live?.replied(status, ms, outcome.refusalKind !== undefined)
  spans?.record(exchange, { status, ms, times })
  return {
    status,
    headers: {
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': exchange.requestId,
      ...(needsKey(exchange.route) ? NOT_KEPT : {}),
      ...exchange.replyHeaders,
      ...(exchange.wantsTiming ? timingHeaders(times, { startedMs: exchange.startedMs, ms }) : {}),
      ...headers,
      ...(exchange.bySession ? askedAgain(headers) : {}),
    },
    body,
    ...(outcome instanceof Failure || outcome.sent === undefined ? {} : { sent: outcome.sent }),
    ...(outcome instanceof Failure || outcome.texts === undefined ? {} : { texts: outcome.texts }),
  }
}

/** No cache keeps what needs a key, refusals included; immutable evidence says itself how it is kept (`Answer.cache`). */
const NOT_KEPT = { 'Cache-Control': 'private, no-store' }

/** A browser shows nothing of a session without asking anew: whoever uses it next may read less. */
function askedAgain(headers: Answer['headers']): Record<string, string> {
  const cache = headers?.['Cache-Control']
  return cache === undefined || cache.includes('no-store') ? {} : { 'Cache-Control': 'private, no-cache' }
}

/** The same on every path of the service that is not open, whatever the outcome. */
function needsKey(route: Route | undefined): boolean {
  return route !== undefined && route.open !== true
}

interface Representation {
  readonly headers: Answer['headers'] | undefined
  readonly body: Answer['body']
}

/** The page of a route that has one, with the headers of the reply whose body it stands in for. */
function represented(json: Representation, { route, page }: Exchange): Representation {
  if (route?.page === undefined) return json
  const headers = { ...json.headers, Vary: 'Accept' }
  if (page === undefined) return { headers, body: json.body }
  return { headers: { ...headers, ...page.headers }, body: page.body }
}

function failureReply(failure: Failure, { route }: Exchange) {
  const cause =
    failure.cause instanceof Error ? (failure.cause.stack ?? failure.cause.message) : failure.cause
  const body =
    route?.failureBody === undefined || failure.status === 401 ? failure.body() : route.failureBody(failure)
  return { status: failure.status, headers: failure.headers, body, cause }
}

function answerReply(answer: Answer, { ifNoneMatch }: Exchange) {
  const { status, body, cache } = answer
  if (cache === undefined) return { status, headers: answer.headers, body, cause: undefined }
  const { etag = etagOf(body) } = answer
  const headers = { ...answer.headers, ETag: etag, 'Cache-Control': cache }
  return matches(ifNoneMatch, etag)
    ? { status: 304, headers, body: '', cause: undefined }
    : { status, headers, body, cause: undefined }
}

/** RFC 9110 §13.1.2: weak comparison, any of a list, or `*`. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

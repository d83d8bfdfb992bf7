// The one place where an outcome becomes a reply and a log line (interface §7, decisions §11).
import { answerOf, Failure } from '../../core/errors.ts'
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
  const answer = outcome instanceof Failure ? failed(outcome, exchange.route) : outcome
  const { times, texts, sent } = answer
  const { status, ...json } = cached(answer, exchange)
  const { headers, body } = represented(json, exchange)
  log(
    {
      requestId: exchange.requestId,
      method: exchange.method,
      path: exchange.path,
      status,
      ms: Math.round(ms * 100) / 100,
      ...(exchange.callerId === undefined ? {} : { caller: exchange.callerId }),
      ...answer.log,
    },
    status >= 500 && answer.log?.['cause'] !== undefined,
  )
  watch?.replied({
    method: exchange.method,
    path: exchange.path,
    route: exchange.route,
    answer,
    status,
    // What is not refused when it comes can have used up its budget by the time it would be sent to a thread.
    limit: exchange.refusedBy ?? exchange.route?.cost,
    ms,
  })
  if (exchange.route?.limit === 'execute') live?.replied(status, ms, answer.refusalKind !== undefined)
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
    sent,
    texts,
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

function failed(failure: Failure, route: Route | undefined): Answer {
  const answer = answerOf(failure)
  if (route?.failureBody === undefined || failure.status === 401) return answer
  return { ...answer, body: route.failureBody(failure) }
}

/** With the ETag of what may be cached: 304 where the client has it. */
function cached(answer: Answer, { ifNoneMatch }: Exchange): Representation & { readonly status: number } {
  const { status, body, cache } = answer
  if (cache === undefined) return { status, headers: answer.headers, body }
  const { etag = etagOf(body) } = answer
  const headers = { ...answer.headers, ETag: etag, 'Cache-Control': cache }
  return matches(ifNoneMatch, etag) ? { status: 304, headers, body: '' } : { status, headers, body }
}

/** RFC 9110 §13.1.2: weak comparison, any of a list, or `*`. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

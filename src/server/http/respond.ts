// The one place where an outcome becomes a reply and a log line (interface §7, decisions §11).
import { answerOf, Failure } from '../../core/errors/errors.ts'
import type { LiveCounts } from '../console/live.ts'
import type { ReplyWatch } from '../metrics/replies.ts'
import { timingHeaders } from '../metrics/server-timing.ts'
import type { Spans } from '../metrics/spans.ts'
import type { Route } from '../route.ts'
import type { Answer } from '../answer.ts'
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

/** @param fields header fields of every reply to this request, whatever its outcome, such as those of a limit or a newer cookie */
export function respond(
  outcome: Answer | Failure,
  exchange: Exchange,
  fields: Readonly<Record<string, string>>,
  { log, watch, spans, live }: Observers,
): Reply {
  const ms = performance.now() - exchange.startedMs
  const answer = outcome instanceof Failure ? failed(outcome, exchange.route) : outcome
  const { status, times, texts, sent } = answer
  const { headers, body } = represented(answer, exchange)
  log(
    {
      requestId: exchange.requestId,
      method: exchange.method,
      path: exchange.path,
      status,
      ms: Math.round(ms * 100) / 100,
      ...(exchange.callerId === undefined ? {} : { caller: exchange.callerId }),
      ...(answer.gate === undefined ? {} : { gate: answer.gate }),
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
      ...fields,
      ...(exchange.wantsTiming ? timingHeaders(times, { startedMs: exchange.startedMs, ms }) : {}),
      ...headers,
    },
    body,
    sent,
    texts,
  }
}

/** No cache keeps a reply that needs a key, refusals included; immutable evidence states its own caching (`Answer.cache`). */
const NOT_KEPT = { 'Cache-Control': 'private, no-store' }

/** The same for every reply on a path that is not open, whatever the outcome. */
function needsKey(route: Route | undefined): boolean {
  return route !== undefined && route.open !== true
}

type Representation = Pick<Answer, 'headers' | 'body'>

/** The page of a route that has one, in place of the JSON, with the headers of the JSON reply. */
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

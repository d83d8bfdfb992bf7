// OpenTelemetry spans through the API alone: they are made only where the operator has installed an SDK (`NODE_OPTIONS=--import …`).
// A span is made when the reply is known, from times that are measured anyway, so that a request under way carries nothing.
import {
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Tracer,
} from '@opentelemetry/api'
import type { Route } from '../route.ts'
import { knownMethod } from './replies.ts'
import { stagesOf, type RequestTimes } from './times.ts'

/** The caller's trace, which the span continues; read while the head is available. */
type TraceParent = Context

/** The request that a span describes. */
interface Traced {
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly startedMs: number
  readonly traceParent: Context | undefined
  readonly route?: Route | undefined
  readonly callerId?: string | undefined
}

export interface Spans {
  readonly parentOf: (header: (name: string) => string | undefined) => TraceParent
  readonly record: (exchange: Traced, replied: RepliedSpan) => void
}

interface RepliedSpan {
  readonly status: number
  readonly ms: number
  readonly times: RequestTimes | undefined
}

/**
 * Looks for an OpenTelemetry SDK once, at start.
 * @param version the version of this build
 * @returns undefined where no SDK is installed
 */
export function openSpans(version: string): Spans | undefined {
  const tracer = trace.getTracer('countersign', version)
  // A span that no SDK has made has no identity.
  if (!isSpanContextValid(tracer.startSpan('start', {}, ROOT_CONTEXT).spanContext())) return undefined
  return {
    parentOf: (header) =>
      propagation.extract(ROOT_CONTEXT, header, { get: (read, name) => read(name), keys: () => [] }),
    record: (exchange, replied) => record(tracer, exchange, replied),
  }
}

function record(tracer: Tracer, exchange: Traced, { status, ms, times }: RepliedSpan): void {
  const { path, route, startedMs, requestId, callerId, traceParent = ROOT_CONTEXT } = exchange
  const method = knownMethod(exchange.method)
  const startedAt = performance.timeOrigin + startedMs
  const span = tracer.startSpan(
    // Named by the route: a name for each path would be a name for each id.
    route === undefined ? method : `${method} ${route.path}`,
    {
      kind: SpanKind.SERVER,
      startTime: startedAt,
      attributes: {
        'http.request.method': method,
        'url.path': path,
        'url.scheme': 'http',
        ...(route === undefined ? {} : { 'http.route': route.path }),
        'http.response.status_code': status,
        ...(status >= 500 ? { 'error.type': String(status) } : {}),
        'countersign.request_id': requestId,
        ...(callerId === undefined ? {} : { 'countersign.caller_id': callerId }),
      },
    },
    traceParent,
  )
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  if (times !== undefined && span.isRecording()) {
    const within = trace.setSpan(traceParent, span)
    const child = (name: string, startTime: number, took: number) =>
      tracer.startSpan(name, { startTime }, within).end(startTime + took)
    child('queue', startedAt, times.sentMs - startedMs)
    for (const { name, startedAt: from, ms: took } of stagesOf(times)) child(name, from, took)
  }
  span.end(startedAt + ms)
}

// Loaded before the service, as an operator loads an SDK (`--import`): OpenTelemetry's own, which writes each span as a line of a file.
import { appendFileSync } from 'node:fs'
import { NodeTracerProvider, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-node'

const file = process.env['SPANS_FILE'] ?? ''

/** A test looks at these members. */
export interface WrittenSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: number
  /** Milliseconds since the epoch. */
  readonly startMs: number
  readonly endMs: number
}

new NodeTracerProvider({
  spanProcessors: [
    new SimpleSpanProcessor({
      export(spans, done) {
        appendFileSync(file, spans.map((span) => `${JSON.stringify(written(span))}\n`).join(''))
        done({ code: 0 })
      },
      shutdown: () => Promise.resolve(),
    }),
  ],
}).register()

function written(span: ReadableSpan): WrittenSpan {
  const { name, kind, attributes, parentSpanContext, startTime, endTime } = span
  const { traceId, spanId } = span.spanContext()
  return {
    name,
    kind,
    traceId,
    spanId,
    parentSpanId: parentSpanContext?.spanId ?? null,
    attributes,
    status: span.status.code,
    startMs: milliseconds(startTime),
    endMs: milliseconds(endTime),
  }
}

function milliseconds([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1e3 + nanoseconds / 1e6
}

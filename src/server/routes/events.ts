// The feed of events: what happened, gapless and in the order of the evidence log (docs/handbook/callers.md "Following events").
import { Type } from 'typebox'
import { readableOwner } from '../../formats/people/caller.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import { Event, type FeedEvent } from '../../core/events/event.ts'
import { ocsfEvent } from '../../core/events/ocsf.ts'
import { FROM_NOW, readEvents, type FeedPage } from '../../core/events/read.ts'
import { eventTypes, isEventType, type EventType } from '../../formats/schemas/event-types.ts'
import trustRecord from '../openapi/examples/trust-record.json' with { type: 'json' }
import { WAIT_SECONDS_MAX } from './list.ts'
import { NDJSON, NDJSON_UTF8, wantsLines } from './lines.ts'
import { readChoice } from './paging.ts'
import { waitMsOf } from './preferences.ts'
import { get, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Reading, Waits } from '../service.ts'

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000

const OcsfEvent = Type.Object(
  { class_uid: Type.Integer(), type_uid: Type.Integer(), time: Type.Integer() },
  { additionalProperties: true, description: 'An event of OCSF 1.9, class API Activity.' },
)

const EventPage = Type.Object({
  events: Type.Array(Type.Union([Event, OcsfEvent]), { description: 'Oldest first.' }),
  next: Type.String({ description: 'The cursor after these events: `after` of the next request.' }),
})

const [receipt] = trustRecord.receipts
const example: FeedEvent = {
  eventId: 'b1a5c2de-7f3e-5c0b-9d84-0f6a1e2b3c4d',
  type: 'execution.completed',
  occurredAt: receipt!.issuedAt,
  businessTransactionId: trustRecord.businessTransactionId,
  callerId: 'local-dev',
  trustRecordHash: trustRecord.trustRecordHash,
  receiptId: receipt!.receiptId,
  receiptHash: receipt!.receiptHash,
  entry: { log: 1, index: 42 },
}

export const events = [
  {
    ...get,
    path: '/events',
    operationId: 'listEvents',
    tag: 'Events',
    summary: 'Events',
    description: `A caller sees its own events; humans and auditors see all events. Events come in the order of the evidence log, without gaps: continue with \`after\` set to the \`next\` of the previous reply. With \`Prefer: wait=N\` an empty page waits for an event, ${WAIT_SECONDS_MAX} seconds at most. With \`Accept: ${NDJSON}\` each event is a line, and the cursor is in the \`Link\`.`,
    query: {
      after: {
        schema: Type.String(),
        description: `The \`next\` of another page, or \`${FROM_NOW}\`. Default: from the first event.`,
      },
      types: {
        schema: Type.String(),
        description: `Only these types, with commas between them: ${eventTypes.join(', ')}.`,
      },
      limit: {
        schema: Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT }),
        description: 'Events of a page, at most. A page with fewer is not the last one.',
      },
      format: { schema: Type.Enum(['ocsf']), description: 'OCSF 1.9, for a SIEM.' },
    },
    answers: {
      200: {
        description: 'One page of events, possibly empty.',
        schema: EventPage,
        example: { events: [example], next: 'A1b2wwAAAAEAAAAAACs' },
        alternatives: { [NDJSON]: { schema: Type.String(), example: `${JSON.stringify(example)}\n` } },
        headers: ['Link', 'Vary'],
      },
    },
    failures: ['noEvents', 'overloaded'],
    readsDatabase: true,
    handle: listEvents,
  },
] as const satisfies readonly Route[]

async function listEvents(request: RouteRequest, service: Reading & Waits): Promise<Answer | Failure> {
  const { query, caller, client } = request
  const { pool, config, eventWatch } = service
  if (config.evidenceLog === undefined) return failures.noEvents()
  const limit = readLimit(query)
  if (limit instanceof Failure) return limit
  const types = readTypes(query)
  if (types instanceof Failure) return types
  const format = readChoice(query, 'format', ['ocsf'])
  if (format instanceof Failure) return format
  const scope = { callerId: readableOwner(caller), types }
  const untilMs = performance.now() + waitMsOf(request, WAIT_SECONDS_MAX)
  let after = query.get('after') ?? undefined
  for (;;) {
    const page = await eventWatch.read(client, () => readEvents(pool, { after, limit, scope }))
    if (page instanceof Failure) return page
    const ms = untilMs - performance.now()
    const waits = page.events.length === 0 && page.atEnd && ms > 0
    if (!waits || !(await eventWatch.wait(page.place, { scope, client, ms })))
      return answered(page, request, service)
    after = page.next
  }
}

function answered(
  { events: found, next, origin }: FeedPage,
  request: RouteRequest,
  { config }: Reading,
): Answer {
  const { query } = request
  const logName = origin.slice(0, origin.lastIndexOf('/log/'))
  const shown =
    query.get('format') === 'ocsf'
      ? found.map((event) => ocsfEvent(event, { version: config.buildVersion, logName }))
      : found
  const continued = new URLSearchParams(query)
  continued.set('after', next)
  const headers = { Link: `</events?${continued}>; rel="next"`, Vary: 'Accept' }
  if (wantsLines(request)) {
    const lines = shown.map((event) => `${JSON.stringify(event)}\n`)
    return { status: 200, headers: { ...headers, 'Content-Type': NDJSON_UTF8 }, body: lines.join('') }
  }
  return { status: 200, headers, body: JSON.stringify({ events: shown, next }) }
}

function readLimit(query: URLSearchParams): number | Failure {
  const text = query.get('limit') ?? String(LIMIT_DEFAULT)
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= LIMIT_MAX
    ? limit
    : failures.invalidQuery(`limit must be a whole number from 1 to ${LIMIT_MAX}.`)
}

function readTypes(query: URLSearchParams): readonly EventType[] | Failure {
  const names = query.get('types')?.split(',') ?? [...eventTypes]
  return names.every(isEventType)
    ? names
    : failures.invalidQuery(`types must be of ${eventTypes.join(', ')}, with commas between them.`)
}

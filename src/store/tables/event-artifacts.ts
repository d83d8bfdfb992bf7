// Reads the details of artifacts that the feed shows with its events. Each kind is read by its ids with one statement; on Citus every shard that has
// one of them answers it.
import type { ArtifactKind, EventDetails, Told } from '../../formats/artifacts/kind.ts'
import { loggedKinds } from '../../formats/artifacts/kinds.ts'
import type { EventType } from '../../formats/schemas/event-types.ts'
import { storedJson } from '../postgres/json.ts'
import { columnOf } from '../postgres/rows.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

interface Followed {
  readonly type: EventType
  /** The id of its artifact. */
  readonly id: string
}

/** @returns in the order of the events; undefined for an event whose artifact is missing */
export async function readArtifactDetails(
  sql: Sql,
  events: readonly Followed[],
): Promise<(EventDetails | undefined)[]> {
  const found = new Map<Read, ReadonlyMap<string, Row>>()
  const ofKinds = Map.groupBy(events, ({ type }) => readOf(type))
  await Promise.all(
    Array.from(ofKinds, async ([read, some]) => {
      const { rows } = await sql.query<Row>({
        name: `event_artifacts_${read.name}`,
        text: read.text,
        values: [some.map(({ id }) => id)],
      })
      found.set(read, new Map(rows.map((row) => [row.id, row])))
    }),
  )
  const details = events.map(({ type, id }) => {
    const read = readOf(type)
    const row = found.get(read)?.get(id)
    if (row === undefined) return undefined
    const { callerId, body } = row
    return withoutUndefined(read.details(JSON.parse(body) as Told, { id, callerId: callerId ?? undefined }))
  })
  return withCallers(sql, details)
}

/** A member that is undefined has no canonical form: an event with one could not be signed, and would hold up its endpoint for good. */
function withoutUndefined(details: EventDetails): EventDetails {
  const members = Object.entries(details).filter(([, value]) => value !== undefined)
  return Object.fromEntries(members) as unknown as EventDetails
}

function idWithoutCaller(one: EventDetails | undefined): string | undefined {
  return one?.['callerId'] === undefined ? one?.['businessTransactionId'] : undefined
}

/** In a statement of its own: their tables are not distributed, and Citus cannot join such a table with a distributed one. */
async function withCallers(
  sql: Sql,
  details: readonly (EventDetails | undefined)[],
): Promise<(EventDetails | undefined)[]> {
  const ids = details.flatMap((one) => idWithoutCaller(one) ?? [])
  if (ids.length === 0) return [...details]
  const { rows } = await sql.query<{ id: string; callerId: string }>({
    name: 'event_artifacts_callers',
    text: `
      SELECT business_transaction_id AS id, caller_id AS "callerId" FROM business_transactions
      WHERE business_transaction_id = ANY ($1::uuid[])`,
    values: [ids],
  })
  const callers = new Map(rows.map(({ id, callerId }) => [id, callerId]))
  return details.map((one) => {
    const callerId = callers.get(idWithoutCaller(one) ?? '')
    return one && (callerId === undefined ? one : { ...one, callerId })
  })
}

interface Row {
  readonly id: string
  readonly callerId: string | null
  /** JSON. */
  readonly body: string
}

interface Read {
  readonly name: string
  readonly text: string
  readonly details: NonNullable<ArtifactKind['feed']>['details']
}

/** Statements by table, for kinds whose `body` is not the text that an event shows, or has more than it needs. */
const STATEMENTS: { readonly [table: string]: Omit<Read, 'details'> } = {
  receipts: {
    name: 'executions',
    text: `
    SELECT r.business_transaction_id AS id, t.caller_id AS "callerId", r.body
    FROM receipts AS r JOIN business_transactions AS t USING (business_transaction_id)
    WHERE r.business_transaction_id = ANY ($1::uuid[]) AND r.ordinal = 1`,
  },
  refusal_records: {
    name: 'refusals',
    // The seal is short; the body repeats the whole intent.
    text: `
    SELECT business_transaction_id AS id, caller_id AS "callerId",
      json_build_object('createdAt', ${isoTime('created_at')},
        'refusalRecordHash', seal::json ->> 'refusalRecordHash')::text AS body
    FROM refusal_records WHERE business_transaction_id = ANY ($1::uuid[])`,
  },
  approval_requests: {
    name: 'approval_requests',
    text: `
    SELECT request_id AS id, requested_by AS "callerId",
      json_build_object('requestHash', request_hash, 'createdAt', item.json ->> 'createdAt', 'expiresAt', item.json ->> 'expiresAt')::text AS body
    FROM approval_requests, LATERAL (SELECT ${storedJson('body')} AS json) AS item WHERE request_id = ANY ($1::uuid[])`,
  },
  approval_request_notes: {
    name: 'approval_request_notes',
    text: `
    SELECT n.note_id AS id, r.requested_by AS "callerId", n.body
    FROM approval_request_notes AS n JOIN approval_requests AS r USING (request_id)
    WHERE n.note_id = ANY ($1::uuid[])`,
  },
  approval_request_closes: {
    name: 'approval_request_closes',
    text: `
    SELECT c.close_id AS id, r.requested_by AS "callerId", c.body
    FROM approval_request_closes AS c JOIN approval_requests AS r USING (request_id)
    WHERE c.close_id = ANY ($1::uuid[])`,
  },
}

const reads = new Map<EventType, Read>(
  (loggedKinds as readonly ArtifactKind[]).flatMap(({ feed, stored }) => {
    if (feed === undefined || stored === undefined) return []
    const { table } = stored
    const key = columnOf(stored.id)
    const text = `
    SELECT ${key} AS id, NULL AS "callerId", body FROM ${table} WHERE ${key} = ANY ($1::uuid[])`
    const read: Read = { name: table, text, ...STATEMENTS[table], details: feed.details }
    return feed.types.map((type): [EventType, Read] => [type, read])
  }),
)
// A change has two events: the first shows the proposal, even when it is read after the second.
reads.set('change.resolved', {
  ...readOf('change.proposed'),
  name: 'changes_resolved',
  text: `
    SELECT change_id AS id, NULL AS "callerId", coalesce(resolved_body, body) AS body FROM pending_changes
    WHERE change_id = ANY ($1::uuid[])`,
})

function readOf(type: EventType): Read {
  const read = reads.get(type)
  if (read === undefined) throw new Error(`no kind of artifact has the event ${type}`)
  return read
}

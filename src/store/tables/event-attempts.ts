// event_attempts: the last attempts to deliver events to each endpoint, a ring of rows that `noteDelivered` and `noteFailed` of
// event-deliveries.ts write together with the cursor. Of an answer only its status is kept (docs/design-notes.md "Events pushed out").
import { isoTime, type Sql } from '../postgres/sql.ts'

/** How many attempts of an endpoint are kept. */
export const ATTEMPTS_KEPT = 50

/** The event of an attempt. */
export interface AttemptedEvent {
  readonly eventId: string
  readonly type: string
  readonly businessTransactionId: string | null
  /** The cursor of the feed just before the event. */
  readonly before: string
  /** SHA-256 of the body that was sent, in hex. */
  readonly bodySha256: string
  readonly bodyBytes: number
}

export interface Attempt extends AttemptedEvent {
  /** When it began, ISO 8601. */
  readonly beganAt: string
  readonly durationMs: number
  /** HTTP status of the answer; null: there was no whole answer. */
  readonly status: number | null
  /** Completes "the endpoint …"; null: it took the event. */
  readonly problem: string | null
}

/** @returns the value of the JSON parameter of `noting`: the newest attempts, as many as are kept, and how many there were */
export function notedAttempts(attempts: readonly Attempt[], made: number): string {
  const newest = attempts.slice(-ATTEMPTS_KEPT)
  return JSON.stringify({
    made,
    newest: newest.map((attempt, i) => ({ ...attempt, back: newest.length - 1 - i })),
  })
}

/**
 * SQL that notes attempts together with the update that they cause. Only the holder of the lease counts them, so that no two have one
 * number.
 * @param update an update of `event_deliveries` whose first parameter is the endpoint; it must add to `attempts` what `countOf` says,
 *   and return `attempts` and `returned`
 * @param parameter from `notedAttempts`, as in `$5`
 * @param returned columns of the update that the whole statement answers
 */
export const noting = (update: string, parameter: string, returned: string) => `
  WITH noted AS (${update}), kept AS (
    INSERT INTO event_attempts AS a (endpoint_id, slot, number, began_at, duration_ms, status, problem, event_id, event_type,
      business_transaction_id, before_event, body_sha256, body_bytes)
    SELECT $1::uuid, (noted.attempts - t.back) % ${ATTEMPTS_KEPT}, noted.attempts - t.back, t."beganAt", t."durationMs", t.status, t.problem,
      t."eventId", t.type, t."businessTransactionId", t.before, decode(t."bodySha256", 'hex'), t."bodyBytes"
    FROM noted, json_to_recordset(${parameter}::json -> 'newest') AS t (back integer, "beganAt" timestamptz, "durationMs" integer,
      status smallint, problem text, "eventId" uuid, type text, "businessTransactionId" text, before text, "bodySha256" text,
      "bodyBytes" integer)
    ON CONFLICT (endpoint_id, slot) DO UPDATE SET number = excluded.number, began_at = excluded.began_at,
      duration_ms = excluded.duration_ms, status = excluded.status, problem = excluded.problem, event_id = excluded.event_id,
      event_type = excluded.event_type, business_transaction_id = excluded.business_transaction_id,
      before_event = excluded.before_event, body_sha256 = excluded.body_sha256, body_bytes = excluded.body_bytes
  ) SELECT ${returned} FROM noted`

/** SQL of how many attempts a parameter of `notedAttempts` has. */
export const countOf = (parameter: string) => `(${parameter}::json ->> 'made')::bigint`

/** The attempts that are kept of an endpoint, the newest first. */
export async function readAttempts(
  sql: Sql,
  endpointId: string,
): Promise<(Attempt & { readonly number: number })[]> {
  const { rows } = await sql.query<Attempt & { number: number }>({
    text: `
      SELECT number::float8 AS number, ${isoTime('began_at')} AS "beganAt", duration_ms AS "durationMs", status, problem,
        event_id AS "eventId", event_type AS type, business_transaction_id AS "businessTransactionId", before_event AS before,
        encode(body_sha256, 'hex') AS "bodySha256", body_bytes AS "bodyBytes"
      FROM event_attempts WHERE endpoint_id = $1::uuid ORDER BY number DESC`,
    values: [endpointId],
  })
  return rows
}

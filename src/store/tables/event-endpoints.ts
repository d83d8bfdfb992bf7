// event_endpoints: where governance has events pushed to. How far each has been served is in event_deliveries.
import type { EventType } from '../../formats/schemas/event-types.ts'
import type { Sql } from '../postgres/sql.ts'

export interface EventEndpointRow {
  /** The change that registered it. */
  readonly endpointId: string
  readonly url: string
  /** Only events of these types are sent. */
  readonly types: readonly EventType[]
  /** Whether the parameters of an execution go with its events. */
  readonly withParameters: boolean
  /** Only events of these callers are sent; null: everybody's. */
  readonly callerIds: readonly string[] | null
  /** ISO 8601. */
  readonly registeredAt: string
}

/**
 * Registers an endpoint that is served from a place in the feed on; null: from the first event.
 * @returns false where one is in effect for the URL: nothing is inserted then
 */
export async function registerEventEndpoint(
  sql: Sql,
  row: EventEndpointRow & { readonly cursor: string | null },
): Promise<boolean> {
  const result = await sql.query({
    text: `
      WITH registered AS (
        INSERT INTO event_endpoints (endpoint_id, url, types, with_parameters, caller_ids, registered_at)
        VALUES ($1::uuid, $2::text, $3::text, $4::boolean, $5::text, $6::timestamptz)
        ON CONFLICT (url) WHERE revoked_at IS NULL DO NOTHING RETURNING endpoint_id
      )
      INSERT INTO event_deliveries (endpoint_id, cursor) SELECT endpoint_id, $7::text FROM registered`,
    values: [
      row.endpointId,
      row.url,
      JSON.stringify(row.types),
      row.withParameters,
      row.callerIds && JSON.stringify(row.callerIds),
      row.registeredAt,
      row.cursor,
    ],
  })
  return result.rowCount === 1
}

/**
 * Revokes the endpoint of a URL. Its secrets are deleted.
 * @returns false where none is in effect for the URL
 */
export async function revokeEventEndpoint(
  sql: Sql,
  row: { readonly url: string; readonly changeId: string; readonly at: string },
): Promise<boolean> {
  const result = await sql.query({
    text: `
      WITH revoked AS (
        UPDATE event_endpoints SET revoked_at = $2::timestamptz, revoked_by_change = $3::uuid
        WHERE url = $1::text AND revoked_at IS NULL RETURNING endpoint_id
      )
      DELETE FROM event_deliveries USING revoked WHERE event_deliveries.endpoint_id = revoked.endpoint_id`,
    values: [row.url, row.at, row.changeId],
  })
  return result.rowCount === 1
}

/** How many are in effect, and whether one is for the URL. */
export async function countEventEndpoints(
  sql: Sql,
  url: string,
): Promise<{ readonly count: number; readonly registered: boolean }> {
  const result = await sql.query<{ count: number; registered: boolean }>({
    text: `
      SELECT count(*)::integer AS count, coalesce(bool_or(url = $1::text), false) AS registered
      FROM event_endpoints WHERE revoked_at IS NULL`,
    values: [url],
  })
  return result.rows[0] ?? { count: 0, registered: false }
}

// webhook_events: deliveries as they were received, each once (decisions §10); and where their jobs stand.
import { runRows, type RowsStatement, type Sql } from './sql.ts'

export interface WebhookEventRow {
  readonly eventKey: string
  readonly provider: string
  readonly eventId: string
  /** Lowercase hex. */
  readonly bodySha256: string
  readonly body: Buffer
  /** ISO 8601. */
  readonly receivedAt: string
}

const insert: RowsStatement<WebhookEventRow> = {
  name: 'webhook_events_insert',
  text: `
    INSERT INTO webhook_events (event_key, provider, event_id, body_sha256, body, received_at) VALUES $rows
    ON CONFLICT DO NOTHING RETURNING event_key`,
  types: ['uuid', 'text', 'text', 'text', 'bytea', 'timestamptz'],
  values: (row) => [row.eventKey, row.provider, row.eventId, row.bodySha256, row.body, row.receivedAt],
}

/**
 * Stores deliveries that are new by their event id and by their bytes. One that another transaction is storing is waited for.
 * out  keys of those that were
 */
export async function insertWebhookEvents(sql: Sql, rows: readonly WebhookEventRow[]): Promise<Set<string>> {
  const inserted = await runRows<WebhookEventRow, { event_key: string }>(sql, insert, rows)
  return new Set(inserted.map(({ event_key }) => event_key))
}

/** out  `<provider> <eventId>` of those whose event id stands; no provider's name holds a space */
export async function findWebhookEventIds(
  sql: Sql,
  wanted: readonly { readonly provider: string; readonly eventId: string }[],
): Promise<Set<string>> {
  if (wanted.length === 0) return new Set()
  const { rows } = await sql.query<{ provider: string; event_id: string }>({
    name: 'webhook_events_find_ids',
    text: `
      SELECT provider, event_id FROM webhook_events
      WHERE (provider, event_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    values: [wanted.map(({ provider }) => provider), wanted.map(({ eventId }) => eventId)],
  })
  return new Set(rows.map(({ provider, event_id }) => `${provider} ${event_id}`))
}

/** How large the bodies of events are that have not been processed, in bytes. Others are left out. */
export async function sizesOfUnprocessed(
  sql: Sql,
  eventKeys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql.query<{ event_key: string; body_bytes: number }>({
    name: 'webhook_events_sizes',
    text: `
      SELECT event_key, octet_length(body) AS body_bytes FROM webhook_events
      WHERE event_key = ANY($1::uuid[]) AND processed_at IS NULL`,
    values: [eventKeys],
  })
  return new Map(rows.map(({ event_key, body_bytes }) => [event_key, body_bytes]))
}

/** Claims events for the caller's transaction: whoever else has them has processed them when this returns without them. */
export async function lockUnprocessed(sql: Sql, eventKeys: readonly string[]): Promise<WebhookEventRow[]> {
  const { rows } = await sql.query<Omit<WebhookEventRow, 'receivedAt'> & { receivedAt: Date }>({
    name: 'webhook_events_lock',
    text: `
      SELECT event_key AS "eventKey", provider, event_id AS "eventId", body_sha256 AS "bodySha256", body, received_at AS "receivedAt"
      FROM webhook_events WHERE event_key = ANY($1::uuid[]) AND processed_at IS NULL
      ORDER BY event_key FOR UPDATE`,
    values: [eventKeys],
  })
  return rows.map((row) => ({ ...row, receivedAt: row.receivedAt.toISOString() }))
}

export async function markProcessed(sql: Sql, eventKeys: readonly string[], at: string): Promise<void> {
  await sql.query({
    name: 'webhook_events_processed',
    text: `UPDATE webhook_events SET processed_at = $2::timestamptz WHERE event_key = ANY($1::uuid[])`,
    values: [eventKeys, at],
  })
}

export const webhookStatuses = ['pending', 'failed', 'dead'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]

/** A delivery whose job is not done. */
export interface WaitingWebhook {
  /** `failed` is tried again by itself, `dead` when an operator says so. */
  readonly status: WebhookStatus
  readonly provider: string
  readonly eventId: string
  readonly receivedAt: Date
  /** How often it has failed. */
  readonly failures: number
  /** Of the last failure. */
  readonly reason: string | null
}

/**
 * What has not been processed, oldest first. Reads pg-boss's own table, whose exact version package.json names: its API lists jobs
 * without a bound.
 */
export async function listWaitingWebhooks(
  sql: Sql,
  page: {
    readonly queue: string
    readonly deadQueue: string
    readonly status: WebhookStatus | null
    readonly limit: number
  },
): Promise<WaitingWebhook[]> {
  const { rows } = await sql.query<WaitingWebhook>({
    text: `
      SELECT * FROM (
        SELECT
          CASE WHEN j.name = $2 THEN 'dead' WHEN j.output IS NULL THEN 'pending' ELSE 'failed' END AS status,
          e.provider, e.event_id AS "eventId", e.received_at AS "receivedAt",
          CASE WHEN j.name = $2 THEN j.source_retry_count + 1 WHEN j.output IS NULL THEN 0
               ELSE j.retry_count + (j.state = 'retry')::integer END AS failures,
          coalesce(j.source_output, j.output) ->> 'message' AS reason
        FROM pgboss.job AS j JOIN webhook_events AS e ON e.event_key = (j.data ->> 'id')::uuid
        WHERE j.name IN ($1, $2) AND j.state < 'completed' AND e.processed_at IS NULL
      ) AS waiting
      WHERE status = $3::text OR $3::text IS NULL
      ORDER BY "receivedAt", "eventId" LIMIT $4::integer`,
    values: [page.queue, page.deadQueue, page.status, page.limit],
  })
  return rows
}

/** The key of a delivery by the provider's id for it; null where there is none. */
export async function findWebhookEvent(
  sql: Sql,
  { provider, eventId }: { readonly provider: string; readonly eventId: string },
): Promise<string | null> {
  const { rows } = await sql.query<{ event_key: string }>({
    text: `SELECT event_key FROM webhook_events WHERE provider = $1::text AND event_id = $2::text`,
    values: [provider, eventId],
  })
  return rows[0]?.event_key ?? null
}

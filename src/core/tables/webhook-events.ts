// webhook_events: deliveries as they were received, each once (decisions §10); and the state of their jobs.
import type { LogPosition } from './log-queue.ts'
import type { Sql } from './sql.ts'

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

/**
 * Stores deliveries that are new by their event id and by their bytes. A delivery that another transaction is storing is waited for.
 *
 * @param rows in an order that is the same for everybody, so that two batches never wait for each other both ways
 * @returns keys of those that were stored
 */
export async function insertWebhookEvents(
  sql: Sql,
  rows: readonly (WebhookEventRow & LogPosition)[],
): Promise<Set<string>> {
  let end = 0
  const { rows: stored } = await sql.query<{ event_key: string }>({
    name: 'webhook_events_insert',
    text: `
      INSERT INTO webhook_events (event_key, provider, event_id, body_sha256, body, received_at, log_batch, log_ordinal)
      SELECT event_key, provider, event_id, body_sha256, substring($5::bytea FROM body_end - body_bytes + 1 FOR body_bytes),
        received_at, log_batch, log_ordinal
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $6::integer[], $7::integer[], $8::timestamptz[], $9::uuid[],
          $10::smallint[])
        AS given (event_key, provider, event_id, body_sha256, body_bytes, body_end, received_at, log_batch, log_ordinal)
      ON CONFLICT DO NOTHING RETURNING event_key`,
    values: [
      rows.map(({ eventKey }) => eventKey),
      rows.map(({ provider }) => provider),
      rows.map(({ eventId }) => eventId),
      rows.map(({ bodySha256 }) => bodySha256),
      // In one value, and cut by the server: in an array the bytes would be sent as hexadecimal text.
      Buffer.concat(rows.map(({ body }) => body)),
      rows.map(({ body }) => body.byteLength),
      rows.map(({ body }) => (end += body.byteLength)),
      rows.map(({ receivedAt }) => receivedAt),
      rows.map(({ logBatch }) => logBatch),
      rows.map(({ logOrdinal }) => logOrdinal),
    ],
  })
  return new Set(stored.map(({ event_key }) => event_key))
}

/** @returns `<provider> <eventId>` of those that are stored; no provider's name holds a space */
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

/**
 * Marks events processed in the caller's transaction and locks them: where another instance held them, they are processed when this returns
 * without them.
 * @returns those that were not processed before
 */
export async function markProcessed(
  sql: Sql,
  eventKeys: readonly string[],
  at: string,
): Promise<WebhookEventRow[]> {
  const { rows } = await sql.query<Omit<WebhookEventRow, 'receivedAt'> & { receivedAt: Date }>({
    name: 'webhook_events_processed',
    text: `
      UPDATE webhook_events SET processed_at = $2::timestamptz
      WHERE event_key = ANY($1::uuid[]) AND processed_at IS NULL
      RETURNING event_key AS "eventKey", provider, event_id AS "eventId", body_sha256 AS "bodySha256", body,
        received_at AS "receivedAt"`,
    values: [eventKeys, at],
  })
  return rows.map((row) => ({ ...row, receivedAt: row.receivedAt.toISOString() }))
}

const webhookStatuses = ['pending', 'failed', 'dead'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]

/** A delivery whose job is not done. */
export interface WaitingWebhook {
  /** `failed` is tried again by itself, `dead` when an operator says so. */
  readonly status: WebhookStatus
  readonly provider: string
  readonly eventId: string
  readonly receivedAt: Date
  readonly failures: number
  /** The reason of the last failure. */
  readonly reason: string | null
}

/**
 * What has not been processed, oldest first. Reads pg-boss's own table, whose exact version package.json names: its API lists the jobs
 * of a queue all at once, and after an outage these can be hundreds of thousands.
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

// webhook_events: deliveries as they were received, each once (decisions §10); and the state of their jobs.
import { positionColumns, type LogPosition } from './log-queue.ts'
import { readPageOf, upperEnd, type Page, type PageRange } from './page.ts'
import { LEAST_UUID, type Position } from './position.ts'
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'
import { asText, type Statement } from '../postgres/statement-batch.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { deliveriesIn } from '../queues/webhook-queue.ts'

const columns = {
  eventKey: 'uuid',
  provider: 'text',
  eventId: 'text',
  /** Lowercase hex. */
  bodySha256: 'text',
  body: 'bytea',
  receivedAt: 'timestamptz',
  /** Canonical JSON of an object: names in lower case. */
  headers: 'text',
} as const
export type WebhookEventRow = RowOf<typeof columns> & { readonly body: Buffer }

const insert = rowsInto(
  'webhook_events',
  { ...columns, ...positionColumns },
  { suffix: ' ON CONFLICT DO NOTHING RETURNING event_key', returns: { eventKey: asText } },
)

/**
 * Stores deliveries that are new by their event id and by their bytes. Waits for a delivery that another transaction is storing.
 *
 * @param rows in one order for all callers, so that two batches never deadlock
 * @returns keys of those that were stored
 */
export async function insertWebhookEvents(
  transaction: Transaction,
  rows: readonly (WebhookEventRow & LogPosition)[],
): Promise<Set<string>> {
  const stored = await transaction.run(insert(rows))
  return new Set(stored.flat().map(({ eventKey }) => eventKey))
}

/** Gives deliveries that were just stored another place in the log's queue. */
export function moveInLog(rows: readonly (Pick<WebhookEventRow, 'eventKey'> & LogPosition)[]): Statement[] {
  return rows.map(({ eventKey, logBatch, logOrdinal }) => ({
    name: 'webhook_events_move_in_log',
    text: `UPDATE webhook_events SET log_batch = $2::uuid, log_ordinal = $3::smallint WHERE event_key = $1::uuid`,
    rows: [[eventKey, logBatch, logOrdinal]],
  }))
}

/** @returns the SHA-256 of the bodies of those that are stored, by `<provider> <eventId>`; no provider's name holds a space */
export async function findWebhookBodies(
  sql: Sql,
  wanted: readonly { readonly provider: string; readonly eventId: string }[],
): Promise<Map<string, string>> {
  if (wanted.length === 0) return new Map()
  const { rows } = await sql.query<{ provider: string; event_id: string; body_sha256: string }>({
    name: 'webhook_events_find_bodies',
    text: `
      SELECT provider, event_id, body_sha256 FROM webhook_events
      WHERE (provider, event_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    values: [wanted.map(({ provider }) => provider), wanted.map(({ eventId }) => eventId)],
  })
  return new Map(rows.map((row) => [`${row.provider} ${row.event_id}`, row.body_sha256]))
}

export type WebhookStatus = 'pending' | 'failed' | 'dead'

/** A delivery whose job is not done. */
export interface WaitingWebhook {
  /** `failed` is retried automatically, `dead` only by an operator. */
  readonly status: WebhookStatus
  readonly provider: string
  readonly eventId: string
  readonly receivedAt: Date
  readonly failures: number
  /** The reason of the last failure, or of its wait. */
  readonly reason: string | null
}

/**
 * Lists the deliveries that have not been processed, oldest first. Reads pg-boss's own table, whose exact version package.json names: its API lists the jobs
 * of a queue all at once, and after an outage these can be hundreds of thousands.
 */
export async function listWaitingWebhooks(
  sql: Sql,
  page: {
    readonly queues: readonly string[]
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
          coalesce(coalesce(j.source_output, j.output) ->> 'message', e.detail) AS reason
        FROM pgboss.job AS j CROSS JOIN LATERAL jsonb_array_elements(${deliveriesIn('j')}) AS d
        JOIN webhook_events AS e ON e.event_key = (d ->> 'id')::uuid
        WHERE (j.name = ANY ($1) OR j.name = $2) AND j.state < 'completed' AND e.processed_at IS NULL
      ) AS waiting
      WHERE status = $3::text OR $3::text IS NULL
      ORDER BY "receivedAt", "eventId" LIMIT $4::integer`,
    values: [page.queues, page.deadQueue, page.status, page.limit],
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

/** A delivery as lists show it. */
export interface ListedDelivery {
  readonly eventKey: string
  readonly provider: string
  readonly eventId: string
  readonly bodySha256: string
  /** Zero where the body was emptied (docs/handbook/keeping.md). */
  readonly bodyBytes: number
  /** ISO 8601, as `processedAt`. */
  readonly receivedAt: string
  /** Null: it waits for its job. */
  readonly processedAt: string | null
  readonly outcome: string | null
  readonly ruleId: string | null
  readonly businessTransactionId: string | null
  /** A sentence. */
  readonly detail: string | null
  /** How often it was processed again on request. */
  readonly reruns: number
}

const LISTED = `
  item.event_key AS "eventKey", item.provider, item.event_id AS "eventId", item.body_sha256 AS "bodySha256",
  octet_length(item.body) AS "bodyBytes", ${isoTime('item.received_at')} AS "receivedAt",
  ${isoTime('item.processed_at')} AS "processedAt", item.outcome,
  item.rule_id AS "ruleId", item.business_transaction_id AS "businessTransactionId", item.detail, item.reruns`

interface DeliveryFilter {
  readonly provider: string | null
  readonly outcome: string | null
  /** ISO 8601, included. */
  readonly since: string | null
  /** ISO 8601, excluded. */
  readonly until: string | null
}

/**
 * A page of deliveries, newest first. No index has the outcome, so a page with a filter reads at most `SCANNED_MAX` deliveries: it may then hold
 * fewer than its size, or none, and still continue.
 */
export async function listWebhookEvents(
  sql: Sql,
  range: PageRange,
  { provider, outcome, since, until }: DeliveryFilter,
): Promise<Page<ListedDelivery>> {
  const filtered = provider !== null || outcome !== null
  const end = filtered ? await scannedTo(sql, range, { since, until }) : null
  const page = await readPageOf<ListedDelivery>(
    sql,
    {
      name: 'webhook_events_list',
      table: 'webhook_events',
      time: 'received_at',
      id: 'event_key',
      bytes: '1024',
      columns: LISTED,
      where: `(item.received_at, item.event_key) >= ($5::timestamptz, $6::uuid)
        AND (item.provider = $7::text OR $7 IS NULL) AND (item.outcome = $8::text OR $8 IS NULL)`,
    },
    range,
    { until, values: [end?.createdAt ?? since ?? '-infinity', end?.id ?? LEAST_UUID, provider, outcome] },
  )
  return { rows: page.rows, next: page.next ?? end }
}

/** The most deliveries that a filtered page looks at. */
const SCANNED_MAX = 10_000

/** @returns the last delivery that the page looks at; null where fewer are left */
async function scannedTo(
  sql: Sql,
  { after }: PageRange,
  { since, until }: Pick<DeliveryFilter, 'since' | 'until'>,
): Promise<Position | null> {
  const { rows } = await sql.query<Position>({
    name: 'webhook_events_scanned_to',
    text: `
      SELECT ${isoTime('received_at', 'US')} AS "createdAt", event_key AS id
      FROM webhook_events
      WHERE (received_at, event_key) < ($1::timestamptz, $2::uuid) AND received_at >= $3::timestamptz
      ORDER BY received_at DESC, event_key DESC OFFSET ${SCANNED_MAX - 1} LIMIT 1`,
    values: [...upperEnd(after, until), since ?? '-infinity'],
  })
  return rows[0] ?? null
}

export interface ShownDelivery extends ListedDelivery {
  /** Canonical JSON of an object: names in lower case. */
  readonly headers: string
  readonly body: Buffer
}

/** @returns null where there is none */
export async function readWebhookEvent(sql: Sql, eventKey: string): Promise<ShownDelivery | null> {
  const { rows } = await sql.query<ShownDelivery>({
    name: 'webhook_events_read',
    text: `SELECT ${LISTED}, item.headers, item.body FROM webhook_events AS item WHERE item.event_key = $1::uuid`,
    values: [eventKey],
  })
  return rows[0] ?? null
}

/**
 * Makes a processed delivery wait again. The calling code adds its job, in the same transaction.
 * @returns the bytes of its body; null where there is no such delivery, or it waits already
 */
export async function unprocess(sql: Sql, eventKey: string): Promise<number | null> {
  const { rows } = await sql.query<{ bytes: number }>({
    name: 'webhook_events_unprocess',
    text: `
      UPDATE webhook_events
      SET processed_at = NULL, outcome = NULL, rule_id = NULL, business_transaction_id = NULL, detail = NULL,
        reruns = least(reruns + 1, 32767)
      WHERE event_key = $1::uuid AND processed_at IS NOT NULL
      RETURNING octet_length(body) AS bytes`,
    values: [eventKey],
  })
  return rows[0]?.bytes ?? null
}

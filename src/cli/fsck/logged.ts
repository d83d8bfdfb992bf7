// Evidence that was entered into the log: its commit must be known there, in the tree or still in the queue.
import type { Sql } from '../../core/tables/sql.ts'
import type { Check } from './check.ts'

interface Row {
  readonly key: string
  readonly logBatch: string
  readonly logOrdinal: number | null
}

/** The tables with a place in the log, and SQL of the key of a row `c`. */
const LOGGED: Readonly<Record<string, string>> = {
  execution_intents: 'c.business_transaction_id',
  receipts: `c.business_transaction_id || ' ' || c.ordinal`,
  refusal_records: 'c.business_transaction_id',
  audit_events: 'c.event_id',
  pending_changes: 'c.change_id',
  intent_transitions: 'c.transition_id',
  approvals: 'c.approval_id',
  webhook_events: 'c.event_key',
}

export const loggedChecks: readonly Check[] = Object.entries(LOGGED).map(([table, key]) => ({
  table,
  text: `
    SELECT (${key})::text AS key, c.log_batch AS "logBatch", c.log_ordinal AS "logOrdinal"
    FROM $table AS c WHERE c.log_batch IS NOT NULL`,
  async examine(rows, { sql }) {
    const items = rows as readonly Row[]
    const counts = await entryCounts(sql, [...new Set(items.map(({ logBatch }) => logBatch))])
    const isThere = ({ logBatch, logOrdinal }: Row) =>
      logOrdinal !== null && logOrdinal >= 0 && logOrdinal < (counts.get(logBatch) ?? 0)
    const findings = items
      .filter((item) => !isThere(item))
      .map((item) => ({
        table,
        key: item.key,
        problem: 'is neither in the log nor in its queue',
      }))
    return { counted: {}, findings }
  },
}))

/** How many entries each commit has. Asked apart from the rows: on Citus they cannot be joined. */
async function entryCounts(sql: Sql, batches: readonly string[]): Promise<Map<string, number>> {
  const inTree = await sql.query<{ batch: string; count: number }>(
    `SELECT batch, count FROM log_batches WHERE batch = ANY($1::uuid[])`,
    [batches],
  )
  const counts = new Map(inTree.rows.map(({ batch, count }) => [batch, count]))
  const others = batches.filter((batch) => !counts.has(batch))
  if (others.length === 0) return counts
  const queued = await sql.query<{ batch: string; count: number }>(
    `SELECT batch, json_array_length(entries::json) AS count FROM log_queue WHERE batch = ANY($1::uuid[])`,
    [others],
  )
  for (const { batch, count } of queued.rows) counts.set(batch, count)
  return counts
}

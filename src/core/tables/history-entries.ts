// history_entries: released executions under policies with a velocity limit (decisions §6 `history`), found by caller and time.
import type { Step } from './statement-batch.ts'
import { stepsOf, type RowsStatement } from './rows.ts'
import type { Sql } from './sql.ts'

interface HistoryEntryRow {
  readonly businessTransactionId: string
  readonly callerId: string
  /** A policy's name, of whatever version. */
  readonly policy: string
  /** ISO 8601, taken under the lock of this caller and policy where the version that released it has a limit. */
  readonly releasedAt: string
}

const insert: RowsStatement<HistoryEntryRow> = {
  name: 'history_entries_insert',
  text: `INSERT INTO history_entries (business_transaction_id, caller_id, policy, released_at) VALUES $rows`,
  types: ['uuid', 'text', 'text', 'timestamptz'],
  values: (row) => [row.businessTransactionId, row.callerId, row.policy, row.releasedAt],
}

/**
 * Runs in the transaction that claims the executions.
 * @param rows sorted by id
 */
export function insertHistoryEntries(rows: readonly HistoryEntryRow[]): Step[] {
  return stepsOf(insert, rows)
}

/**
 * Counts the executions of a caller under one policy's name that were released since a time or, with `parameter`, adds that parameter up.
 * One that failed or that a human closed as not executed does not count; one in doubt does. The caller holds the advisory lock of this
 * caller and policy, or this misses what is being admitted now.
 * @param filter.unlisted executions of this policy until this time may have no entry, because no policy had a limit yet. They are read from
 *   the transactions themselves, at a cost that ends one window after the limit was added
 * @param filter.parameter member names below intent.parameters; a value that is not a number adds nothing
 */
export async function sumOfExecutions(
  sql: Sql,
  filter: {
    readonly callerId: string
    readonly policy: string
    readonly since: string
    readonly unlisted: string
    readonly parameter?: readonly string[]
  },
): Promise<number> {
  const summed = filter.parameter !== undefined
  const result = await sql.query<{ value: number }>({
    name: summed ? 'history_entries_sum' : 'history_entries_count',
    text: `
      WITH released AS (
        SELECT business_transaction_id FROM history_entries
        WHERE caller_id = $1::text AND policy = $2::text AND released_at > $3::timestamptz
        UNION
        SELECT business_transaction_id FROM (
          SELECT t.business_transaction_id, ${JSON_BODY} AS body FROM business_transactions AS t
          WHERE t.caller_id = $1::text AND t.created_at > $3::timestamptz AND t.created_at <= $4::timestamptz
            AND t.execution_authorization IS NOT NULL AND strpos(t.body, '"policy":{"name":"' || $2::text || '"') > 0
        ) AS found WHERE body #>> '{policy,name}' = $2::text
      )
      SELECT ${summed ? TOTAL : 'count(*)'}::float8 AS value
      FROM released JOIN execution_intents AS i USING (business_transaction_id)
        ${summed ? `JOIN business_transactions AS t USING (business_transaction_id), LATERAL (SELECT ${JSON_BODY} #> ($5::text[]) AS parameter) AS p` : ''}
      WHERE i.state IN ('PREPARED', 'RELEASED', 'FINALIZED') OR i.resolution = 'EXECUTED'`,
    values: [
      filter.callerId,
      filter.policy,
      filter.since,
      filter.unlisted,
      ...(filter.parameter === undefined ? [] : [['intent', 'parameters', ...filter.parameter]]),
    ],
  })
  return result.rows[0]?.value ?? 0
}

/** PostgreSQL's json reads no escaped NUL, whatever the query; nobody's name or number is one. */
const JSON_BODY = String.raw`replace(t.body, '\u0000', '\u0001')::json`

/** As decimals: doubles would add up to another number than the caller's own books. */
const TOTAL = `coalesce(sum(CASE WHEN json_typeof(p.parameter) = 'number' THEN (p.parameter #>> '{}')::numeric END), 0)`

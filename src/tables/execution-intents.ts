// execution_intents: what was released to a connector, and how it ended (decisions §8). The one table that is updated.
import { runRows, type RowsStatement, type Sql } from './sql.ts'

export interface ExecutionIntentRow {
  readonly businessTransactionId: string
  /** Of the execution authorization; consumed by this row. */
  readonly nonce: string
  /** ISO 8601: still RELEASED after it is in doubt. */
  readonly deadline: string
}

const release: RowsStatement<ExecutionIntentRow> = {
  name: 'execution_intents_release',
  text: `INSERT INTO execution_intents (business_transaction_id, nonce, state, deadline) VALUES $rows`,
  types: ['uuid', 'text', 'text', 'timestamptz'],
  values: (row) => [row.businessTransactionId, row.nonce, 'RELEASED', row.deadline],
}

/**
 * Consumes the nonces of authorizations by inserting their intents as RELEASED.
 * fails with a unique violation (`isTaken`) where an intent stands already: then none of them is released
 */
export async function releaseIntents(sql: Sql, rows: readonly ExecutionIntentRow[]): Promise<void> {
  await runRows(sql, release, rows)
}

/**
 * Ends released intents. An intent that is no longer RELEASED is left alone: whoever closed it has settled the outcome.
 * in   ids sorted
 * out  the ids that this call closed
 */
export async function closeIntents(
  sql: Sql,
  close: { ids: readonly string[]; state: 'FINALIZED' | 'ERRORED'; closedAt: string },
): Promise<Set<string>> {
  if (close.ids.length === 0) return new Set()
  const result = await sql.query<{ business_transaction_id: string }>({
    name: 'execution_intents_close',
    text: `
      UPDATE execution_intents SET state = $2::text, closed_at = $3::timestamptz
      WHERE business_transaction_id = ANY($1::uuid[]) AND state = 'RELEASED'
      RETURNING business_transaction_id`,
    values: [close.ids, close.state, close.closedAt],
  })
  return new Set(result.rows.map((row) => row.business_transaction_id))
}

/** Moves the deadlines of intents that are still RELEASED: from then on they are in doubt. in  ids sorted */
export async function passDeadlines(
  sql: Sql,
  { ids, deadline }: { ids: readonly string[]; deadline: string },
): Promise<void> {
  await sql.query({
    name: 'execution_intents_pass_deadlines',
    text: `
      UPDATE execution_intents SET deadline = $2::timestamptz
      WHERE business_transaction_id = ANY($1::uuid[]) AND state = 'RELEASED'`,
    values: [ids, deadline],
  })
}

/** Throws when the table cannot be read and written by this role: GET /ready asks this (interface §4.1). */
export async function checkIntentsUsable(sql: Sql): Promise<void> {
  const result = await sql.query<{ usable: boolean }>({
    name: 'execution_intents_usable',
    text: `
      SELECT has_table_privilege('execution_intents', 'SELECT') AND has_table_privilege('execution_intents', 'INSERT')
        AND has_table_privilege('execution_intents', 'UPDATE') AND current_setting('transaction_read_only') = 'off'
        AND (SELECT count(*) FROM (SELECT FROM execution_intents LIMIT 1) AS any_row) >= 0 AS usable`,
  })
  if (result.rows[0]?.usable !== true) throw new Error('The execution-intents table is not writable.')
}

// refusal_records: the signed account of a transaction that was not executed (decisions §4 "Refusal Record").
import { runRows, type RowsStatement, type Sql } from './sql.ts'

export interface RefusalRecordRow {
  readonly businessTransactionId: string
  readonly callerId: string
  readonly createdAt: string
  /** Canonical text of the signed members. */
  readonly body: string
  /** The members that stand beside them: `"refusalRecordHash":"…","signature":{…}`. */
  readonly seal: string
}

const insert: RowsStatement<RefusalRecordRow> = {
  name: 'refusal_records_insert',
  text: `INSERT INTO refusal_records (business_transaction_id, caller_id, created_at, body, seal) VALUES $rows`,
  types: ['uuid', 'text', 'timestamptz', 'text', 'text'],
  values: (row) => [row.businessTransactionId, row.callerId, row.createdAt, row.body, row.seal],
}

/** Inserts refusals, in the transaction that claims their ids. */
export async function insertRefusals(sql: Sql, rows: readonly RefusalRecordRow[]): Promise<void> {
  await runRows(sql, insert, rows)
}

/** A refusal; null when there is none or `callerId` (null: anyone) does not own it. */
export async function readRefusal(
  sql: Sql,
  id: string,
  callerId: string | null,
): Promise<{ body: string; seal: string } | null> {
  const result = await sql.query<{ body: string; seal: string }>({
    name: 'refusal_records_read',
    text: `
      SELECT body, seal FROM refusal_records
      WHERE business_transaction_id = $1::uuid AND ($2::text IS NULL OR caller_id = $2::text)`,
    values: [id, callerId],
  })
  return result.rows[0] ?? null
}

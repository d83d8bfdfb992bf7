// trust_records, verifications and receipts: what an execution leaves behind (interface §2.2 to §2.4).
import type { Sealed, SealedRow } from '../sealed.ts'
import { runRows, type RowsStatement, type Sql } from './sql.ts'

/** A verification or a receipt; the first of a record has ordinal 1. */
export interface AppendedRow {
  readonly businessTransactionId: string
  readonly ordinal: number
  /** Canonical text. */
  readonly body: string
}

const insertRecords: RowsStatement<SealedRow> = {
  name: 'trust_records_insert',
  text: `INSERT INTO trust_records (business_transaction_id, caller_id, created_at, body, seal) VALUES $rows`,
  types: ['uuid', 'text', 'timestamptz', 'text', 'text'],
  values: (row) => [row.businessTransactionId, row.callerId, row.createdAt, row.body, row.seal],
}

const insertAppended = (table: 'verifications' | 'receipts'): RowsStatement<AppendedRow> => ({
  name: `${table}_insert`,
  text: `INSERT INTO ${table} (business_transaction_id, ordinal, body) VALUES $rows`,
  types: ['uuid', 'integer', 'text'],
  values: (row) => [row.businessTransactionId, row.ordinal, row.body],
})
const insertVerifications = insertAppended('verifications')
const insertReceipts = insertAppended('receipts')

/** Stores sealed executions whole. A unique violation means that a record already stands for an id. */
export async function storeRecords(
  sql: Sql,
  rows: { records: SealedRow[]; verifications: AppendedRow[]; receipts: AppendedRow[] },
): Promise<void> {
  await Promise.all([
    runRows(sql, insertRecords, rows.records),
    runRows(sql, insertVerifications, rows.verifications),
    runRows(sql, insertReceipts, rows.receipts),
  ])
}

export interface StoredTrustRecord extends Sealed {
  readonly verifications: string[]
  readonly receipts: string[]
}

/** A record with its verifications and receipts in order; null when there is none or `callerId` (null: anyone) does not own it. */
export async function readTrustRecord(
  sql: Sql,
  id: string,
  callerId: string | null,
): Promise<StoredTrustRecord | null> {
  const result = await sql.query<StoredTrustRecord>({
    name: 'trust_records_read',
    text: `
      SELECT body, seal,
        ARRAY(SELECT v.body FROM verifications AS v WHERE v.business_transaction_id = $1::uuid ORDER BY v.ordinal) AS verifications,
        ARRAY(SELECT r.body FROM receipts AS r WHERE r.business_transaction_id = $1::uuid ORDER BY r.ordinal) AS receipts
      FROM trust_records
      WHERE business_transaction_id = $1::uuid AND ($2::text IS NULL OR caller_id = $2::text)`,
    values: [id, callerId],
  })
  return result.rows[0] ?? null
}

/** The bodies of stored records by id, for a writer that must know whether what it finds is its own. */
export async function readRecordBodies(sql: Sql, ids: readonly string[]): Promise<Map<string, string>> {
  const result = await sql.query<{ business_transaction_id: string; body: string }>({
    name: 'trust_records_bodies',
    text: `SELECT business_transaction_id, body FROM trust_records WHERE business_transaction_id = ANY($1::uuid[])`,
    values: [ids],
  })
  return new Map(result.rows.map((row) => [row.business_transaction_id, row.body]))
}

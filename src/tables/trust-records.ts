// trust_records, verifications and receipts: what an execution leaves behind (interface §2.2 to §2.4).
import type { Sealed, SealedRow } from '../sealed.ts'
import { LEAST_UUID, type Position } from './position.ts'
import type { Step } from './bundle.ts'
import { stepsOf, type RowsStatement } from './rows.ts'
import type { Sql } from './sql.ts'

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
export function storeRecords(rows: {
  records: SealedRow[]
  verifications: AppendedRow[]
  receipts: AppendedRow[]
}): Step[] {
  return [
    ...stepsOf(insertRecords, rows.records),
    ...stepsOf(insertVerifications, rows.verifications),
    ...stepsOf(insertReceipts, rows.receipts),
  ]
}

interface StoredTrustRecord extends Sealed {
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

interface ListedTrustRecord extends StoredTrustRecord, Position {}

/**
 * A page of whole records, newest first. `callerId` null lists every owner's; `since` is included, `until` is not.
 * `after` goes on behind a record: the page is then found at its place in the index, whatever its depth.
 */
export async function listTrustRecords(
  sql: Sql,
  page: {
    readonly callerId: string | null
    readonly since: string | null
    readonly until: string | null
    readonly after: Position | null
    readonly limit: number
    readonly offset: number
  },
): Promise<ListedTrustRecord[]> {
  const own = page.callerId !== null
  const result = await sql.query<StoredTrustRecord & { createdAt: Date; id: string }>({
    name: own ? 'trust_records_list_own' : 'trust_records_list_all',
    // The row comparison bounds the index scan from above, also where there is no cursor: `until` is then its place.
    text: `
      SELECT page.created_at AS "createdAt", page.business_transaction_id AS id, t.body, t.seal,
        ARRAY(SELECT v.body FROM verifications AS v
          WHERE v.business_transaction_id = page.business_transaction_id ORDER BY v.ordinal) AS verifications,
        ARRAY(SELECT r.body FROM receipts AS r
          WHERE r.business_transaction_id = page.business_transaction_id ORDER BY r.ordinal) AS receipts
      FROM (
        SELECT created_at, business_transaction_id FROM trust_records
        WHERE (created_at, business_transaction_id) < ($3::timestamptz, $4::uuid) AND created_at >= $5::timestamptz
          ${own ? 'AND caller_id = $6::text' : ''}
        ORDER BY created_at DESC, business_transaction_id DESC LIMIT $1::integer OFFSET $2::integer
      ) AS page JOIN trust_records AS t USING (business_transaction_id)
      ORDER BY page.created_at DESC, page.business_transaction_id DESC`,
    values: [
      page.limit,
      page.offset,
      ...upperEnd(page),
      page.since ?? '-infinity',
      ...(own ? [page.callerId] : []),
    ],
  })
  return result.rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }))
}

/** Where a page begins: behind `after` or at `until`, whichever is lower. */
function upperEnd(page: { after: Position | null; until: string | null }): [string, string] {
  const { after, until } = page
  if (after !== null && (until === null || after.createdAt < until)) return [after.createdAt, after.id]
  return [until ?? 'infinity', LEAST_UUID]
}

/** Who asks for which record; `owner` null may read anyone's. */
interface AskedRecord {
  readonly id: string
  readonly owner: string | null
}

/** What stands in the tables for one record, and beside it the copies that its transaction's row holds. */
export interface StoredEvidence extends Sealed {
  readonly transaction: string | null
  readonly executionAuthorization: string | null
}

/** The evidence that each asks for, in their order; undefined where there is none or it is another's. */
export async function readEvidence(
  sql: Sql,
  asked: readonly AskedRecord[],
): Promise<(StoredEvidence | undefined)[]> {
  if (asked.length === 0) return []
  const result = await sql.query<StoredEvidence & { position: string }>({
    name: 'trust_records_evidence',
    text: `
      SELECT asked.position, r.body, r.seal, t.body AS transaction, t.execution_authorization AS "executionAuthorization"
      FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS asked (id, owner, position)
      JOIN trust_records AS r ON r.business_transaction_id = asked.id AND (asked.owner IS NULL OR r.caller_id = asked.owner)
      LEFT JOIN business_transactions AS t ON t.business_transaction_id = asked.id`,
    values: [asked.map(({ id }) => id), asked.map(({ owner }) => owner)],
  })
  const byPosition = new Map(result.rows.map((row) => [Number(row.position), row]))
  return asked.map((_, i) => byPosition.get(i + 1))
}

/** Locks records against others that append to them. In order of id, so that two batches never wait in a circle. */
export async function lockRecords(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query({
    name: 'trust_records_lock',
    text: `
      SELECT FROM trust_records WHERE business_transaction_id = ANY($1::uuid[])
      ORDER BY business_transaction_id FOR NO KEY UPDATE`,
    values: [ids],
  })
}

/** The last verification or receipt of each record that has one. Of locked records, so that the next ordinal is free. */
export async function readLast(
  sql: Sql,
  table: 'verifications' | 'receipts',
  ids: readonly string[],
): Promise<Map<string, AppendedRow>> {
  const result = await sql.query<AppendedRow>({
    name: `${table}_last`,
    text: `
      SELECT asked.id AS "businessTransactionId", last.ordinal, last.body
      FROM unnest($1::uuid[]) AS asked (id) CROSS JOIN LATERAL (
        SELECT a.ordinal, a.body FROM ${table} AS a
        WHERE a.business_transaction_id = asked.id ORDER BY a.ordinal DESC LIMIT 1
      ) AS last`,
    values: [ids],
  })
  return new Map(result.rows.map((row) => [row.businessTransactionId, row]))
}

export function appendRows(table: 'verifications' | 'receipts', rows: readonly AppendedRow[]): Step[] {
  return stepsOf(table === 'verifications' ? insertVerifications : insertReceipts, rows)
}

/**
 * The last verification or receipt of one record.
 * out  null where there is no such record for `callerId` (null: anyone's), `last` null where it has none
 */
export async function readLastOf(
  sql: Sql,
  table: 'verifications' | 'receipts',
  { id, callerId }: { id: string; callerId: string | null },
): Promise<{ last: string | null } | null> {
  const result = await sql.query<{ last: string | null }>({
    name: `${table}_last_of`,
    text: `
      SELECT (SELECT a.body FROM ${table} AS a WHERE a.business_transaction_id = r.business_transaction_id
        ORDER BY a.ordinal DESC LIMIT 1) AS last
      FROM trust_records AS r
      WHERE r.business_transaction_id = $1::uuid AND ($2::text IS NULL OR r.caller_id = $2::text)`,
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

// The evidence of executions (interface §2.2 to §2.4): execution_evidence holds each record with its first verification and its first
// receipt, appended_verifications and appended_receipts hold the later ones. Readers use the views trust_records, verifications and
// receipts, which show all of it as it was signed (docs/design-notes.md "Stored once").
import { sealedColumns, type Sealed, type WholeRecord } from './sealed.ts'
import { shareSignatures, wholeBytes, withSharedSignatures } from './batch-signatures.ts'
import { positionColumns, type LogPosition } from './log-queue.ts'
import { asText, type Statement } from '../postgres/statement-batch.ts'
import { readOwnedPage, type OwnedRange, type Page, type PageRange } from './page.ts'
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'
import type { Transaction } from '../postgres/transaction.ts'

/** A record without its copies; its verification and its receipt, which both have ordinal 1; and the receipt's place in the log. */
const evidenceColumns = {
  ...sealedColumns,
  verification: 'text',
  receipt: 'text',
  ...positionColumns,
  /** How its intent ended: ERRORED, or FINALIZED. */
  errored: 'boolean',
} as const

const insertEvidence = rowsInto('execution_evidence', evidenceColumns)

/** A verification or a receipt that is appended to a record: from ordinal 2 on. */
const appendedColumns = { businessTransactionId: 'uuid', ordinal: 'integer', body: 'text' } as const
export type AppendedRow = RowOf<typeof appendedColumns>

export const appendVerifications = rowsInto('appended_verifications', appendedColumns)
const insertReceipts = rowsInto('appended_receipts', { ...appendedColumns, ...positionColumns })

/** Stores sealed executions. A unique violation means that a record already exists for an id. */
export function storeEvidence(rows: readonly RowOf<typeof evidenceColumns>[]): Statement[] {
  const shared = shareSignatures()
  const taken = rows.map((row) => ({
    ...row,
    seal: shared.takenFrom(row.seal),
    receipt: shared.takenFrom(row.receipt),
  }))
  return [...shared.statements(), ...insertEvidence(taken)]
}

export function appendReceipts(rows: readonly (AppendedRow & LogPosition)[]): Statement[] {
  const shared = shareSignatures()
  const receipts = rows.map((row) => ({ ...row, body: shared.takenFrom(row.body) }))
  return [...shared.statements(), ...insertReceipts(receipts)]
}

/** The texts of a record that `business_transactions` holds too, each in characters. */
export interface Copies {
  readonly authorization: number
  readonly transaction: number
}

// The first member of a record's canonical text, and the end behind its last but one.
const AUTHORIZATION = '{"authorization":'
const TRANSACTION = ',"transaction":'
const RECORD_ID = ',"trustRecordId":"00000000-0000-0000-0000-000000000000"}'

/**
 * The text of a record as it is stored: with null in the place of each copy. The view trust_records counts the same characters and puts the
 * copies back.
 *
 * @param body canonical text of a record
 * @returns `body` itself where the copies are not at their places: it is then stored whole
 */
export function withoutCopies(body: string, { authorization, transaction }: Copies): string {
  const end = body.length - RECORD_ID.length
  const between = body.slice(AUTHORIZATION.length + authorization, Math.max(0, end - transaction))
  const isRecord =
    body.startsWith(`${AUTHORIZATION}{`) &&
    between.startsWith(',"businessTransactionId":"') &&
    between.endsWith(TRANSACTION)
  return isRecord ? `${AUTHORIZATION}null${between}null${body.slice(end)}` : body
}

/** How many verifications and receipts a record's own reply holds (decisions §12); GET /verifications/{id} and /receipts/{id} list all. */
const SHOWN_MAX = 100

/** How many verifications and receipts one record takes (docs/design-notes.md "Growth"). */
export const APPENDED_MAX = { verifications: 10_000, receipts: 1_000 } as const

export type AppendedTable = 'verifications' | 'receipts'

/** SQL of the first verification or receipt of a record `item`. */
const firstOf = { verifications: 'item.verification', receipts: 'item.receipt' } as const

// These statements read the tables below the views: Citus would copy everything that a view unites to the coordinator for each page.
const newestOf = (table: AppendedTable) => `
  SELECT a.body, a.ordinal FROM appended_${table} AS a
  WHERE a.business_transaction_id = item.business_transaction_id ORDER BY a.ordinal DESC LIMIT ${SHOWN_MAX}`

/**
 * `<count>:<texts>` of the newest, as one value: an array of texts took most of the time of an export, in its quoting. The last
 * ordinal is the count, because ordinals go from 1 without a gap.
 */
const shownOf = (table: AppendedTable) => `
  (SELECT coalesce(max(newest.ordinal), 1) || ':' || nullif(concat_ws(',', CASE WHEN count(*) < ${SHOWN_MAX} THEN ${firstOf[table]} END,
      string_agg(newest.body, ',' ORDER BY newest.ordinal)), '')
    FROM (${newestOf(table)}) AS newest) AS ${table}`

/** An upper bound of the bytes that `shownOf` shows. */
const bytesOf = (table: AppendedTable) => `
  coalesce(${wholeBytes(firstOf[table])}, 0) + coalesce((SELECT sum(${wholeBytes('newest.body')}) FROM (${newestOf(table)}) AS newest), 0)`

const WHOLE = `item.body, item.seal, ${shownOf('verifications')}, ${shownOf('receipts')}`

interface StoredWhole extends Sealed {
  readonly verifications: string | null
  readonly receipts: string | null
}

function wholeRecord({ body, seal, ...stored }: StoredWhole): WholeRecord {
  const [verifications, receipts] = [appended(stored.verifications), appended(stored.receipts)]
  return {
    body,
    seal,
    verifications: verifications.texts,
    receipts: receipts.texts,
    ...(verifications.count > SHOWN_MAX ? { verificationCount: verifications.count } : {}),
    ...(receipts.count > SHOWN_MAX ? { receiptCount: receipts.count } : {}),
  }
}

function appended(stored: string | null): { readonly texts: string; readonly count: number } {
  if (stored === null) return { texts: '', count: 0 }
  const end = stored.indexOf(':')
  return { texts: stored.slice(end + 1), count: Number(stored.slice(0, end)) }
}

/** A record with its newest verifications and receipts; null when there is none or `callerId` (null: anyone) does not own it. */
export async function readTrustRecord(
  sql: Sql,
  id: string,
  callerId: string | null,
): Promise<WholeRecord | null> {
  const result = await sql.query<StoredWhole>({
    name: 'trust_records_read',
    text: `
      SELECT ${WHOLE} FROM trust_records AS item
      WHERE item.business_transaction_id = $1::uuid AND ($2::text IS NULL OR item.caller_id = $2::text)`,
    values: [id, callerId],
  })
  const [record] = await withSignatures(sql, result.rows.map(wholeRecord))
  return record ?? null
}

/** Records as they were sent, with the signatures that they and their receipts share with others. */
async function withSignatures<Part extends Sealed & { receipts?: string }>(
  sql: Sql,
  records: readonly Part[],
): Promise<Part[]> {
  const texts = await withSharedSignatures(
    sql,
    records.flatMap(({ seal, receipts = '' }) => [seal, receipts]),
  )
  return records.map((record, i) => ({
    ...record,
    seal: texts[2 * i] as string,
    ...(record.receipts === undefined ? {} : { receipts: texts[2 * i + 1] as string }),
  }))
}

/** A page of whole records, newest first. */
export async function listTrustRecords(
  sql: Sql,
  range: PageRange,
  of: OwnedRange,
): Promise<Page<WholeRecord>> {
  const page = await readOwnedPage<StoredWhole>(
    sql,
    {
      table: 'trust_records',
      bytes: `item.body_bytes + ${wholeBytes('item.seal')} + ${bytesOf('verifications')} + ${bytesOf('receipts')}`,
      columns: WHOLE,
    },
    range,
    of,
  )
  return { ...page, rows: await withSignatures(sql, page.rows.map(wholeRecord)) }
}

/**
 * A page of a record's verifications or receipts, newest first.
 *
 * @param range `after` continues behind that ordinal; null: from the newest
 * @returns null where there is no such record for `callerId` (null: anyone's)
 */
export async function listAppended(
  sql: Sql,
  table: AppendedTable,
  { id, callerId }: { readonly id: string; readonly callerId: string | null },
  {
    limit,
    offset,
    after,
  }: { readonly limit: number; readonly offset: number; readonly after: number | null },
): Promise<{ readonly texts: readonly string[]; readonly next: number | null } | null> {
  // The record's own row comes first, so that a record without entries differs from no record.
  const { rows } = await sql.query<{ ordinal: number | null; body: string | null }>({
    name: `${table}_list`,
    text: `
      SELECT newest.ordinal, newest.body
      FROM trust_records AS t LEFT JOIN (
        SELECT a.business_transaction_id, a.ordinal, a.body FROM ${table} AS a
        WHERE a.business_transaction_id = $1::uuid AND ($5::integer IS NULL OR a.ordinal < $5::integer)
        ORDER BY a.ordinal DESC LIMIT $3::integer OFFSET $4::integer
      ) AS newest ON newest.business_transaction_id = t.business_transaction_id
      WHERE t.business_transaction_id = $1::uuid AND ($2::text IS NULL OR t.caller_id = $2::text)
      ORDER BY newest.ordinal DESC`,
    values: [id, callerId, limit + 1, offset, after],
  })
  if (rows.length === 0) return null
  const shown = rows.slice(0, limit)
  return {
    texts: await withSharedSignatures(
      sql,
      shown.flatMap(({ body }) => body ?? []),
    ),
    next: shown.length < rows.length ? (shown.at(-1)?.ordinal ?? null) : null,
  }
}

/** A record, and the owner who asks for it; `owner` null: any owner's. */
interface RecordKey {
  readonly id: string
  readonly owner: string | null
}

/**
 * Reads the records of a batch. Owner and order are decided here and not by a join over the ids: Citus joins distributed tables only
 * by their own column.
 *
 * @returns in the order of `keys`; undefined where there is none or it belongs to another owner
 */
export async function readEvidence(sql: Sql, keys: readonly RecordKey[]): Promise<(Sealed | undefined)[]> {
  if (keys.length === 0) return []
  const { rows } = await sql.query<Sealed & { id: string; callerId: string }>({
    name: 'trust_records_evidence',
    text: `
      SELECT business_transaction_id AS id, caller_id AS "callerId", body, seal
      FROM trust_records WHERE business_transaction_id = ANY($1::uuid[])`,
    values: [[...new Set(keys.map(({ id }) => id))]],
  })
  const stored = new Map((await withSignatures(sql, rows)).map((row) => [row.id, row]))
  return keys.map(({ id, owner }) => {
    const row = stored.get(id)
    return owner === null || row?.callerId === owner ? row : undefined
  })
}

/**
 * Locks records against others that append to them, until the end of the transaction. One statement for each id, because Citus locks rows
 * of one shard at a time; they are sent together.
 *
 * @param ids in the one order in which all batches lock, so that two batches never deadlock
 */
export async function lockRecords(transaction: Transaction, ids: readonly string[]): Promise<void> {
  await transaction.run(
    ids.map((id) => ({
      name: 'trust_records_lock',
      text: `SELECT 1 FROM trust_records WHERE business_transaction_id = $1::uuid FOR NO KEY UPDATE`,
      rows: [[id]],
      returns: { one: asText },
    })),
  )
}

/** The last verification or receipt of each record that has one. The records are locked, so that the next ordinal is free. */
export async function readLast(
  sql: Sql,
  table: AppendedTable,
  ids: readonly string[],
): Promise<Map<string, AppendedRow>> {
  const result = await sql.query<AppendedRow>({
    name: `${table}_last`,
    // Beside the record's own row: on Citus a lateral subquery finds its rows only from a row of the same shard.
    text: `
      SELECT r.business_transaction_id AS "businessTransactionId", last.ordinal, last.body
      FROM trust_records AS r CROSS JOIN LATERAL (
        SELECT a.ordinal, a.body FROM ${table} AS a
        WHERE a.business_transaction_id = r.business_transaction_id ORDER BY a.ordinal DESC LIMIT 1
      ) AS last
      WHERE r.business_transaction_id = ANY($1::uuid[])`,
    values: [ids],
  })
  return new Map(result.rows.map((row) => [row.businessTransactionId, row]))
}

/** The bodies of stored records by id, for a writer that must know whether a record that it finds is its own. */
export async function readRecordBodies(sql: Sql, ids: readonly string[]): Promise<Map<string, string>> {
  const result = await sql.query<{ business_transaction_id: string; body: string }>({
    name: 'trust_records_bodies',
    text: `SELECT business_transaction_id, body FROM trust_records WHERE business_transaction_id = ANY($1::uuid[])`,
    values: [ids],
  })
  return new Map(result.rows.map((row) => [row.business_transaction_id, row.body]))
}

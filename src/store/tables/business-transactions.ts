// business_transactions: every transaction that passed validation, as stored and signed (interface §2.1).
import { readOwnedPage, type Page, type PageRange } from './page.ts'
import { positionColumns, unlogged, type LogPosition } from './log-queue.ts'
import { columnsOf, overRows, type Columns } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'
import { asText, type Statement } from '../postgres/statement-batch.ts'
import type { Transaction } from '../postgres/transaction.ts'

/** A row, with the place in the log of its authorization. */
export interface BusinessTransactionRow extends LogPosition {
  /** Lower case. */
  readonly businessTransactionId: string
  readonly callerId: string
  /** ISO 8601. */
  readonly createdAt: string
  /** Canonical text. */
  readonly body: string
  /** Canonical text of the signed execution authorization, whose nonce this row consumes; null where none was released. */
  readonly executionAuthorization: string | null
  /** Milliseconds from the release until it is in doubt, if it is still open; null likewise. The database adds them to its own time. */
  readonly inDoubtAfterMs: number | null
}

const columns = {
  business_transaction_id: ['uuid', (row) => row.businessTransactionId],
  caller_id: ['text', (row) => row.callerId],
  created_at: ['timestamptz', (row) => row.createdAt],
  body: ['text', (row) => row.body],
  execution_authorization: ['text', (row) => row.executionAuthorization],
  deadline: [`integer * interval '1 ms' + statement_timestamp()`, (row) => row.inDoubtAfterMs],
  ...columnsOf(positionColumns),
} satisfies Columns<BusinessTransactionRow>

/**
 * Claims ids, once across all instances: the unique index decides. A claim of an id that another transaction is inserting waits for that
 * transaction to end.
 * @param rows sorted by id, each id once: two batches that insert in different orders would deadlock on each other's ids
 * @returns statements that fail with a unique violation (`taken`) where any id was claimed before: then none of them is
 */
export const claimAllTransactions = overRows<BusinessTransactionRow>({
  name: 'business_transactions_claim_all',
  text: `
    INSERT INTO business_transactions ($columns) VALUES $rows`,
  columns,
})

const claim = overRows<BusinessTransactionRow, { id: string }>({
  name: 'business_transactions_claim',
  text: `
    INSERT INTO business_transactions ($columns)
    VALUES $rows
    ON CONFLICT DO NOTHING
    RETURNING business_transaction_id`,
  columns,
  returns: { id: asText },
})

/**
 * Claims those of the ids that are free, as `claimAllTransactions`.
 * @returns the ids that this call claimed
 */
export async function claimTransactions(
  transaction: Transaction,
  rows: readonly BusinessTransactionRow[],
): Promise<Set<string>> {
  const claimed = await transaction.run(claim(rows))
  return new Set(claimed.flat().map(({ id }) => id))
}

/** Corrects the places in the log of authorizations. One statement for each, by its key: on Citus one shard has it. */
export function placeAuthorizations(rows: readonly BusinessTransactionRow[]): Statement[] {
  const authorized = rows.filter(({ executionAuthorization }) => executionAuthorization !== null)
  return authorized.map(({ businessTransactionId: id, logBatch, logOrdinal }) => ({
    name: 'business_transactions_place',
    text: `
      UPDATE business_transactions SET log_batch = $2::uuid, log_ordinal = $3::smallint WHERE business_transaction_id = $1::uuid`,
    rows: [[id, logBatch, logOrdinal]],
  }))
}

/**
 * Holds the place of an id until the end of the transaction: a claim of it waits meanwhile.
 * @returns statements that fail with a unique violation (`taken`) where it is claimed
 */
export function holdPlace(id: string): Statement[] {
  const none = { callerId: '', body: '', executionAuthorization: null, inDoubtAfterMs: null, ...unlogged }
  return [
    ...claimAllTransactions([{ businessTransactionId: id, createdAt: 'epoch', ...none }]),
    {
      name: 'business_transactions_give_back',
      text: 'DELETE FROM business_transactions WHERE business_transaction_id = $1::uuid',
      rows: [[id]],
    },
  ]
}

/** Whether an id is used. A claim that has not committed yet is not seen. */
export async function isClaimed(sql: Sql, id: string): Promise<boolean> {
  const result = await sql.query({
    name: 'business_transactions_claimed',
    text: `SELECT FROM business_transactions WHERE business_transaction_id = $1::uuid`,
    values: [id],
  })
  return result.rows.length > 0
}

/** The signed execution authorization that a transaction's row holds, canonical text; null where it has none, or there is no row. */
export async function readAuthorization(sql: Sql, id: string): Promise<string | null> {
  const { rows } = await sql.query<{ authorization: string | null }>({
    name: 'business_transactions_authorization',
    text: `
      SELECT execution_authorization AS "authorization" FROM business_transactions WHERE business_transaction_id = $1::uuid`,
    values: [id],
  })
  return rows[0]?.authorization ?? null
}

/** One transaction's canonical text; null when there is none or `callerId` does not own it. `callerId` null reads any owner's. */
export async function readTransaction(sql: Sql, id: string, callerId: string | null): Promise<string | null> {
  const result = await sql.query<{ body: string }>({
    name: 'business_transactions_read',
    text: `
      SELECT body FROM business_transactions
      WHERE business_transaction_id = $1::uuid AND ($2::text IS NULL OR caller_id = $2::text)`,
    values: [id, callerId],
  })
  return result.rows[0]?.body ?? null
}

/** A page of canonical texts, newest first. `callerId` null lists every owner's. */
export function listTransactions(
  sql: Sql,
  range: PageRange,
  callerId: string | null,
): Promise<Page<{ readonly body: string }>> {
  return readOwnedPage(
    sql,
    { table: 'business_transactions', bytes: 'octet_length(item.body)', columns: 'item.body' },
    range,
    { callerId, since: null, until: null },
  )
}

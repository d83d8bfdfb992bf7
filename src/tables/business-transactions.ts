// business_transactions: every transaction that passed validation, as stored and signed (interface §2.1).
import { idsIn, stepsOf, type RowsStatement } from './rows.ts'
import type { Sql } from './sql.ts'
import type { Transaction } from './transaction.ts'

export interface BusinessTransactionRow {
  /** Lower case. */
  readonly businessTransactionId: string
  readonly callerId: string
  /** ISO 8601. */
  readonly createdAt: string
  /** Canonical text. */
  readonly body: string
  /** Canonical text of the signed execution authorization, null where none was released. */
  readonly executionAuthorization: string | null
}

const claim: RowsStatement<BusinessTransactionRow> = {
  name: 'business_transactions_claim',
  text: `
    INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body, execution_authorization)
    VALUES $rows
    ON CONFLICT DO NOTHING
    RETURNING business_transaction_id`,
  types: ['uuid', 'text', 'timestamptz', 'text', 'text'],
  values: (row) => [
    row.businessTransactionId,
    row.callerId,
    row.createdAt,
    row.body,
    row.executionAuthorization,
  ],
}

/**
 * Claims ids, once across all instances: the unique index decides, and a claim of an id that another transaction is inserting
 * waits for that one's end.
 * in   rows sorted by id, each id once: two batches that insert in different orders would deadlock on each other's ids
 * out  the ids that this call claimed
 */
export async function claimTransactions(
  transaction: Transaction,
  rows: readonly BusinessTransactionRow[],
): Promise<Set<string>> {
  return idsIn(await transaction.run(stepsOf(claim, rows)))
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

/**
 * A page of canonical texts, newest first. `callerId` null lists every owner's. The rows of the page are found in an index before any
 * text is read: a page far down costs its depth in index entries, not in texts.
 */
export async function listTransactions(
  sql: Sql,
  page: { callerId: string | null; limit: number; offset: number },
): Promise<string[]> {
  // Two statements, not one with `$1 IS NULL OR`: each has its own index, and a generic plan can use it.
  const own = page.callerId !== null
  const result = await sql.query<{ body: string }>({
    name: own ? 'business_transactions_list_own' : 'business_transactions_list_all',
    text: `
      SELECT t.body
      FROM (
        SELECT created_at, business_transaction_id FROM business_transactions
        ${own ? 'WHERE caller_id = $3::text' : ''}
        ORDER BY created_at DESC, business_transaction_id DESC LIMIT $1::integer OFFSET $2::integer
      ) AS page JOIN business_transactions AS t USING (business_transaction_id)
      ORDER BY page.created_at DESC, page.business_transaction_id DESC`,
    values: own ? [page.limit, page.offset, page.callerId] : [page.limit, page.offset],
  })
  return result.rows.map((row) => row.body)
}

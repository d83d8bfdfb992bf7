// refusal_records: the signed account of a transaction that was not executed (decisions §4 "Refusal Record").
import { sealedColumns, type Sealed } from './sealed.ts'
import { positionColumns } from './log-queue.ts'
import type { CatalogueEntry } from './catalogue-entries.ts'
import { PAGE_BYTES_MAX, readOwnedPage, type OwnedRange, type Page, type PageRange } from './page.ts'
import { rowsInto } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'

/** Runs in the transaction that claims their ids. */
export const insertRefusals = rowsInto('refusal_records', { ...sealedColumns, ...positionColumns })

/** A refusal of the caller `callerId` and its transaction, as they were stored; null where there is none. */
export async function readRefusedTransaction(
  sql: Sql,
  id: string,
  callerId: string,
): Promise<{ readonly refusal: string; readonly transaction: string } | null> {
  const result = await sql.query<{ refusal: string; transaction: string }>({
    name: 'refusal_records_with_transaction',
    text: `
      SELECT f.body AS refusal, t.body AS transaction
      FROM refusal_records AS f JOIN business_transactions AS t USING (business_transaction_id)
      WHERE f.business_transaction_id = $1::uuid AND t.caller_id = $2::text`,
    values: [id, callerId],
  })
  return result.rows[0] ?? null
}

/** A page of refusals, newest first. */
export function listRefusals(sql: Sql, range: PageRange, of: OwnedRange): Promise<Page<Sealed>> {
  return readOwnedPage(
    sql,
    {
      table: 'refusal_records',
      bytes: 'octet_length(item.body) + octet_length(item.seal)',
      columns: 'item.body, item.seal',
    },
    range,
    of,
  )
}

/** The refusals of a page of the catalogue, which ends where their texts would exceed the bytes of a page. */
export async function readRefusalsOf(sql: Sql, { rows, next }: Page<CatalogueEntry>): Promise<Page<Sealed>> {
  const sizes = await sql.query<{ id: string; bytes: number }>({
    name: 'refusal_records_sizes',
    text: `
      SELECT business_transaction_id AS id, octet_length(body) + octet_length(seal) AS bytes
      FROM refusal_records WHERE business_transaction_id = ANY ($1::uuid[])`,
    values: [idsOf(rows)],
  })
  const bytes = new Map(sizes.rows.map((row) => [row.id, row.bytes]))
  let sum = 0
  const end = rows.findIndex(
    ({ businessTransactionId: id }, i) => (sum += bytes.get(id) ?? 0) > PAGE_BYTES_MAX && i > 0,
  )
  const shown = end === -1 ? rows : rows.slice(0, end)
  const { rows: found } = await sql.query<Sealed & { id: string }>({
    name: 'refusal_records_of',
    text: `
      SELECT business_transaction_id AS id, body, seal FROM refusal_records WHERE business_transaction_id = ANY ($1::uuid[])`,
    values: [idsOf(shown)],
  })
  const byId = new Map(found.map(({ id, ...sealed }) => [id, sealed]))
  const last = shown.at(-1)
  return {
    rows: idsOf(shown).flatMap((id) => byId.get(id) ?? []),
    next:
      end === -1 || last === undefined ? next : { createdAt: last.decidedAt, id: last.businessTransactionId },
  }
}

function idsOf(entries: readonly CatalogueEntry[]): string[] {
  return entries.map(({ businessTransactionId }) => businessTransactionId)
}

/** A refusal; null when there is none or `callerId` (null: anyone) does not own it. */
export async function readRefusal(sql: Sql, id: string, callerId: string | null): Promise<Sealed | null> {
  const result = await sql.query<Sealed>({
    name: 'refusal_records_read',
    text: `
      SELECT body, seal FROM refusal_records
      WHERE business_transaction_id = $1::uuid AND ($2::text IS NULL OR caller_id = $2::text)`,
    values: [id, callerId],
  })
  return result.rows[0] ?? null
}

// catalogue_entries: a narrow row for each execution that has ended, was refused or is in doubt, by which people find it
// (docs/design-notes.md "The catalogue"). Made by src/core/catalogue/row.ts; nothing in it is evidence.
import type { CatalogueStatus } from '../../formats/schemas/catalogue.ts'
import type { Resolution } from '../../formats/schemas/intent-states.ts'
import { overRows, type Columns } from '../postgres/rows.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

export interface CatalogueEntry {
  readonly businessTransactionId: string
  readonly status: CatalogueStatus
  /** How a statement closed it, without evidence; null: no statement did. */
  readonly resolution: Resolution | null
  /** ISO 8601, as all times. */
  readonly decidedAt: string
  readonly completedAt: string | null
  readonly callerId: string
  readonly principalId: string
  readonly capability: string
  readonly target: string
  readonly policyName: string
  readonly policyVersion: string
  readonly rule: string | null
  readonly summary: string | null
  /** A decimal number. */
  readonly amount: string | null
  readonly currency: string | null
  /** The approval request whose approvals it used up. */
  readonly requestId: string | null
  /** For a refusal: whether approvals would have lifted it. Null: it was not refused, or a release before wrote the entry. */
  readonly approvable: boolean | null
}

/** An entry with the text that it is found by, lower case. */
export interface CatalogueRow extends CatalogueEntry {
  readonly search: string
}

const columns = {
  business_transaction_id: ['uuid', (row) => row.businessTransactionId],
  status: ['text', (row) => row.status],
  resolution: ['text', (row) => row.resolution],
  decided_at: ['timestamptz', (row) => row.decidedAt],
  completed_at: ['timestamptz', (row) => row.completedAt],
  caller_id: ['text', (row) => row.callerId],
  principal_id: ['text', (row) => row.principalId],
  capability: ['text', (row) => row.capability],
  target: ['text', (row) => row.target],
  policy_name: ['text', (row) => row.policyName],
  policy_version: ['text', (row) => row.policyVersion],
  rule: ['text', (row) => row.rule],
  summary: ['text', (row) => row.summary],
  amount: ['numeric', (row) => row.amount],
  currency: ['text', (row) => row.currency],
  request_id: ['uuid', (row) => row.requestId],
  approvable: ['boolean', (row) => row.approvable],
  search: ['text', (row) => row.search],
} satisfies Columns<CatalogueRow>

const names = Object.keys(columns)

/** Stores rows in place of those that the same executions have. */
export const putEntries = overRows<CatalogueRow>({
  name: 'catalogue_entries_put',
  text: `
    INSERT INTO catalogue_entries ($columns) VALUES $rows
    ON CONFLICT (business_transaction_id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  columns,
})

/** SQL: the members of an entry `item`. */
export const ENTRY = `
  item.business_transaction_id AS "businessTransactionId", item.status, item.resolution, ${isoTime('item.decided_at')} AS "decidedAt",
  ${isoTime('item.completed_at')} AS "completedAt", item.caller_id AS "callerId", item.principal_id AS "principalId", item.capability,
  item.target, item.policy_name AS "policyName", item.policy_version AS "policyVersion", item.rule, item.summary,
  trim_scale(item.amount)::text AS amount, item.currency, item.request_id AS "requestId", item.approvable`

/** The rows of executions, by id. */
export async function readEntries(sql: Sql, ids: readonly string[]): Promise<Map<string, CatalogueRow>> {
  const { rows } = await sql.query<CatalogueRow>({
    name: 'catalogue_entries_read',
    text: `SELECT ${ENTRY}, item.search FROM catalogue_entries AS item WHERE item.business_transaction_id = ANY ($1::uuid[])`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.businessTransactionId, row]))
}

/** Refusals that a release before wrote, without `approvable`. */
const UNFILLED = `status = 'refused' AND approvable IS NULL`

/** SQL: whether there are entries that a release before wrote. */
export const ANY_UNFILLED = `EXISTS (SELECT FROM catalogue_entries WHERE ${UNFILLED})`

/** Their ids, `limit` at most. */
export async function listUnfilled(sql: Sql, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'catalogue_entries_unfilled',
    text: `SELECT business_transaction_id AS id FROM catalogue_entries WHERE ${UNFILLED} LIMIT $1::integer`,
    values: [limit],
  })
  return rows.map(({ id }) => id)
}

/** Marks entries as filled in that nothing stored could fill in. */
export async function markFilled(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql.query({
    name: 'catalogue_entries_mark_filled',
    text: 'UPDATE catalogue_entries SET approvable = false WHERE business_transaction_id = ANY ($1::uuid[])',
    values: [ids],
  })
}

/** Deletes entries of executions that were decided before a time, `limit` at most. @returns how many there were */
export async function pruneEntries(
  sql: Sql,
  { before, limit }: { readonly before: string; readonly limit: number },
): Promise<number> {
  const { rowCount } = await sql.query({
    name: 'catalogue_entries_prune',
    text: `
      DELETE FROM catalogue_entries WHERE business_transaction_id IN (
        SELECT business_transaction_id FROM catalogue_entries WHERE decided_at < $1::timestamptz
        ORDER BY decided_at, business_transaction_id LIMIT $2::integer)`,
    values: [before, limit],
  })
  return rowCount ?? 0
}

export async function countEntries(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ count: string }>('SELECT count(*) AS count FROM catalogue_entries')
  return Number(rows[0]?.count)
}

export async function deleteAllEntries(sql: Sql): Promise<void> {
  await sql.query('TRUNCATE catalogue_entries')
}

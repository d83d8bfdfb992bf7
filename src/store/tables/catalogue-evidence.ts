// The stored evidence of executions, as the catalogue reads it. On Citus they are co-located; transitions are on the coordinator.
import type { IntentState, Resolution } from '../../formats/schemas/intent-states.ts'
import { readTransitions } from './intent-transitions.ts'
import type { BuildingBelow } from './catalogue-state.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

export interface StoredExecution {
  readonly id: string
  readonly callerId: string
  /** ISO 8601, as all times. */
  readonly decidedAt: string
  /** Canonical text. */
  readonly transaction: string
  /** Canonical text of the record without its copies; null: none. */
  readonly record: string | null
  readonly recordedAt: string | null
  /** Canonical text; null: none. */
  readonly refusal: string | null
  /** When it was found in doubt; null: it was not, or has been closed. */
  readonly doubtedAt: string | null
  /** How the release before closed its intent. */
  readonly closedBefore: {
    readonly state: IntentState
    readonly at: string
    readonly resolution: Resolution | null
  } | null
  /** Canonical text of the newest signed transition of its intent; null: none. */
  readonly transition: string | null
}

type StoredRow = Omit<StoredExecution, 'transition' | 'closedBefore'> & {
  readonly stateBefore: IntentState | null
  readonly atBefore: string | null
  readonly resolutionBefore: Resolution | null
}

/** @returns the executions that exist, in no order */
export async function readStoredExecutions(sql: Sql, ids: readonly string[]): Promise<StoredExecution[]> {
  if (ids.length === 0) return []
  const { rows } = await sql.query<StoredRow>({
    name: 'catalogue_evidence_read',
    text: `
      SELECT t.business_transaction_id AS id, t.caller_id AS "callerId", ${isoTime('t.created_at')} AS "decidedAt", t.body AS transaction,
        r.body AS record, ${isoTime('r.created_at')} AS "recordedAt", f.body AS refusal, ${isoTime('d.noticed_at')} AS "doubtedAt",
        nullif(b.state, 'RELEASED') AS "stateBefore", ${isoTime('b.closed_at')} AS "atBefore", b.resolution AS "resolutionBefore"
      FROM business_transactions AS t
        LEFT JOIN execution_evidence AS r ON r.business_transaction_id = t.business_transaction_id
        LEFT JOIN refusal_records AS f ON f.business_transaction_id = t.business_transaction_id
        LEFT JOIN in_doubt_intents AS d ON d.business_transaction_id = t.business_transaction_id
        LEFT JOIN execution_intents_before AS b ON b.business_transaction_id = t.business_transaction_id
      WHERE t.business_transaction_id = ANY ($1::uuid[])`,
    values: [ids],
  })
  // A record or a refusal is the end; any other execution may have ended by a signed transition.
  const others = rows.filter(({ record, refusal }) => record === null && refusal === null).map(({ id }) => id)
  const transitions = await readTransitions(sql, others)
  return rows.map(({ stateBefore: state, atBefore: at, resolutionBefore: resolution, ...row }) => ({
    ...row,
    closedBefore: state === null || at === null ? null : { state, at, resolution },
    transition: transitions.get(row.id)?.at(-1)?.body ?? null,
  }))
}

/** The next executions below one, newest first. @param since leaves out those decided before it, ISO 8601; null: no bound */
export async function listBelow(
  sql: Sql,
  { decidedAt, id }: BuildingBelow,
  { since, limit }: { readonly since: string | null; readonly limit: number },
): Promise<BuildingBelow[]> {
  const { rows } = await sql.query<BuildingBelow>({
    name: 'catalogue_evidence_below',
    text: `
      SELECT business_transaction_id AS id, ${isoTime('created_at', 'US')} AS "decidedAt" FROM business_transactions
      WHERE (created_at, business_transaction_id) < ($1::timestamptz, $2::uuid) AND created_at >= $3::timestamptz
      ORDER BY created_at DESC, business_transaction_id DESC LIMIT $4::integer`,
    values: [decidedAt, id, since ?? '-infinity', limit],
  })
  return rows
}

/** Whether an execution was decided before a time. No EXISTS: Citus would have a query of functions alone then. */
export async function anyDecidedBefore(sql: Sql, time: string): Promise<boolean> {
  const { rows } = await sql.query({
    name: 'catalogue_evidence_before',
    text: `SELECT business_transaction_id FROM business_transactions WHERE created_at < $1::timestamptz LIMIT 1`,
    values: [time],
  })
  return rows.length > 0
}

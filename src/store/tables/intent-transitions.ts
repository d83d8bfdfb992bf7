// intent_transitions: ends of intents that neither an authorization nor a record proves, signed on their own (decisions §8).
import type { Sealed } from './sealed.ts'
import { positionColumns, type LogPosition } from './log-queue.ts'
import { overRows } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'

export interface IntentTransitionRow extends Sealed {
  readonly transitionId: string
  readonly businessTransactionId: string
  /** ISO 8601. */
  readonly at: string
}

export const insertTransitions = overRows<IntentTransitionRow & LogPosition>({
  name: 'intent_transitions_insert',
  text: `
    INSERT INTO intent_transitions ($columns)
    VALUES $rows`,
  columns: {
    transition_id: ['uuid', (row) => row.transitionId],
    business_transaction_id: ['uuid', (row) => row.businessTransactionId],
    at: ['timestamptz', (row) => row.at],
    body: ['text', (row) => row.body],
    seal: ['text', (row) => row.seal],
    ...positionColumns,
  },
})

/** Those of each intent that has any, oldest first. */
export async function readTransitions(sql: Sql, ids: readonly string[]): Promise<Map<string, Sealed[]>> {
  if (ids.length === 0) return new Map()
  const result = await sql.query<Sealed & { id: string }>({
    name: 'intent_transitions_read',
    text: `
      SELECT business_transaction_id AS id, body, seal FROM intent_transitions
      WHERE business_transaction_id = ANY($1::uuid[]) ORDER BY business_transaction_id, at`,
    values: [ids],
  })
  return Map.groupBy(result.rows, ({ id }) => id)
}

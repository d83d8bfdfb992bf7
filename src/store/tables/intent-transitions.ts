// intent_transitions: ends of intents that neither an authorization nor a record proves, signed on their own (decisions §8).
import type { Sealed } from './sealed.ts'
import { positionColumns } from './log-queue.ts'
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'

const columns = {
  transitionId: 'uuid',
  businessTransactionId: 'uuid',
  at: 'timestamptz',
  body: 'text',
  seal: 'text',
  ...positionColumns,
} as const
export type IntentTransitionRow = RowOf<typeof columns>

export const insertTransitions = rowsInto('intent_transitions', columns)

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

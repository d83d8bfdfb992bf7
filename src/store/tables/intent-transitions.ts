// intent_transitions: ends of intents that neither an authorization nor a record proves, signed on their own (decisions §8).
import { intentTransition } from '../../formats/artifacts/intent-transition.ts'
import { artifactColumns, type Sealed } from './sealed.ts'
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'

const columns = artifactColumns(intentTransition)
export type IntentTransitionRow = RowOf<typeof columns>

export const insertTransitions = rowsInto(intentTransition.stored.table, columns)

/** Reads the transitions of each intent that has any, oldest first. */
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

// Intents that have not ended (decisions §8): under way or, past their deadline, in doubt. They are reported and are no error.
import type { IntentState } from '../../formats/schemas/intent-states.ts'
import { deadlineHasPassed } from '../../store/tables/execution-intents.ts'
import type { Sql } from '../../store/postgres/sql.ts'

/** If there are more, only their number is reported. */
const LISTED_MAX = 1_000

interface OpenIntent {
  readonly businessTransactionId: string
  readonly state: IntentState
  /** ISO 8601. */
  readonly deadline: string
  readonly inDoubt: boolean
}

export interface OpenIntents {
  readonly underWay: number
  readonly inDoubt: number
  /** Those with the earliest deadlines. */
  readonly listed: readonly OpenIntent[]
}

export async function readOpenIntents(sql: Sql): Promise<OpenIntents> {
  const open = `FROM execution_intents AS i WHERE state IN ('PREPARED', 'RELEASED')`
  const { rows: listed } = await sql.query<OpenIntent>(`
    SELECT business_transaction_id AS "businessTransactionId", state, ${deadlineHasPassed} AS "inDoubt",
      to_char(deadline AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS deadline
    ${open} ORDER BY i.deadline, business_transaction_id LIMIT ${LISTED_MAX}`)
  const { rows } = await sql.query<{ underWay: number; inDoubt: number }>(`
    SELECT count(*) FILTER (WHERE NOT ${deadlineHasPassed})::float8 AS "underWay",
      count(*) FILTER (WHERE ${deadlineHasPassed})::float8 AS "inDoubt" ${open}`)
  return { ...(rows[0] ?? { underWay: 0, inDoubt: 0 }), listed }
}

// Intents that have not ended (decisions §8): under way or, past their deadline, in doubt. They are reported and are no error.
import type { IntentState } from '../../formats/schemas/intent-states.ts'
import { deadlineHasPassed, openIntents } from '../../store/tables/released-batches.ts'
import { isoTime, type Sql } from '../../store/postgres/sql.ts'

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
  /** The intents with the earliest deadlines. */
  readonly listed: readonly OpenIntent[]
}

export async function readOpenIntents(sql: Sql): Promise<OpenIntents> {
  const { rows: listed } = await sql.query<OpenIntent>(`
    SELECT i.id AS "businessTransactionId", 'RELEASED' AS state, ${deadlineHasPassed} AS "inDoubt", ${isoTime('r.deadline')} AS deadline
    FROM ${openIntents} ORDER BY r.deadline, i.id LIMIT ${LISTED_MAX}`)
  const { rows } = await sql.query<{ underWay: number; inDoubt: number }>(`
    SELECT count(*) FILTER (WHERE NOT ${deadlineHasPassed})::float8 AS "underWay",
      count(*) FILTER (WHERE ${deadlineHasPassed})::float8 AS "inDoubt" FROM ${openIntents}`)
  return { ...(rows[0] ?? { underWay: 0, inDoubt: 0 }), listed }
}

// log_batches: where in a log the entries of a commit begin; log_lost: commits that a frozen log had taken out of the queue and never
// signed, until they are queued again.
import { rowsInto, type RowOf } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'

const columns = {
  batch: 'uuid',
  log: 'integer',
  /** The index of its first entry. */
  start: 'bigint',
  count: 'integer',
} as const
export type LoggedBatch = RowOf<typeof columns>

export const insertBatches = rowsInto('log_batches', columns)

/**
 * Takes the commits that no signed checkpoint covers out of a log.
 * @param signedSize of its newest signed checkpoint
 */
export async function loseUnsigned(
  sql: Sql,
  { log, signedSize }: { readonly log: number; readonly signedSize: number },
): Promise<void> {
  await sql.query({
    text: `
      WITH unsigned AS (
        DELETE FROM log_batches WHERE log = $1::integer AND start + count > $2::bigint RETURNING batch)
      INSERT INTO log_lost (batch) SELECT batch FROM unsigned`,
    values: [log, signedSize],
  })
}

/** Whether a lost commit waits to be queued again: `reopen` was interrupted, or could not read or lock a row. */
export async function anyLost(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ any: boolean }>('SELECT EXISTS (SELECT FROM log_lost) AS any')
  return rows[0]?.any === true
}

/** Call it once all lost commits are queued again. */
export async function forgetLost(sql: Sql): Promise<void> {
  await sql.query('DELETE FROM log_lost')
}

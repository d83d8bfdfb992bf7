// log_batches: where in a log the entries of a commit begin.
import type { CheckpointRow } from './log-checkpoints.ts'
import { stepsOf, type RowsStatement } from './rows.ts'
import type { Sql } from './sql.ts'
import type { Step } from './statement-batch.ts'

export interface LoggedBatch {
  /** UUID. */
  readonly batch: string
  readonly log: number
  /** The index of its first entry. */
  readonly start: number
  readonly count: number
}

const insert: RowsStatement<LoggedBatch> = {
  name: 'log_batches_insert',
  text: 'INSERT INTO log_batches (batch, log, start, count) VALUES $rows',
  types: ['uuid', 'integer', 'bigint', 'integer'],
  values: ({ batch, log, start, count }) => [batch, log, start, count],
}

export function insertBatches(rows: readonly LoggedBatch[]): Step[] {
  return stepsOf(insert, rows)
}

/** Where a commit's entries are, and the newest checkpoint of their log. */
export interface PlacedBatch extends LoggedBatch {
  /** Undefined where none was published. It may end before these entries. */
  readonly checkpoint: { readonly size: number; readonly note: string } | undefined
}

/**
 * Those of the batches that are in a log. All that are in one log get one checkpoint.
 * @param served `servedCheckpoint` of a log
 */
export async function placeBatches(
  sql: Sql,
  batches: readonly string[],
  served: (log: number) => Promise<CheckpointRow | undefined>,
): Promise<ReadonlyMap<string, PlacedBatch>> {
  const { rows } = await sql.query<{
    batch: string
    log: number
    start: string
    count: number
  }>({
    name: 'log_batches_place',
    text: `
      SELECT batch, log, start, count FROM log_batches WHERE batch = ANY ($1::uuid[])`,
    values: [batches],
  })
  const logs = [...new Set(rows.map(({ log }) => log))]
  const checkpoints = new Map(await Promise.all(logs.map(async (log) => [log, await served(log)] as const)))
  return new Map(
    rows.map(({ batch, log, start, count }) => [
      batch,
      { batch, log, start: Number(start), count, checkpoint: checkpoints.get(log) },
    ]),
  )
}

/** Undefined where it is not in a log yet. */
export async function readBatch(sql: Sql, batch: string): Promise<LoggedBatch | undefined> {
  const { rows } = await sql.query<{ log: number; start: string; count: number }>({
    name: 'log_batches_read',
    text: 'SELECT log, start, count FROM log_batches WHERE batch = $1::uuid',
    values: [batch],
  })
  const [row] = rows
  return row && { ...row, batch, start: Number(row.start) }
}

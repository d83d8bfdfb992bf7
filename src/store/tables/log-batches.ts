// log_batches: where in a log the entries of a commit begin.
import { rowsInto, type RowOf } from '../postgres/rows.ts'

const columns = {
  batch: 'uuid',
  log: 'integer',
  /** The index of its first entry. */
  start: 'bigint',
  count: 'integer',
} as const
export type LoggedBatch = RowOf<typeof columns>

export const insertBatches = rowsInto('log_batches', columns)

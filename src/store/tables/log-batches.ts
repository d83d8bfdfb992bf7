// log_batches: where in a log the entries of a commit begin.
import { overRows } from '../postgres/rows.ts'

export interface LoggedBatch {
  /** UUID. */
  readonly batch: string
  readonly log: number
  /** The index of its first entry. */
  readonly start: number
  readonly count: number
}

export const insertBatches = overRows<LoggedBatch>({
  name: 'log_batches_insert',
  text: 'INSERT INTO log_batches ($columns) VALUES $rows',
  columns: {
    batch: ['uuid', ({ batch }) => batch],
    log: ['integer', ({ log }) => log],
    start: ['bigint', ({ start }) => start],
    count: ['integer', ({ count }) => count],
  },
})

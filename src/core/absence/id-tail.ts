// log_id_tail: keys of the ids of entries that are in no run yet. Each append adds one or a few rows.
import { KEY_BYTES } from '../../formats/log/ids.ts'
import { overRows } from '../../store/postgres/rows.ts'
import { byteaText, type Sql } from '../../store/postgres/sql.ts'
import type { Statement } from '../../store/postgres/statement-batch.ts'

export interface IdTailRow {
  readonly log: number
  /** The index of the first entry. */
  readonly start: number
  /** Milliseconds since 1970. */
  readonly appendedAtMs: number
  /** 32 bytes for each entry from `start` on. */
  readonly keys: Uint8Array
}

export const insertIdTail = overRows<IdTailRow>({
  name: 'log_id_tail_insert',
  text: 'INSERT INTO log_id_tail ($columns) VALUES $rows',
  columns: {
    log: ['integer', ({ log }) => log],
    start: ['bigint', ({ start }) => start],
    appended_at: ['timestamptz', ({ appendedAtMs }) => new Date(appendedAtMs).toISOString()],
    keys: ['bytea', ({ keys }) => byteaText(keys)],
  },
})

/** Time at which the oldest row was stored; undefined when there is none. */
export async function oldestInIdTail(
  sql: Sql,
  log: number,
): Promise<Pick<IdTailRow, 'appendedAtMs'> | undefined> {
  const { rows } = await sql.query<{ at: Date }>({
    name: 'log_id_tail_oldest',
    text: 'SELECT appended_at AS at FROM log_id_tail WHERE log = $1::integer ORDER BY start LIMIT 1',
    values: [log],
  })
  return rows.map(({ at }) => ({ appendedAtMs: at.getTime() }))[0]
}

/** End of the last row that ends at or before `end`; if no row does, end of the first row. */
export async function wholeRowsOfIdTail(
  sql: Sql,
  { log, end }: { readonly log: number; readonly end: number },
): Promise<number> {
  const { rows } = await sql.query<{ end: string }>({
    name: 'log_id_tail_whole_rows',
    text: `
      WITH tail AS (
        SELECT start + octet_length(keys) / ${KEY_BYTES} AS row_end FROM log_id_tail
        WHERE log = $1::integer AND start < $2::bigint)
      SELECT coalesce(max(row_end) FILTER (WHERE row_end <= $2::bigint), min(row_end)) AS end FROM tail`,
    values: [log, end],
  })
  return Number(rows[0]!.end)
}

/** The rows of the entries [first, end), in order. */
export async function readIdTail(
  sql: Sql,
  { log, first, end }: { readonly log: number; readonly first: number; readonly end: number },
): Promise<{ start: number; keys: Buffer }[]> {
  const { rows } = await sql.query<{ start: string; keys: Buffer }>({
    name: 'log_id_tail_read',
    text: `
      SELECT start, keys FROM log_id_tail
      WHERE log = $1::integer AND start >= $2::bigint AND start < $3::bigint ORDER BY start`,
    values: [log, first, end],
  })
  return rows.map(({ start, keys }) => ({ start: Number(start), keys }))
}

/** Deletes the rows of entries that are in a run. */
export function deleteIdTailBefore(log: number, end: number): Statement[] {
  return [
    {
      name: 'log_id_tail_delete',
      text: 'DELETE FROM log_id_tail WHERE log = $1::integer AND start < $2::bigint',
      rows: [[log, end]],
    },
  ]
}

// log_tail: the entries after the last full bundle, a row for each append.
import { byteaText, type Sql } from '../postgres/sql.ts'
import type { Statement } from '../postgres/statement-batch.ts'

export interface TailRow {
  readonly log: number
  /** The index of the first entry. */
  readonly start: number
  /** As in a bundle. */
  readonly entries: Uint8Array
}

export function insertTail({ log, start, entries }: TailRow): Statement[] {
  return [
    {
      name: 'log_tail_insert',
      text: 'INSERT INTO log_tail (log, start, entries) VALUES ($1::integer, $2::bigint, $3::bytea)',
      rows: [[log, start, byteaText(entries)]],
    },
  ]
}

/** Deletes the rows of bundles that are full: they are in log_bundles. */
export function deleteTailBefore(log: number, end: number): Statement[] {
  return [
    {
      name: 'log_tail_delete',
      text: 'DELETE FROM log_tail WHERE log = $1::integer AND start < $2::bigint',
      rows: [[log, end]],
    },
  ]
}

/** All entries after the last full bundle, as in a bundle; empty where there are none. */
export async function readTail(sql: Sql, log: number): Promise<Buffer> {
  const { rows } = await sql.query<{ entries: Buffer | null }>({
    name: 'log_tail_read',
    text: `SELECT string_agg(entries, ''::bytea ORDER BY start) AS entries FROM log_tail WHERE log = $1::integer`,
    values: [log],
  })
  return rows[0]?.entries ?? Buffer.alloc(0)
}

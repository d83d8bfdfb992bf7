// log_streams: how many entries each stream of a log has.
import type { StreamHead } from '../log/heads.ts'
import { stepsOf, type RowsStatement } from './rows.ts'
import type { Sql } from './sql.ts'
import type { Step } from './statement-batch.ts'

const upsert: RowsStatement<StreamHead & { readonly log: number }> = {
  name: 'log_streams_upsert',
  text: `
    INSERT INTO log_streams (log, tag, n, last_index) VALUES $rows
    ON CONFLICT (log, tag) DO UPDATE SET n = excluded.n, last_index = excluded.last_index`,
  types: ['integer', 'bytea', 'bigint', 'bigint'],
  values: ({ log, tag, n, lastIndex }) => [log, `\\x${tag}`, n, lastIndex],
}

export function upsertStreams(log: number, heads: readonly StreamHead[]): Step[] {
  return stepsOf(
    upsert,
    heads.map((head) => ({ ...head, log })),
  )
}

/** All streams of a log. */
export async function readStreams(sql: Sql, log: number): Promise<StreamHead[]> {
  const { rows } = await sql.query<{ tag: string; n: string; last: string }>({
    name: 'log_streams_read',
    text: `SELECT encode(tag, 'hex') AS tag, n, last_index AS last FROM log_streams WHERE log = $1::integer`,
    values: [log],
  })
  return rows.map(({ tag, n, last }) => ({ tag, n: Number(n), lastIndex: Number(last) }))
}

// log_state: the logs of this database, one row for each. The newest is written to.
import { randomBytes } from 'node:crypto'
import type { Sql } from './sql.ts'

const SALT_BYTES = 32

/**
 * Starts the first log of a database that has none, whichever instance comes first.
 * @param name what stands before `/log/1` in its origin
 * @returns the origin of the newest log
 */
export async function openNewestLog(sql: Sql, name: string): Promise<string> {
  await sql.query({
    text: `INSERT INTO log_state (log, origin, salt) VALUES (1, $1::text, $2::bytea) ON CONFLICT DO NOTHING`,
    values: [`${name}/log/1`, randomBytes(SALT_BYTES)],
  })
  const { rows } = await sql.query<{ origin: string }>(
    'SELECT origin FROM log_state ORDER BY log DESC LIMIT 1',
  )
  if (rows[0] === undefined) throw new Error('log_state has no row')
  return rows[0].origin
}

// rate_buckets: what all instances together have spent of each budget (interface §8 rule 3). All times are the database's own.
import type { Sql } from './sql.ts'

export interface PermitsAsked {
  readonly key: string
  /** Whole; negative gives back. */
  readonly permits: number
}

interface PermitsGranted {
  readonly key: string
  /** As many as fit, 0 where none do. */
  readonly granted: number
  /** How far the budget is spent ahead after this, milliseconds; a minute is all of it. */
  readonly levelMs: number
}

/**
 * Reserves permits of several budgets of one limit, or gives them back, in one statement.
 * in    perMinute  the limit's
 *       asked      each key once, sorted: two instances lock the same rows in the same order
 * out   one for each key, in no order
 */
export async function takePermits(
  sql: Sql,
  { perMinute, asked }: { readonly perMinute: number; readonly asked: readonly PermitsAsked[] },
): Promise<PermitsGranted[]> {
  // - Rounded up to the microsecond, so that many small leases together are never more than the budget; a hundredth of an interval is
  //   let pass, so that seven times a seventh of a minute, each rounded, is still a minute.
  // - now() is when the statement began: after a wait for the row it is a little old, and grants a little less.
  // - An arrival further ahead than can be spent was written before the clock was set back, or a standby with another one took over.
  const result = await sql.query<PermitsGranted>({
    name: 'rate_buckets_take',
    text: `
      INSERT INTO rate_buckets AS bucket (key, tat, granted)
      SELECT key, now() + ceil(permits * $3::float8) * interval '1 microsecond', permits
      FROM unnest($1::text[], $2::bigint[]) AS asked (key, permits)
      ON CONFLICT (key) DO UPDATE SET (tat, granted) = (
        SELECT spent.tat + ceil(fit.permits * $3::float8) * interval '1 microsecond', fit.permits
        FROM
          (SELECT CASE WHEN bucket.tat > now() + interval '2 minutes' THEN now() + interval '1 minute'
            ELSE greatest(bucket.tat, now()) END) AS spent (tat),
          LATERAL (SELECT least(excluded.granted, greatest(0,
            floor((60000000 - extract(epoch FROM spent.tat - now())::float8 * 1000000) / $3::float8 + 0.01)
          )::bigint)) AS fit (permits))
      RETURNING key, granted::float8 AS granted, extract(epoch FROM tat - now())::float8 * 1000 AS "levelMs"`,
    values: [asked.map(({ key }) => key), asked.map(({ permits }) => permits), 60_000_000 / perMinute],
  })
  return result.rows
}

/** Deletes budgets that are whole again, which are the same as none; not those that are in use. out  how many, `max` at most */
export async function forgetWhole(sql: Sql, max: number): Promise<number> {
  const result = await sql.query({
    name: 'rate_buckets_forget',
    text: `
      DELETE FROM rate_buckets WHERE key = ANY(ARRAY(
        SELECT key FROM rate_buckets WHERE tat < now() LIMIT $1::integer FOR UPDATE SKIP LOCKED))`,
    values: [max],
  })
  return result.rowCount ?? 0
}

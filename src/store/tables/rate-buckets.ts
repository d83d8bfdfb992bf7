// rate_buckets: the theoretical arrival time (TAT) of each budget that instances share (interface §8 rule 3), in the database's clock.
import type { Sql } from '../postgres/sql.ts'

interface RequestsWanted {
  readonly key: string
  /** 0: only records the TAT that the instance knows. */
  readonly requests: number
  /** How far the TAT is at least ahead of now, as far as the instance knows; milliseconds, 0 or more. */
  readonly aheadMs: number
}

interface RequestsAllowed {
  readonly key: string
  /** How many of the requests fit. */
  readonly allowed: number
  /** How far the TAT is ahead of now after them, milliseconds; a minute is the whole budget. */
  readonly aheadMs: number
}

/**
 * Spends for requests of several keys of one limit, in one statement: GCRA as in `maybeSpend`, for many requests of a key at once.
 *
 * @param limit its name and its count per minute
 * @param wanted each key once, and no more requests than the limit allows after `aheadMs`
 * @returns one for each key, in no order
 */
export async function spendRequests(
  sql: Sql,
  {
    limit,
    wanted,
  }: { readonly limit: { name: string; perMinute: number }; readonly wanted: readonly RequestsWanted[] },
): Promise<RequestsAllowed[]> {
  // Two instances lock the same rows in the same order.
  const rows = wanted.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  // - Rounded up to the microsecond, so that the requests together are never more than the budget; a hundredth of an interval is let
  //   pass, so that seven times a seventh of a minute, each rounded, is still a minute.
  // - now() is when the statement began: after a wait for the row it is a little old, and allows a little less.
  // - A TAT further ahead than can be spent was written before the clock was set back, or a standby with another one took over.
  const result = await sql.query<RequestsAllowed>({
    name: 'rate_buckets_spend',
    text: `
      INSERT INTO rate_buckets AS bucket (key, tat, granted)
      SELECT key, now() + ahead * interval '1 millisecond' + ceil(requests * $4::float8) * interval '1 microsecond', requests
      FROM unnest($1::text[], $2::bigint[], $3::float8[]) AS wanted (key, requests, ahead)
      ON CONFLICT (key) DO UPDATE SET (tat, granted) = (
        SELECT start.tat + ceil(fit.requests * $4::float8) * interval '1 microsecond', fit.requests
        FROM
          (SELECT greatest(
            CASE WHEN bucket.tat > now() + interval '2 minutes' THEN now() + interval '1 minute' ELSE bucket.tat END,
            excluded.tat - ceil(excluded.granted * $4::float8) * interval '1 microsecond')) AS start (tat),
          LATERAL (SELECT least(excluded.granted, greatest(0,
            floor((60000000 - extract(epoch FROM start.tat - now())::float8 * 1000000) / $4::float8 + 0.01)
          )::bigint)) AS fit (requests))
      RETURNING key, granted::float8 AS allowed, extract(epoch FROM tat - now())::float8 * 1000 AS "aheadMs"`,
    values: [
      rows.map(({ key }) => `${limit.name}:${key}`),
      rows.map(({ requests }) => requests),
      rows.map(({ aheadMs }) => aheadMs),
      60_000_000 / limit.perMinute,
    ],
  })
  return result.rows.map((row) => ({ ...row, key: row.key.slice(limit.name.length + 1) }))
}

/**
 * Uses something once, in all instances: a budget of one request a minute, spent.
 * @param id may be used again later than a minute after its first use: its purpose must be over by then
 * @returns whether this is the first use
 */
export async function isFirstUse(sql: Sql, id: string): Promise<boolean> {
  const [spent] = await spendRequests(sql, {
    limit: { name: 'once', perMinute: 1 },
    wanted: [{ key: id, requests: 1, aheadMs: 0 }],
  })
  // An instance on the embedded database shares no limits, so nothing else deletes these rows there.
  await forgetWhole(sql, 2)
  return spent?.allowed === 1
}

/**
 * Remembers an id in all instances: a budget that is spent for some time ahead.
 * @param id 128 random bits, so that it is not in use yet
 */
export async function rememberFor(sql: Sql, id: string, ms: number): Promise<void> {
  await sql.query({
    name: 'rate_buckets_remember',
    text: `
      INSERT INTO rate_buckets (key, tat, granted)
      VALUES ('remembered:' || $1::text, now() + $2::integer * interval '1 millisecond', 0)`,
    values: [id, ms],
  })
  // As in isFirstUse.
  await forgetWhole(sql, 2)
}

/** @returns for how many more milliseconds it is remembered; 0 where it is not */
export async function rememberedMs(sql: Sql, id: string): Promise<number> {
  const { rows } = await sql.query<{ ms: number }>({
    name: 'rate_buckets_remembered',
    text: `
      SELECT extract(epoch FROM tat - now())::float8 * 1000 AS ms FROM rate_buckets
      WHERE key = 'remembered:' || $1::text AND tat > now()`,
    values: [id],
  })
  return rows[0]?.ms ?? 0
}

/**
 * Deletes budgets that are full again, which are the same as no row; locked ones are left.
 *
 * @returns how many, `max` at most
 */
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

// in_doubt_intents and sweep_horizon: the intents that were found in doubt, and up to which deadline was looked (decisions §8). Kept
// by the sweep (workers/intents/sweep.ts), so that a list of them reads no more than what is in doubt.
import type { Sql } from './sql.ts'

/** Times as PostgreSQL writes them, to the microsecond: a JavaScript date would be a little earlier. */
export interface SweepRange {
  /** Up to where was looked. */
  readonly horizon: string
  /** Where this look begins: a little before, for a deadline that was moved by a transaction that had not committed yet. */
  readonly after: string
  readonly until: string
  /** Nothing lies between `until` and now. */
  readonly isLast: boolean
}

/** in  lookBackMs  how much before the horizon */
export async function readSweepRange(sql: Sql, lookBackMs: number): Promise<SweepRange> {
  const result = await sql.query<SweepRange>({
    name: 'sweep_horizon_read',
    text: `
      SELECT deadline::text AS horizon, (deadline - $1::integer * interval '1 ms')::text AS after,
        until::text AS until, until = now() AS "isLast"
      FROM sweep_horizon, LATERAL (
        -- A day at a time: after a long stand-still, one look at everything could outlast its statement.
        SELECT CASE WHEN isfinite(deadline) THEN least(now(), deadline + interval '1 day') ELSE now() END AS until
      ) AS range`,
    values: [lookBackMs],
  })
  const [row] = result.rows
  if (row === undefined) throw new Error('sweep_horizon has lost its row')
  return row
}

/** Never back: another instance may have looked further. */
export async function advanceHorizon(sql: Sql, deadline: string): Promise<void> {
  await sql.query({
    name: 'sweep_horizon_advance',
    text: `UPDATE sweep_horizon SET deadline = $1::timestamptz WHERE deadline < $1::timestamptz`,
    values: [deadline],
  })
}

/** Notes intents as in doubt. out  those that were not noted yet */
export async function noteInDoubt(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const result = await sql.query<{ id: string }>({
    name: 'in_doubt_intents_note',
    text: `
      INSERT INTO in_doubt_intents (business_transaction_id, noticed_at)
      SELECT asked.id, now() FROM unnest($1::uuid[]) AS asked (id)
      ON CONFLICT DO NOTHING
      RETURNING business_transaction_id AS id`,
    values: [ids],
  })
  return new Set(result.rows.map(({ id }) => id))
}

/**
 * Takes out what is no longer RELEASED. OFFSET 0 keeps the look-up of each by its key: joined freely, a planner without statistics
 * of this small table may read all intents instead.
 * out  how many, `limit` at most
 */
export async function forgetClosed(sql: Sql, limit: number): Promise<number> {
  const result = await sql.query({
    name: 'in_doubt_intents_forget',
    text: `
      DELETE FROM in_doubt_intents WHERE business_transaction_id = ANY(ARRAY(
        SELECT d.business_transaction_id FROM in_doubt_intents AS d CROSS JOIN LATERAL (
          SELECT i.state FROM execution_intents AS i
          WHERE i.business_transaction_id = d.business_transaction_id OFFSET 0
        ) AS intent
        WHERE intent.state <> 'RELEASED' LIMIT $1::integer))`,
    values: [limit],
  })
  return result.rowCount ?? 0
}

/** How many are noted, `max` at most: for the metrics, which may be a sweep behind. */
export async function countInDoubt(sql: Sql, max: number): Promise<number> {
  const result = await sql.query<{ noted: number }>({
    name: 'in_doubt_intents_count',
    text: `
      SELECT count(*)::integer AS noted
      FROM (SELECT FROM in_doubt_intents LIMIT $1::integer) AS noted_ones`,
    values: [max],
  })
  return result.rows[0]?.noted ?? 0
}

/** At once where it was just closed by hand: the next sweep may be seconds away. */
export async function forget(sql: Sql, id: string): Promise<void> {
  await sql.query({
    name: 'in_doubt_intents_forget_one',
    text: `DELETE FROM in_doubt_intents WHERE business_transaction_id = $1::uuid`,
    values: [id],
  })
}

// in_doubt_intents: the intents that were found in doubt (decisions §8). Kept by the sweep (workers/intents/sweep.ts), so that each is
// audited once and listed in the order of noticing.
import type { Sql } from './sql.ts'

/**
 * Notes intents as in doubt.
 * @returns those that were not noted before
 */
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
 * Deletes the notes of intents that are no longer RELEASED. OFFSET 0 keeps the look-up of each by its key: joined freely, a planner without
 * statistics of this small table may read all intents instead.
 * @returns how many, at most `limit`
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
      FROM (SELECT 1 FROM in_doubt_intents LIMIT $1::integer) AS noted_ones`,
    values: [max],
  })
  return result.rows[0]?.noted ?? 0
}

/** At once where they were just closed by somebody's word: the next sweep may be seconds away. */
export async function forget(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query({
    name: 'in_doubt_intents_forget_some',
    text: `DELETE FROM in_doubt_intents WHERE business_transaction_id = ANY($1::uuid[])`,
    values: [ids],
  })
}

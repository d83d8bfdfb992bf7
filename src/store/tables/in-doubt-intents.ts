// in_doubt_intents: the intents that were found in doubt (decisions §8). Kept by the sweep (workers/intents/sweep.ts), so that each is
// audited once and listed in the order of noticing.
import type { ResolutionStepUp } from '../../formats/schemas/governance.ts'
import type { Resolution } from '../../formats/schemas/intent-states.ts'
import { openIntents } from './released-batches.ts'
import type { Sql } from '../postgres/sql.ts'

/** The pauses between two questions about an intent are 5, 10, 20 … seconds; a human has to look into it after the last question. */
const ASK_AGAIN_SECONDS = 5
/** The last question comes 11 hours after the first. */
const QUESTIONS_MAX = 14

/**
 * Notes intents as in doubt.
 * @param intents in order of id; `askConnector` is the registration of the connector that is asked about it, null: none
 * @returns those that were not noted before
 */
export async function noteInDoubt(
  sql: Sql,
  intents: readonly { readonly id: string; readonly askConnector: string | null }[],
): Promise<Set<string>> {
  const result = await sql.query<{ id: string }>({
    name: 'in_doubt_intents_note',
    text: `
      INSERT INTO in_doubt_intents (business_transaction_id, noticed_at, ask_connector, ask_at)
      SELECT noted.id, now(), noted.connector, CASE WHEN noted.connector IS NOT NULL THEN now() END
      FROM unnest($1::uuid[], $2::uuid[]) AS noted (id, connector)
      ON CONFLICT DO NOTHING
      RETURNING business_transaction_id AS id`,
    values: [intents.map(({ id }) => id), intents.map(({ askConnector }) => askConnector)],
  })
  return new Set(result.rows.map(({ id }) => id))
}

/** Deletes the notes of intents that are no longer open. */
export async function forgetClosed(sql: Sql): Promise<void> {
  const { rows } = await sql.query<{ id: string }>(`
    SELECT business_transaction_id AS id FROM in_doubt_intents EXCEPT SELECT i.id FROM ${openIntents}`)
  if (rows.length > 0)
    await forget(
      sql,
      rows.map(({ id }) => id),
    )
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

/**
 * Takes the intents about which a connector is due to be asked, and sets the time of each next question, which follows even if the instance
 * dies. If two instances find the same intent, only one takes it. The reading statement computes the next time, because Citus refuses an
 * UPDATE whose value depends on a column.
 * @param connector the registration's change_id
 * @returns ids, at most `limit`
 */
export async function takeToAsk(
  sql: Sql,
  { connector, limit }: { connector: string; limit: number },
): Promise<string[]> {
  const due = await sql.query<{ id: string; next: Date | null }>({
    name: 'in_doubt_intents_due',
    text: `
      SELECT business_transaction_id AS id,
        CASE WHEN asked + 1 < ${QUESTIONS_MAX} THEN now() + ${ASK_AGAIN_SECONDS} * 2 ^ asked * interval '1 second' END AS next
      FROM in_doubt_intents
      WHERE ask_connector = $1::uuid AND ask_at <= now() ORDER BY ask_at LIMIT $2::integer`,
    values: [connector, limit],
  })
  const taken: string[] = []
  for (const { id, next } of due.rows) {
    const { rowCount } = await sql.query({
      name: 'in_doubt_intents_take',
      text: `
        UPDATE in_doubt_intents SET asked = asked + 1, ask_at = $2::timestamptz
        WHERE business_transaction_id = $1::uuid AND ask_at <= now()`,
      values: [id, next],
    })
    if (rowCount === 1) taken.push(id)
  }
  return taken
}

/** The statement of the first of two humans on how an execution ended. */
export interface FirstWord {
  readonly resolution: Resolution
  readonly note: string
  /** callerId. */
  readonly by: string
  /** Present where they signed the statement. */
  readonly stepUpAuthorization?: ResolutionStepUp
  /** ISO 8601. */
  readonly at: string
}

/** @returns undefined without a first statement */
export async function readFirstWord(sql: Sql, id: string): Promise<FirstWord | undefined> {
  const { rows } = await sql.query<{ word: string | null }>({
    name: 'in_doubt_intents_first_word',
    text: `SELECT first_word AS word FROM in_doubt_intents WHERE business_transaction_id = $1::uuid`,
    values: [id],
  })
  const word = rows[0]?.word ?? null
  return word === null ? undefined : (JSON.parse(word) as FirstWord)
}

/**
 * Stores the first statement, in place of an earlier one.
 * @returns false where the intent has not been noticed yet: the sweep must notice it first, so that its audit event is written
 */
export async function noteFirstWord(sql: Sql, id: string, word: FirstWord): Promise<boolean> {
  const { rowCount } = await sql.query({
    name: 'in_doubt_intents_note_first_word',
    text: `UPDATE in_doubt_intents SET first_word = $2::text WHERE business_transaction_id = $1::uuid`,
    values: [id, JSON.stringify(word)],
  })
  return rowCount === 1
}

/** Deletes the notes of intents that a statement has just closed, at once: the next sweep may be seconds away. */
export async function forget(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query({
    name: 'in_doubt_intents_forget_some',
    text: `DELETE FROM in_doubt_intents WHERE business_transaction_id = ANY($1::uuid[])`,
    values: [ids],
  })
}

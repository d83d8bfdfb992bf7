// business_transactions with their refusal_records: how transactions were decided, newest first, for a simulation (decisions §9).
import type { Position } from './position.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

export interface PastDecision extends Position {
  /** Canonical text of the transaction; null where it names another policy. */
  readonly body: string | null
  /** Whether an execution authorization was released. */
  readonly released: boolean
  /** Canonical text of the signed members of its Refusal Record; null where there is none. */
  readonly refusal: string | null
}

/**
 * The next transactions below a position, in index order. `callerId` null reads every owner's.
 * @param page.policy a policy's name: only rows that may name it come with their texts, and the caller still has to check these
 * @param page.since inclusive
 */
export async function listPastDecisions(
  sql: Sql,
  page: { callerId: string | null; policy: string; since: string; below: Position; limit: number },
): Promise<PastDecision[]> {
  const own = page.callerId !== null
  const result = await sql.query<PastDecision>({
    name: own ? 'past_decisions_list_own' : 'past_decisions_list_all',
    text: `
      SELECT ${isoTime('page.created_at')} AS "createdAt", page.business_transaction_id AS id,
        CASE WHEN named.it THEN t.body END AS body, t.execution_authorization IS NOT NULL AS released,
        CASE WHEN named.it THEN r.body END AS refusal
      FROM (
        SELECT created_at, business_transaction_id FROM business_transactions
        WHERE (created_at, business_transaction_id) < ($2::timestamptz, $3::uuid) AND created_at >= $4::timestamptz
          ${own ? 'AND caller_id = $6::text' : ''}
        ORDER BY created_at DESC, business_transaction_id DESC LIMIT $1::integer
      ) AS page
      JOIN business_transactions AS t ON t.business_transaction_id = page.business_transaction_id
      LEFT JOIN refusal_records AS r ON r.business_transaction_id = t.business_transaction_id
      CROSS JOIN LATERAL (SELECT strpos(t.body, $5::text) > 0 AS it) AS named
      ORDER BY page.created_at DESC, page.business_transaction_id DESC`,
    values: [
      page.limit,
      page.below.createdAt,
      page.below.id,
      page.since,
      // In the form of canonical text: members in the order of their names.
      `"policy":{"name":${JSON.stringify(page.policy)},`,
      ...(own ? [page.callerId] : []),
    ],
  })
  return result.rows
}

/** ISO 8601; null where there is no transaction. */
export async function readOldestTime(sql: Sql, callerId: string | null): Promise<string | null> {
  const own = callerId !== null
  const result = await sql.query<{ oldest: string | null }>({
    name: own ? 'past_decisions_oldest_own' : 'past_decisions_oldest_all',
    text: `SELECT ${isoTime('min(created_at)')} AS oldest FROM business_transactions ${own ? 'WHERE caller_id = $1::text' : ''}`,
    values: own ? [callerId] : [],
  })
  return result.rows[0]?.oldest ?? null
}

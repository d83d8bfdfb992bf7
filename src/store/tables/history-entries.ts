// history_entries and history_groups: released executions under policies with a velocity limit (decisions §6 `history`), found by caller or
// by the group that a limit counts them in, and by time.
import { storedJson } from '../postgres/json.ts'
import { rowsInto } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'

/**
 * Runs in the transaction that claims the executions.
 * @param rows sorted by id
 */
export const insertHistoryEntries = rowsInto('history_entries', {
  businessTransactionId: 'uuid',
  callerId: 'text',
  /** A policy's name, for all its versions. */
  policy: 'text',
  /** Taken under the lock of this caller and policy where the version that released it has a limit. */
  releasedAt: 'timestamptz',
})

/** Runs in the transaction that claims the executions. */
export const insertHistoryGroups = rowsInto('history_groups', {
  businessTransactionId: 'uuid',
  /** The group that a limit with `per` or `where` counts it in: SHA-256, 64 hex characters. */
  groupHash: 'text',
  releasedAt: 'timestamptz',
})

interface Within {
  /** ISO 8601. */
  readonly since: string
  /** Member names below intent.parameters; a value that is not a number adds nothing. */
  readonly parameter?: readonly string[]
}

/**
 * Counts the executions of a caller under one policy's name that were released since a time or, with `parameter`, adds that parameter up. An
 * execution that failed or that a human closed as not executed does not count; one in doubt does. The calling code holds the advisory lock of this
 * caller and policy, or this misses executions that are being claimed now.
 * @param filter.unlisted executions of this policy until this time may have no entry, because no policy had a limit yet. They are read from the
 *   transactions themselves, at a cost that ends one window after the limit was added
 */
export function sumOfExecutions(
  sql: Sql,
  filter: Within & { readonly callerId: string; readonly policy: string; readonly unlisted: string },
): Promise<number> {
  return total(sql, filter.parameter, {
    name: 'history_entries',
    since: '$3',
    released: `
      SELECT business_transaction_id FROM history_entries
      WHERE caller_id = $1::text AND policy = $2::text AND released_at > $3::timestamptz
      UNION
      SELECT business_transaction_id FROM (
        SELECT t.business_transaction_id, ${storedJson('t.body')} AS body FROM business_transactions AS t
        WHERE t.caller_id = $1::text AND t.created_at > $3::timestamptz AND t.created_at <= $4::timestamptz
          AND t.execution_authorization IS NOT NULL AND strpos(t.body, '"policy":{"name":"' || $2::text || '"') > 0
      ) AS found WHERE body #>> '{policy,name}' = $2::text`,
    values: [filter.callerId, filter.policy, filter.since, filter.unlisted],
  })
}

/** As `sumOfExecutions`, for one group. The calling code holds the advisory lock of the group. */
export function sumOfGroup(sql: Sql, filter: Within & { readonly groupHash: string }): Promise<number> {
  return total(sql, filter.parameter, {
    name: 'history_groups',
    since: '$2',
    released: `
      SELECT business_transaction_id FROM history_groups
      WHERE group_hash = $1::text AND released_at > $2::timestamptz`,
    values: [filter.groupHash, filter.since],
  })
}

/** SQL that finds the transitions which say that nothing was executed. The texts are canonical: each quote inside a string has a backslash. */
const WITHOUT_EFFECT = `
  SELECT DISTINCT business_transaction_id FROM intent_transitions
  WHERE (strpos(body, '"resolution":"NOT_EXECUTED"') > 0 OR strpos(body, '"to":"ERRORED"') > 0)`

/**
 * @param of.released selects the ids of the executions that count, if they had or may have had their effect
 * @param of.since the parameter with the start of the range: an execution ends after its release
 */
async function total(
  sql: Sql,
  parameter: readonly string[] | undefined,
  of: {
    readonly name: string
    readonly released: string
    readonly since: `$${number}`
    readonly values: readonly string[]
  },
): Promise<number> {
  const { name, released, since, values } = of
  const path = `($${values.length + 1}::text[])`
  const result = await sql.query<{ value: number }>({
    name: `${name}_${parameter === undefined ? 'count' : 'sum'}`,
    text: `
      WITH released AS (${released}), without_effect AS (${WITHOUT_EFFECT} AND at > ${since}::timestamptz)
      SELECT ${parameter === undefined ? 'count(*)' : TOTAL}::float8 AS value
      FROM released LEFT JOIN without_effect USING (business_transaction_id)
        LEFT JOIN execution_evidence AS r USING (business_transaction_id)
        LEFT JOIN execution_intents_before AS b USING (business_transaction_id)
        ${parameter === undefined ? '' : `JOIN business_transactions AS t USING (business_transaction_id), LATERAL (SELECT ${storedJson('t.body')} #> ${path} AS parameter) AS p`}
      WHERE without_effect.business_transaction_id IS NULL AND r.errored IS NOT TRUE
        AND b.state IS DISTINCT FROM 'ERRORED' AND b.resolution IS DISTINCT FROM 'NOT_EXECUTED'`,
    values: [...values, ...(parameter === undefined ? [] : [['intent', 'parameters', ...parameter]])],
  })
  return result.rows[0]?.value ?? 0
}

/** Summed as decimals: doubles would give another number than the caller's own books. */
const TOTAL = `coalesce(sum(CASE WHEN json_typeof(p.parameter) = 'number' THEN (p.parameter #>> '{}')::numeric END), 0)`

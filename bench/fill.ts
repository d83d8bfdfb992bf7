// A database with many stored executions, in minutes in place of hours: copies of executions that were carried out or refused, each under
// its own id and time, in every table of the execution path.
import type { Client } from 'pg'

const COPIES_PER_STATEMENT = 20_000
/** Executions that are copied. */
const SOURCES = 100

interface Filling {
  /** Adds the executions `from` to `to` − 1. Number n is n times `everyMs` (default: 1 ms) older than `newest`. */
  add(range: { from: number; to: number; newest: Date; everyMs?: number }): Promise<void>
}

/**
 * Remembers some of the executions that are stored now, as the source of the copies.
 *
 * @throws Error where no execution is stored
 */
export async function openFilling(client: Client): Promise<Filling> {
  await client.query(
    `CREATE TEMP TABLE source AS
       SELECT row_number() OVER () - 1 AS n, t.caller_id, t.body AS transaction, t.execution_authorization,
         e.body AS record, e.seal, e.verification, e.receipt, e.errored, f.body AS refusal, f.seal AS refusal_seal
       FROM business_transactions AS t LEFT JOIN execution_evidence AS e USING (business_transaction_id)
         LEFT JOIN refusal_records AS f USING (business_transaction_id)
       WHERE e.body IS NOT NULL OR f.body IS NOT NULL
       LIMIT ${SOURCES}`,
  )
  const { rows } = await client.query<{ count: number }>('SELECT count(*)::integer AS count FROM source')
  const sources = rows[0]?.count ?? 0
  if (sources === 0) throw new Error('there is no execution to copy')
  return {
    async add({ from, to, newest, everyMs = 1 }) {
      // A crash would lose nothing but the copies.
      await client.query('SET synchronous_commit = off')
      for (let start = from; start < to; start += COPIES_PER_STATEMENT) {
        const end = Math.min(to, start + COPIES_PER_STATEMENT)
        await client.query(COPY, [newest, start, end - 1, sources, everyMs])
      }
      await client.query('SET synchronous_commit = on')
      await settle(client)
    },
  }
}

/** Does the work that autovacuum and checkpoints would have done by the time so many rows are stored. */
export async function settle(client: Client): Promise<void> {
  await client.query('VACUUM ANALYZE')
  await client.query('CHECKPOINT')
}

const COPY = `
  WITH copy AS MATERIALIZED (
    SELECT gen_random_uuid() AS id, $1::timestamptz - i * $5::float8 * interval '1 millisecond' AS at, s.*
    FROM generate_series($2::bigint, $3::bigint) AS i JOIN source AS s ON s.n = i % $4::bigint
  ), transactions AS (
    INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body, execution_authorization, deadline)
    SELECT id, caller_id, at, transaction, execution_authorization, at + interval '12 seconds' FROM copy
  ), refusals AS (
    INSERT INTO refusal_records (business_transaction_id, caller_id, created_at, body, seal)
    SELECT id, caller_id, at, refusal, refusal_seal FROM copy WHERE refusal IS NOT NULL
  )
  INSERT INTO execution_evidence (business_transaction_id, caller_id, created_at, body, seal, verification, receipt, errored)
  SELECT id, caller_id, at, record, seal, verification, receipt, errored FROM copy WHERE record IS NOT NULL`

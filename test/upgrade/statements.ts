// How the release before wrote and read execution intents: its statements, word for word, named and prepared as it did.
import type { ClientBase } from 'pg'

const isInDoubt = `i.state = 'RELEASED' AND (i.deadline <= now() OR i.deadline > now() + interval '1 minute')`

const STATEMENTS = {
  claim: `
    INSERT INTO business_transactions (business_transaction_id, caller_id, created_at, body, execution_authorization)
    VALUES ($1::uuid, $2::text, now(), $3::text, $4::text) ON CONFLICT DO NOTHING RETURNING business_transaction_id AS id`,
  release: `
    INSERT INTO execution_intents (business_transaction_id, nonce, state, deadline, log_batch, log_ordinal)
    VALUES ($1::uuid, $2::text, 'RELEASED', $3::integer * interval '1 ms' + statement_timestamp(), $4::uuid, 0::smallint)`,
  finalize: `
    UPDATE execution_intents SET state = 'FINALIZED', closed_at = now()
    WHERE business_transaction_id IN ($1::uuid, $2::uuid) AND state = 'RELEASED' RETURNING business_transaction_id AS id`,
  fail: `
    UPDATE execution_intents SET state = 'ERRORED', closed_at = now()
    WHERE business_transaction_id IN ($1::uuid) AND state = 'RELEASED' RETURNING business_transaction_id AS id`,
  record: `
    INSERT INTO trust_records (business_transaction_id, caller_id, created_at, body, seal)
    VALUES ($1::uuid, 'tester', now(), '{}', '{}')`,
  markInDoubt: `
    UPDATE execution_intents SET deadline = least(deadline, now())
    WHERE business_transaction_id = ANY($1::uuid[]) AND state = 'RELEASED'`,
  lock: `
    SELECT i.state, ${isInDoubt} AS "inDoubt", i.nonce, t.caller_id AS "callerId", t.body
    FROM execution_intents AS i
    LEFT JOIN business_transactions AS t ON t.business_transaction_id = i.business_transaction_id
    WHERE i.business_transaction_id = $1::uuid FOR NO KEY UPDATE OF i`,
  end: `
    UPDATE execution_intents SET state = $2::text, resolution = $3::text, closed_at = $4::timestamptz
    WHERE business_transaction_id = $1::uuid AND state = 'RELEASED' RETURNING 1`,
  findInDoubt: `
    SELECT i.business_transaction_id AS id FROM execution_intents AS i
    WHERE ${isInDoubt} AND i.business_transaction_id > $1::uuid
      AND NOT EXISTS (SELECT FROM in_doubt_intents AS d WHERE d.business_transaction_id = i.business_transaction_id)
    ORDER BY i.business_transaction_id LIMIT $2::integer`,
  lockInDoubt: `
    SELECT i.business_transaction_id, i.deadline, t.caller_id, t.body, t.created_at
    FROM execution_intents AS i
    LEFT JOIN business_transactions AS t ON t.business_transaction_id = i.business_transaction_id
    WHERE i.business_transaction_id = $1::uuid AND ${isInDoubt}
    FOR NO KEY UPDATE OF i SKIP LOCKED`,
  forget: `
    DELETE FROM in_doubt_intents WHERE business_transaction_id = ANY(ARRAY(
      SELECT d.business_transaction_id FROM in_doubt_intents AS d CROSS JOIN LATERAL (
        SELECT i.state FROM execution_intents AS i
        WHERE i.business_transaction_id = d.business_transaction_id OFFSET 0
      ) AS intent
      WHERE intent.state <> 'RELEASED' LIMIT $1::integer))`,
  read: `
    SELECT i.state, i.nonce, i.deadline, i.closed_at AS "closedAt", i.resolution, i.log_batch AS "logBatch", i.log_ordinal AS "logOrdinal"
    FROM execution_intents AS i WHERE i.business_transaction_id = $1::uuid`,
} as const

/** @returns the rows of a statement of the release before */
export async function asBefore<Row extends object>(
  client: ClientBase,
  name: keyof typeof STATEMENTS,
  ...values: readonly unknown[]
): Promise<Row[]> {
  const { rows } = await client.query<Row>({ name, text: STATEMENTS[name], values: [...values] })
  return rows
}

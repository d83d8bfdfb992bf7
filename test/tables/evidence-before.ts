// How the release before writes and reads evidence: its statements, word for word.

const newest = (table: string) => `
  (SELECT max(newest.ordinal) || ':' || string_agg(newest.body, ',' ORDER BY newest.ordinal)
    FROM (
  SELECT a.body, a.ordinal FROM ${table} AS a
  WHERE a.business_transaction_id = item.business_transaction_id ORDER BY a.ordinal DESC LIMIT 100) AS newest) AS ${table}`

const bytes = (table: string) => `
  coalesce((SELECT sum(octet_length(newest.body) + CASE WHEN strpos(newest.body, '"value":""') > 0 THEN 4412 ELSE 0 END) FROM (
  SELECT a.body, a.ordinal FROM ${table} AS a
  WHERE a.business_transaction_id = item.business_transaction_id ORDER BY a.ordinal DESC LIMIT 100) AS newest), 0)`

/** Each takes the values that its comment names. */
export const asBefore = {
  /** id, callerId, createdAt, body, seal */
  insertRecord: `INSERT INTO trust_records (business_transaction_id, caller_id, created_at, body, seal) VALUES ($1::uuid, $2::text, $3::timestamptz, $4::text, $5::text)`,
  /** id, ordinal, body */
  insertVerification: `INSERT INTO verifications (business_transaction_id, ordinal, body) VALUES ($1::uuid, $2::integer, $3::text)`,
  /** id, ordinal, body, logBatch, logOrdinal */
  insertReceipt: `INSERT INTO receipts (business_transaction_id, ordinal, body, log_batch, log_ordinal) VALUES ($1::uuid, $2::integer, $3::text, $4::uuid, $5::smallint)`,
  /** id */
  lock: `SELECT 1 FROM trust_records WHERE business_transaction_id = $1::uuid FOR NO KEY UPDATE`,
} as const

/** Reads, each with the id of a transaction as its only value. */
export const readsBefore: Readonly<Record<string, string>> = {
  record: `
    SELECT item.body, item.seal, ${newest('verifications')}, ${newest('receipts')} FROM trust_records AS item
    WHERE item.business_transaction_id = $1::uuid AND (NULL::text IS NULL OR item.caller_id = NULL::text)`,
  page: `
    WITH summed AS (
      SELECT *, sum(bytes) OVER (ORDER BY created_at DESC, business_transaction_id DESC) AS bytes_so_far, count(*) OVER () AS found
      FROM (
        SELECT page.created_at, page.business_transaction_id, octet_length(item.body) + octet_length(item.seal) + CASE WHEN strpos(item.seal, '"value":""') > 0 THEN 4412 ELSE 0 END + ${bytes('verifications')} + ${bytes('receipts')} AS bytes
        FROM (
          SELECT item.created_at, item.business_transaction_id FROM trust_records AS item
          WHERE (item.created_at, item.business_transaction_id) < ('infinity'::timestamptz, $1::uuid) AND item.created_at >= '-infinity'::timestamptz
          ORDER BY item.created_at DESC, item.business_transaction_id DESC LIMIT 100 OFFSET 0
        ) AS page JOIN trust_records AS item ON item.business_transaction_id = page.business_transaction_id
        OFFSET 0
      ) AS measured
    )
    SELECT summed.found::integer AS "pageFound", summed.business_transaction_id AS "pageId", summed.bytes_so_far, item.body, item.seal,
      ${newest('verifications')}, ${newest('receipts')}
    FROM summed JOIN trust_records AS item ON item.business_transaction_id = summed.business_transaction_id
    WHERE summed.bytes_so_far <= 4194304 OR summed.bytes_so_far = summed.bytes
    ORDER BY summed.created_at DESC, summed.business_transaction_id DESC`,
  evidence: `
    SELECT r.business_transaction_id AS id, r.caller_id AS "callerId", r.body, r.seal,
      t.body AS transaction, t.execution_authorization AS "executionAuthorization"
    FROM trust_records AS r
    LEFT JOIN business_transactions AS t ON t.business_transaction_id = r.business_transaction_id
    WHERE r.business_transaction_id = ANY(ARRAY[$1]::uuid[])`,
  bodies: `SELECT business_transaction_id, body FROM trust_records WHERE business_transaction_id = ANY(ARRAY[$1]::uuid[])`,
  execution: `
    SELECT r.business_transaction_id AS id, t.caller_id AS "callerId", r.body
    FROM receipts AS r JOIN business_transactions AS t USING (business_transaction_id)
    WHERE r.business_transaction_id = ANY (ARRAY[$1]::uuid[]) AND r.ordinal = 1`,
  ...Object.fromEntries(
    ['verifications', 'receipts'].flatMap((table) => [
      [
        `last of ${table}`,
        `
    SELECT r.business_transaction_id AS "businessTransactionId", last.ordinal, last.body
    FROM trust_records AS r CROSS JOIN LATERAL (
      SELECT a.ordinal, a.body FROM ${table} AS a
      WHERE a.business_transaction_id = r.business_transaction_id ORDER BY a.ordinal DESC LIMIT 1
    ) AS last
    WHERE r.business_transaction_id = ANY(ARRAY[$1]::uuid[])`,
      ],
      [
        `list of ${table}`,
        `
    SELECT newest.ordinal, newest.body
    FROM trust_records AS t LEFT JOIN (
      SELECT a.business_transaction_id, a.ordinal, a.body FROM ${table} AS a
      WHERE a.business_transaction_id = $1::uuid AND (NULL::integer IS NULL OR a.ordinal < NULL::integer)
      ORDER BY a.ordinal DESC LIMIT 101 OFFSET 0
    ) AS newest ON newest.business_transaction_id = t.business_transaction_id
    WHERE t.business_transaction_id = $1::uuid AND (NULL::text IS NULL OR t.caller_id = NULL::text)
    ORDER BY newest.ordinal DESC`,
      ],
    ]),
  ),
  'place in the log': `
    SELECT evidence.log_batch AS batch, evidence.log_ordinal AS ordinal FROM receipts AS evidence
    JOIN business_transactions AS owner USING (business_transaction_id)
    WHERE evidence.business_transaction_id = $1::uuid AND (NULL::text IS NULL OR owner.caller_id = NULL::text)
    ORDER BY evidence.ordinal DESC LIMIT 1`,
}

-- The execution path and the policies that decide it: one row per fact, append only. Only execution_intents is ever updated.
--
-- Every key begins with business_transaction_id, so that the same schema distributes by that column (docs/design-notes.md "Evidence").
-- Canonical text is `text`, never `jsonb`: what is stored is what was signed, byte for byte. EXTERNAL keeps it uncompressed:
-- it is read far less often than it is written, and pglz costs more CPU than the disk it saves. Rows of up to a page stay whole
-- (toast_tuple_target): cut into TOAST chunks they cost PostgreSQL a fifth more CPU.

CREATE TABLE business_transactions (
  business_transaction_id uuid PRIMARY KEY,
  caller_id text NOT NULL,
  created_at timestamptz NOT NULL,
  body text NOT NULL,
  -- The signed execution authorization, where the decision released one: the proof of RELEASED that outlives a crash.
  execution_authorization text
) WITH (toast_tuple_target = 8160);

-- GET /transactions: a caller's own, and all of them for those who may read all. Both grow at their right edge.
CREATE INDEX business_transactions_by_caller ON business_transactions (caller_id, created_at, business_transaction_id);
CREATE INDEX business_transactions_by_time ON business_transactions (created_at, business_transaction_id);

-- At most one per transaction, committed before its connector is called. The row is also the consumption of the authorization's
-- nonce: it is unique with the transaction it is bound to, so one transaction can release one authorization, once.
-- Narrow and half filled, with no other index: closing an intent is then a heap-only update, which writes no index.
CREATE TABLE execution_intents (
  business_transaction_id uuid PRIMARY KEY,
  nonce text NOT NULL,
  state text NOT NULL CHECK (state IN ('PREPARED', 'RELEASED', 'FINALIZED', 'ERRORED', 'RESOLVED')),
  deadline timestamptz NOT NULL,
  closed_at timestamptz
) WITH (fillfactor = 50);

CREATE TABLE trust_records (
  business_transaction_id uuid PRIMARY KEY,
  caller_id text NOT NULL,
  created_at timestamptz NOT NULL,
  body text NOT NULL,
  -- What stands beside the signed members in a reply: trustRecordHash, signature and, hybrid, signatures.
  seal text NOT NULL
) WITH (toast_tuple_target = 8160);

CREATE TABLE verifications (
  business_transaction_id uuid NOT NULL,
  ordinal integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (business_transaction_id, ordinal)
);

CREATE TABLE receipts (
  business_transaction_id uuid NOT NULL,
  ordinal integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (business_transaction_id, ordinal)
);

CREATE TABLE refusal_records (
  business_transaction_id uuid PRIMARY KEY,
  caller_id text NOT NULL,
  created_at timestamptz NOT NULL,
  body text NOT NULL,
  seal text NOT NULL
) WITH (toast_tuple_target = 8160);

CREATE TABLE policy_versions (
  name text NOT NULL,
  version text NOT NULL,
  content text NOT NULL,
  content_hash text NOT NULL,
  loaded_at timestamptz NOT NULL DEFAULT now(),
  -- Who approved it, `genesis` for the versions of the very first start; null: loaded, not approved.
  approved_by text,
  approved_at timestamptz,
  PRIMARY KEY (name, version),
  CHECK ((approved_by IS NULL) = (approved_at IS NULL))
);

-- Statements of their own: CREATE TABLE takes STORAGE only from PostgreSQL 16 on.
ALTER TABLE business_transactions ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN execution_authorization SET STORAGE EXTERNAL;
ALTER TABLE trust_records ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN seal SET STORAGE EXTERNAL;
ALTER TABLE verifications ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE receipts ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE refusal_records ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN seal SET STORAGE EXTERNAL;
ALTER TABLE policy_versions ALTER COLUMN content SET STORAGE EXTERNAL;

-- The evidence log (docs/design-notes.md "The evidence log"): a transparency log over everything that is signed, of the form of C2SP tlog-tiles.
-- Ordered as a whole, so nothing here is distributed over a cluster.

-- What is committed and not yet in the tree: one row for each commit, in the same transaction. The sequencer deletes it in the transaction that
-- appends its entries, so that each is at every moment in the queue or in the tree. `seq` is drawn when the row is inserted: what was committed
-- before another transaction began to write comes before it in the log.
CREATE TABLE log_queue (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  batch uuid NOT NULL,
  -- JSON array, one item for each entry: [kind, SHA-256 in hex, id, {stream: value}].
  entries text NOT NULL
-- A row lives for a fraction of a second: what is deleted is cleaned up before the index is full of it.
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- One row for each log; the newest is written, those before it were frozen. Its lock is the right to sequence and to publish.
CREATE TABLE log_state (
  log integer PRIMARY KEY CHECK (log > 0),
  origin text NOT NULL,
  -- 32 random bytes, hashed into the tags of streams.
  salt bytea NOT NULL,
  size bigint NOT NULL DEFAULT 0,
  -- The root of each complete subtree of `size` leaves, 32 bytes each, largest first.
  peaks bytea NOT NULL DEFAULT '',
  -- Size and root that end with the newest heads entry: the next checkpoint, or, once it is published, the last.
  checkpoint_size bigint NOT NULL DEFAULT 0,
  checkpoint_root bytea,
  opened_at timestamptz NOT NULL DEFAULT now(),
  -- A sentence: why nothing is appended or signed any more.
  frozen text
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX log_state_open ON log_state ((true)) WHERE frozen IS NULL;

-- Entries after the last full bundle, in rows that never cross a multiple of 256; gone when their bundle is full.
CREATE TABLE log_tail (
  log integer NOT NULL,
  start bigint NOT NULL,
  -- As in a bundle: for each entry its length in two bytes, then the entry.
  entries bytea NOT NULL,
  PRIMARY KEY (log, start)
);

-- Full bundles of 256 entries and full tiles of 256 hashes, which never change. Those that are not full are read from what is below them.
CREATE TABLE log_bundles (
  log integer NOT NULL,
  n bigint NOT NULL,
  -- The bundle, compressed with gzip.
  entries bytea NOT NULL,
  PRIMARY KEY (log, n)
);
CREATE TABLE log_tiles (
  log integer NOT NULL,
  level smallint NOT NULL,
  n bigint NOT NULL,
  -- The hash of the whole tile, which the tile above holds.
  root bytea NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (log, level, n)
);

-- Where the entries of a commit begin. Evidence keeps (log_batch, log_ordinal): the index of its entry is start + log_ordinal.
CREATE TABLE log_batches (
  batch uuid PRIMARY KEY,
  log integer NOT NULL,
  start bigint NOT NULL,
  count integer NOT NULL
);

-- How many entries each caller, capability, policy and approver has, and the index of the last. Half filled: updated with each append.
CREATE TABLE log_streams (
  log integer NOT NULL,
  tag bytea NOT NULL,
  n bigint NOT NULL,
  last_index bigint NOT NULL,
  PRIMARY KEY (log, tag)
) WITH (fillfactor = 50);

CREATE TABLE log_checkpoints (
  log integer NOT NULL,
  size bigint NOT NULL,
  -- The signed note.
  note text NOT NULL,
  -- The time in its ML-DSA-44 signature, to the millisecond.
  published_at timestamptz NOT NULL,
  PRIMARY KEY (log, size)
);

-- Hashes and compressed bytes do not compress; the queue's rows are gone before it would pay.
ALTER TABLE log_queue ALTER COLUMN entries SET STORAGE EXTERNAL;
ALTER TABLE log_tail ALTER COLUMN entries SET STORAGE EXTERNAL;
ALTER TABLE log_bundles ALTER COLUMN entries SET STORAGE EXTERNAL;
ALTER TABLE log_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;
ALTER TABLE log_checkpoints ALTER COLUMN note SET STORAGE EXTERNAL;

-- The place in the log of what a row holds signed; null: older than the log, or written with LOG=off. An intent's is its authorization's, a
-- change's that of its newest state.
ALTER TABLE execution_intents ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;
ALTER TABLE receipts ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;
ALTER TABLE refusal_records ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;
ALTER TABLE audit_events ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;
ALTER TABLE pending_changes ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;
ALTER TABLE intent_transitions ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;
ALTER TABLE approvals ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;
ALTER TABLE webhook_events ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;

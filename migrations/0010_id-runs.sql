-- The ids of the log's entries in sorted runs (src/core/log/ids.ts, docs/design-notes.md "The evidence log"). Local to the coordinator like the
-- log's other tables.

-- The keys of entries that are in no run yet: one row for each append, cut so that a run ends between two rows.
CREATE TABLE log_id_tail (
  log integer NOT NULL,
  -- The index of the first entry.
  start bigint NOT NULL,
  appended_at timestamptz NOT NULL,
  -- 32 bytes for each entry from there on.
  keys bytea NOT NULL,
  PRIMARY KEY (log, start)
);

-- A run of the entries from first_index up to end_index, made in several transactions: each adds the next leaves in their order.
CREATE TABLE log_runs (
  log integer NOT NULL,
  level smallint NOT NULL,
  first_index bigint NOT NULL,
  end_index bigint NOT NULL,
  -- The leaves so far and their tree, as in log_state.
  size bigint NOT NULL,
  peaks bytea NOT NULL,
  -- The last leaf so far: the next ones are greater.
  last_leaf bytea NOT NULL,
  -- Of the entry that states the run; null while leaves are added.
  entry_index bigint,
  PRIMARY KEY (log, level, first_index)
) WITH (fillfactor = 50);

-- The tree of a run: at height 0 its leaves, 256 in a row, and above them the roots of 256 rows below. The hashes of a row are the roots of those
-- below it. Only the last row of height 0 may have fewer.
CREATE TABLE log_run_tiles (
  log integer NOT NULL,
  level smallint NOT NULL,
  first_index bigint NOT NULL,
  height smallint NOT NULL,
  n integer NOT NULL,
  root bytea NOT NULL,
  -- At height 0: the first leaf, by which a key is found, and all of them. They are sorted, 40 bytes each.
  first_leaf bytea,
  leaves bytea,
  PRIMARY KEY (log, level, first_index, height, n)
);
CREATE INDEX log_run_tiles_first_leaf ON log_run_tiles (log, level, first_index, first_leaf) WHERE height = 0;

ALTER TABLE log_id_tail ALTER COLUMN keys SET STORAGE EXTERNAL;
ALTER TABLE log_run_tiles ALTER COLUMN leaves SET STORAGE EXTERNAL;

-- A log that has entries already has no keys of theirs: its runs would deny ids that it holds. `countersign log reopen` starts the next one.
UPDATE log_state SET frozen = 'It has entries from before migration 0010, whose ids no run would have.'
WHERE size > 0 AND frozen IS NULL;

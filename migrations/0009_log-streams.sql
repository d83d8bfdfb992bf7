-- What a proof reads that a list of a stream's entries is complete (docs/handbook/log.md "Prove that a list is complete").

ALTER TABLE log_streams
  -- The indexes of the entries after the last full block, 6 bytes each. Those of entries from before this column are not known.
  ADD COLUMN recent bytea NOT NULL DEFAULT '';

-- The indexes of the entries with the numbers 64 · block + 1 to 64 · block + 64 of a stream, 6 bytes each: the last of them, where the first
-- are not known.
CREATE TABLE log_stream_blocks (
  log integer NOT NULL,
  tag bytea NOT NULL,
  block bigint NOT NULL,
  indexes bytea NOT NULL,
  PRIMARY KEY (log, tag, block)
);

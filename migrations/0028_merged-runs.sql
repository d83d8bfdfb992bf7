-- The runs of ids that were merged into larger ones and whose leaves are gone. `countersign log audit` derives each of them again from the
-- leaves of the run that covers it: an entry of kind ids that states none of these was added by somebody else.
CREATE TABLE log_merged_runs (
  log integer NOT NULL,
  level smallint NOT NULL,
  first_index bigint NOT NULL,
  end_index bigint NOT NULL,
  -- Of the entry that states the run.
  entry_index bigint NOT NULL,
  PRIMARY KEY (log, level, first_index)
);

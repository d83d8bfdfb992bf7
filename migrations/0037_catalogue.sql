-- People look for executions by action, target, amount, status and text, for which the evidence has no index. The catalogue is a narrow copy
-- beside it, filled off the hot path from the entries that make the event feed (docs/design-notes.md "The catalogue"). Nothing in it is evidence.

CREATE TABLE catalogue_entries (
  business_transaction_id uuid PRIMARY KEY,
  status text NOT NULL CHECK (status IN ('completed', 'failed', 'refused', 'in_doubt')),
  -- How somebody's word closed an execution in doubt. Null: evidence says how it ended, or nothing does yet.
  resolution text,
  decided_at timestamptz NOT NULL,
  -- When it was completed, had failed or was closed.
  completed_at timestamptz,
  caller_id text NOT NULL,
  principal_id text NOT NULL,
  capability text NOT NULL,
  target text NOT NULL,
  policy_name text NOT NULL,
  policy_version text NOT NULL,
  rule text,
  -- What the policy's `display` makes of the action.
  summary text,
  amount numeric,
  currency text,
  request_id uuid,
  -- Lower case: capability, target and values of parameters.
  search text NOT NULL
);
CREATE INDEX catalogue_entries_by_time ON catalogue_entries (decided_at, business_transaction_id);
CREATE INDEX catalogue_entries_by_caller ON catalogue_entries (caller_id, decided_at, business_transaction_id);
CREATE INDEX catalogue_entries_by_target ON catalogue_entries (lower(target), decided_at, business_transaction_id);
CREATE INDEX catalogue_entries_in_doubt ON catalogue_entries (decided_at, business_transaction_id) WHERE status = 'in_doubt';
-- What follows is the coordinator's own on Citus.
SET LOCAL citus.enable_ddl_propagation = off;
-- Parts of words. Where the role may not create the extension, or the server has not got it, such a search reads the entries by time.
DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX catalogue_entries_by_text ON catalogue_entries USING gin (search gin_trgm_ops);
EXCEPTION WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported THEN
  RAISE WARNING 'The catalogue has no index of texts, so that a search for part of a word is slow with many executions: %', SQLERRM;
END $$;
SET LOCAL citus.enable_ddl_propagation = on;

-- How far the catalogue is filled: one row, whose lock is the right to fill it.
CREATE TABLE catalogue_state (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The place in the feed behind which events are not in the catalogue yet.
  log integer NOT NULL,
  index bigint NOT NULL,
  -- The catalogue has what was stored until then, however far the place is behind.
  complete_until timestamptz NOT NULL,
  -- Executions that were decided before it are not in the catalogue: pruned, or not built yet.
  complete_since timestamptz NOT NULL,
  -- While the catalogue is built, newest first, from what is stored: the execution at `complete_since`, behind which building goes on.
  building_below uuid
);
-- All that is stored is built first.
INSERT INTO catalogue_state (log, index, complete_until, complete_since, building_below)
SELECT coalesce(max(log), 1), coalesce((SELECT size FROM log_state ORDER BY log DESC LIMIT 1), 0), '-infinity', 'infinity',
  '00000000-0000-0000-0000-000000000000'
FROM log_state;

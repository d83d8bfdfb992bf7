-- Rate limits that instances share (interface §8 rule 3). Unlogged: a crash of the server makes every budget whole again, which is less
-- harm than a log write for each lease.
CREATE UNLOGGED TABLE rate_buckets (
  -- <limit>:<caller or client address>
  key text PRIMARY KEY,
  -- GCRA's theoretical arrival time: how far the budget is spent ahead. One that has passed is the same as no row.
  tat timestamptz NOT NULL,
  -- What the last statement took: RETURNING cannot say it otherwise.
  granted bigint NOT NULL
)
-- No index on tat and room in each page: an update stays in its page and touches no index.
WITH (fillfactor = 70);

-- Counts and sums of the catalogue, kept as its entries are written: by hour, by day, and by day for each caller. A page about 300,000 entries adds up
-- some hundreds of these in their place (docs/design-notes.md "The catalogue").

CREATE TABLE catalogue_sums (
  grain text NOT NULL CHECK (grain IN ('hour', 'day')),
  -- Null: of all callers.
  caller_id text,
  -- When the hour or day begins, in UTC.
  start timestamptz NOT NULL,
  status text NOT NULL,
  approvable boolean NOT NULL,
  capability text NOT NULL,
  policy_name text NOT NULL,
  policy_version text NOT NULL,
  rule text,
  currency text,
  count bigint NOT NULL,
  -- How many of them have an amount.
  with_amount bigint NOT NULL,
  -- Of these; 0 where none has one.
  amount numeric NOT NULL
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX catalogue_sums_by_group ON catalogue_sums (grain, lower(caller_id), start, caller_id, status, approvable, capability, policy_name,
  policy_version, rule, currency) NULLS NOT DISTINCT;
-- A group that has lost its last entry is found by it.
CREATE INDEX catalogue_sums_by_start ON catalogue_sums (start);

-- What the entries come to. The first filling and fsck read it; what is kept must be the same at every commit.
CREATE VIEW catalogue_counted AS
SELECT p.grain, p.caller_id, p.start, e.status, e.approvable IS TRUE AS approvable, e.capability, e.policy_name, e.policy_version, e.rule, e.currency,
  count(*) AS count, count(e.amount) AS with_amount, coalesce(sum(e.amount), 0) AS amount
FROM catalogue_entries AS e CROSS JOIN LATERAL (VALUES
  ('hour', NULL, date_bin('1 hour', e.decided_at, '2000-01-01T00:00:00Z'::timestamptz)),
  ('day', NULL, date_bin('1 day', e.decided_at, '2000-01-01T00:00:00Z'::timestamptz)),
  ('day', e.caller_id, date_bin('1 day', e.decided_at, '2000-01-01T00:00:00Z'::timestamptz))) AS p (grain, caller_id, start)
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;

-- Counts the entries that a statement has written (1), or has replaced or deleted (-1), in the same commit. A trigger does it, and not the service,
-- because in a rolling restart an instance of the release before writes entries too.
CREATE FUNCTION catalogue_sums_follow() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := TG_ARGV[0];
BEGIN
  -- An INSERT with ON CONFLICT fires the triggers of UPDATE, too, mostly over nothing.
  IF NOT EXISTS (SELECT FROM changed) THEN
    RETURN NULL;
  END IF;
  INSERT INTO catalogue_sums AS s (grain, caller_id, start, status, approvable, capability, policy_name, policy_version, rule, currency,
    count, with_amount, amount)
  SELECT p.grain, p.caller_id, p.start, e.status, e.approvable IS TRUE, e.capability, e.policy_name, e.policy_version, e.rule, e.currency,
    sign * count(*), sign * count(e.amount), sign * coalesce(sum(e.amount), 0)
  FROM changed AS e CROSS JOIN LATERAL (VALUES
    ('hour', NULL, date_bin('1 hour', e.decided_at, '2000-01-01T00:00:00Z'::timestamptz)),
    ('day', NULL, date_bin('1 day', e.decided_at, '2000-01-01T00:00:00Z'::timestamptz)),
    ('day', e.caller_id, date_bin('1 day', e.decided_at, '2000-01-01T00:00:00Z'::timestamptz))) AS p (grain, caller_id, start)
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  ON CONFLICT (grain, lower(caller_id), start, caller_id, status, approvable, capability, policy_name, policy_version, rule, currency)
    DO UPDATE SET count = s.count + excluded.count, with_amount = s.with_amount + excluded.with_amount, amount = s.amount + excluded.amount;
  IF sign < 0 THEN
    DELETE FROM catalogue_sums AS s WHERE s.count = 0 AND s.start IN (
      SELECT date_bin(length::interval, e.decided_at, '2000-01-01T00:00:00Z'::timestamptz)
      FROM changed AS e CROSS JOIN (VALUES ('1 hour'), ('1 day')) AS l (length));
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION catalogue_sums_clear() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM catalogue_sums;
  RETURN NULL;
END $$;
CREATE TRIGGER catalogue_sums_inserted AFTER INSERT ON catalogue_entries REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION catalogue_sums_follow('1');
CREATE TRIGGER catalogue_sums_deleted AFTER DELETE ON catalogue_entries REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION catalogue_sums_follow('-1');
CREATE TRIGGER catalogue_sums_replaced AFTER UPDATE ON catalogue_entries REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION catalogue_sums_follow('-1');
CREATE TRIGGER catalogue_sums_replacing AFTER UPDATE ON catalogue_entries REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION catalogue_sums_follow('1');
CREATE TRIGGER catalogue_sums_truncated AFTER TRUNCATE ON catalogue_entries FOR EACH STATEMENT EXECUTE FUNCTION catalogue_sums_clear();

-- The triggers keep writers out until this commits, so that nothing is counted twice or left out.
INSERT INTO catalogue_sums (grain, caller_id, start, status, approvable, capability, policy_name, policy_version, rule, currency, count, with_amount, amount)
SELECT grain, caller_id, start, status, approvable, capability, policy_name, policy_version, rule, currency, count, with_amount, amount
FROM catalogue_counted;

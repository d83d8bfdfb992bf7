-- A policy version that two humans have ended: it rejects everything, and stays readable. An older release would go on approving under it.
-- oldest code: 0024_retired-policies.sql
ALTER TABLE policy_versions ADD COLUMN retired_by text, ADD COLUMN retired_at timestamptz, ADD COLUMN retired_by_change uuid,
  ADD CONSTRAINT policy_versions_retired CHECK (
    num_nonnulls(retired_by, retired_at, retired_by_change) = 0
    OR (num_nonnulls(retired_by, retired_at, retired_by_change) = 3 AND approved_by IS NOT NULL));

-- The version that an approval request is bound to: with it the request ends. Null in those that were opened before, for a day at most.
ALTER TABLE approval_requests ADD COLUMN policy_name text, ADD COLUMN policy_version text;

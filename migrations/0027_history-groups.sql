-- Velocity limits with `per` or `where` (docs/handbook/policy-language.md): which group of executions each limit counts an execution in.
-- Written by the commit that claims it.
CREATE TABLE history_groups (
  business_transaction_id uuid NOT NULL,
  -- SHA-256, of the policy's name, the limit and the values that the executions of the group have in common.
  group_hash text NOT NULL,
  released_at timestamptz NOT NULL,
  PRIMARY KEY (business_transaction_id, group_hash)
);
CREATE INDEX history_groups_by_hash ON history_groups (group_hash, released_at);

-- On a Citus cluster that exists already it goes where its transactions are; a new one distributes it with citus.sql.
DO $$
BEGIN
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'business_transactions'::regclass) THEN
      PERFORM create_distributed_table('history_groups', 'business_transaction_id', colocate_with => 'business_transactions');
    END IF;
  END IF;
END $$;

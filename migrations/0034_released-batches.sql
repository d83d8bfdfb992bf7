-- Open intents are one row for each batch that was released together: its executions, and until when their outcome is not in doubt. The row goes
-- when all of them have evidence, so the claim and the store of a batch write one row each in place of one for every execution. The state of an
-- intent follows: RELEASED while it is in such a row; then the signed transition says how it ended, or the trust record does.
-- The rows of the release before stay in execution_intents_before. Nothing is rewritten. The name execution_intents is now that of a view,
-- for instances of the release before: they see all intents there, and what they write lands where both releases look.

-- In the order in which executions lock them. What reads one of them for long (pg_dump, fsck) must not keep executions waiting behind this.
SET LOCAL lock_timeout = '2s';
-- In a block, because Citus sends its nodes the text of such a statement, and outside of one that would be the text of this file.
DO $$ BEGIN
  LOCK TABLE business_transactions, execution_intents, trust_records IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE execution_intents RENAME TO execution_intents_before;
  ALTER INDEX execution_intents_pkey RENAME TO execution_intents_before_pkey;
  ALTER INDEX execution_intents_released RENAME TO execution_intents_before_released;
  -- The authorization is stored in this row, and so are its deadline and its place in the log. Null where nothing was released, and in rows
  -- from before: theirs are in execution_intents_before.
  ALTER TABLE business_transactions ADD COLUMN deadline timestamptz, ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;
  -- How the intent ended: ERRORED or FINALIZED. Null in rows of the release before: execution_intents_before says it.
  ALTER TABLE trust_records ADD COLUMN errored boolean;
END $$;
SET LOCAL lock_timeout = 0;

CREATE TABLE released_batches (
  -- Random; the businessTransactionId where the release before, or the gateway alone, released one execution.
  batch uuid PRIMARY KEY,
  -- Those without an outcome. Whoever takes one out of the row decides how it ended: the lock of the row is the right to.
  ids uuid[] NOT NULL,
  deadline timestamptz NOT NULL
);
-- 128 ids stay in the row. Rows live for milliseconds, and readers go through all of them.
ALTER TABLE released_batches SET (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- On a Citus cluster that exists already it stays on the coordinator, and Citus knows of it; a new one says so with citus.sql.
DO $$ BEGIN
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'business_transactions'::regclass) THEN
      PERFORM citus_add_local_table_to_metadata('released_batches');
    END IF;
  END IF;
END $$;
-- What ended without an effect since a time does not count for a velocity limit.
CREATE INDEX intent_transitions_by_time ON intent_transitions (at);

-- What is open now, each alone. The lock above has waited for those who were closing some of them.
INSERT INTO released_batches (batch, ids, deadline)
SELECT business_transaction_id, ARRAY[business_transaction_id], deadline FROM execution_intents_before WHERE state = 'RELEASED';

-- What follows is the coordinator's own on Citus: the nodes get statements in which the view stands no more.
SET LOCAL citus.enable_ddl_propagation = off;

-- By the state a statement leaves out what it does not ask for: a sweep reads what is open.
CREATE VIEW execution_intents AS
WITH authorizations AS NOT MATERIALIZED (
  SELECT t.business_transaction_id, coalesce(b.nonce, substring(t.execution_authorization from '"nonce":"([^"]*)"')) AS nonce,
    coalesce(t.deadline, b.deadline) AS deadline, coalesce(t.log_batch, b.log_batch) AS log_batch, coalesce(t.log_ordinal, b.log_ordinal) AS log_ordinal
  FROM business_transactions AS t LEFT JOIN execution_intents_before AS b USING (business_transaction_id)
  WHERE t.execution_authorization IS NOT NULL
), closed_before AS NOT MATERIALIZED (
  SELECT * FROM execution_intents_before WHERE state <> 'RELEASED'
)
SELECT o.id AS business_transaction_id, t.nonce, 'RELEASED'::text AS state, r.deadline,
  NULL::timestamptz AS closed_at, NULL::text AS resolution, t.log_batch, t.log_ordinal
FROM released_batches AS r CROSS JOIN LATERAL unnest(r.ids) AS o (id) LEFT JOIN authorizations AS t ON t.business_transaction_id = o.id
UNION ALL
SELECT business_transaction_id, nonce, state, deadline, closed_at, resolution, log_batch, log_ordinal FROM closed_before
UNION ALL
SELECT x.business_transaction_id, t.nonce, e.state, t.deadline, x.at, substring(x.body from '"resolution":"([A-Z_]+)"'), t.log_batch, t.log_ordinal
FROM (VALUES ('RESOLVED'), ('FINALIZED'), ('ERRORED')) AS e (state)
  JOIN intent_transitions AS x ON strpos(x.body, '"to":"' || e.state || '"') > 0
  JOIN authorizations AS t USING (business_transaction_id)
WHERE NOT EXISTS (SELECT FROM closed_before AS b WHERE b.business_transaction_id = x.business_transaction_id)
  AND NOT EXISTS (SELECT FROM released_batches AS r WHERE x.business_transaction_id = ANY (r.ids))
UNION ALL
SELECT r.business_transaction_id, t.nonce, e.state, t.deadline, r.created_at, NULL, t.log_batch, t.log_ordinal
FROM (VALUES ('FINALIZED', false), ('ERRORED', true)) AS e (state, errored)
  JOIN trust_records AS r USING (errored)
  JOIN authorizations AS t USING (business_transaction_id)
WHERE NOT EXISTS (SELECT FROM intent_transitions AS x WHERE x.business_transaction_id = r.business_transaction_id)
  AND NOT EXISTS (SELECT FROM released_batches AS b WHERE r.business_transaction_id = ANY (b.ids));

CREATE FUNCTION execution_intents_from_view() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  open released_batches;
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO execution_intents_before (business_transaction_id, nonce, state, deadline, log_batch, log_ordinal)
    VALUES (NEW.business_transaction_id, NEW.nonce, NEW.state, NEW.deadline, NEW.log_batch, NEW.log_ordinal);
    INSERT INTO released_batches (batch, ids, deadline)
    VALUES (NEW.business_transaction_id, ARRAY[NEW.business_transaction_id], NEW.deadline);
    RETURN NEW;
  END IF;
  -- Waits for whoever takes it out at this moment. The instance that then finds none has lost, as where a row is no longer RELEASED.
  SELECT * INTO open FROM released_batches WHERE NEW.business_transaction_id = ANY (ids) FOR UPDATE;
  IF NOT FOUND AND OLD.state = 'RELEASED' THEN
    RETURN NULL;
  END IF;
  IF FOUND AND NEW.state <> 'RELEASED' THEN
    IF cardinality(open.ids) = 1 THEN
      DELETE FROM released_batches WHERE batch = open.batch;
    ELSE
      UPDATE released_batches SET ids = array_remove(ids, NEW.business_transaction_id) WHERE batch = open.batch;
    END IF;
  ELSIF FOUND THEN
    -- Nobody else is in a batch of the release before.
    UPDATE released_batches SET deadline = NEW.deadline WHERE batch = NEW.business_transaction_id;
  END IF;
  -- Of what this release has released there is no row: how it ended follows from the transition that comes with this.
  UPDATE execution_intents_before SET state = NEW.state, deadline = NEW.deadline, closed_at = NEW.closed_at, resolution = NEW.resolution,
    log_batch = NEW.log_batch, log_ordinal = NEW.log_ordinal
  WHERE business_transaction_id = NEW.business_transaction_id;
  IF NOT FOUND THEN
    UPDATE business_transactions SET log_batch = NEW.log_batch, log_ordinal = NEW.log_ordinal
    WHERE business_transaction_id = NEW.business_transaction_id AND (log_batch, log_ordinal) IS DISTINCT FROM (NEW.log_batch, NEW.log_ordinal);
  END IF;
  RETURN NEW;
END $$;
-- Citus reads no view of tables on several nodes and of the coordinator's, so there the release before must have stopped: an instance that has
-- not is refused its claims, and executes nothing.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    CREATE TRIGGER execution_intents_from_view INSTEAD OF INSERT OR UPDATE ON execution_intents
      FOR EACH ROW EXECUTE FUNCTION execution_intents_from_view();
  END IF;
END $$;

SET LOCAL citus.enable_ddl_propagation = on;

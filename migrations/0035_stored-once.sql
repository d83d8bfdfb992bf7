-- What an execution stores, once: its record leaves out the two texts that business_transactions holds, and its first verification and first
-- receipt are in the record's row. Nothing is rewritten: rows from before stay as they are. The names trust_records, verifications and
-- receipts are now those of views, which show all of it as it was signed, whichever way it is stored; this release reads them too.
-- Instances of the release before read and write them as the tables that they were.

-- They are locked in the order in which executions lock them. What reads one for long (pg_dump, fsck) must not keep executions waiting behind this.
SET LOCAL lock_timeout = '2s';
-- In a block, because Citus sends its nodes the text of such a statement, and outside of one that would be the text of this file.
DO $$ BEGIN
  ALTER TABLE trust_records RENAME TO execution_evidence;
  ALTER TABLE verifications RENAME TO appended_verifications;
  ALTER TABLE receipts RENAME TO appended_receipts;
  ALTER INDEX trust_records_pkey RENAME TO execution_evidence_pkey;
  ALTER INDEX trust_records_by_caller RENAME TO execution_evidence_by_caller;
  ALTER INDEX trust_records_by_time RENAME TO execution_evidence_by_time;
  ALTER INDEX verifications_pkey RENAME TO appended_verifications_pkey;
  ALTER INDEX receipts_pkey RENAME TO appended_receipts_pkey;
  -- The first of each, with ordinal 1, and the receipt's place in the log. Null in rows from before: theirs are among what is appended.
  ALTER TABLE execution_evidence
    ADD COLUMN verification text, ADD COLUMN receipt text, ADD COLUMN log_batch uuid, ADD COLUMN log_ordinal smallint;
END $$;
SET LOCAL lock_timeout = 0;
-- Citus refuses this for a table that is distributed already: there a row that is too long for half a page is compressed first.
DO $$ BEGIN
  ALTER TABLE execution_evidence ALTER COLUMN verification SET STORAGE EXTERNAL, ALTER COLUMN receipt SET STORAGE EXTERNAL;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;

-- What follows is the coordinator's own on Citus: the nodes get statements in which the views stand no more.
SET LOCAL citus.enable_ddl_propagation = off;

-- A body is stored with null in the place of the authorization, its first member, and of the transaction, its last but the trustRecordId:
-- both are found by counting characters. No signed record has null there. Where the transaction is lost, null is what is left.
CREATE VIEW trust_records AS
SELECT e.business_transaction_id, e.caller_id, e.created_at,
  CASE WHEN left(e.body, 21) = '{"authorization":null' THEN
    coalesce((
      SELECT left(e.body, 17) || coalesce(t.execution_authorization, 'null') || substr(left(e.body, -60), 22) || t.body || right(e.body, 56)
      FROM business_transactions AS t WHERE t.business_transaction_id = e.business_transaction_id), e.body)
  ELSE e.body END AS body,
  e.seal,
  -- Of the body, without reading it.
  octet_length(e.body) + CASE WHEN left(e.body, 21) = '{"authorization":null' THEN
    coalesce((
      SELECT octet_length(t.body) + coalesce(octet_length(t.execution_authorization), 4) - 8
      FROM business_transactions AS t WHERE t.business_transaction_id = e.business_transaction_id), 0)
  ELSE 0 END AS body_bytes,
  -- The first of each. Null in rows from before.
  e.verification, e.receipt
FROM execution_evidence AS e;

CREATE VIEW verifications AS
SELECT business_transaction_id, 1 AS ordinal, verification AS body FROM execution_evidence WHERE verification IS NOT NULL
UNION ALL
SELECT business_transaction_id, ordinal, body FROM appended_verifications;

CREATE VIEW receipts AS
SELECT business_transaction_id, 1 AS ordinal, receipt AS body, log_batch, log_ordinal FROM execution_evidence WHERE receipt IS NOT NULL
UNION ALL
SELECT business_transaction_id, ordinal, body, log_batch, log_ordinal FROM appended_receipts;

-- Instances of the release before write rows of their own form.
CREATE FUNCTION execution_evidence_from_view() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  CASE TG_TABLE_NAME
    WHEN 'trust_records' THEN
      INSERT INTO execution_evidence (business_transaction_id, caller_id, created_at, body, seal)
      VALUES (NEW.business_transaction_id, NEW.caller_id, NEW.created_at, NEW.body, NEW.seal);
    WHEN 'verifications' THEN
      INSERT INTO appended_verifications (business_transaction_id, ordinal, body) VALUES (NEW.business_transaction_id, NEW.ordinal, NEW.body);
    WHEN 'receipts' THEN
      INSERT INTO appended_receipts (business_transaction_id, ordinal, body, log_batch, log_ordinal)
      VALUES (NEW.business_transaction_id, NEW.ordinal, NEW.body, NEW.log_batch, NEW.log_ordinal);
  END CASE;
  RETURN NEW;
END $$;
CREATE TRIGGER execution_evidence_from_view INSTEAD OF INSERT ON trust_records FOR EACH ROW EXECUTE FUNCTION execution_evidence_from_view();
CREATE TRIGGER execution_evidence_from_view INSTEAD OF INSERT ON verifications FOR EACH ROW EXECUTE FUNCTION execution_evidence_from_view();
CREATE TRIGGER execution_evidence_from_view INSTEAD OF INSERT ON receipts FOR EACH ROW EXECUTE FUNCTION execution_evidence_from_view();

SET LOCAL citus.enable_ddl_propagation = on;

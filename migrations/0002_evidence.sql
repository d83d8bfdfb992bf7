-- What auditors read: the bulk export of trust records, and the audit events.

-- GET /trust-records: a caller's own, and all of them for those who may read all. Both grow at their right edge.
CREATE INDEX trust_records_by_caller ON trust_records (caller_id, created_at, business_transaction_id);
CREATE INDEX trust_records_by_time ON trust_records (created_at, business_transaction_id);

-- Off the execution path, and ordered as a whole: a table that is never distributed.
CREATE TABLE audit_events (
  event_id uuid PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  type text NOT NULL,
  -- The event as signed, and the signature beside it.
  body text NOT NULL,
  seal text NOT NULL
);
CREATE INDEX audit_events_by_time ON audit_events (occurred_at, event_id);
CREATE INDEX audit_events_by_type ON audit_events (type, occurred_at, event_id);

ALTER TABLE audit_events ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN seal SET STORAGE EXTERNAL;

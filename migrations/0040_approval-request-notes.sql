-- Notes between the approvers and the requester of an approval request, each signed (docs/handbook/approving.md "Ask back").
CREATE TABLE approval_request_notes (
  note_id uuid PRIMARY KEY,
  request_id uuid NOT NULL,
  noted_at timestamptz NOT NULL,
  -- Canonical JSON; the seal stands beside it.
  body text NOT NULL,
  seal text NOT NULL,
  log_batch uuid,
  log_ordinal smallint
);
CREATE INDEX approval_request_notes_by_request ON approval_request_notes (request_id, noted_at, note_id);

ALTER TABLE approval_request_notes ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN seal SET STORAGE EXTERNAL;

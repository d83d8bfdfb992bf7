-- Approval requests (docs/handbook/approving.md): a caller asks humans to approve one exact execution. Small, global and off the execution path
-- unless a policy asks for approvals: never distributed, as approvals are.
CREATE TABLE approval_requests (
  request_id uuid PRIMARY KEY,
  -- SHA-256 of the body, which is what approvals of version 2 name.
  request_hash text NOT NULL UNIQUE,
  -- SHA-256 of the body without its id and times: whoever asks again while it is open gets this one.
  asked_hash text NOT NULL,
  requested_by text NOT NULL,
  principal_id text NOT NULL,
  quorum integer NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- EXPIRED is written by the sweep, some seconds after expires_at.
  status text NOT NULL CHECK (status IN ('OPEN', 'DECLINED', 'WITHDRAWN', 'USED', 'EXPIRED')),
  -- Canonical JSON; the seal stands beside it.
  body text NOT NULL,
  seal text NOT NULL,
  log_batch uuid,
  log_ordinal smallint
);
CREATE INDEX approval_requests_open ON approval_requests (expires_at) WHERE status = 'OPEN';
CREATE INDEX approval_requests_by_time ON approval_requests (created_at, request_id);

-- How a request was ended by somebody, signed.
CREATE TABLE approval_request_closes (
  close_id uuid PRIMARY KEY,
  request_id uuid NOT NULL UNIQUE,
  closed_at timestamptz NOT NULL,
  body text NOT NULL,
  seal text NOT NULL,
  log_batch uuid,
  log_ordinal smallint
);

-- Of an approval of version 2: the request that it is for.
ALTER TABLE approvals ADD COLUMN request_hash text;
CREATE INDEX approvals_by_request ON approvals (request_hash) WHERE request_hash IS NOT NULL;

ALTER TABLE approval_requests ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN seal SET STORAGE EXTERNAL;
ALTER TABLE approval_request_closes ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN seal SET STORAGE EXTERNAL;

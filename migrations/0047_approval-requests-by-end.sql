-- The open requests are listed in the order in which they expire: what is above a page need not be looked at (docs/handbook/approving.md).
DROP INDEX approval_requests_open;
CREATE INDEX approval_requests_open ON approval_requests (expires_at, request_id) WHERE status = 'OPEN';

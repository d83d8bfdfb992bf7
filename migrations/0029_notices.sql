-- When approvers are told of the request: what a caller asks within a minute after a message is one message. Null in those that were opened before.
ALTER TABLE approval_requests ADD COLUMN notice_at timestamptz;
-- What a caller has asked in the last hour, and its last message.
CREATE INDEX approval_requests_by_caller ON approval_requests (requested_by, created_at);

-- An approver is shown what else is asked for on the same target, and whether the same is asked for on another one. Without these indexes the
-- newest 2,000 requests were read for it, each time that one request was opened. PostgreSQL's json reads no member of a text that has an
-- escaped U+0000 (src/store/postgres/json.ts).
CREATE INDEX approval_requests_by_target ON approval_requests (lower(replace(body, '\u0000', '\ufffd')::json ->> 'target'), created_at, request_id);
-- A value and the amounts beside it, whatever they are called.
CREATE INDEX approval_requests_by_parameters ON approval_requests USING gin ((replace(body, '\u0000', '\ufffd')::json::jsonb -> 'parameters') jsonb_path_ops);

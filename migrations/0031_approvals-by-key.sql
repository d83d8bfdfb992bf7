-- What a key has approved before and after an approval: the signature counter of a passkey must grow with the time of signing.
CREATE INDEX approvals_by_key ON approvals (approver_id, key_id, issued_at);

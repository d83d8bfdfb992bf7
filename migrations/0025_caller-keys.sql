-- Callers' keys that governance has issued, and keys of any source that it has revoked (docs/handbook/callers.md).
-- An older release would let revoked keys of SERVICE_API_KEYS in again.
-- oldest code: 0025_caller-keys.sql

CREATE TABLE caller_keys (
  -- SHA-256 of the raw key, 64 lowercase hex characters. The key itself is known to its holder alone.
  key_hash text PRIMARY KEY CHECK (key_hash ~ '^[0-9a-f]{64}$'),
  -- How the threads of an instance name it; never used twice.
  number integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  caller_id text NOT NULL,
  -- JSON: what it allows, as the change says. Null: a key of SERVICE_API_KEYS, which is here because it was revoked.
  scope text,
  expires_at timestamptz,
  issued_at timestamptz,
  issued_by_change uuid,
  revoked_at timestamptz,
  revoked_by_change uuid,
  CHECK ((scope IS NULL) = (issued_by_change IS NULL)),
  CHECK ((issued_at IS NULL) = (issued_by_change IS NULL)),
  CHECK ((revoked_at IS NULL) = (revoked_by_change IS NULL)),
  CHECK (issued_by_change IS NOT NULL OR revoked_by_change IS NOT NULL)
);
-- The keyId that people see is the first 16 characters of the hash.
CREATE UNIQUE INDEX caller_keys_key_id ON caller_keys (left(key_hash, 16));

ALTER TABLE pending_changes DROP CONSTRAINT pending_changes_kind_check,
  ADD CONSTRAINT pending_changes_kind_check
    CHECK (kind IN ('policy', 'approver', 'external-connector', 'webhook-rules', 'event-endpoint', 'caller-key'));

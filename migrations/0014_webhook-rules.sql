-- Rules for the deliveries of providers (docs/handbook/webhook-rules.md): which delivery says what of which transaction. Small, global,
-- changed by humans.
CREATE TABLE webhook_rules (
  -- A row for each time that rules were approved, because those of old may come back.
  version_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  provider text NOT NULL,
  -- SHA-256 of content, hex.
  rules_hash text NOT NULL,
  -- Canonical text of {provider, rules}.
  content text NOT NULL,
  loaded_at timestamptz NOT NULL DEFAULT now(),
  -- A callerId, or 'genesis' for the files of the very first start. Null: read from a file, not approved.
  approved_by text,
  -- In effect are a provider's rules that were approved last.
  approved_at timestamptz,
  approved_by_change uuid UNIQUE,
  UNIQUE (provider, approved_at),
  CHECK ((approved_by IS NULL) = (approved_at IS NULL))
);
CREATE UNIQUE INDEX webhook_rules_loaded ON webhook_rules (provider) WHERE approved_by IS NULL;
ALTER TABLE webhook_rules ALTER COLUMN content SET STORAGE EXTERNAL;

ALTER TABLE pending_changes DROP CONSTRAINT pending_changes_kind_check,
  ADD CONSTRAINT pending_changes_kind_check CHECK (kind IN ('policy', 'approver', 'external-connector', 'webhook-rules'));

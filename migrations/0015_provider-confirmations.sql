-- What payment providers say of executions: a signed confirmation for each delivery that a rule reads.
CREATE TABLE provider_confirmations (
  confirmation_id uuid PRIMARY KEY,
  business_transaction_id uuid NOT NULL,
  provider text NOT NULL,
  -- The delivery, by its key in webhook_events.
  event_key uuid NOT NULL,
  -- A delivery that is processed again by the same rules confirms nothing twice.
  rules_hash text NOT NULL,
  at timestamptz NOT NULL,
  -- Canonical JSON; the seal stands beside it.
  body text NOT NULL,
  seal text NOT NULL,
  log_batch uuid,
  log_ordinal smallint,
  UNIQUE (event_key, rules_hash)
);
CREATE INDEX provider_confirmations_by_transaction ON provider_confirmations (business_transaction_id, at);

ALTER TABLE provider_confirmations ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN seal SET STORAGE EXTERNAL;

-- Deliveries of providers (interface §6, decisions §10). Their jobs are pg-boss's, in a schema of its own that it makes itself.
CREATE TABLE webhook_events (
  -- Ours; the job names it, and it is the eventId of the audit event that says the delivery was processed.
  event_key uuid PRIMARY KEY,
  provider text NOT NULL,
  -- The provider's, from a header that nobody signs.
  event_id text NOT NULL,
  -- What is signed: the same bytes under a new id are the same delivery.
  body_sha256 text NOT NULL,
  -- As received, whatever it is.
  body bytea NOT NULL,
  received_at timestamptz NOT NULL,
  processed_at timestamptz,
  UNIQUE (provider, event_id),
  UNIQUE (provider, body_sha256)
) WITH (fillfactor = 80);
-- Room on the page for the row as processed: it is updated once, and no index holds what changes.

ALTER TABLE webhook_events ALTER COLUMN body SET STORAGE EXTERNAL;

-- What came with a delivery beside its body, and how it ended when its provider's rules were applied.
ALTER TABLE webhook_events
  -- Canonical JSON, names in lower case; without credentials and signatures.
  ADD COLUMN headers text NOT NULL DEFAULT '{}',
  -- Null until it is processed, and again while it waits to be processed again.
  ADD COLUMN outcome text,
  -- The rule that matched.
  ADD COLUMN rule_id text,
  -- The transaction that the rule names.
  ADD COLUMN business_transaction_id uuid,
  -- A sentence: why it ended so.
  ADD COLUMN detail text,
  -- How often somebody had it processed again. The audit event of the first processing has event_key as its id, those of later ones have their own.
  ADD COLUMN reruns smallint NOT NULL DEFAULT 0;

-- Lists are in this order. The outcome is in no index: what an update changes must not be (0004).
CREATE INDEX webhook_events_by_time ON webhook_events (received_at, event_key);

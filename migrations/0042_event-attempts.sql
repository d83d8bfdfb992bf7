-- The last attempts to deliver events to each endpoint (docs/handbook/events.md "See how it goes").
-- One ring of 50 rows for each endpoint: attempt `number` has the slot `number % 50`, so nothing has to be deleted.
CREATE TABLE event_attempts (
  -- A revoked endpoint takes its attempts with it, whichever version of the service revokes it.
  endpoint_id uuid NOT NULL REFERENCES event_deliveries ON DELETE CASCADE,
  slot smallint NOT NULL,
  -- From 1, for each endpoint.
  number bigint NOT NULL,
  began_at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  -- Of the answer; null: there was no whole answer.
  status smallint,
  -- Completes "the endpoint …"; null: it took the event.
  problem text,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  business_transaction_id text,
  -- The place in the feed just before the event.
  before_event text NOT NULL,
  body_sha256 bytea NOT NULL,
  body_bytes integer NOT NULL,
  PRIMARY KEY (endpoint_id, slot)
);

ALTER TABLE event_deliveries
  -- How many attempts were noted.
  ADD COLUMN attempts bigint NOT NULL DEFAULT 0,
  -- Since when the service itself fails to read or to sign its events; null: it does not.
  ADD COLUMN unserved_since timestamptz,
  -- Why, as a sentence.
  ADD COLUMN unserved_reason text;

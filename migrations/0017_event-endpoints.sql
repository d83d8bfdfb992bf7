-- Endpoints that events are pushed to (docs/handbook/events.md), and how far each has been served.

-- Registrations by governance: one in effect for a URL.
CREATE TABLE event_endpoints (
  -- The change that registered it.
  endpoint_id uuid PRIMARY KEY,
  url text NOT NULL,
  -- JSON array of the types that it is sent.
  types text NOT NULL,
  with_parameters boolean NOT NULL,
  -- JSON array: whose events it is sent. Null: everybody's.
  caller_ids text,
  registered_at timestamptz NOT NULL,
  revoked_at timestamptz,
  revoked_by_change uuid
);
CREATE UNIQUE INDEX event_endpoints_in_effect ON event_endpoints (url) WHERE revoked_at IS NULL;

-- One row for each endpoint in effect. Deleted when it is revoked, its secrets with it.
CREATE TABLE event_deliveries (
  endpoint_id uuid PRIMARY KEY,
  -- The place in the feed up to which everything is delivered; null until the first look.
  cursor text,
  -- The instance that serves it at this moment: others wait until the lease is over.
  lease uuid,
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  -- Not served before: after a failure.
  due_at timestamptz NOT NULL DEFAULT '-infinity',
  -- Of the event that is tried now.
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  -- Completes "the endpoint …": why the last attempt failed. Kept after a success.
  problem text,
  -- Not served any more: it answered 410, or took nothing for three days.
  disabled_at timestamptz,
  -- Keys of the HMAC signature, 32 bytes each; null until a human has one made. The one before signs beside it for a day.
  secret bytea,
  previous_secret bytea,
  previous_until timestamptz
);

ALTER TABLE pending_changes DROP CONSTRAINT pending_changes_kind_check,
  ADD CONSTRAINT pending_changes_kind_check
    CHECK (kind IN ('policy', 'approver', 'external-connector', 'webhook-rules', 'event-endpoint'));

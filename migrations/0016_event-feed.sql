-- The feed of events (docs/handbook/callers.md "Following events"): the ids of the log's entries that are events, written with each append. No
-- row per execution, and nothing that an execution waits for.

-- The events of consecutive entries, 256 at most in a row; each is in exactly one row.
CREATE TABLE log_events (
  log integer NOT NULL,
  -- The index of the entry of the last event.
  last_index bigint NOT NULL,
  appended_at timestamptz NOT NULL,
  -- A bit for each code of an event that is in it (src/core/events/types.ts).
  codes integer NOT NULL,
  -- 31 bytes for each event: index (6), code (1), the owner's tag (8), id of the artifact (16).
  events bytea NOT NULL,
  PRIMARY KEY (log, last_index)
);

-- Which rows have events of a caller, so that a quiet one's are found among those of a busy one.
CREATE TABLE log_event_owners (
  log integer NOT NULL,
  -- 8 bytes of SHA-256 of the callerId.
  owner bytea NOT NULL,
  last_index bigint NOT NULL,
  PRIMARY KEY (log, owner, last_index)
);

ALTER TABLE log_events ALTER COLUMN events SET STORAGE EXTERNAL;

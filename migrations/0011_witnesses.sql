-- Witnesses of the evidence log (docs/design-notes.md "The evidence log"), and what this service has witnessed of other logs.

-- One row for each witness of LOG_WITNESS_POLICY, by its address: what it has cosigned, and when it may be asked again.
CREATE TABLE log_witnesses (
  url text PRIMARY KEY,
  -- The log that `size` is of.
  log integer NOT NULL DEFAULT 0,
  -- The size of the newest tree that the witness has, as far as is known.
  size bigint NOT NULL DEFAULT 0,
  -- When the newest checkpoint that it cosigned was published.
  published_at timestamptz,
  -- No instance asks it before. Moved on by whoever is about to ask, so that no two ask at once.
  due_at timestamptz NOT NULL DEFAULT '-infinity',
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  -- A sentence: why it did not cosign.
  problem text
);

-- The newest checkpoints that witnesses were asked to cosign. log_checkpoints keeps one a minute, and not always one of these.
CREATE TABLE log_cosigned (
  log integer NOT NULL,
  size bigint NOT NULL,
  -- The signed note, without the lines of witnesses.
  note text NOT NULL,
  published_at timestamptz NOT NULL,
  -- The line of each witness's key: {"<key name>+<key id>": "— <key name> <base64>\n"}.
  cosignatures jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (log, size)
);

-- One row for each log that this service is a witness of (WITNESS_LOGS): the newest checkpoint that it cosigned.
CREATE TABLE witnessed_logs (
  origin text PRIMARY KEY,
  size bigint NOT NULL,
  root bytea NOT NULL,
  -- The signed note with our cosignatures.
  note text NOT NULL
);

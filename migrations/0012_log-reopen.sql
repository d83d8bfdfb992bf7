-- What a database with several logs needs: how one follows another, and what goes over from one to the next (docs/handbook/log.md).

-- The statement that the first entry of a reopened log is the SHA-256 of: canonical JSON, see src/core/log/previous.ts. Null for the first log.
ALTER TABLE log_state ADD COLUMN previous text;

-- When its transaction began, by the clock of the database: how long a commit has waited for the log.
ALTER TABLE log_queue ADD COLUMN queued_at timestamptz NOT NULL DEFAULT now();

-- Commits that a frozen log had taken out of the queue and never signed. Their evidence names them until it is queued for the next log.
CREATE TABLE log_lost (batch uuid PRIMARY KEY);

-- Sessions of the console that somebody ended before their time (docs/handbook/console.md). A session itself is a signed token and has no row.
CREATE TABLE ended_sessions (
  session_id uuid PRIMARY KEY,
  -- When the token is over by itself; the row is deleted after it.
  expires_at timestamptz NOT NULL
);

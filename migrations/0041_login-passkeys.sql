-- Passkeys by which people log in to the console (docs/handbook/console.md "Log in with a passkey"). None of them approves anything.
CREATE TABLE login_passkeys (
  login_passkey_id uuid PRIMARY KEY,
  -- The name that the authenticator gave it, base64url.
  credential_id text NOT NULL UNIQUE,
  caller_id text NOT NULL,
  -- SHA-256 of the hash of the key that registered it, as in a session: the passkey logs nobody in once that key has ended.
  key_hash text NOT NULL,
  name text NOT NULL,
  -- SPKI.
  public_key_pem text NOT NULL,
  backup_eligible boolean NOT NULL,
  -- The signature counter of its last use; 0 for a passkey that does not count.
  sign_count bigint NOT NULL,
  registered_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz
);

CREATE INDEX login_passkeys_caller ON login_passkeys (caller_id);

-- What the service has asked a passkey of the login page to sign. A row is deleted when it comes back, so each counts once.
CREATE TABLE login_challenges (
  challenge text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);

CREATE INDEX login_challenges_expiry ON login_challenges (expires_at);

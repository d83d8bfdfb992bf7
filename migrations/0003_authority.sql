-- Human authority (decisions §7, §8). Small, global and off the execution path unless a policy asks for it: never distributed,
-- but for execution_intents, which stays where its transaction is.

-- Maker/checker changes of policies, approvers and external connectors. A row is resolved once and never changed again.
CREATE TABLE pending_changes (
  change_id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('policy', 'approver', 'external-connector')),
  -- What it changes: <name>/<version>, <approverId>:<keyId> or a capability.
  target text NOT NULL,
  proposed_at timestamptz NOT NULL,
  status text NOT NULL CHECK (status IN ('PENDING_APPROVAL', 'APPROVED', 'REJECTED')),
  -- The change as proposed, signed; and what a checker is shown beside it: warnings and difference, computed then.
  body text NOT NULL,
  seal text NOT NULL,
  advice text NOT NULL,
  -- The same change as resolved, signed again.
  resolved_body text,
  resolved_seal text,
  CHECK ((status = 'PENDING_APPROVAL') = (resolved_body IS NULL)),
  CHECK ((resolved_body IS NULL) = (resolved_seal IS NULL))
);
-- At most one open change for what it changes.
CREATE UNIQUE INDEX pending_changes_open ON pending_changes (kind, target) WHERE status = 'PENDING_APPROVAL';
CREATE INDEX pending_changes_by_time ON pending_changes (kind, proposed_at, change_id);

CREATE TABLE step_up_nonces (
  nonce text PRIMARY KEY,
  change_id uuid NOT NULL,
  consumed_at timestamptz NOT NULL
);

-- Keys of approvers. A revoked key stays: what it approved before can still be verified, and it can never be enrolled again.
CREATE TABLE approvers (
  approver_id text NOT NULL,
  key_id text NOT NULL,
  public_key_pem text NOT NULL,
  -- SHA-256 of the SPKI, hex: one key is one person, whatever names it is proposed under.
  fingerprint text NOT NULL UNIQUE,
  enrolled_at timestamptz NOT NULL,
  enrolled_by_change uuid NOT NULL,
  revoked_at timestamptz,
  revoked_by_change uuid,
  PRIMARY KEY (approver_id, key_id)
);

-- Signed approvals of single actions. Used up at most once: by the transaction that claims the execution.
CREATE TABLE approvals (
  approval_id text PRIMARY KEY,
  -- Of the approver's signed bytes: the same approval under another id or from another caller is the same one.
  nonce text NOT NULL UNIQUE,
  approver_id text NOT NULL,
  key_id text NOT NULL,
  capability text NOT NULL,
  target text NOT NULL,
  -- Of a scope that is exact; null: within limits.
  parameters_hash text,
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The SignedApproval, canonical.
  body text NOT NULL,
  delivered_by text NOT NULL,
  delivered_at timestamptz NOT NULL,
  consumed_by uuid,
  consumed_at timestamptz,
  CHECK ((consumed_by IS NULL) = (consumed_at IS NULL))
);
CREATE INDEX approvals_unused ON approvals (capability, target, parameters_hash) WHERE consumed_by IS NULL;
CREATE INDEX approvals_by_time ON approvals (delivered_at, approval_id);

-- Released executions under policies with a velocity limit, and only those: what `history` counts. Written by the commit that claims
-- them. Keyed by the transaction, so that it stays where its transaction is.
CREATE TABLE history_entries (
  business_transaction_id uuid PRIMARY KEY,
  caller_id text NOT NULL,
  policy text NOT NULL,
  released_at timestamptz NOT NULL
);
CREATE INDEX history_entries_by_caller ON history_entries (caller_id, policy, released_at);

-- Registrations of external HTTP connectors: one in effect for a capability.
CREATE TABLE external_connectors (
  change_id uuid PRIMARY KEY,
  capability text NOT NULL,
  endpoint_url text NOT NULL,
  policy text NOT NULL,
  -- JSON array of names.
  allowed_parameters text NOT NULL,
  timeout_ms integer NOT NULL,
  registered_at timestamptz NOT NULL,
  revoked_at timestamptz,
  revoked_by_change uuid
);
CREATE UNIQUE INDEX external_connectors_in_effect ON external_connectors (capability) WHERE revoked_at IS NULL;

-- Grows with every change of policies, approvers and connectors: every instance looks at it several times a second and reads anew.
CREATE TABLE authority_epoch (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  epoch bigint NOT NULL
);
INSERT INTO authority_epoch (epoch) VALUES (1);

ALTER TABLE policy_versions ADD COLUMN approved_by_change uuid;

-- How a human closed an intent that was in doubt. BRIN: an intent's deadline never changes when it is closed, so closing stays a
-- heap-only update, and the sweep reads the newest pages only.
ALTER TABLE execution_intents ADD COLUMN resolution text CHECK (resolution IN ('EXECUTED', 'NOT_EXECUTED')),
  -- Not validated: that would read the whole table while every claim waits, and no row was RESOLVED before there were resolutions.
  ADD CHECK ((state = 'RESOLVED') = (resolution IS NOT NULL)) NOT VALID;
CREATE INDEX execution_intents_by_deadline ON execution_intents USING brin (deadline) WITH (autosummarize = on);

-- Intents found RELEASED after their deadline. The sweep puts them here, so that listing them costs what is in doubt, not what ever ran.
CREATE TABLE in_doubt_intents (
  business_transaction_id uuid PRIMARY KEY,
  noticed_at timestamptz NOT NULL
);
CREATE INDEX in_doubt_intents_by_time ON in_doubt_intents (noticed_at, business_transaction_id);
-- Up to which deadline the sweep has looked.
CREATE TABLE sweep_horizon (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  deadline timestamptz NOT NULL
);
INSERT INTO sweep_horizon (deadline) SELECT coalesce(min(deadline), now()) FROM execution_intents;

-- Ends of intents that neither an authorization nor a record proves: signed on their own.
CREATE TABLE intent_transitions (
  transition_id uuid PRIMARY KEY,
  business_transaction_id uuid NOT NULL,
  at timestamptz NOT NULL,
  body text NOT NULL,
  seal text NOT NULL
);
CREATE INDEX intent_transitions_by_transaction ON intent_transitions (business_transaction_id, at);

ALTER TABLE pending_changes ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN seal SET STORAGE EXTERNAL,
  ALTER COLUMN resolved_body SET STORAGE EXTERNAL, ALTER COLUMN resolved_seal SET STORAGE EXTERNAL;
ALTER TABLE approvals ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE intent_transitions ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN seal SET STORAGE EXTERNAL;

-- Made by tools/dump-schema.ts from all migrations; not to be edited.

CREATE TABLE appended_receipts (
  business_transaction_id uuid NOT NULL,
  ordinal integer NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT appended_receipts_pkey PRIMARY KEY (business_transaction_id, ordinal)
);

CREATE TABLE appended_verifications (
  business_transaction_id uuid NOT NULL,
  ordinal integer NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  CONSTRAINT appended_verifications_pkey PRIMARY KEY (business_transaction_id, ordinal)
);

CREATE TABLE approval_request_closes (
  close_id uuid NOT NULL,
  request_id uuid NOT NULL,
  closed_at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT approval_request_closes_pkey PRIMARY KEY (close_id),
  CONSTRAINT approval_request_closes_request_id_key UNIQUE (request_id)
);

CREATE TABLE approval_request_notes (
  note_id uuid NOT NULL,
  request_id uuid NOT NULL,
  noted_at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT approval_request_notes_pkey PRIMARY KEY (note_id)
);
CREATE INDEX approval_request_notes_by_request ON public.approval_request_notes USING btree (request_id, noted_at, note_id);

CREATE TABLE approval_requests (
  request_id uuid NOT NULL,
  request_hash text NOT NULL,
  asked_hash text NOT NULL,
  requested_by text NOT NULL,
  principal_id text NOT NULL,
  quorum integer NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  status text NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  log_batch uuid,
  log_ordinal smallint,
  policy_name text,
  policy_version text,
  notice_at timestamp with time zone,
  needed_signals text,
  remind_at timestamp with time zone,
  escalate_at timestamp with time zone,
  escalate_to text,
  ask_next_at timestamp with time zone,
  CONSTRAINT approval_requests_pkey PRIMARY KEY (request_id),
  CONSTRAINT approval_requests_request_hash_key UNIQUE (request_hash),
  CONSTRAINT approval_requests_status_check CHECK ((status = ANY (ARRAY['OPEN'::text, 'DECLINED'::text, 'WITHDRAWN'::text, 'USED'::text, 'EXPIRED'::text])))
);
CREATE INDEX approval_requests_by_caller ON public.approval_requests USING btree (requested_by, created_at);
CREATE INDEX approval_requests_by_time ON public.approval_requests USING btree (created_at, request_id);
CREATE INDEX approval_requests_open ON public.approval_requests USING btree (expires_at, request_id) WHERE (status = 'OPEN'::text);
CREATE INDEX approval_requests_to_ask_again ON public.approval_requests USING btree (ask_next_at) WHERE ((status = 'OPEN'::text) AND (ask_next_at IS NOT NULL));

CREATE TABLE approvals (
  approval_id text NOT NULL,
  nonce text NOT NULL,
  approver_id text NOT NULL,
  key_id text NOT NULL,
  capability text NOT NULL,
  target text NOT NULL,
  parameters_hash text,
  issued_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  delivered_by text NOT NULL,
  delivered_at timestamp with time zone NOT NULL,
  consumed_by uuid,
  consumed_at timestamp with time zone,
  log_batch uuid,
  log_ordinal smallint,
  request_hash text,
  CONSTRAINT approvals_check CHECK (((consumed_by IS NULL) = (consumed_at IS NULL))),
  CONSTRAINT approvals_nonce_key UNIQUE (nonce),
  CONSTRAINT approvals_pkey PRIMARY KEY (approval_id)
);
CREATE INDEX approvals_by_execution ON public.approvals USING btree (consumed_by) WHERE (consumed_by IS NOT NULL);
CREATE INDEX approvals_by_key ON public.approvals USING btree (approver_id, key_id, issued_at);
CREATE INDEX approvals_by_request ON public.approvals USING btree (request_hash) WHERE (request_hash IS NOT NULL);
CREATE INDEX approvals_by_time ON public.approvals USING btree (delivered_at, approval_id);
CREATE INDEX approvals_unused ON public.approvals USING btree (capability, target, parameters_hash) WHERE (consumed_by IS NULL);

CREATE TABLE approvers (
  approver_id text NOT NULL,
  key_id text NOT NULL,
  public_key_pem text NOT NULL,
  fingerprint text NOT NULL,
  enrolled_at timestamp with time zone NOT NULL,
  enrolled_by_change uuid NOT NULL,
  revoked_at timestamp with time zone,
  revoked_by_change uuid,
  passkey text,
  CONSTRAINT approvers_fingerprint_key UNIQUE (fingerprint),
  CONSTRAINT approvers_pkey PRIMARY KEY (approver_id, key_id)
);

CREATE TABLE audit_events (
  event_id uuid NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  type text NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT audit_events_pkey PRIMARY KEY (event_id)
);
CREATE INDEX audit_events_by_time ON public.audit_events USING btree (occurred_at, event_id);
CREATE INDEX audit_events_by_type ON public.audit_events USING btree (type, occurred_at, event_id);

CREATE TABLE authority (
  number integer NOT NULL,
  kind text NOT NULL,
  key text NOT NULL,
  target text NOT NULL,
  stated text STORAGE EXTERNAL NOT NULL,
  stated_hash text NOT NULL,
  unique_key text,
  loaded_at timestamp with time zone NOT NULL DEFAULT now(),
  began_by text,
  began_at timestamp with time zone,
  began_by_change uuid,
  ended_by text,
  ended_at timestamp with time zone,
  ended_by_change uuid,
  CONSTRAINT authority_kind_unique_key_key UNIQUE (kind, unique_key),
  CONSTRAINT authority_number_key UNIQUE (number),
  CONSTRAINT authority_pkey PRIMARY KEY (kind, key)
);
CREATE INDEX authority_began_by_change ON public.authority USING btree (began_by_change) WHERE (began_by_change IS NOT NULL);
CREATE INDEX authority_ended_by_change ON public.authority USING btree (ended_by_change) WHERE (ended_by_change IS NOT NULL);
CREATE UNIQUE INDEX authority_in_effect ON public.authority USING btree (kind, target) WHERE ((began_at IS NOT NULL) AND (ended_at IS NULL));

CREATE TABLE authority_epoch (
  only_row boolean NOT NULL DEFAULT true,
  epoch bigint NOT NULL,
  CONSTRAINT authority_epoch_only_row_check CHECK (only_row),
  CONSTRAINT authority_epoch_pkey PRIMARY KEY (only_row)
);

CREATE TABLE batch_signatures (
  batch uuid NOT NULL,
  value bytea STORAGE PLAIN NOT NULL,
  CONSTRAINT batch_signatures_pkey PRIMARY KEY (batch)
);

CREATE TABLE business_transactions (
  business_transaction_id uuid NOT NULL,
  caller_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  execution_authorization text STORAGE EXTERNAL,
  deadline timestamp with time zone,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT business_transactions_pkey PRIMARY KEY (business_transaction_id)
) WITH (toast_tuple_target=8160);
CREATE INDEX business_transactions_by_caller ON public.business_transactions USING btree (caller_id, created_at, business_transaction_id);
CREATE INDEX business_transactions_by_time ON public.business_transactions USING btree (created_at, business_transaction_id);

CREATE TABLE caller_keys (
  key_hash text NOT NULL,
  number integer NOT NULL,
  caller_id text NOT NULL,
  scope text,
  expires_at timestamp with time zone,
  issued_at timestamp with time zone,
  issued_by_change uuid,
  revoked_at timestamp with time zone,
  revoked_by_change uuid,
  CONSTRAINT caller_keys_check CHECK (((scope IS NULL) = (issued_by_change IS NULL))),
  CONSTRAINT caller_keys_check1 CHECK (((issued_at IS NULL) = (issued_by_change IS NULL))),
  CONSTRAINT caller_keys_check2 CHECK (((revoked_at IS NULL) = (revoked_by_change IS NULL))),
  CONSTRAINT caller_keys_check3 CHECK (((issued_by_change IS NOT NULL) OR (revoked_by_change IS NOT NULL))),
  CONSTRAINT caller_keys_key_hash_check CHECK ((key_hash ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT caller_keys_number_key UNIQUE (number),
  CONSTRAINT caller_keys_pkey PRIMARY KEY (key_hash)
);
CREATE UNIQUE INDEX caller_keys_key_id ON public.caller_keys USING btree ("left"(key_hash, 16));

CREATE TABLE catalogue_entries (
  business_transaction_id uuid NOT NULL,
  status text NOT NULL,
  resolution text,
  decided_at timestamp with time zone NOT NULL,
  completed_at timestamp with time zone,
  caller_id text NOT NULL,
  principal_id text NOT NULL,
  capability text NOT NULL,
  target text NOT NULL,
  policy_name text NOT NULL,
  policy_version text NOT NULL,
  rule text,
  summary text,
  amount numeric,
  currency text,
  request_id uuid,
  search text NOT NULL,
  approvable boolean,
  CONSTRAINT catalogue_entries_pkey PRIMARY KEY (business_transaction_id),
  CONSTRAINT catalogue_entries_status_check CHECK ((status = ANY (ARRAY['completed'::text, 'failed'::text, 'refused'::text, 'in_doubt'::text])))
);
CREATE INDEX catalogue_entries_by_caller ON public.catalogue_entries USING btree (lower(caller_id), decided_at, business_transaction_id);
CREATE INDEX catalogue_entries_by_policy ON public.catalogue_entries USING btree (lower(policy_name), decided_at, business_transaction_id);
CREATE INDEX catalogue_entries_by_target ON public.catalogue_entries USING btree (lower(target), decided_at, business_transaction_id);
CREATE INDEX catalogue_entries_by_text ON public.catalogue_entries USING gin (search gin_trgm_ops);
CREATE INDEX catalogue_entries_by_time ON public.catalogue_entries USING btree (decided_at, business_transaction_id);
CREATE INDEX catalogue_entries_in_doubt ON public.catalogue_entries USING btree (decided_at, business_transaction_id) WHERE (status = 'in_doubt'::text);
CREATE INDEX catalogue_entries_unfilled ON public.catalogue_entries USING btree (business_transaction_id) WHERE ((status = 'refused'::text) AND (approvable IS NULL));

CREATE TABLE catalogue_state (
  only_row boolean NOT NULL DEFAULT true,
  log integer NOT NULL,
  index bigint NOT NULL,
  complete_until timestamp with time zone NOT NULL,
  complete_since timestamp with time zone NOT NULL,
  building_below uuid,
  CONSTRAINT catalogue_state_only_row_check CHECK (only_row),
  CONSTRAINT catalogue_state_pkey PRIMARY KEY (only_row)
);

CREATE TABLE catalogue_sums (
  grain text NOT NULL,
  caller_id text,
  start timestamp with time zone NOT NULL,
  status text NOT NULL,
  approvable boolean NOT NULL,
  capability text NOT NULL,
  policy_name text NOT NULL,
  policy_version text NOT NULL,
  rule text,
  currency text,
  count bigint NOT NULL,
  with_amount bigint NOT NULL,
  amount numeric NOT NULL,
  CONSTRAINT catalogue_sums_grain_check CHECK ((grain = ANY (ARRAY['hour'::text, 'day'::text])))
) WITH (fillfactor=70);
CREATE UNIQUE INDEX catalogue_sums_by_group ON public.catalogue_sums USING btree (grain, lower(caller_id), start, caller_id, status, approvable, capability, policy_name, policy_version, rule, currency) NULLS NOT DISTINCT;
CREATE INDEX catalogue_sums_by_start ON public.catalogue_sums USING btree (start);

CREATE TABLE countersign_migrations (
  name text NOT NULL,
  sha256 text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  oldest_code text,
  CONSTRAINT countersign_migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE ended_sessions (
  session_id uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT ended_sessions_pkey PRIMARY KEY (session_id)
);

CREATE TABLE event_attempts (
  endpoint_id uuid NOT NULL,
  slot smallint NOT NULL,
  number bigint NOT NULL,
  began_at timestamp with time zone NOT NULL,
  duration_ms integer NOT NULL,
  status smallint,
  problem text,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  business_transaction_id text,
  before_event text NOT NULL,
  body_sha256 bytea NOT NULL,
  body_bytes integer NOT NULL,
  CONSTRAINT event_attempts_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES event_deliveries(endpoint_id) ON DELETE CASCADE,
  CONSTRAINT event_attempts_pkey PRIMARY KEY (endpoint_id, slot)
);

CREATE TABLE event_deliveries (
  endpoint_id uuid NOT NULL,
  cursor text,
  lease uuid,
  leased_until timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  due_at timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamp with time zone,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  problem text,
  disabled_at timestamp with time zone,
  secret bytea,
  previous_secret bytea,
  previous_until timestamp with time zone,
  earlier_secrets bytea[] NOT NULL DEFAULT '{}'::bytea[],
  earlier_until timestamp with time zone[] NOT NULL DEFAULT '{}'::timestamp with time zone[],
  redelivered_at timestamp with time zone,
  redelivered_until text,
  attempts bigint NOT NULL DEFAULT 0,
  unserved_since timestamp with time zone,
  unserved_reason text,
  CONSTRAINT event_deliveries_pkey PRIMARY KEY (endpoint_id)
);

CREATE TABLE event_endpoints (
  endpoint_id uuid NOT NULL,
  url text NOT NULL,
  types text NOT NULL,
  with_parameters boolean NOT NULL,
  caller_ids text,
  registered_at timestamp with time zone NOT NULL,
  revoked_at timestamp with time zone,
  revoked_by_change uuid,
  CONSTRAINT event_endpoints_pkey PRIMARY KEY (endpoint_id)
);
CREATE UNIQUE INDEX event_endpoints_in_effect ON public.event_endpoints USING btree (url) WHERE (revoked_at IS NULL);

CREATE TABLE execution_evidence (
  business_transaction_id uuid NOT NULL,
  caller_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  errored boolean,
  verification text STORAGE EXTERNAL,
  receipt text STORAGE EXTERNAL,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT execution_evidence_pkey PRIMARY KEY (business_transaction_id)
) WITH (toast_tuple_target=4080);
CREATE INDEX execution_evidence_by_caller ON public.execution_evidence USING btree (caller_id, created_at, business_transaction_id);
CREATE INDEX execution_evidence_by_time ON public.execution_evidence USING btree (created_at, business_transaction_id);

CREATE TABLE execution_intents_before (
  business_transaction_id uuid NOT NULL,
  nonce text NOT NULL,
  state text NOT NULL,
  deadline timestamp with time zone NOT NULL,
  closed_at timestamp with time zone,
  resolution text,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT execution_intents_before_pkey PRIMARY KEY (business_transaction_id),
  CONSTRAINT execution_intents_check CHECK (((state = 'RESOLVED'::text) = (resolution IS NOT NULL))) NOT VALID,
  CONSTRAINT execution_intents_resolution_check CHECK ((resolution = ANY (ARRAY['EXECUTED'::text, 'NOT_EXECUTED'::text]))),
  CONSTRAINT execution_intents_state_check CHECK ((state = ANY (ARRAY['PREPARED'::text, 'RELEASED'::text, 'FINALIZED'::text, 'ERRORED'::text, 'RESOLVED'::text])))
) WITH (fillfactor=50);
CREATE INDEX execution_intents_before_released ON public.execution_intents_before USING btree (business_transaction_id) WHERE (state = 'RELEASED'::text);

CREATE TABLE external_connectors (
  change_id uuid NOT NULL,
  capability text NOT NULL,
  endpoint_url text NOT NULL,
  policy text NOT NULL,
  allowed_parameters text NOT NULL,
  timeout_ms integer NOT NULL,
  registered_at timestamp with time zone NOT NULL,
  revoked_at timestamp with time zone,
  revoked_by_change uuid,
  read_back boolean NOT NULL DEFAULT false,
  CONSTRAINT external_connectors_pkey PRIMARY KEY (change_id)
);
CREATE UNIQUE INDEX external_connectors_in_effect ON public.external_connectors USING btree (capability) WHERE (revoked_at IS NULL);

CREATE TABLE history_entries (
  business_transaction_id uuid NOT NULL,
  caller_id text NOT NULL,
  policy text NOT NULL,
  released_at timestamp with time zone NOT NULL,
  CONSTRAINT history_entries_pkey PRIMARY KEY (business_transaction_id)
);
CREATE INDEX history_entries_by_caller ON public.history_entries USING btree (caller_id, policy, released_at);

CREATE TABLE history_groups (
  business_transaction_id uuid NOT NULL,
  group_hash text NOT NULL,
  released_at timestamp with time zone NOT NULL,
  CONSTRAINT history_groups_pkey PRIMARY KEY (business_transaction_id, group_hash)
);
CREATE INDEX history_groups_by_hash ON public.history_groups USING btree (group_hash, released_at);

CREATE TABLE in_doubt_intents (
  business_transaction_id uuid NOT NULL,
  noticed_at timestamp with time zone NOT NULL,
  ask_connector uuid,
  ask_at timestamp with time zone,
  asked smallint NOT NULL DEFAULT 0,
  first_word text,
  CONSTRAINT in_doubt_intents_pkey PRIMARY KEY (business_transaction_id)
);
CREATE INDEX in_doubt_intents_by_time ON public.in_doubt_intents USING btree (noticed_at, business_transaction_id);
CREATE INDEX in_doubt_intents_to_ask ON public.in_doubt_intents USING btree (ask_connector, ask_at) WHERE (ask_at IS NOT NULL);

CREATE TABLE intent_transitions (
  transition_id uuid NOT NULL,
  business_transaction_id uuid NOT NULL,
  at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT intent_transitions_pkey PRIMARY KEY (transition_id)
);
CREATE INDEX intent_transitions_by_time ON public.intent_transitions USING btree (at);
CREATE INDEX intent_transitions_by_transaction ON public.intent_transitions USING btree (business_transaction_id, at);

CREATE TABLE log_batches (
  batch uuid NOT NULL,
  log integer NOT NULL,
  start bigint NOT NULL,
  count integer NOT NULL,
  CONSTRAINT log_batches_pkey PRIMARY KEY (batch)
);

CREATE TABLE log_bundles (
  log integer NOT NULL,
  n bigint NOT NULL,
  entries bytea STORAGE EXTERNAL NOT NULL,
  CONSTRAINT log_bundles_pkey PRIMARY KEY (log, n)
);

CREATE TABLE log_checkpoints (
  log integer NOT NULL,
  size bigint NOT NULL,
  note text STORAGE EXTERNAL NOT NULL,
  published_at timestamp with time zone NOT NULL,
  CONSTRAINT log_checkpoints_pkey PRIMARY KEY (log, size)
);

CREATE TABLE log_cosigned (
  log integer NOT NULL,
  size bigint NOT NULL,
  note text NOT NULL,
  published_at timestamp with time zone NOT NULL,
  cosignatures jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT log_cosigned_pkey PRIMARY KEY (log, size)
);

CREATE TABLE log_event_owners (
  log integer NOT NULL,
  owner bytea NOT NULL,
  last_index bigint NOT NULL,
  CONSTRAINT log_event_owners_pkey PRIMARY KEY (log, owner, last_index)
);

CREATE TABLE log_events (
  log integer NOT NULL,
  last_index bigint NOT NULL,
  appended_at timestamp with time zone NOT NULL,
  codes integer NOT NULL,
  events bytea STORAGE EXTERNAL NOT NULL,
  CONSTRAINT log_events_pkey PRIMARY KEY (log, last_index)
);

CREATE TABLE log_id_tail (
  log integer NOT NULL,
  start bigint NOT NULL,
  appended_at timestamp with time zone NOT NULL,
  keys bytea STORAGE EXTERNAL NOT NULL,
  CONSTRAINT log_id_tail_pkey PRIMARY KEY (log, start)
);

CREATE TABLE log_lost (
  batch uuid NOT NULL,
  CONSTRAINT log_lost_pkey PRIMARY KEY (batch)
);

CREATE TABLE log_merged_runs (
  log integer NOT NULL,
  level smallint NOT NULL,
  first_index bigint NOT NULL,
  end_index bigint NOT NULL,
  entry_index bigint NOT NULL,
  CONSTRAINT log_merged_runs_pkey PRIMARY KEY (log, level, first_index)
);

CREATE TABLE log_queue (
  seq bigint NOT NULL,
  batch uuid NOT NULL,
  entries text STORAGE EXTERNAL NOT NULL,
  queued_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT log_queue_pkey PRIMARY KEY (seq)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, toast_tuple_target=8160);

CREATE TABLE log_run_tiles (
  log integer NOT NULL,
  level smallint NOT NULL,
  first_index bigint NOT NULL,
  height smallint NOT NULL,
  n integer NOT NULL,
  root bytea NOT NULL,
  first_leaf bytea,
  leaves bytea STORAGE EXTERNAL,
  CONSTRAINT log_run_tiles_pkey PRIMARY KEY (log, level, first_index, height, n)
);
CREATE INDEX log_run_tiles_first_leaf ON public.log_run_tiles USING btree (log, level, first_index, first_leaf) WHERE (height = 0);

CREATE TABLE log_runs (
  log integer NOT NULL,
  level smallint NOT NULL,
  first_index bigint NOT NULL,
  end_index bigint NOT NULL,
  size bigint NOT NULL,
  peaks bytea NOT NULL,
  last_leaf bytea NOT NULL,
  entry_index bigint,
  CONSTRAINT log_runs_pkey PRIMARY KEY (log, level, first_index)
) WITH (fillfactor=50);

CREATE TABLE log_state (
  log integer NOT NULL,
  origin text NOT NULL,
  salt bytea NOT NULL,
  size bigint NOT NULL DEFAULT 0,
  peaks bytea NOT NULL DEFAULT '\x'::bytea,
  checkpoint_size bigint NOT NULL DEFAULT 0,
  checkpoint_root bytea,
  opened_at timestamp with time zone NOT NULL DEFAULT now(),
  frozen text,
  previous text,
  CONSTRAINT log_state_log_check CHECK ((log > 0)),
  CONSTRAINT log_state_pkey PRIMARY KEY (log)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX log_state_open ON public.log_state USING btree ((true)) WHERE (frozen IS NULL);

CREATE TABLE log_stream_blocks (
  log integer NOT NULL,
  tag bytea NOT NULL,
  block bigint NOT NULL,
  indexes bytea NOT NULL,
  CONSTRAINT log_stream_blocks_pkey PRIMARY KEY (log, tag, block)
);

CREATE TABLE log_streams (
  log integer NOT NULL,
  tag bytea NOT NULL,
  n bigint NOT NULL,
  last_index bigint NOT NULL,
  recent bytea NOT NULL DEFAULT '\x'::bytea,
  CONSTRAINT log_streams_pkey PRIMARY KEY (log, tag)
) WITH (fillfactor=50);

CREATE TABLE log_tail (
  log integer NOT NULL,
  start bigint NOT NULL,
  entries bytea NOT NULL,
  CONSTRAINT log_tail_pkey PRIMARY KEY (log, start)
);

CREATE TABLE log_tiles (
  log integer NOT NULL,
  level smallint NOT NULL,
  n bigint NOT NULL,
  root bytea NOT NULL,
  hashes bytea STORAGE EXTERNAL NOT NULL,
  CONSTRAINT log_tiles_pkey PRIMARY KEY (log, level, n)
);

CREATE TABLE log_witnesses (
  url text NOT NULL,
  log integer NOT NULL DEFAULT 0,
  size bigint NOT NULL DEFAULT 0,
  published_at timestamp with time zone,
  due_at timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamp with time zone,
  problem text,
  CONSTRAINT log_witnesses_pkey PRIMARY KEY (url)
);

CREATE TABLE login_challenges (
  challenge text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT login_challenges_pkey PRIMARY KEY (challenge)
);
CREATE INDEX login_challenges_expiry ON public.login_challenges USING btree (expires_at);

CREATE TABLE login_passkeys (
  login_passkey_id uuid NOT NULL,
  credential_id text NOT NULL,
  caller_id text NOT NULL,
  key_hash text NOT NULL,
  name text NOT NULL,
  public_key_pem text NOT NULL,
  backup_eligible boolean NOT NULL,
  sign_count bigint NOT NULL,
  registered_at timestamp with time zone NOT NULL DEFAULT now(),
  used_at timestamp with time zone,
  CONSTRAINT login_passkeys_credential_id_key UNIQUE (credential_id),
  CONSTRAINT login_passkeys_pkey PRIMARY KEY (login_passkey_id)
);
CREATE INDEX login_passkeys_caller ON public.login_passkeys USING btree (caller_id);

CREATE TABLE pending_changes (
  change_id uuid NOT NULL,
  kind text NOT NULL,
  target text NOT NULL,
  proposed_at timestamp with time zone NOT NULL,
  status text NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  advice text NOT NULL,
  resolved_body text STORAGE EXTERNAL,
  resolved_seal text STORAGE EXTERNAL,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT pending_changes_check CHECK (((status = 'PENDING_APPROVAL'::text) = (resolved_body IS NULL))),
  CONSTRAINT pending_changes_check1 CHECK (((resolved_body IS NULL) = (resolved_seal IS NULL))),
  CONSTRAINT pending_changes_kind_check CHECK ((kind = ANY (ARRAY['policy'::text, 'approver'::text, 'external-connector'::text, 'webhook-rules'::text, 'event-endpoint'::text, 'caller-key'::text, 'approver-group'::text, 'stand-in'::text]))),
  CONSTRAINT pending_changes_pkey PRIMARY KEY (change_id),
  CONSTRAINT pending_changes_status_check CHECK ((status = ANY (ARRAY['PENDING_APPROVAL'::text, 'APPROVED'::text, 'REJECTED'::text])))
);
CREATE INDEX pending_changes_by_time ON public.pending_changes USING btree (kind, proposed_at, change_id);
CREATE UNIQUE INDEX pending_changes_open ON public.pending_changes USING btree (kind, target) WHERE (status = 'PENDING_APPROVAL'::text);

CREATE TABLE policy_versions (
  name text NOT NULL,
  version text NOT NULL,
  content text STORAGE EXTERNAL NOT NULL,
  content_hash text NOT NULL,
  loaded_at timestamp with time zone NOT NULL DEFAULT now(),
  approved_by text,
  approved_at timestamp with time zone,
  approved_by_change uuid,
  retired_by text,
  retired_at timestamp with time zone,
  retired_by_change uuid,
  CONSTRAINT policy_versions_check CHECK (((approved_by IS NULL) = (approved_at IS NULL))),
  CONSTRAINT policy_versions_pkey PRIMARY KEY (name, version),
  CONSTRAINT policy_versions_retired CHECK (((num_nonnulls(retired_by, retired_at, retired_by_change) = 0) OR ((num_nonnulls(retired_by, retired_at, retired_by_change) = 3) AND (approved_by IS NOT NULL))))
);

CREATE TABLE provider_confirmations (
  confirmation_id uuid NOT NULL,
  business_transaction_id uuid NOT NULL,
  provider text NOT NULL,
  event_key uuid NOT NULL,
  rules_hash text NOT NULL,
  at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT provider_confirmations_event_key_rules_hash_key UNIQUE (event_key, rules_hash),
  CONSTRAINT provider_confirmations_pkey PRIMARY KEY (confirmation_id)
);
CREATE INDEX provider_confirmations_by_transaction ON public.provider_confirmations USING btree (business_transaction_id, at);

CREATE UNLOGGED TABLE rate_buckets (
  key text NOT NULL,
  tat timestamp with time zone NOT NULL,
  granted bigint NOT NULL,
  CONSTRAINT rate_buckets_pkey PRIMARY KEY (key)
) WITH (fillfactor=70);

CREATE TABLE refusal_records (
  business_transaction_id uuid NOT NULL,
  caller_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  log_batch uuid,
  log_ordinal smallint,
  CONSTRAINT refusal_records_pkey PRIMARY KEY (business_transaction_id)
) WITH (toast_tuple_target=8160);
CREATE INDEX refusal_records_by_caller ON public.refusal_records USING btree (caller_id, created_at, business_transaction_id);
CREATE INDEX refusal_records_by_time ON public.refusal_records USING btree (created_at, business_transaction_id);

CREATE TABLE released_batches (
  batch uuid NOT NULL,
  ids uuid[] NOT NULL,
  deadline timestamp with time zone NOT NULL,
  CONSTRAINT released_batches_pkey PRIMARY KEY (batch)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, toast_tuple_target=8160);

CREATE TABLE step_up_nonces (
  nonce text NOT NULL,
  change_id uuid NOT NULL,
  consumed_at timestamp with time zone NOT NULL,
  CONSTRAINT step_up_nonces_pkey PRIMARY KEY (nonce)
);

CREATE TABLE sweep_horizon (
  only_row boolean NOT NULL DEFAULT true,
  deadline timestamp with time zone NOT NULL,
  CONSTRAINT sweep_horizon_only_row_check CHECK (only_row),
  CONSTRAINT sweep_horizon_pkey PRIMARY KEY (only_row)
);

CREATE TABLE webhook_events (
  event_key uuid NOT NULL,
  provider text NOT NULL,
  event_id text NOT NULL,
  body_sha256 text NOT NULL,
  body bytea STORAGE EXTERNAL NOT NULL,
  received_at timestamp with time zone NOT NULL,
  processed_at timestamp with time zone,
  log_batch uuid,
  log_ordinal smallint,
  headers text NOT NULL DEFAULT '{}'::text,
  outcome text,
  rule_id text,
  business_transaction_id uuid,
  detail text,
  reruns smallint NOT NULL DEFAULT 0,
  CONSTRAINT webhook_events_pkey PRIMARY KEY (event_key),
  CONSTRAINT webhook_events_provider_body_sha256_key UNIQUE (provider, body_sha256),
  CONSTRAINT webhook_events_provider_event_id_key UNIQUE (provider, event_id)
) WITH (fillfactor=80);
CREATE INDEX webhook_events_by_time ON public.webhook_events USING btree (received_at, event_key);

CREATE TABLE webhook_rules (
  version_id uuid NOT NULL DEFAULT gen_random_uuid(),
  provider text NOT NULL,
  rules_hash text NOT NULL,
  content text STORAGE EXTERNAL NOT NULL,
  loaded_at timestamp with time zone NOT NULL DEFAULT now(),
  approved_by text,
  approved_at timestamp with time zone,
  approved_by_change uuid,
  CONSTRAINT webhook_rules_approved_by_change_key UNIQUE (approved_by_change),
  CONSTRAINT webhook_rules_check CHECK (((approved_by IS NULL) = (approved_at IS NULL))),
  CONSTRAINT webhook_rules_pkey PRIMARY KEY (version_id),
  CONSTRAINT webhook_rules_provider_approved_at_key UNIQUE (provider, approved_at)
);
CREATE UNIQUE INDEX webhook_rules_loaded ON public.webhook_rules USING btree (provider) WHERE (approved_by IS NULL);

CREATE TABLE witnessed_logs (
  origin text NOT NULL,
  size bigint NOT NULL,
  root bytea NOT NULL,
  note text NOT NULL,
  CONSTRAINT witnessed_logs_pkey PRIMARY KEY (origin)
);

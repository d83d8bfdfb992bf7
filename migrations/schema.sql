-- Made by migrations/dump-schema.ts from all migrations; not to be edited.

CREATE TABLE audit_events (
  event_id uuid NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  type text NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  CONSTRAINT audit_events_pkey PRIMARY KEY (event_id)
);
CREATE INDEX audit_events_by_time ON public.audit_events USING btree (occurred_at, event_id);
CREATE INDEX audit_events_by_type ON public.audit_events USING btree (type, occurred_at, event_id);

CREATE TABLE business_transactions (
  business_transaction_id uuid NOT NULL,
  caller_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  execution_authorization text STORAGE EXTERNAL,
  CONSTRAINT business_transactions_pkey PRIMARY KEY (business_transaction_id)
) WITH (toast_tuple_target=8160);
CREATE INDEX business_transactions_by_caller ON public.business_transactions USING btree (caller_id, created_at, business_transaction_id);
CREATE INDEX business_transactions_by_time ON public.business_transactions USING btree (created_at, business_transaction_id);

CREATE TABLE countersign_migrations (
  name text NOT NULL,
  sha256 text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT countersign_migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE execution_intents (
  business_transaction_id uuid NOT NULL,
  nonce text NOT NULL,
  state text NOT NULL,
  deadline timestamp with time zone NOT NULL,
  closed_at timestamp with time zone,
  CONSTRAINT execution_intents_pkey PRIMARY KEY (business_transaction_id),
  CONSTRAINT execution_intents_state_check CHECK ((state = ANY (ARRAY['PREPARED'::text, 'RELEASED'::text, 'FINALIZED'::text, 'ERRORED'::text, 'RESOLVED'::text])))
) WITH (fillfactor=50);

CREATE TABLE policy_versions (
  name text NOT NULL,
  version text NOT NULL,
  content text STORAGE EXTERNAL NOT NULL,
  content_hash text NOT NULL,
  loaded_at timestamp with time zone NOT NULL DEFAULT now(),
  approved_by text,
  approved_at timestamp with time zone,
  CONSTRAINT policy_versions_check CHECK (((approved_by IS NULL) = (approved_at IS NULL))),
  CONSTRAINT policy_versions_pkey PRIMARY KEY (name, version)
);

CREATE TABLE receipts (
  business_transaction_id uuid NOT NULL,
  ordinal integer NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  CONSTRAINT receipts_pkey PRIMARY KEY (business_transaction_id, ordinal)
);

CREATE TABLE refusal_records (
  business_transaction_id uuid NOT NULL,
  caller_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  CONSTRAINT refusal_records_pkey PRIMARY KEY (business_transaction_id)
) WITH (toast_tuple_target=8160);

CREATE TABLE trust_records (
  business_transaction_id uuid NOT NULL,
  caller_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  seal text STORAGE EXTERNAL NOT NULL,
  CONSTRAINT trust_records_pkey PRIMARY KEY (business_transaction_id)
) WITH (toast_tuple_target=8160);
CREATE INDEX trust_records_by_caller ON public.trust_records USING btree (caller_id, created_at, business_transaction_id);
CREATE INDEX trust_records_by_time ON public.trust_records USING btree (created_at, business_transaction_id);

CREATE TABLE verifications (
  business_transaction_id uuid NOT NULL,
  ordinal integer NOT NULL,
  body text STORAGE EXTERNAL NOT NULL,
  CONSTRAINT verifications_pkey PRIMARY KEY (business_transaction_id, ordinal)
);

-- Distributes the execution path over a Citus 13 cluster (docs/handbook/scaling.md). Not a migration: no start runs it. Once, on the
-- coordinator, after `countersign migrate` and before the first execution (a table with rows is locked while it moves):
--
--   psql -v ON_ERROR_STOP=1 -1 -f migrations/citus.sql "$DATABASE_URL"
--
-- test/citus/schema.test.ts: every table of the schema is named here, every unique key of a distributed table contains
-- business_transaction_id, and nothing about one is of a kind that stays on one node.

CREATE EXTENSION IF NOT EXISTS citus;

-- The settings that the service sends when it connects reach the coordinator only; those of its role reach every node.
ALTER ROLE CURRENT_USER SET enable_seqscan = off;
ALTER ROLE CURRENT_USER SET jit = off;
ALTER ROLE CURRENT_USER SET max_parallel_workers_per_gather = 0;
-- A node that is unreachable fails its own executions soon, in place of holding everybody's connections for 30 seconds.
ALTER ROLE CURRENT_USER SET citus.node_connection_timeout = '2s';

-- As many as the nodes that the cluster may grow to, because a shard is never on two. More cost CPU: a batch becomes a statement for
-- each shard and table.
SET citus.shard_count = 4;

-- Citus gives every node the views of the tables that it distributes, with their triggers: the function of those comes first.
SELECT create_distributed_function('execution_evidence_from_view()');

-- By transaction: all that an execution writes about one lies in one shard, on one node.
SELECT create_distributed_table('business_transactions', 'business_transaction_id');
SELECT create_distributed_table('execution_intents_before', 'business_transaction_id', colocate_with => 'business_transactions');
SELECT create_distributed_table('execution_evidence', 'business_transaction_id', colocate_with => 'business_transactions');
SELECT create_distributed_table('appended_verifications', 'business_transaction_id', colocate_with => 'business_transactions');
SELECT create_distributed_table('appended_receipts', 'business_transaction_id', colocate_with => 'business_transactions');
SELECT create_distributed_table('refusal_records', 'business_transaction_id', colocate_with => 'business_transactions');
-- Written only for policies with a velocity limit. Its index by caller is no unique key; counting a caller's asks every shard.
SELECT create_distributed_table('history_entries', 'business_transaction_id', colocate_with => 'business_transactions');
SELECT create_distributed_table('history_groups', 'business_transaction_id', colocate_with => 'business_transactions');
-- What the sweep found in doubt. Small; here because it is joined with business_transactions.
SELECT create_distributed_table('in_doubt_intents', 'business_transaction_id', colocate_with => 'business_transactions');

-- These stay on the coordinator, and Citus knows of them: a commit that writes to one and to one worker is two-phase then. Of a plain table
-- Citus knows nothing, and commits on the worker first: a coordinator that ended in that moment would leave evidence that is not logged, or
-- whose intent is open.
SELECT citus_add_local_table_to_metadata('log_queue');
SELECT citus_add_local_table_to_metadata('released_batches');

-- Everything else stays a plain table of the coordinator. It is small, or ordered as a whole, or its unique keys are not a transaction's:
-- local intent_transitions      primary key transition_id; a row only where a human or the sweep closed an intent
-- local batch_signatures        primary key batch, which executions of every shard share; one row of 3.3 KB for a batch
-- local audit_events            primary key event_id; read newest first, as a whole
-- local authority               unique (kind, target) while in effect, unique (kind, unique_key); joined with approvals and their requests
-- local policy_versions         for instances of the release before, as the five others that authority takes the place of
-- local pending_changes         unique (kind, target) while open
-- local step_up_nonces          primary key nonce: single use in the whole system
-- local approvers               unique fingerprint
-- local approvals               unique nonce: single use in the whole system. Used up in the commit that claims the execution: two-phase then
-- local approval_requests       unique request_hash; joined with approvals, and marked as used in the same commit
-- local approval_request_closes unique request_id
-- local approval_request_notes  at most 20 for a request, read with it
-- local ended_sessions        primary key session_id: read whole
-- local login_passkeys        unique credential_id: few rows, changed by people
-- local login_challenges      primary key challenge: each counts once in the whole system
-- local external_connectors     unique (capability) while in effect
-- local webhook_rules           read whole, changed by humans
-- local authority_epoch         one row
-- local sweep_horizon           one row, read by no instance of this version
-- local webhook_events          unique (provider, event_id) and (provider, body_sha256); joined with pg-boss's jobs
-- local provider_confirmations  unique (event_key, rules_hash); a row for each delivery of a provider that a rule reads
-- local rate_buckets            unlogged, primary key of another kind; one short statement each, which another node would only make slower
-- local released_batches        one row for each batch, whose executions are on every shard; see above
-- local log_queue               one row for each commit, consumed in one order for the whole system; see above
-- local log_state               one row for each log: its lock is the right to append
-- local log_tail                primary key (log, start): one tree for the whole system
-- local log_bundles             primary key (log, n)
-- local log_tiles               primary key (log, level, n)
-- local log_batches             primary key batch, which executions of every shard share
-- local log_events              primary key (log, last_index)
-- local log_event_owners        primary key (log, owner, last_index)
-- local log_streams             primary key (log, tag)
-- local log_stream_blocks       primary key (log, tag, block)
-- local log_checkpoints         primary key (log, size)
-- local log_lost                primary key batch, which executions of every shard share
-- local log_id_tail             primary key (log, start)
-- local log_runs                primary key (log, level, first_index)
-- local log_merged_runs         primary key (log, level, first_index)
-- local log_run_tiles           primary key (log, level, first_index, height, n)
-- local log_witnesses           primary key url: one round of requests for the whole system
-- local log_cosigned            primary key (log, size)
-- local witnessed_logs          primary key origin: one row decides what is cosigned next
-- local catalogue_entries       found by time, caller, target and text, as a whole; no execution waits for it
-- local catalogue_sums          read as a whole; a trigger of catalogue_entries writes it
-- local catalogue_state         one row: its lock is the right to fill the catalogue
-- local event_endpoints         unique (url) while in effect
-- local event_deliveries        primary key endpoint_id: its lease is the right to deliver
-- local event_attempts         references event_deliveries: 50 rows for each endpoint
-- local caller_keys             primary key key_hash: a key is one caller's in the whole system
-- local countersign_migrations  written by the migrations
-- The schema pgboss stays local too.
--
-- Connections go to the coordinator only: advisory locks (approvals, velocity limits, migrations) hold on the node that takes them.
-- A batch claims many transactions in one commit, which spans shards: Citus makes it a two-phase commit, all or nothing as before.
-- A later migration that alters a distributed table is run on the coordinator and reaches the shards by itself.

-- Groups of approvers, whose members' approvals count for the signals of a policy that name the group (docs/handbook/policy-language.md).
ALTER TABLE pending_changes DROP CONSTRAINT pending_changes_kind_check,
  ADD CONSTRAINT pending_changes_kind_check
  CHECK (kind IN ('policy', 'approver', 'external-connector', 'webhook-rules', 'event-endpoint', 'caller-key', 'approver-group'));

-- The signals that approvals of a request stand for, as JSON [{"signal", "quorum", "from"}], as it was judged when it was opened. Null: of a
-- release that did not store them, or more signals than are looked through.
ALTER TABLE approval_requests ADD COLUMN needed_signals text;

-- As in 0033, but of the kinds that the six tables have: whatever came later is in `authority` alone, and no instance of the release before
-- can propose or read it.
CREATE OR REPLACE FUNCTION authority_to_tables() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  said json;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    CASE OLD.kind
      WHEN 'policy' THEN DELETE FROM policy_versions WHERE name = split_part(OLD.key, '/', 1) AND version = split_part(OLD.key, '/', 2);
      WHEN 'webhook-rules' THEN DELETE FROM webhook_rules WHERE version_id = OLD.key::uuid;
      WHEN 'approver' THEN DELETE FROM approvers WHERE approver_id = split_part(OLD.key, ':', 1) AND key_id = split_part(OLD.key, ':', 2);
      WHEN 'external-connector' THEN DELETE FROM external_connectors WHERE change_id = OLD.key::uuid;
      WHEN 'event-endpoint' THEN DELETE FROM event_endpoints WHERE endpoint_id = OLD.key::uuid;
      WHEN 'caller-key' THEN DELETE FROM caller_keys WHERE left(key_hash, 16) = OLD.unique_key;
      ELSE NULL;
    END CASE;
  END IF;
  IF TG_OP = 'DELETE' THEN
    RETURN NULL;
  END IF;
  said := NEW.stated;
  CASE NEW.kind
    WHEN 'policy' THEN
      INSERT INTO policy_versions (name, version, content, content_hash, loaded_at, approved_by, approved_at, approved_by_change,
        retired_by, retired_at, retired_by_change)
      VALUES (split_part(NEW.key, '/', 1), split_part(NEW.key, '/', 2), NEW.stated, NEW.stated_hash, NEW.loaded_at, NEW.began_by, NEW.began_at,
        NEW.began_by_change, NEW.ended_by, NEW.ended_at, NEW.ended_by_change);
    WHEN 'webhook-rules' THEN
      INSERT INTO webhook_rules (version_id, provider, rules_hash, content, loaded_at, approved_by, approved_at, approved_by_change)
      VALUES (NEW.key::uuid, NEW.target, NEW.stated_hash, NEW.stated, NEW.loaded_at, NEW.began_by, NEW.began_at, NEW.began_by_change);
    WHEN 'approver' THEN
      INSERT INTO approvers (approver_id, key_id, public_key_pem, fingerprint, passkey, enrolled_at, enrolled_by_change, revoked_at,
        revoked_by_change)
      VALUES (said ->> 'approverId', said ->> 'keyId', said ->> 'publicKeyPem', NEW.unique_key, said ->> 'passkey', NEW.began_at,
        NEW.began_by_change, NEW.ended_at, NEW.ended_by_change);
    WHEN 'external-connector' THEN
      INSERT INTO external_connectors (change_id, capability, endpoint_url, policy, allowed_parameters, timeout_ms, read_back, registered_at,
        revoked_at, revoked_by_change)
      VALUES (NEW.key::uuid, NEW.target, said ->> 'endpointUrl', said ->> 'policy', said ->> 'allowedParameters', (said ->> 'timeoutMs')::integer,
        said ->> 'readBack' IS NOT NULL, NEW.began_at, NEW.ended_at, NEW.ended_by_change);
    WHEN 'event-endpoint' THEN
      INSERT INTO event_endpoints (endpoint_id, url, types, with_parameters, caller_ids, registered_at, revoked_at, revoked_by_change)
      VALUES (NEW.key::uuid, NEW.target, said ->> 'types', (said ->> 'withParameters')::boolean, said ->> 'callerIds', NEW.began_at,
        NEW.ended_at, NEW.ended_by_change);
    WHEN 'caller-key' THEN
      INSERT INTO caller_keys (key_hash, caller_id, scope, expires_at, issued_at, issued_by_change, revoked_at, revoked_by_change)
      VALUES (said ->> 'keyHash', said ->> 'callerId', (
          SELECT authority_stated(json_object_agg(m.key, m.value)) FROM json_each(said) AS m
          WHERE NEW.began_at IS NOT NULL AND m.key NOT IN ('action', 'callerId', 'keyHash', 'expiresAt')),
        (said ->> 'expiresAt')::timestamptz, NEW.began_at, NEW.began_by_change, NEW.ended_at, NEW.ended_by_change);
    ELSE NULL;
  END CASE;
  RETURN NULL;
END $$;

-- What humans have put in effect by their changes (decisions §6, §7) and what they have ended, each stated once. This release reads and writes
-- `authority` in place of policy_versions, webhook_rules, approvers, external_connectors, event_endpoints and caller_keys. Instances of the
-- release before go on with those six tables: until the next release drops them, the functions below keep both in step.

CREATE TABLE authority (
  -- How the threads of an instance name a caller's key; never used twice.
  number integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  -- As in pending_changes, as `target`.
  kind text NOT NULL,
  -- The target, where that is put in effect once and for good; else the change that began it, or a random UUID.
  key text NOT NULL,
  target text NOT NULL,
  -- Canonical JSON: what the change proposed, or a document that a file holds.
  stated text NOT NULL,
  -- SHA-256 of `stated`, hex.
  stated_hash text NOT NULL,
  -- What else nothing of its kind may have, in effect or not: an approver's public key, a caller's keyId.
  unique_key text,
  -- When the row came; a document then was loaded.
  loaded_at timestamptz NOT NULL DEFAULT now(),
  -- A callerId, or 'genesis' for the files of the very first start. Null: a document that nobody has approved, or a key of SERVICE_API_KEYS,
  -- which is here because it was revoked.
  began_by text,
  began_at timestamptz,
  began_by_change uuid,
  ended_by text,
  ended_at timestamptz,
  ended_by_change uuid,
  PRIMARY KEY (kind, key),
  UNIQUE (kind, unique_key)
);
CREATE UNIQUE INDEX authority_in_effect ON authority (kind, target) WHERE began_at IS NOT NULL AND ended_at IS NULL;
CREATE INDEX authority_began_by_change ON authority (began_by_change) WHERE began_by_change IS NOT NULL;
CREATE INDEX authority_ended_by_change ON authority (ended_by_change) WHERE ended_by_change IS NOT NULL;
ALTER TABLE authority ALTER COLUMN stated SET STORAGE EXTERNAL;

-- The members of several objects as one canonical object, without those that are null.
CREATE FUNCTION authority_stated(VARIADIC parts json[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT '{' || string_agg(to_json(m.key)::text || ':' || m.value::text, ',' ORDER BY m.key COLLATE "C") || '}'
  FROM unnest(parts) AS part, json_each(part) AS m WHERE m.value::text <> 'null'
$$;

-- What the six tables say, as rows of `authority`.
CREATE VIEW authority_of_tables AS
SELECT t.kind, t.key, t.target, t.stated, coalesce(t.stated_hash, encode(sha256(convert_to(t.stated, 'UTF8')), 'hex')) AS stated_hash, t.unique_key,
  t.loaded_at, coalesce(t.began_by, b.resolved_body::json ->> 'resolvedBy') AS began_by, t.began_at, t.began_by_change,
  coalesce(t.ended_by, e.resolved_body::json ->> 'resolvedBy') AS ended_by, t.ended_at, t.ended_by_change, t.number
FROM (
  SELECT 'policy' AS kind, name || '/' || version AS key, name || '/' || version AS target, content AS stated, content_hash AS stated_hash,
    NULL AS unique_key, loaded_at, approved_by AS began_by, approved_at AS began_at, approved_by_change AS began_by_change,
    retired_by AS ended_by, retired_at AS ended_at, retired_by_change AS ended_by_change, 0 AS number
  FROM policy_versions
  UNION ALL
  SELECT 'webhook-rules', version_id::text, provider, content, rules_hash, NULL, loaded_at, approved_by, approved_at, approved_by_change,
    lead(approved_by) OVER later, lead(approved_at) OVER later, lead(approved_by_change) OVER later, 0
  FROM webhook_rules WINDOW later AS (PARTITION BY provider, approved_at IS NULL ORDER BY approved_at)
  UNION ALL
  SELECT 'approver', approver_id || ':' || key_id, approver_id || ':' || key_id,
    authority_stated(json_build_object('action', 'add', 'approverId', approver_id, 'keyId', key_id, 'passkey', passkey::json,
      'publicKeyPem', public_key_pem)),
    NULL, fingerprint, enrolled_at, NULL, enrolled_at, enrolled_by_change, NULL, revoked_at, revoked_by_change, 0
  FROM approvers
  UNION ALL
  SELECT 'external-connector', change_id::text, capability,
    authority_stated(json_build_object('action', 'register', 'capability', capability, 'endpointUrl', endpoint_url, 'policy', policy,
      'allowedParameters', allowed_parameters::json, 'timeoutMs', timeout_ms, 'readBack', CASE WHEN read_back THEN true END)),
    NULL, NULL, registered_at, NULL, registered_at, change_id, NULL, revoked_at, revoked_by_change, 0
  FROM external_connectors
  UNION ALL
  SELECT 'event-endpoint', endpoint_id::text, url,
    authority_stated(json_build_object('action', 'register', 'url', url, 'types', types::json, 'withParameters', with_parameters,
      'callerIds', caller_ids::json)),
    NULL, NULL, registered_at, NULL, registered_at, endpoint_id, NULL, revoked_at, revoked_by_change, 0
  FROM event_endpoints
  UNION ALL
  SELECT 'caller-key', caller_id || ':' || left(key_hash, 16), caller_id || ':' || left(key_hash, 16),
    authority_stated(scope::json, json_build_object('action', CASE WHEN scope IS NOT NULL THEN 'issue' END, 'callerId', caller_id,
      'keyHash', key_hash, 'expiresAt', to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))),
    NULL, left(key_hash, 16), coalesce(issued_at, revoked_at), NULL, issued_at, issued_by_change, NULL, revoked_at, revoked_by_change, number
  FROM caller_keys
) AS t LEFT JOIN pending_changes AS b ON b.change_id = t.began_by_change
  LEFT JOIN pending_changes AS e ON e.change_id = t.ended_by_change;

-- Each direction copies rows that the other one may be changing: one transaction at a time does, until its end. A statement after the lock sees
-- what the transaction before it has committed; without the lock a copy that waited for a row would write what it had read before.
CREATE FUNCTION authority_in_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('authority', 0));
  RETURN NULL;
END $$;

-- An instance of the release before has written to the six tables. A change is resolved last, in the same transaction.
CREATE FUNCTION authority_from_tables() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('authority', 0));
  IF TG_TABLE_NAME = 'pending_changes' THEN
    IF EXISTS (SELECT FROM authority WHERE NEW.change_id IN (began_by_change, ended_by_change)) THEN
      RETURN NULL;
    END IF;
  END IF;
  DELETE FROM authority AS a WHERE a.began_at IS NULL AND a.ended_at IS NULL
    AND NOT EXISTS (SELECT FROM authority_of_tables AS t WHERE t.kind = a.kind AND t.key = a.key);
  INSERT INTO authority AS a (kind, key, target, stated, stated_hash, unique_key, loaded_at, began_by, began_at, began_by_change,
    ended_by, ended_at, ended_by_change)
  SELECT kind, key, target, stated, stated_hash, unique_key, loaded_at, began_by, began_at, began_by_change, ended_by, ended_at, ended_by_change
  FROM authority_of_tables AS t
  -- A row ends before the one that takes its place begins.
  ORDER BY ended_at NULLS LAST, number
  ON CONFLICT (kind, key) DO UPDATE SET stated = excluded.stated, stated_hash = excluded.stated_hash,
    began_by = excluded.began_by, began_at = excluded.began_at, began_by_change = excluded.began_by_change,
    ended_by = excluded.ended_by, ended_at = excluded.ended_at, ended_by_change = excluded.ended_by_change
  WHERE (a.stated, a.began_at, a.began_by, a.ended_at, a.ended_by)
    IS DISTINCT FROM (excluded.stated, excluded.began_at, excluded.began_by, excluded.ended_at, excluded.ended_by);
  RETURN NULL;
END $$;

-- An instance of this release has written to `authority`.
CREATE FUNCTION authority_to_tables() RETURNS trigger LANGUAGE plpgsql AS $$
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
  END CASE;
  RETURN NULL;
END $$;

-- What a trigger writes fires no other one: its depth is not 0.
CREATE TRIGGER authority_from_tables AFTER INSERT OR UPDATE OR DELETE ON policy_versions
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION authority_from_tables();
CREATE TRIGGER authority_from_tables AFTER INSERT OR UPDATE OR DELETE ON webhook_rules
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION authority_from_tables();
CREATE TRIGGER authority_from_tables AFTER UPDATE ON pending_changes FOR EACH ROW
  WHEN (NEW.status = 'APPROVED') EXECUTE FUNCTION authority_from_tables();
CREATE TRIGGER authority_in_turn BEFORE INSERT OR UPDATE OR DELETE ON authority
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION authority_in_turn();
CREATE TRIGGER authority_to_tables AFTER INSERT OR UPDATE OR DELETE ON authority FOR EACH ROW
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION authority_to_tables();

-- The trigger has locked the table: whatever an older instance approves from now on comes after this. The first statement takes over everything.
UPDATE policy_versions SET name = name WHERE false;

// How the release before wrote authority: its statements, word for word, each with the same names of values.
import type { ClientBase } from 'pg'

type Values = Readonly<Record<string, unknown>>

const STATEMENTS = {
  enrolApprover: `
    INSERT INTO approvers (approver_id, key_id, public_key_pem, fingerprint, enrolled_at, enrolled_by_change, passkey)
    VALUES (:approverId::text, :keyId::text, :publicKeyPem::text, :fingerprint::text, :at::timestamptz, :changeId::uuid, :passkey::text)
    ON CONFLICT DO NOTHING`,
  revokeApprover: `
    UPDATE approvers SET revoked_by_change = :changeId::uuid, revoked_at = greatest(clock_timestamp(), (
      SELECT max(consumed_at) + interval '1 ms' FROM approvals WHERE approver_id = :approverId::text AND key_id = :keyId::text))
    WHERE approver_id = :approverId::text AND key_id = :keyId::text AND revoked_at IS NULL`,
  issueCallerKey: `
    INSERT INTO caller_keys (key_hash, caller_id, scope, expires_at, issued_at, issued_by_change)
    VALUES (:keyHash::text, :callerId::text, :scope::text, :expiresAt::timestamptz, :at::timestamptz, :changeId::uuid)
    ON CONFLICT DO NOTHING`,
  revokeCallerKey: `
    INSERT INTO caller_keys AS k (key_hash, caller_id, revoked_at, revoked_by_change)
    VALUES (:keyHash::text, :callerId::text, :at::timestamptz, :changeId::uuid)
    ON CONFLICT (key_hash) DO UPDATE SET revoked_at = excluded.revoked_at, revoked_by_change = excluded.revoked_by_change
    WHERE k.revoked_at IS NULL AND k.caller_id = excluded.caller_id`,
  registerEventEndpoint: `
    WITH registered AS (
      INSERT INTO event_endpoints (endpoint_id, url, types, with_parameters, caller_ids, registered_at)
      VALUES (:changeId::uuid, :url::text, :types::text, :withParameters::boolean, :callerIds::text, :at::timestamptz)
      ON CONFLICT (url) WHERE revoked_at IS NULL DO NOTHING RETURNING endpoint_id
    )
    INSERT INTO event_deliveries (endpoint_id, cursor) SELECT endpoint_id, :cursor::text FROM registered`,
  revokeEventEndpoint: `
    WITH revoked AS (
      UPDATE event_endpoints SET revoked_at = :at::timestamptz, revoked_by_change = :changeId::uuid
      WHERE url = :url::text AND revoked_at IS NULL RETURNING endpoint_id
    )
    DELETE FROM event_deliveries USING revoked WHERE event_deliveries.endpoint_id = revoked.endpoint_id`,
  registerExternalConnector: `
    INSERT INTO external_connectors
      (change_id, capability, endpoint_url, policy, allowed_parameters, timeout_ms, read_back, registered_at)
    VALUES (:changeId::uuid, :capability::text, :endpointUrl::text, :policy::text, :allowedParameters::text, :timeoutMs::integer,
      :readBack::boolean, :at::timestamptz)
    ON CONFLICT (capability) WHERE revoked_at IS NULL DO NOTHING`,
  revokeExternalConnector: `
    UPDATE external_connectors SET revoked_at = :at::timestamptz, revoked_by_change = :changeId::uuid
    WHERE capability = :capability::text AND revoked_at IS NULL`,
  approvePolicyVersion: `
    INSERT INTO policy_versions (name, version, content, content_hash, approved_by, approved_at, approved_by_change)
    VALUES (:name::text, :version::text, :content::text, :contentHash::text, :by::text, :at::timestamptz, :changeId::uuid)
    ON CONFLICT (name, version) DO UPDATE SET approved_by = excluded.approved_by,
      approved_at = excluded.approved_at, approved_by_change = excluded.approved_by_change
    WHERE policy_versions.approved_by IS NULL AND policy_versions.content_hash = excluded.content_hash`,
  retirePolicyVersions: `
    UPDATE policy_versions SET retired_by = :by::text, retired_at = :at::timestamptz, retired_by_change = :changeId::uuid
    WHERE name = :name::text AND version = ANY (:versions::text[]) AND approved_by IS NOT NULL AND retired_by IS NULL`,
  dropLoadedRules: `
    DELETE FROM webhook_rules WHERE provider = :provider::text AND rules_hash = :rulesHash::text AND approved_by IS NULL`,
  approveWebhookRules: `
    INSERT INTO webhook_rules (provider, rules_hash, content, approved_by, approved_at, approved_by_change)
    SELECT :provider::text, :rulesHash::text, :content::text, :by::text, :at::timestamptz, :changeId::uuid
    WHERE NOT EXISTS (SELECT FROM webhook_rules WHERE provider = :provider::text AND approved_at >= :at::timestamptz)`,
  addPolicyVersion: `
    INSERT INTO policy_versions (name, version, content, content_hash, approved_by, approved_at)
    VALUES (:name::text, :version::text, :content::text, :contentHash::text, NULL, NULL)
    ON CONFLICT (name, version) DO UPDATE SET content = excluded.content, content_hash = excluded.content_hash
    WHERE policy_versions.approved_by IS NULL AND policy_versions.content_hash <> excluded.content_hash`,
  dropAllLoadedRules: `DELETE FROM webhook_rules WHERE approved_by IS NULL`,
  loadWebhookRules: `
    INSERT INTO webhook_rules (provider, rules_hash, content, approved_by, approved_at)
    SELECT provider, rules_hash, content, NULL, NULL
    FROM unnest(:providers::text[], :hashes::text[], :contents::text[]) AS given (provider, rules_hash, content)
    WHERE NOT EXISTS (
      SELECT FROM webhook_rules AS r WHERE r.provider = given.provider AND r.rules_hash = given.rules_hash)`,
  storeResolution: `
    UPDATE pending_changes SET status = 'APPROVED', resolved_body = :body::text, resolved_seal = seal
    WHERE change_id = :changeId::uuid AND status = 'PENDING_APPROVAL'`,
  advanceEpoch: `UPDATE authority_epoch SET epoch = epoch + 1`,
} as const

/** Runs a statement of the release before. Returns how many rows it wrote. */
export async function asBefore(
  client: Pick<ClientBase, 'query'>,
  name: keyof typeof STATEMENTS,
  values: Values = {},
): Promise<number> {
  const given: unknown[] = []
  const text = STATEMENTS[name].replaceAll(/(?<!:):([a-zA-Z]+)/g, (_, member: string) => {
    given.push(values[member] ?? null)
    return `$${given.length}`
  })
  return (await client.query(text, given)).rowCount ?? 0
}

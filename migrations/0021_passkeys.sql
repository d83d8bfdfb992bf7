-- Approvers' keys that are passkeys (docs/handbook/approving.md).

-- Canonical JSON of rpId, origins, credentialId and backupEligible, as the change enrolled them. Null: a raw Ed25519 key.
ALTER TABLE approvers ADD COLUMN passkey text;

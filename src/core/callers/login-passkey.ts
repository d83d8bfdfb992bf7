// Hashes the registered members of a login passkey for the audit event of its registration, so that `fsck` can detect a changed row.
import { canonicalize } from '../../formats/json/canonical.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { LoginPasskey } from '../../store/tables/login-passkeys.ts'

/** The members that a login relies on. The rest of the row changes with each login. */
type Registered = Pick<
  LoginPasskey,
  'loginPasskeyId' | 'credentialId' | 'callerId' | 'keyHash' | 'name' | 'publicKeyPem' | 'backupEligible'
>

/** @returns SHA-256 of the canonical JSON (RFC 8785) of these members, in hex */
export function registrationHash({
  loginPasskeyId,
  credentialId,
  callerId,
  keyHash,
  name,
  publicKeyPem,
  backupEligible,
}: Registered): string {
  return sha256Hex(
    canonicalize({ loginPasskeyId, credentialId, callerId, keyHash, name, publicKeyPem, backupEligible }),
  )
}
